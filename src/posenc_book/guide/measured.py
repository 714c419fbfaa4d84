"""What the stored measurements say of each encoding, as the atlas quotes it."""

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import pandas as pd

from posenc_book.atlas import cards
from posenc_book.read import costs as stored_costs
from posenc_book.read.range_probe import longer as lengths

FAR = 128  # steps of the longest test series; training has 32


@dataclass(frozen=True)
class Measured:
    """Measurements of one encoding; NaN where there is none.

    Attributes
    ----------
    low, cost, high : float
        Time of a training step in steps of none: least, median and most over `tokens`.
    tokens : tuple of int
        The lengths at which steps were timed.
    n_learned, n_seeds : int
        Trainings that learned the task of the length probe, and all of them.
    trained, longer, later : float
        Mean accuracy of those that learned: on series as long as in training, four times as long,
        and as long as in training but at the end of four times as many steps. 0.5 is guessing.
    """

    low: float = np.nan
    cost: float = np.nan
    high: float = np.nan
    tokens: tuple[int, ...] = ()
    n_learned: int = 0
    n_seeds: int = 0
    trained: float = np.nan
    longer: float = np.nan
    later: float = np.nan


@cache
def measured() -> dict[str, Measured]:
    """Return what the book's results say, by the name of the encoding."""
    costs, probes = stored_costs.step_costs(), lengths.load_longer()
    return {
        name: Measured(**_cost(costs.get(name, {})), **_lengths(probes, name))
        for name in costs.keys() | probes.runs.keys()
    }


def _cost(by_tokens: dict[int, float]) -> dict[str, Any]:
    """Return the least, the median and the most of the times of a step."""
    if not by_tokens:
        return {}
    ratios = sorted(by_tokens.values())
    middle = float(np.median(ratios))
    return {"low": ratios[0], "cost": middle, "high": ratios[-1], "tokens": tuple(by_tokens)}


def _lengths(probes: lengths.Longer, name: str) -> dict[str, Any]:
    """Return how often the probe was learned, and how well it was answered at other lengths."""
    if name not in probes.runs:
        return {}
    beyond = {"longer": f"longer_{FAR}", "later": f"later_{FAR}"}
    tests = {"trained": f"longer_{probes.trained}", **beyond}
    means = {field: probes.accuracy(name, test) for field, test in tests.items()}
    whole = not any(np.isnan(mean) for mean in means.values())
    counts = {"n_learned": len(probes.good(name)), "n_seeds": len(probes.runs[name])}
    return counts | (means if whole else {})


def measured_table() -> pd.DataFrame:
    """Return the measurements of the encodings of the atlas, a row each, as the page shows them."""
    found = measured()
    rows = {name: _row(found.get(name, Measured())) for name in cards()}
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis("encoding", axis="columns")


def _row(one: Measured) -> dict[str, str]:
    return {
        "step": number(one.cost),
        "range": f"{one.low:.2f} to {one.high:.2f}" if one.tokens else "",
        "learned": f"{one.n_learned} of {one.n_seeds}" if one.n_seeds else "",
        "as trained": number(one.trained),
        "longer": number(one.longer),
        "later": number(one.later),
    }


def number(value: float) -> str:
    """Return a measurement with two decimals, or "" where there is none."""
    return "" if np.isnan(value) else f"{value:.2f}"
