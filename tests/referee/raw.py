"""Lines of JSON, a t interval, sign flips and Holm's steps, with nothing of the project."""

import json
from pathlib import Path

import numpy as np
from scipy import stats

ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "results"
# Sets whose series stand in one another.
SIBLINGS = {
    "Chinatown": "MelbournePedestrian",
    "DistalPhalanxTW": "PhalangesOutlinesCorrect",
    "ProximalPhalanxTW": "PhalangesOutlinesCorrect",
    "WordSynonyms": "FiftyWords",
}


def lines(name):
    """Return the records of a file of `results`."""
    with (RESULTS / name).open(encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def plan(name):
    """Return the stored plan of an experiment."""
    return json.loads((ROOT / "experiments" / name / "plan.json").read_text(encoding="utf-8"))


def interval(values):
    """Return the mean and the 95 % interval by Student's t."""
    mean, error = np.mean(values), stats.sem(values)
    half = stats.t.isf(0.025, len(values) - 1) * error
    return mean, mean - half, mean + half


def sign_flips(values):
    """Return the exact two-sided p-value of a mean, by flipping the signs in all ways."""
    halves = [_sums(half) for half in np.array_split(np.asarray(values), 2)]
    reached = abs(np.sum(values)) - 1e-9
    beyond = halves[1].size - np.searchsorted(halves[1], reached - halves[0])
    return 2 * beyond.sum() / 2 ** len(values)


def _sums(values):
    sums = np.zeros(1)
    for value in values:
        sums = np.concatenate([sums + value, sums - value])
    return np.sort(sums)


def holm(p_values):
    """Return p-values after Holm's steps, in their order."""
    order, n = np.argsort(p_values), len(p_values)
    steps = np.maximum.accumulate((n - np.arange(n)) * np.asarray(p_values)[order])
    adjusted = np.empty(n)
    adjusted[order] = np.minimum(steps, 1)
    return adjusted
