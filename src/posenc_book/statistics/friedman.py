"""Do the methods differ over the data sets, which ones, and by how much?

`friedman` asks whether all methods rank alike, `wilcoxon` and `wilcoxon_holm` which pairs differ,
`cliques` which methods stand together in a critical-difference diagram, and `effect` how large a
difference is. The p-values of ranks are counted, not approximated: with few sets the chi-square
form of Friedman's test promises more than the data can give (for a chi-square of 6.0 with 4 sets
and 3 methods it says 0.0498, counting says 0.069), so each result names the smallest p-value that
such data could have reached.

Scores are (n_sets, n_methods), higher is better; differences are (n_sets,) or
(n_sets, n_resamples), positive where the first method is better. Sets are the independent units.

Sources: Demšar (2006), Statistical comparisons of classifiers over multiple data sets; Benavoli,
Corani and Mangili (2016), Should we really use post-hoc tests based on mean ranks?, for
Wilcoxon-Holm in place of Nemenyi's test; Pratt (1959) for differences of zero.
"""

import math
from dataclasses import dataclass
from itertools import combinations, permutations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats

from posenc import _checks

# More reachable rank sums times orders of a row than this are drawn at random, not counted.
MOST_STATES = 1_000_000
# Up to this many differences the distribution of the signed ranks is counted.
MOST_EXACT = 200
# What becomes of differences of 0: ranked without a sign, or left out.
ZEROS = ("pratt", "wilcox")
# Scores and differences are compared after rounding, so that 0.3 - 0.2 ties with 0.2 - 0.1.
DECIMALS = 9


@dataclass(frozen=True)
class Friedman:
    """Friedman's test that all methods rank alike.

    Parameters
    ----------
    statistic : float
        Friedman's chi-square, corrected for ties.
    p_value : float
        Share of all orders within the sets that reach the statistic; of random orders where there
        are too many to count.
    p_chi_square : float
        What the chi-square approximation says, for comparison only.
    smallest_p : float
        The smallest p-value that data with these ties could have shown by this method.
    exact : bool
        Whether the orders were counted (True) or drawn (False).

    Examples
    --------
    >>> test = friedman([[0.9, 0.8, 0.7]] * 3)
    >>> round(test.p_value, 4), round(test.smallest_p, 4), test.exact
    (0.0278, 0.0278, True)
    """

    statistic: float
    p_value: float
    p_chi_square: float
    smallest_p: float
    exact: bool


def friedman(scores: ArrayLike, *, n_draws: int = 20_000, seed: int = 0) -> Friedman:
    """Return Friedman's test with a counted p-value; ties share their mean rank.

    If the methods are alike, each order of a set's ranks is equally likely. The distribution of
    the statistic is built up set by set where the rank sums can be listed, else from random orders.

    Parameters
    ----------
    scores : array of shape (n_sets >= 2, n_methods >= 2)
    n_draws : int
        Random orders where counting is not feasible.
    seed : int
        Of the random orders.

    Returns
    -------
    Friedman

    Raises
    ------
    ValueError
        If `scores` has fewer than two sets or methods or one is not finite, or, where orders are
        drawn, `n_draws` is below 1.

    Source: Friedman (1937); Demšar (2006), section 3.2.

    Examples
    --------
    >>> test = friedman([[0.9, 0.8, 0.7], [0.6, 0.5, 0.4], [0.9, 0.7, 0.8], [0.8, 0.9, 0.7]])
    >>> round(test.statistic, 3), round(test.p_value, 3), round(test.p_chi_square, 4)
    (4.5, 0.125, 0.1054)
    """
    doubled = _doubled_ranks(scores)
    n_sets, n_methods = doubled.shape
    centre = n_sets * (n_methods + 1)  # every doubled rank sum, were the methods alike
    spread = np.square(doubled - (n_methods + 1)).sum()  # the tie correction is in here
    if not spread:
        return Friedman(0.0, 1.0, 1.0, 1.0, exact=True)
    scale = (n_methods - 1) / spread
    found = scale * np.square(doubled.sum(axis=0) - centre).sum()
    p_chi_square = float(stats.chi2.sf(found, n_methods - 1))
    counted = _count_rank_sums(doubled)
    if counted is None:
        sums = _draw_rank_sums(doubled, _checks.count("n_draws", n_draws, minimum=1), seed)
        hits = (scale * np.square(sums - centre).sum(axis=1) >= found - 1e-9).sum()
        p_value, smallest = (1 + hits) / (1 + n_draws), 1 / (1 + n_draws)
        return Friedman(float(found), float(p_value), p_chi_square, smallest, exact=False)
    sums, chances = counted
    statistics = scale * np.square(sums - centre).sum(axis=1)
    p_value = chances[statistics >= found - 1e-9].sum()
    smallest = chances[statistics >= statistics.max() - 1e-9].sum()
    return Friedman(float(found), min(1.0, float(p_value)), p_chi_square, float(smallest), True)


