"""How wide seeds and encodings spread on each data set."""

from dataclasses import dataclass

from posenc.audit.survey.ours import cells
from posenc.study import exact, statistics
from posenc.study.tables import Scores


@dataclass(frozen=True)
class Spread:
    """Spread of the scores on one data set: standard deviations, and a test of the encodings."""

    seeds: float
    encodings: float
    p_value: float


def spreads(scores: Scores) -> dict[str, Spread]:
    """Return the spread between seeds and between encodings on every data set.

    The p-value is that of Friedman's test with the seeds as blocks, with Holm's correction over
    the data sets.
    """
    found = {d: cells(scores, d) for d in scores.datasets}
    p_values = statistics.holm([statistics.friedman(table.T).p_value for table in found.values()])
    return {
        d: Spread(*exact.components(table), float(p))
        for (d, table), p in zip(found.items(), p_values, strict=True)
    }
