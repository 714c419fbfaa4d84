"""What the stored trainings say of each encoding, as the atlas quotes it."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache

import numpy as np
import pandas as pd

from posenc.study import results, tables
from posenc.study.cost import cost_ratios
from posenc.teaching.atlas import cards

STEPS = "laptop-*"  # trainings whose steps are timed
LENGTHS = "lengths"  # trainings that are tested at other lengths
MODEL = "time_series"
LEARNED = 0.9  # validation accuracy from which on a training has learned the task
FAR = 128  # steps of the longest test series; training has 32


@dataclass(frozen=True)
class Measured:
    """Measurements of one encoding; NaN where there is none.

    Attributes
    ----------
    low, cost, high : float
        Time of a training step in steps of none: quartile, median and quartile over data sets.
    n_sets : int
        Data sets with a comparable time.
    n_learned, n_seeds : int
        Trainings that learned the task of the length probe, and all of them.
    trained, longer, later : float
        Mean accuracy of those that learned: on series as long as in training, four times as long,
        and as long as in training but at the end of four times as many steps. 0.5 is guessing.
    """

    low: float = np.nan
    cost: float = np.nan
    high: float = np.nan
    n_sets: int = 0
    n_learned: int = 0
    n_seeds: int = 0
    trained: float = np.nan
    longer: float = np.nan
    later: float = np.nan


@cache
def measured() -> dict[str, Measured]:
    """Return what the book's results say, by the name of the encoding."""
    records = results.load(STEPS)
    costs = cost_ratios(records, tables.scores(records, MODEL).complete(), "seconds_per_step")
    probes = _by_encoding(tables.finished(results.load(LENGTHS)))
    return {
        name: Measured(**_cost(costs.get(name, np.array([]))), **_lengths(probes.get(name, [])))
        for name in costs.keys() | probes.keys()
    }


def _by_encoding(records: Iterable[dict]) -> dict[str, list[dict]]:
    """Return the metrics of records whose encoding has no options, by its name."""
    found: dict[str, list[dict]] = {}
    for record in records:
        found.setdefault(tables.label(record, "encoding"), []).append(record["metrics"])
    return found


def _cost(ratios: np.ndarray) -> dict[str, float]:
    """Return the quartiles of the times of a step."""
    if not ratios.size:
        return {}
    low, middle, high = np.quantile(ratios, [0.25, 0.5, 0.75])
    return {"low": float(low), "cost": float(middle), "high": float(high), "n_sets": ratios.size}


def _lengths(metrics: list[dict]) -> dict[str, float]:
    """Return how often the probe was learned, and how well it was answered at other lengths."""
    good = [m for m in metrics if m["validation_accuracy"] >= LEARNED]
    columns = {"trained": "longer_32", "longer": f"longer_{FAR}", "later": f"later_{FAR}"}
    means = {
        field: float(np.mean([m[column] for m in good]))
        for field, column in columns.items()
        if good and all(column in m for m in good)
    }
    return {"n_learned": len(good), "n_seeds": len(metrics), **means}


def table() -> pd.DataFrame:
    """Return the measurements of the encodings of the atlas, a row each, as the page shows them."""
    found = measured()
    rows = {name: _row(found.get(name, Measured())) for name in cards()}
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis("encoding", axis="columns")


def _row(one: Measured) -> dict[str, str]:
    return {
        "step": number(one.cost),
        "middle half": f"{one.low:.2f} to {one.high:.2f}" if one.n_sets else "",
        "learned": f"{one.n_learned} of {one.n_seeds}" if one.n_seeds else "",
        "as trained": number(one.trained),
        "longer": number(one.longer),
        "later": number(one.later),
    }


def number(value: float) -> str:
    """Return a measurement with two decimals, or "" where there is none."""
    return "" if np.isnan(value) else f"{value:.2f}"
