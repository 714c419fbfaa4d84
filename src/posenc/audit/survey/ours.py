"""Our scores by data set, and in the survey's eight columns."""

from collections.abc import Callable, Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from posenc import _checks, data
from posenc.audit import printed
from posenc.study import statistics
from posenc.study.tables import Scores

N_SEEDS = 5
# The survey's columns with our encodings, in order; SPE stands twice, once for each candidate.
PAIRS = [(column, name) for column, names in printed.OURS.items() for name in names]


def whole(scores: Scores, n_seeds: int = N_SEEDS) -> Scores:
    """Return the data sets on which every encoding has finished with at least `n_seeds` seeds."""

    def enough(dataset: str) -> bool:
        return all(len(scores.cells.get((dataset, e), ())) >= n_seeds for e in scores.encodings)

    kept = tuple(d for d in scores.datasets if enough(d))
    return Scores(scores.model, scores.metric, kept, scores.encodings, scores.cells)


def cells(
    scores: Scores, dataset: str, encodings: Sequence[str] | None = None
) -> NDArray[np.float64]:
    """Return the scores on one data set, (n_encodings, n_seeds); all encodings by default."""
    return np.array([scores.cells[dataset, e] for e in encodings or scores.encodings])


def ranked(scores: Scores) -> list[str]:
    """Return the encodings by average rank, the best first."""
    means = statistics.average_ranks(scores.mean())
    return [scores.encodings[i] for i in np.argsort(means, kind="stable")]


def common(scores: Scores) -> list[str]:
    """Return the survey's data sets that the scores have, in the survey's order."""
    return [d for d in printed.DATASETS if d in scores.datasets]


def theirs(model: str, datasets: Iterable[str]) -> NDArray[np.float64]:
    """Return the printed accuracies of some data sets, (n_datasets, 8)."""
    return printed.accuracy(model)[[printed.DATASETS.index(d) for d in datasets]]


def columns(spe: str) -> list[str]:
    """Return our encodings for the survey's eight columns, with `spe` for SPE.

    Raises
    ------
    ValueError
        If `spe` is none of the candidates.
    """
    _checks.choice("spe", spe, printed.OURS["SPE"])
    return [spe if column == "SPE" else names[0] for column, names in printed.OURS.items()]


def in_columns(
    scores: Scores, spe: str, datasets: Iterable[str] | None = None, reduce: Callable = np.mean
) -> NDArray[np.float64]:
    """Return our scores in the survey's columns, reduced over seeds, (n_datasets, 8)."""
    datasets = scores.datasets if datasets is None else datasets
    return np.array([reduce(cells(scores, d, columns(spe)), axis=1) for d in datasets])


def facts(scores: Scores, name: str) -> NDArray[np.int64]:
    """Return "length", "n_channels", "n_classes" or another count of every data set."""
    return np.array([getattr(data.recorded_facts(d), name) for d in scores.datasets])


def largest_class(dataset: str) -> float:
    """Return the accuracy of always naming the largest class of the test part."""
    counts = [test for _, test in data.recorded_facts(dataset).class_counts.values()]
    return max(counts) / sum(counts)
