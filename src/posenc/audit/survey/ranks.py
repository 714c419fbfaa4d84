"""How far our ranks agree with the printed ones, and how sure that is."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from posenc.audit import printed
from posenc.audit.survey.ours import cells, columns, common, in_columns, theirs
from posenc.study import exact, statistics
from posenc.study.tables import Scores


@dataclass(frozen=True)
class Agreement:
    """Kendall's tau of our average ranks with the printed ones, and our places of two methods."""

    tau: float
    p_value: float
    spe: float
    tupe: float

    @property
    def repeats(self) -> bool:
        """Whether tau is significant and SPE and TUPE are among the first three."""
        return self.tau > 0 and self.p_value < 0.05 and max(self.spe, self.tupe) <= 3

    def __str__(self) -> str:
        return (
            f"tau {self.tau:+.2f} (p {self.p_value:.2f}), SPE in place {self.spe:g} and TUPE in "
            f"place {self.tupe:g} of 8"
        )


def agreement(scores: Scores, spe: str, datasets: Iterable[str] | None = None) -> Agreement:
    """Rank the survey's methods by our scores and compare with the ranks of its accuracies."""
    ranks = statistics.average_ranks(in_columns(scores, spe, datasets))
    test = stats.kendalltau(ranks, _printed_ranks(scores.model))
    places = dict(zip(printed.COLUMNS, stats.rankdata(ranks), strict=True))
    return Agreement(
        float(test.statistic), float(test.pvalue), float(places["SPE"]), float(places["TUPE"])
    )


def first_three(scores: Scores, spe: str) -> str:
    """Return the survey's three best methods by our scores, such as "TUPE, T-PE, SPE"."""
    means = statistics.average_ranks(in_columns(scores, spe))
    return ", ".join(printed.COLUMNS[i] for i in np.argsort(means, kind="stable")[:3])


def redrawn_tau(scores: Scores, spe: str, n_draws: int = 400) -> tuple[float, float]:
    """Return the middle 95 % of tau when the seeds of every cell are drawn with replacement."""
    found = np.array([cells(scores, d, columns(spe)) for d in scores.datasets])
    draws = np.random.default_rng(0).integers(found.shape[2], size=(n_draws, *found.shape))
    ranks = [
        statistics.average_ranks(np.take_along_axis(found, draw, axis=2).mean(axis=2))
        for draw in draws
    ]
    taus = [stats.kendalltau(one, _printed_ranks(scores.model)).statistic for one in ranks]
    low, high = np.quantile(taus, [0.025, 0.975])
    return float(low), float(high)


def redrawn_concordance(scores: Scores, n_draws: int = 2000) -> NDArray[np.float64]:
    """Return Kendall's W of the printed accuracies of common sets, run again with our seed spread.

    Every draw adds normal noise to the printed table, with the standard deviation between our
    seeds on that data set.
    """
    datasets = common(scores)
    table = theirs(scores.model, datasets)
    sigma = np.array([exact.components(cells(scores, d))[0] for d in datasets])
    noise = np.random.default_rng(0).normal(size=(n_draws, *table.shape)) * sigma[:, None]
    return np.array([exact.concordance(table + one) for one in noise])


def _printed_ranks(model: str) -> NDArray[np.float64]:
    return statistics.average_ranks(printed.accuracy(model))
