"""From scores to statements: intervals over seeds, ranks over data sets, tests, effect sizes.

A score table is an array (n_datasets, n_methods), higher is better, one mean over seeds per entry.
Friedman's test is in `friedman`; `average_ranks`, `wilcoxon`, `wilcoxon_holm` and `holm` are those
from there, and what ties is decided as there, after rounding to nine decimals.
Sources: Demšar (2006), Statistical comparisons of classifiers over multiple data sets;
Benavoli et al. (2014, 2017) for the Bayesian signed-rank test; Kerby (2014) for the effect size.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats

from posenc import _checks
from posenc_book.statistics import equality
from posenc_book.statistics.friedman import (
    DECIMALS,
    average_ranks,
    holm,
    wilcoxon,
    wilcoxon_holm,
)

__all__ = [
    "Comparison",
    "Interval",
    "average_ranks",
    "compare",
    "critical_difference",
    "holm",
    "interval",
    "nemenyi",
    "ranks",
    "t_interval",
    "wilcoxon",
    "wilcoxon_holm",
]


@dataclass(frozen=True)
class Interval:
    """A mean over seeds and its interval.

    Parameters
    ----------
    mean, low, high : float
        In the unit of the scores.
    n : int
        Seeds.

    Examples
    --------
    >>> print(Interval(0.8, 0.75, 0.85, n=5))
    0.800 [0.750, 0.850]
    """

    mean: float
    low: float
    high: float
    n: int

    def __str__(self) -> str:
        return f"{self.mean:.3f} [{self.low:.3f}, {self.high:.3f}]"


def interval(scores: ArrayLike, *, level: float = 0.95, n_resamples: int = 5000) -> Interval:
    """Return the mean of scores over seeds with a percentile bootstrap interval.

    Parameters
    ----------
    scores : array of shape (n_seeds,)
    level : float
        Coverage asked for. With few seeds a percentile interval is too narrow: five seeds give
        roughly 0.85 where 0.95 is asked.
    n_resamples : int
        Resamples, drawn with a fixed seed.

    Returns
    -------
    Interval

    Raises
    ------
    ValueError
        If there is no score, one is not finite, `level` is no probability below 1, or `n_resamples`
        is below 1.

    Examples
    --------
    >>> print(interval([0.71, 0.74, 0.72, 0.78, 0.75]))
    0.740 [0.720, 0.762]
    """
    scores = _checks.finite_array("scores", scores, ndim=1)
    if not scores.size:
        raise ValueError("scores must hold at least one seed, got none")
    level = _checks.probability("level", level)
    n_resamples = _checks.count("n_resamples", n_resamples, minimum=1)
    rng = np.random.default_rng(0)
    means = scores[rng.integers(scores.size, size=(n_resamples, scores.size))].mean(axis=1)
    low, high = np.quantile(means, [(1 - level) / 2, (1 + level) / 2])
    mean, low, high = np.clip([scores.mean(), low, high], scores.min(), scores.max())
    return Interval(float(mean), float(low), float(high), scores.size)


def t_interval(scores: ArrayLike, *, level: float = 0.95) -> Interval:
    """Return the mean of scores over seeds with Student's interval.

    It keeps its level with few seeds if the scores are about normal, as differences of paired
    runs often are; a bounded score near its bound is not.

    Parameters
    ----------
    scores : array of shape (n_seeds,)
        At least two.
    level : float
        Coverage.

    Returns
    -------
    Interval

    Raises
    ------
    ValueError
        If there are fewer than two scores, one is not finite, or `level` is no probability below 1.

    Examples
    --------
    >>> print(t_interval([0.71, 0.74, 0.72, 0.78, 0.75]))
    0.740 [0.706, 0.774]
    """
    scores = _checks.finite_array("scores", scores, ndim=1)
    if scores.size < 2:
        raise ValueError(f"scores must hold at least two seeds, got {scores.size}")
    level = _checks.probability("level", level)
    mean, error = scores.mean(), stats.sem(scores)
    half = stats.t.ppf((1 + level) / 2, scores.size - 1) * error
    return Interval(float(mean), float(mean - half), float(mean + half), scores.size)


def ranks(scores: ArrayLike) -> NDArray[np.float64]:
    """Return the rank of each method on each data set, 1 is best, ties share their mean rank.

    Parameters
    ----------
    scores : array of shape (n_datasets, n_methods)

    Returns
    -------
    array of shape (n_datasets, n_methods); each row sums to n_methods (n_methods + 1) / 2.

    Raises
    ------
    ValueError
        If `scores` is no finite array of at least one data set and two methods.

    Examples
    --------
    >>> ranks([[0.9, 0.8, 0.8], [0.5, 0.6, 0.7]]).tolist()
    [[1.0, 2.5, 2.5], [3.0, 2.0, 1.0]]
    """
    return stats.rankdata(-_table(scores), axis=1)


def nemenyi(scores: ArrayLike) -> NDArray[np.float64]:
    """Return Nemenyi's p-values for every pair of methods.

    Parameters
    ----------
    scores : array of shape (n_datasets, n_methods)

    Returns
    -------
    array of shape (n_methods, n_methods), symmetric, 1 on the diagonal.

    Raises
    ------
    ValueError
        If `scores` is no finite array of at least one data set and two methods.

    Source: Demšar (2006), section 3.2.

    Examples
    --------
    >>> nemenyi([[0.9, 0.8, 0.7]] * 6).round(3).tolist()
    [[1.0, 0.193, 0.002], [0.193, 1.0, 0.193], [0.002, 0.193, 1.0]]
    """
    table = _table(scores)
    means = average_ranks(table)
    distance = np.abs(means[:, None] - means) / _rank_error(*table.shape)
    p_values = stats.studentized_range.sf(distance * np.sqrt(2), table.shape[1], np.inf)
    np.fill_diagonal(p_values, 1.0)
    return p_values


def critical_difference(n_datasets: int, n_methods: int, alpha: float = 0.05) -> float:
    """Return the difference of average ranks above which Nemenyi's test rejects.

    Parameters
    ----------
    n_datasets : int
        At least 1.
    n_methods : int
        At least 2.
    alpha : float
        Level of the test, above 0 and below 1.

    Returns
    -------
    float
        In ranks.

    Raises
    ------
    ValueError
        If a number is too small or `alpha` is out of its range.

    Source: Demšar (2006), section 3.2.

    Examples
    --------
    >>> round(critical_difference(14, 4), 2)
    1.25
    """
    n_datasets = _checks.count("n_datasets", n_datasets, minimum=1)
    n_methods = _checks.count("n_methods", n_methods, minimum=2)
    alpha = _checks.positive("alpha", _checks.probability("alpha", alpha))
    q = stats.studentized_range.ppf(1 - alpha, n_methods, np.inf) / np.sqrt(2)
    return float(q * _rank_error(n_datasets, n_methods))


@dataclass(frozen=True)
class Comparison:
    """One method against another over the data sets.

    Parameters
    ----------
    difference : float
        Mean score of the first minus that of the second.
    wins, ties, losses : int
        Data sets on which the first is better, equal, worse.
    rank_biserial : float
        Matched-pairs effect size in [-1, 1]: the signed ranks' balance.
    better, equal, worse : float
        Posterior probabilities that the first is better, practically equal, worse.

    Examples
    --------
    >>> found = compare([0.9, 0.8, 0.7, 0.8], [0.8, 0.7, 0.7, 0.6])
    >>> found.wins, found.ties, found.losses
    (3, 1, 0)
    """

    difference: float
    wins: int
    ties: int
    losses: int
    rank_biserial: float
    better: float
    equal: float
    worse: float


def compare(first: ArrayLike, second: ArrayLike, *, rope: float = 0.01) -> Comparison:
    """Compare two methods by effect size and by the Bayesian signed-rank test.

    Parameters
    ----------
    first, second : arrays of shape (n_datasets,)
    rope : float
        Differences up to this size count as practically equal.

    Returns
    -------
    Comparison
        Of the first against the second.

    Raises
    ------
    ValueError
        If the shapes of `first` and `second` differ, there is no data set, a score is not finite,
        or `rope` is not above 0.

    Examples
    --------
    >>> found = compare([0.9, 0.8, 0.7, 0.8], [0.8, 0.7, 0.7, 0.6], rope=0.01)
    >>> round(found.difference, 3), found.rank_biserial, found.better > found.equal
    (0.1, 1.0, True)
    """
    first = _checks.finite_array("first", first, ndim=1)
    second = _checks.finite_array("second", second, ndim=1)
    if first.shape != second.shape or not first.size:
        raise ValueError(f"first and second must pair up, got {first.size} and {second.size}")
    difference = first - second
    rounded = difference.round(DECIMALS)
    chances = equality.signed_rank(difference, rope)
    return Comparison(
        difference=float(difference.mean()),
        wins=int((rounded > 0).sum()),
        ties=int((rounded == 0).sum()),
        losses=int((rounded < 0).sum()),
        rank_biserial=wilcoxon(difference).rank_biserial,
        better=chances.better,
        equal=chances.equal,
        worse=chances.worse,
    )


def _rank_error(n_datasets: int, n_methods: int) -> float:
    return np.sqrt(n_methods * (n_methods + 1) / (6 * n_datasets))


def _table(scores: ArrayLike) -> NDArray[np.float64]:
    """Return scores as an array, rounded so that what differs by less ties."""
    table = _checks.finite_array("scores", scores, ndim=2).astype(float).round(DECIMALS)
    if table.shape[0] < 1 or table.shape[1] < 2:
        raise ValueError(
            f"scores must be (n_datasets >= 1, n_methods >= 2), got shape {table.shape}"
        )
    return table
