"""What time stamps are worth to a model, from the trainings on series that lost half their steps.

With the clock "times" the steps that are left stand where they were recorded and a mask covers the
gaps; with "indices" they are moved together and counted. The values are the same. The trainings are
short ones of the first edition: they give hints.
"""

from collections import defaultdict
from functools import cache

import numpy as np
from numpy.typing import NDArray

from posenc.study import results, statistics, tables

MODEL = "time_series"
CLOCKS = ("times", "indices")
# What the scores know of a time: nothing, the place of a step, or the offset of two steps.
GROUPS = {
    "no encoding": ("none",),
    "place": (
        "sinusoidal",
        "dft",
        "learnable",
        "tape",
        "learnable_frequency",
        "sine_linear",
        "tupe",
        "tpe",
    ),
    "offset": ("rotary", "relative", "t5", "alibi", "sine_spe", "conv_spe", "erpe"),
}

Runs = dict[tuple[str, int], NDArray[np.float64]]


def worth(group: str) -> Runs:
    """Return accuracy with times minus accuracy with indices, in points.

    Parameters
    ----------
    group : str
        A key of `GROUPS`; the mean of its encodings is taken.

    Returns
    -------
    dict of (data set, draw of the losses) -> array of shape (n_seeds,)

    Raises
    ------
    ValueError
        If there is no such group, or trainings are missing or differ in their settings.
    """
    if group not in GROUPS:
        raise ValueError(f"group must be one of {', '.join(GROUPS)}, got {group!r}")
    found = _accuracies()
    runs = sorted({(d, draw, seed) for d, draw, seed, _, _ in found})
    gains = defaultdict(list)
    for d, draw, seed in runs:
        each = [
            found[d, draw, seed, name, "times"] - found[d, draw, seed, name, "indices"]
            for name in GROUPS[group]
        ]
        gains[d, draw].append(np.mean(each))
    return {key: np.array(values) for key, values in gains.items()}


def table() -> dict[str, dict[str, str]]:
    """Return the worth of times by data set and group, with Student's 95 % intervals over seeds."""
    columns = {group: worth(group) for group in GROUPS}
    rows = {}
    for dataset, draw in next(iter(columns.values())):
        said = {group: _said(columns[group][dataset, draw]) for group in GROUPS}
        rows[f"{dataset}, losses {draw + 1}"] = said
    return rows


def gained(encoding: str) -> dict[str, float]:
    """Return what true times are worth to one encoding, in points of accuracy by data set.

    Raises
    ------
    ValueError
        If no training with the encoding is stored.
    """
    times, indices = (accuracy(encoding, clock) for clock in CLOCKS)
    return {dataset: times[dataset] - indices[dataset] for dataset in times}


def accuracy(encoding: str, clock: str) -> dict[str, float]:
    """Return the mean accuracy of an encoding under a clock, in per cent by data set.

    Raises
    ------
    ValueError
        If no training with the encoding is stored.
    """
    values = defaultdict(list)
    for (dataset, _, _, *run), value in _accuracies().items():
        if run == [encoding, clock]:
            values[dataset].append(value)
    if not values:
        known = sorted({name for *_, name, _ in _accuracies()})
        raise ValueError(f"encoding must be one of {', '.join(known)}, got {encoding!r}")
    return {dataset: float(np.mean(values[dataset])) for dataset in datasets()}


def datasets() -> list[str]:
    """Return the data sets that were trained with losses, sorted."""
    return sorted({key[0] for key in _accuracies()})


def _said(gains: NDArray[np.float64]) -> str:
    each = statistics.t_interval(gains)
    return f"{each.mean:+.1f} [{each.low:+.1f}, {each.high:+.1f}]"


@cache
def _accuracies() -> dict[tuple, float]:
    """Return (data set, draw, seed, encoding, clock) -> accuracy in per cent."""
    records = [r for r in tables.finished(results.load("lost-*")) if r["model"] == MODEL]
    tables.check_equal_settings(records)
    found = {}
    for r in records:
        options = r["settings"]["dataset_options"]
        key = r["dataset"], options.get("seed", 0), r["seed"], r["encoding"], options["clock"]
        found[key] = 100 * r["metrics"]["accuracy"]
    missing = [
        (*run, name, clock)
        for run in {key[:3] for key in found}
        for name in sum(GROUPS.values(), ())
        for clock in CLOCKS
        if (*run, name, clock) not in found
    ]
    if missing:
        raise ValueError(f"results must hold every training of lost-*, {missing[0]} is missing")
    return found