@dataclass(frozen=True)
class SignedRank:
    """Wilcoxon's signed-rank test that differences are as often above 0 as below, rank by rank.

    Parameters
    ----------
    p_value : float
    smallest_p : float
        The p-value if all differences other than 0 had one sign.
    rank_biserial : float
        Effect size in [-1, 1]: the balance of the signed ranks (Kerby 2014).
    n : int
        Differences that are not 0.

    Examples
    --------
    >>> test = wilcoxon([0.03, 0.01, 0.02, -0.01])
    >>> test.n, test.p_value, test.smallest_p
    (4, 0.375, 0.125)
    """

    p_value: float
    smallest_p: float
    rank_biserial: float
    n: int


def wilcoxon(
    differences: ArrayLike, *, alternative: str = "two-sided", zeros: str = "pratt"
) -> SignedRank:
    """Return Wilcoxon's signed-rank test, exact with ties and zeros as well.

    scipy's exact form knows neither ties nor zeros, which scores of small sets have; the
    distribution of the sum of the positive ranks is therefore built up here, rank by rank. Beyond
    200 differences scipy's normal approximation is used.

    Parameters
    ----------
    differences : array of shape (n_sets,) or (n_sets, n_resamples)
        With resamples, the mean of each set counts: resamples of a set are not independent.
    alternative : "two-sided" or "greater"
    zeros : "pratt" or "wilcox"
        Differences of 0 are ranked but have no sign, or are left out.

    Returns
    -------
    SignedRank

    Raises
    ------
    ValueError
        If there is no difference, one is not finite, or the alternative or the treatment of zeros
        is unknown.

    Source: Wilcoxon (1945), also for zeros that are left out; Pratt (1959) for ranking them.

    Examples
    --------
    >>> wilcoxon([0.03, 0.01, 0.02, 0.05, 0.04, 0.01])
    SignedRank(p_value=0.03125, smallest_p=0.03125, rank_biserial=1.0, n=6)
    >>> differences = [0.0, -0.01, -0.02, 0.03, 0.04, 0.05]
    >>> [wilcoxon(differences, zeros=zeros).p_value for zeros in ZEROS]
    [0.375, 0.3125]
    """
    _checks.choice("alternative", alternative, ("two-sided", "greater"))
    _checks.choice("zeros", zeros, ZEROS)
    means = set_means(differences).round(DECIMALS)
    if zeros == "wilcox":
        means = means[means != 0]
    n = int(np.count_nonzero(means))
    sides = 2 if alternative == "two-sided" else 1
    if not n:
        return SignedRank(1.0, 1.0, 0.0, 0)
    weights = np.rint(2 * stats.rankdata(np.abs(means)))[means != 0].astype(int)
    positive = int(weights[means[means != 0] > 0].sum())
    balance = 2 * positive - int(weights.sum())
    if n > MOST_EXACT:
        test = stats.wilcoxon(
            means, zero_method=zeros, method="approx", alternative=alternative, correction=True
        )
        p_value = float(test.pvalue)
    else:
        balances, chances = rank_balances(weights)
        reached = balances >= abs(balance) if sides == 2 else balances >= balance
        p_value = min(1.0, float(sides * chances[reached].sum()))
    return SignedRank(p_value, min(1.0, sides * 0.5**n), balance / int(weights.sum()), n)


