"""Trainings on series that have lost half of their samples, under two clocks.

With the clock "times" the samples that are left stand where they were recorded; with "indices" they
are moved together and counted. The trainings are short ones of the first edition: they give hints.
"""

from collections import defaultdict
from functools import cache

import numpy as np

from posenc.study import results, tables

CLOCKS = ("times", "indices")


def worth(encoding: str) -> dict[str, float]:
    """Return what true times are worth to an encoding, in points of accuracy by data set.

    Raises
    ------
    ValueError
        If no training with the encoding is stored.
    """
    found = {d: _points(encoding, d) for d in datasets()}
    if not all(found.values()):
        known = sorted({e for e, _, _ in _runs()})
        raise ValueError(f"encoding must be one of {', '.join(known)}, got {encoding!r}")
    return {
        d: float(np.mean([one["times"] - one["indices"] for one in runs.values()]))
        for d, runs in found.items()
    }


def accuracy(encoding: str, clock: str) -> dict[str, float]:
    """Return the mean accuracy of an encoding under a clock, in per cent by data set."""
    return {
        d: float(np.mean([one[clock] for one in _points(encoding, d).values()])) for d in datasets()
    }


def datasets() -> list[str]:
    """Return the data sets that were trained with losses, sorted."""
    return sorted({d for _, d, _ in _runs()})


def _points(encoding: str, dataset: str) -> dict[tuple, dict[str, float]]:
    """Return draw and seed -> clock -> per cent, where both clocks were trained."""
    runs: dict[tuple, dict[str, float]] = defaultdict(dict)
    for clock in CLOCKS:
        for run, value in _runs().get((encoding, dataset, clock), {}).items():
            runs[run][clock] = value
    return {run: both for run, both in runs.items() if len(both) == len(CLOCKS)}


@cache
def _runs() -> dict[tuple[str, str, str], dict[tuple, float]]:
    """Return encoding, data set, clock -> draw of the losses and seed -> per cent."""
    found: dict[tuple[str, str, str], dict[tuple, float]] = defaultdict(dict)
    for r in tables.finished(results.load("lost-*")):
        if r["model"] == "time_series":
            options = r["settings"]["dataset_options"]
            key = r["encoding"], r["dataset"], options["clock"]
            found[key][options.get("seed", 0), r["seed"]] = 100 * r["metrics"]["accuracy"]
    return dict(found)
