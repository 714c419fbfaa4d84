"""What the two trained examples of the capstone have measured, read from one small file.

`gathered` makes the file: python -m posenc_book.read.capstone.read stretched.json runs
"""

import json
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from posenc._wall import behind
from posenc_book import _files
from posenc_book.read import results
from posenc_book.read.capstone import stretching

FILE = "capstone.json"
SPLITS = 5


def load_capstone() -> dict:
    """Return what is stored: "small" by seed, and "nearby" by data set."""
    path = results.folder() / FILE
    if not path.is_file():
        raise ValueError(f"{path} is missing; posenc_book.read.capstone says what makes it")
    return json.loads(_files.text(path))


def stretched(
    size: str = "small", path: Path | str | None = None
) -> dict[str, NDArray[np.float64]]:
    """Return row -> shares that are right, (seeds, lengths): the trained, twice, four times.

    They are the book's, or those of a file that `stretching` has written.
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
    """Return the accuracies of `Nearby` in points, one a split, by data set."""
    return {name: 100 * np.array(one) for name, one in load_capstone()["nearby"].items()}


def minutes_of(encoding: str, names: Iterable[str]) -> float:
    """Return how long the stored trainings of an encoding took on some sets, a token a step."""
    records = [one for name in names for one in results.load_records(f"second-{name}")]
    ours = [r for r in records if (r["encoding"], r["model"]) == (encoding, "time_series")]
    return sum(r["seconds"] for r in ours) / 60


def gathered(stretched: Path, runs: Path) -> dict:
    """Return what the file holds, from the two runs; a data set counts with all its splits."""
    sets = {}
    for path in sorted(runs.glob("second-*.jsonl")):
        records = [json.loads(line) for line in _files.text(path).splitlines()]
        by_split = {r["resample"]: r["metrics"]["accuracy"] for r in records if "metrics" in r}
        if len(by_split) == SPLITS:
            sets[path.stem.removeprefix("second-")] = [by_split[s] for s in range(SPLITS)]
    cost = stretching.seconds_a_step("evening")
    return {**json.loads(_files.text(stretched)), "nearby": sets, "seconds_a_step": cost}


def _main(words: Sequence[str]) -> None:
    if len(words) != 2:
        sys.exit(f"two paths are needed, of the stretched and of the trained, got {len(words)}")
    text = json.dumps(gathered(*map(Path, words)), indent=1)
    _files.replace(results.folder() / FILE, text + "\n")


if __name__ == "__main__":
    sys.exit(behind(_main))