def wilcoxon_holm(scores: ArrayLike, *, zeros: str = "pratt") -> NDArray[np.float64]:
    """Return two-sided Wilcoxon p-values of all pairs of methods, adjusted by Holm.

    Parameters
    ----------
    scores : array of shape (n_sets, n_methods)
    zeros : "pratt" or "wilcox"
        As for `wilcoxon`.

    Returns
    -------
    array of shape (n_methods, n_methods), symmetric, 1 on the diagonal.

    Raises
    ------
    ValueError
        If `scores` is no finite array of at least two sets and two methods, or the treatment of
        zeros is unknown.

    Source: Benavoli, Corani and Mangili (2016), for this in place of Nemenyi's test.

    Examples
    --------
    >>> wilcoxon_holm([[0.9, 0.8, 0.7]] * 6).round(3).tolist()
    [[1.0, 0.094, 0.094], [0.094, 1.0, 0.094], [0.094, 0.094, 1.0]]
    """
    table = _table(scores)
    pairs = list(combinations(range(table.shape[1]), 2))
    raw = [wilcoxon(table[:, i] - table[:, j], zeros=zeros).p_value for i, j in pairs]
    adjusted = np.ones((table.shape[1],) * 2)
    for (i, j), p in zip(pairs, holm(raw), strict=True):
        adjusted[i, j] = adjusted[j, i] = p
    return adjusted


def holm(p_values: ArrayLike) -> NDArray[np.float64]:
    """Return p-values adjusted by Holm's step-down method, in the given order.

    scipy adjusts for false discoveries only; this keeps the chance of a single false rejection
    in the family below the level, whatever the tests have to do with each other (Holm 1979).

    Parameters
    ----------
    p_values : array of shape (n_tests,)

    Returns
    -------
    array of shape (n_tests,)

    Raises
    ------
    ValueError
        If a value is no probability.

    Source: Holm (1979).

    Examples
    --------
    >>> holm([0.04, 0.01, 0.03]).tolist()
    [0.06, 0.03, 0.06]
    """
    p_values = _checks.finite_array("p_values", p_values, ndim=1).astype(float)
    if ((p_values < 0) | (p_values > 1)).any():
        raise ValueError(f"p_values must lie in [0, 1], got {p_values.tolist()}")
    order = np.argsort(p_values, kind="stable")
    steps = p_values[order] * np.arange(p_values.size, 0, -1)
    adjusted = np.empty_like(p_values)
    adjusted[order] = np.minimum(np.maximum.accumulate(steps), 1.0)
    return adjusted


def average_ranks(scores: ArrayLike) -> NDArray[np.float64]:
    """Return the mean rank of each method over the sets; 1 is best, and ties share.

    Parameters
    ----------
    scores : array of shape (n_sets, n_methods)

    Returns
    -------
    array of shape (n_methods,)

    Raises
    ------
    ValueError
        If `scores` is no finite array of at least one set and two methods.

    Examples
    --------
    >>> average_ranks([[0.9, 0.8, 0.8], [0.5, 0.6, 0.7]]).tolist()
    [2.0, 2.25, 1.75]
    """
    return _doubled_ranks(scores, least=1).mean(axis=0) / 2


def cliques(scores: ArrayLike, *, alpha: float = 0.05) -> list[tuple[int, ...]]:
    """Return the groups of methods within which no pair is told apart.

    These are the bars of a critical-difference diagram: runs of neighbours in the order of
    average ranks, all of whose pairs have an adjusted p-value above alpha, as long as can be.

    Parameters
    ----------
    scores : array of shape (n_sets, n_methods)
    alpha : float
        Level, of the whole family of pairs.

    Returns
    -------
    list of tuples of method numbers, best first; groups of one are left out.

    Raises
    ------
    ValueError
        If `scores` is no finite array of at least two sets and two methods, or `alpha` is no
        probability below 1.

    Source: Demšar (2006), section 3.2, for the diagram.

    Examples
    --------
    >>> best_apart = [[0.9, 0.7, 0.7]] * 5 + [[0.9, 0.6, 0.7], [0.8, 0.7, 0.6]]
    >>> cliques(best_apart)
    [(1, 2)]
    """
    alpha = _checks.probability("alpha", alpha)
    order = np.argsort(average_ranks(scores), kind="stable")
    apart = wilcoxon_holm(scores)[np.ix_(order, order)] <= alpha
    groups, covered = [], 0
    for first in range(order.size):
        last = first
        while last + 1 < order.size and not apart[first : last + 1, last + 1].any():
            last += 1
        if last > first and last + 1 > covered:
            groups.append(tuple(int(m) for m in order[first : last + 1]))
            covered = last + 1
    return groups


