"""Lines of JSON, a t interval, sign flips and Holm's steps, with nothing of the project."""

import json
from itertools import product
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
    mean = np.mean(values)
    return mean, *stats.t.interval(0.95, len(values) - 1, mean, stats.sem(values))


def sign_flips(values):
    """Return the exact two-sided p-value of a mean, by flipping the signs in all ways."""
    flipped = np.array(list(product((1, -1), repeat=len(values)))) @ values
    return np.mean(abs(flipped) >= abs(np.sum(values)) - 1e-9)


def holm(p_values):
    """Return p-values after Holm's steps, in their order."""
    order, n = np.argsort(p_values), len(p_values)
    steps = np.maximum.accumulate((n - np.arange(n)) * np.asarray(p_values)[order])
    adjusted = np.empty(n)
    adjusted[order] = np.minimum(steps, 1)
    return adjusted
