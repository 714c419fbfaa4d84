"""Trained at one length, read at longer ones: results of `python -m posenc.bench.extrapolation`."""

from statistics import fmean

from posenc.study import results, tables

LEARNED = 0.9
"""Validation accuracy from which a training has learned its task."""


def runs() -> list[dict]:
    """Return the finished trainings, of every encoding."""
    return tables.finished(results.load("lengths"))


def lengths(found: list[dict]) -> list[int]:
    """Return the lengths at which they were tested; the first is that of training."""
    return found[0]["settings"]["test_lengths"]


def mean_at(found: list[dict], encoding: str, length: int) -> float:
    """Return the mean accuracy at a length of the trainings that learned the task."""
    return fmean(
        run["metrics"][f"longer_{length}"]
        for run in found
        if run["encoding"] == encoding and run["metrics"]["validation_accuracy"] >= LEARNED
    )