@dataclass(frozen=True)
class Effect:
    """A mean difference over sets and its interval.

    Parameters
    ----------
    mean, low, high : float
        In the unit of the scores.
    level : float
        Coverage asked for.
    n_sets, n_resamples : int

    Examples
    --------
    >>> print(Effect(0.02, 0.01, 0.03, level=0.95, n_sets=14, n_resamples=5))
    +0.020 [+0.010, +0.030]
    """

    mean: float
    low: float
    high: float
    level: float
    n_sets: int
    n_resamples: int

    def __str__(self) -> str:
        return f"{self.mean:+.3f} [{self.low:+.3f}, {self.high:+.3f}]"


def effect(
    differences: ArrayLike,
    *,
    level: float = 0.95,
    method: str = "t",
    n_draws: int = 5000,
    seed: int = 0,
) -> Effect:
    """Return the mean difference over sets, with an interval that counts sets and resamples.

    "t" is Student's interval of the means of the sets: what resamples vary by within a set is in
    the spread of these means already. "bootstrap" draws sets and then resamples within each drawn
    set. It needs no normal distribution, but is a little wide where resamples within a set vary
    more than sets do, and a little narrow below about fifteen sets.

    Parameters
    ----------
    differences : array of shape (n_sets >= 2,) or (n_sets >= 2, n_resamples)
    level : float
        Coverage.
    method : "t" or "bootstrap"
    n_draws, seed : int
        Of the bootstrap.

    Returns
    -------
    Effect

    Raises
    ------
    ValueError
        If there are fewer than two sets, a difference is not finite, `level` is no probability
        below 1, `method` is unknown, or that is the bootstrap and `n_draws` is below 1.

    Examples
    --------
    >>> differences = [[0.03, 0.02], [0.01, 0.02], [0.04, 0.03]]
    >>> print(effect(differences))
    +0.025 [+0.000, +0.050]
    >>> print(effect(differences, method="bootstrap"))
    +0.025 [+0.015, +0.035]
    """
    _checks.choice("method", method, ("t", "bootstrap"))
    level = _checks.probability("level", level)
    cells = _cells(differences)
    n_sets, n_resamples = cells.shape
    if n_sets < 2:
        raise ValueError(f"differences must hold at least two sets, got {n_sets}")
    mean = float(cells.mean())
    if method == "t":
        half = stats.t.ppf((1 + level) / 2, n_sets - 1) * stats.sem(cells.mean(axis=1))
        low, high = mean - half, mean + half
    else:
        n_draws = _checks.count("n_draws", n_draws, minimum=1)
        means = _two_level_means(cells, n_draws, np.random.default_rng(seed))
        low, high = np.quantile(means, [(1 - level) / 2, (1 + level) / 2])
    return Effect(mean, float(low), float(high), level, n_sets, n_resamples)


def set_means(differences: ArrayLike) -> NDArray[np.float64]:
    """Return one difference per set: the mean over the resamples where there are some.

    Parameters
    ----------
    differences : array of shape (n_sets,) or (n_sets, n_resamples)

    Returns
    -------
    array of shape (n_sets,)

    Raises
    ------
    ValueError
        If `differences` is empty, not finite, or has more than two axes.

    Examples
    --------
    >>> set_means([[0.03, 0.01], [0.04, 0.06]]).round(3).tolist()
    [0.02, 0.05]
    """
    return _cells(differences).mean(axis=1)


