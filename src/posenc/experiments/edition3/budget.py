"""What the third edition costs, from the seconds that edition 2 took on one core.

A training is priced by what edition 2 took on the same set or, where it never read the set, on
sets of its length; an encoding by how much longer than none it took. Above the longest set that
was trained on processors the price grows with the 1.5th power of the length, which is a guess.
"""

import math
from collections import defaultdict
from functools import cache

import numpy as np
from numpy.typing import NDArray

from posenc.data import recorded_facts
from posenc.experiments import results
from posenc.experiments.classification import edition
from posenc.experiments.edition3.questions import ENCODINGS, cells

MODEL = "time_series"
HOURS = 40.0
N_TRIALS = 5
GROWTH = 1.5
UNMEASURED = 1.5  # of encodings that edition 2 did not train with a token a step
LAYERS = {2: 1.0, 4: 2.0}


@cache
def _seconds() -> tuple[dict[str, float], dict[str, float], dict[str, float]]:
    """Return mean seconds of trainings and of trials by set, and what encodings cost over none."""
    trainings = [r for r in edition.load_edition() if _counts(r)]
    trials = [r for r in results.load_records("tuning-*") if _counts(r)]
    by_cell: dict[tuple[str, str], list[float]] = defaultdict(list)
    for record in trainings:
        step = record["seconds"] / record["metrics"]["steps"]
        by_cell[record["encoding"], record["dataset"]].append(step)
    step = {cell: float(np.mean(values)) for cell, values in by_cell.items()}
    factors: dict[str, list[float]] = defaultdict(list)
    for (name, dataset), value in step.items():
        factors[name].append(value / step["none", dataset])
    return _means(trainings), _means(trials), {n: float(np.median(f)) for n, f in factors.items()}


def _counts(record: dict) -> bool:
    return record["model"] == MODEL and record["device"] == "cpu" and "error" not in record


def _means(records: list[dict]) -> dict[str, float]:
    found: dict[str, list[float]] = defaultdict(list)
    for record in records:
        found[record["dataset"]].append(record["seconds"])
    return {name: float(np.mean(seconds)) for name, seconds in found.items()}


def _by_length(seconds: dict[str, float], dataset: str) -> float:
    """Return the seconds of a set: its own or, by a line of logarithms, those of its length."""
    if dataset in seconds:
        return seconds[dataset]
    lengths = {name: recorded_facts(name).length for name in seconds}
    slope, start = _line(np.array([[math.log(lengths[n]), math.log(seconds[n])] for n in seconds]))
    longest, length = max(lengths.values()), recorded_facts(dataset).length
    inside = math.exp(start + slope * math.log(min(length, longest)))
    return inside * max(1.0, length / longest) ** GROWTH


def _line(points: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.polyfit(points[:, 0], points[:, 1], 1)


def factor(name: str) -> float:
    """Return how many times as long as none an encoding takes."""
    return _seconds()[2].get(ENCODINGS[name][0], UNMEASURED)


def hours() -> dict[str, float]:
    """Return core-hours by data set, and of all: trainings, and the trials that tune them."""
    trainings, trials, factors = _seconds()
    usual = float(np.mean(list(factors.values())))  # what the mean over encodings holds
    found: dict[str, float] = defaultdict(float)
    for (dataset, name, layers), n in cells().items():
        once = n * _by_length(trainings, dataset) + N_TRIALS * _by_length(trials, dataset)
        found[dataset] += once * factor(name) / usual * LAYERS[layers] / 3600
    return {**found, "all": sum(found.values())}
