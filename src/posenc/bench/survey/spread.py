"""How wide seeds and encodings spread on each data set."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from posenc.bench import audit, statistics
from posenc.bench.survey.ours import cells
from posenc.bench.tables import Scores


@dataclass(frozen=True)
class Spread:
    """Spread of the scores on one data set: standard deviations, and a test of the encodings."""

    seeds: float
    encodings: float
    p_value: float


def spreads(scores: Scores) -> dict[str, Spread]:
    """Return the spread between seeds and between encodings on every data set.

    The p-value is that of Kruskal and Wallis for equal distributions of all encodings, with
    Holm's correction over the data sets.
    """
    found = {d: cells(scores, d) for d in scores.datasets}
    p_values = statistics.holm([_kruskal(table) for table in found.values()])
    return {
        d: Spread(*audit.components(table), float(p))
        for (d, table), p in zip(found.items(), p_values, strict=True)
    }


def _kruskal(table: NDArray) -> float:
    """Return the p-value of Kruskal and Wallis; 1 where all numbers are equal."""
    return 1.0 if np.ptp(table) == 0 else float(stats.kruskal(*table).pvalue)