def _cells(differences: ArrayLike) -> NDArray[np.float64]:
    """Return differences as (n_sets, n_resamples); one resample where none are given."""
    cells = _checks.finite_array("differences", differences, ndim=None).astype(float)
    if cells.ndim not in (1, 2) or not cells.size:
        raise ValueError(
            "differences must be (n_sets,) or (n_sets, n_resamples) and not empty, "
            f"got shape {cells.shape}"
        )
    return cells.reshape(cells.shape[0], -1)


def _table(scores: ArrayLike, least: int = 2) -> NDArray[np.float64]:
    table = _checks.finite_array("scores", scores, ndim=2).astype(float)
    if table.shape[0] < least or table.shape[1] < 2:
        raise ValueError(
            f"scores must be (n_sets >= {least}, n_methods >= 2), got shape {table.shape}"
        )
    return table


def _doubled_ranks(scores: ArrayLike, least: int = 2) -> NDArray[np.int64]:
    """Return twice the rank of each method on each set: whole numbers, with ties as well."""
    table = _table(scores, least).round(DECIMALS)
    return np.rint(2 * stats.rankdata(-table, axis=1)).astype(int)


def _count_rank_sums(doubled: NDArray) -> tuple[NDArray, NDArray] | None:
    """Return all reachable rank sums, each in rising order, and their chances; None if too many.

    The statistic does not ask which method has which sum, so sums that are reorderings of each
    other are one state.
    """
    n_sets, n_methods = doubled.shape
    places = float(2 * n_sets * n_methods + 1) ** np.arange(n_methods)
    if places[-1] * (2 * n_sets * n_methods + 1) > 2**53:
        return None  # the sums of a state no longer fit into one number
    sums = np.sort(doubled[:1], axis=1)
    chances: NDArray = np.ones(1)
    for row in doubled[1:]:
        if math.factorial(n_methods) * len(sums) > MOST_STATES:
            return None
        orders = np.array(sorted(set(permutations(row.tolist()))))
        reached = np.sort((sums[:, None] + orders).reshape(-1, n_methods), axis=1)
        _, first, state = np.unique(reached @ places, return_index=True, return_inverse=True)
        sums, chances = reached[first], np.bincount(state, np.repeat(chances, len(orders)))
        chances = chances / len(orders)
    return sums, chances


def _draw_rank_sums(doubled: NDArray, n_draws: int, seed: int) -> NDArray:
    """Return the rank sums of random orders, (n_draws, n_methods)."""
    rng = np.random.default_rng(seed)
    sums = np.zeros((n_draws, doubled.shape[1]), dtype=int)
    for row in doubled:
        sums += rng.permuted(np.tile(row, (n_draws, 1)), axis=1)
    return sums


def rank_balances(weights: NDArray[np.int64]) -> tuple[NDArray, NDArray]:
    """Return positive minus negative ranks, over all patterns of signs, and their chances.

    Parameters
    ----------
    weights : int array of shape (n,)
        The ranks, doubled where ties share one.

    Returns
    -------
    two arrays: all balances in rising order, and how probable each is if signs are fair.

    Raises
    ------
    ValueError
        If a weight is no integer of at least 0.

    Examples
    --------
    >>> balances, chances = rank_balances(np.array([1, 2]))
    >>> balances.tolist(), chances.tolist()
    ([-3, -1, 1, 3], [0.25, 0.25, 0.25, 0.25])
    """
    weights = _checks.finite_array("weights", weights, ndim=1)
    if weights.dtype.kind not in "iu" or (weights < 0).any():
        raise ValueError(f"weights must be integers of at least 0, got {weights.tolist()}")
    chances = np.ones(1)
    for weight in weights:
        longer = np.zeros(chances.size + weight)
        longer[: chances.size] += chances / 2
        longer[weight:] += chances / 2
        chances = longer
    return 2 * np.arange(chances.size) - int(weights.sum()), chances


def _two_level_means(cells: NDArray, n_draws: int, rng: np.random.Generator) -> NDArray:
    """Return means of sets drawn with replacement, resamples drawn within each; (n_draws,)."""
    n_sets, n_resamples = cells.shape
    sets = rng.integers(n_sets, size=(n_draws, n_sets, 1))
    resamples = rng.integers(n_resamples, size=(n_draws, n_sets, n_resamples))
    return cells[sets, resamples].mean(axis=(1, 2))
