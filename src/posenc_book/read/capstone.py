"""What the two trained examples of the capstone have measured, read from one small file."""

import json
from collections.abc import Iterable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from posenc_book import _files
from posenc_book.read import results

FILE = "capstone.json"


def load_capstone() -> dict:
    """Return what is stored: "small" by seed, and "nearby" by data set."""
    path = results.folder() / FILE
    if not path.is_file():
        raise ValueError(f"{path} is missing; python -m experiments.capstone makes it")
    return json.loads(_files.text(path))


def stretched(
    size: str = "small", path: Path | str | None = None
) -> dict[str, NDArray[np.float64]]:
    """Return row -> shares that are right, (seeds, lengths): the trained, twice, four times.

    They are the book's, or those of a file that `posenc_book.capstone.stretching` has written.
    """
    stored = load_capstone() if path is None else json.loads(_files.text(Path(path)))
    seeds = stored[size].values()
    rows = next(iter(seeds))["right"]
    return {row: np.array([one["right"][row] for one in seeds]) for row in rows}


def rows_of(shares: dict[str, NDArray[np.float64]], lengths: list[int]) -> dict[str, dict]:
    """Return a table's rows: the mean over seeds, then the lowest and the highest."""
    return {
        row: {
            f"{n} symbols": f"{one.mean():.0%} [{one.min():.0%}, {one.max():.0%}]"
            for n, one in zip(lengths, values.T, strict=True)
        }
        for row, values in shares.items()
    }


def nearby() -> dict[str, NDArray[np.float64]]:
    """Return the accuracies of `capstone.nearby` in points, one a split, by data set."""
    return {name: 100 * np.array(one) for name, one in load_capstone()["nearby"].items()}


def minutes_of(encoding: str, names: Iterable[str]) -> float:
    """Return how long the stored trainings of an encoding took on some sets, a token a step."""
    records = [one for name in names for one in results.load_records(f"second-{name}")]
    ours = [r for r in records if (r["encoding"], r["model"]) == (encoding, "time_series")]
    return sum(r["seconds"] for r in ours) / 60
