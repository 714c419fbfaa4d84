"""Trainings at one length, tested at longer ones and at later places, as pages read them.

The runs are those of `python -m experiments.range_probe`: one synthetic task, in which two pulses
stand four steps apart and the class says which came first. "Longer" series have more steps; "later"
ones have as many as in training, at the end of a longer frame whose other steps are masked.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from posenc_book.read.range_probe import protocol as probes
from posenc_book.read.range_probe import read as probe

LEARNED = float(probes.PROTOCOL["found"])  # validation accuracy from which a training counts
SHOWN = {f"{probes.ONE_HOT} (loud)": "one-hot (loud)"}


@dataclass(frozen=True)
class Longer:
    """Metrics of the trainings by encoding.

    Attributes
    ----------
    trained : int
        Steps of the training series.
    longer : tuple of int
        The other lengths at which was tested.
    runs : dict of encoding -> metrics of each seed
    """

    trained: int
    longer: tuple[int, ...]
    runs: dict[str, list[dict]]

    def good(self, name: str) -> list[dict]:
        """Return the metrics of the seeds that learned the task at the trained length."""
        # stored in single precision, where 0.9 is 0.89999998
        return [m for m in self.runs[name] if round(m["validation_accuracy"], 6) >= LEARNED]

    def share(self, name: str) -> float:
        """Return the share of seeds that learned the task."""
        return len(self.good(name)) / len(self.runs[name])

    @property
    def learned(self) -> list[str]:
        """The encodings with which at least one seed learned the task."""
        return [name for name in self.runs if self.good(name)]

    @property
    def refusing(self) -> list[str]:
        """The encodings that stop at a longer series, sorted."""
        return sorted(e for e, runs in self.runs.items() if any(m["refusals"] for m in runs))

    def accuracy(self, name: str, test: str) -> float:
        """Return the mean test accuracy of the seeds that learned, such as of "later_128"."""
        found = [m[test] for m in self.good(name) if test in m]
        return float(np.mean(found)) if found else float("nan")

    def beyond(self, name: str) -> list[float]:
        """Return the mean accuracies in all tests beyond the trained length."""
        tests = [f"{kind}_{n}" for kind in ("longer", "later") for n in self.longer]
        return [self.accuracy(name, test) for test in tests]


def load_longer() -> Longer:
    """Return the stored trainings of every encoding at one distance.

    Raises
    ------
    ValueError
        If one is missing.
    """
    trained, *longer = probes.PROTOCOL["tested"]
    runs = defaultdict(list)
    for record in probe.records():
        if probe.distance(record) == probes.TESTED_AT:
            name = probe.variant(record).label
            runs[SHOWN.get(name, name)].append(record["metrics"])
    return Longer(trained, tuple(longer), dict(runs))


def longer_rows(
    runs: Longer, names: Sequence[str], tests: Mapping[str, str]
) -> dict[str, dict[str, str]]:
    """Return accuracies in per cent as trained and beyond, with the lowest and highest seed.

    Parameters
    ----------
    runs : Longer
    names : sequence of str
        Encodings.
    tests : mapping from words to the name of a test, such as "longer_128"
    """
    found = {}
    for name in names:
        found[name] = {"as trained": f"{runs.accuracy(name, f'longer_{runs.trained}'):.0%}"}
        for words, test in tests.items():
            seeds = [m[test] for m in runs.good(name)]
            spread = f"{min(seeds):.0%} to {max(seeds):.0%}"
            found[name][f"{test.split('_')[1]}, {words}"] = f"{np.mean(seeds):.0%} ({spread})"
        found[name]["learned it"] = f"{len(runs.good(name))} of {len(runs.runs[name])}"
    return found
