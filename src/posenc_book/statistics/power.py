"""How large must a difference be before these tests see it, and how often do they?

A null result says something only if the test would have seen a difference of the size that counts.
`power` simulates the tests that are used over data sets. A `Design` says what is compared: so many
sets and resamples, by how much sets differ and resamples scatter; `estimated_design` takes these
from pilot data.

Differences are paired, positive where the first method is better, in the unit of the score. All
draws have a fixed seed, and effects are tried on the same draws, so that power rises with effect.

Source: Schuirmann (1987) for the power of two one-sided tests.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special, stats

from posenc import _checks
from posenc_book.statistics.friedman import rank_balances

TESTS = ("wilcoxon", "t", "equivalence")


@dataclass(frozen=True)
class Design:
    """A comparison of two methods over data sets.

    Parameters
    ----------
    n_sets, n_resamples : int
        At least 2 and 1.
    between : float
        Standard deviation of the sets' true differences.
    within : float
        Standard deviation of the differences of single resamples around their set's. What all
        resamples of a set have in common belongs to `between`.
    tail : float
        Degrees of freedom of the Student distribution of the sets' differences, above 2: few make
        outlying sets. Infinity is the normal distribution.

    Raises
    ------
    ValueError
        If a number is too small, a deviation is negative, both are 0, or `tail` is not above 2.

    Examples
    --------
    >>> Design(n_sets=14, n_resamples=5, between=0.02, within=0.015)
    Design(n_sets=14, n_resamples=5, between=0.02, within=0.015, tail=inf)
    """

    n_sets: int
    n_resamples: int
    between: float
    within: float
    tail: float = math.inf

    def __post_init__(self) -> None:
        _checks.count("n_sets", self.n_sets, minimum=2)
        _checks.count("n_resamples", self.n_resamples, minimum=1)
        _checks.non_negative("between", self.between)
        _checks.non_negative("within", self.within)
        if not self.between + self.within > 0:
            raise ValueError(
                f"between and within must not both be 0, got {self.between} and {self.within}"
            )
        if not self.tail > 2:
            raise ValueError(f"tail must be above 2 degrees of freedom, got {self.tail!r}")


def estimated_design(differences: ArrayLike) -> Design:
    """Return the design of a table of differences, by one-way analysis of variance.

    Parameters
    ----------
    differences : array of shape (n_sets >= 2, n_resamples >= 2)
        Their mean does not matter. A negative estimate of the variance between sets counts as 0.

    Returns
    -------
    Design

    Raises
    ------
    ValueError
        If there are too few sets or resamples, or none of the differences differ.

    Source: One-way analysis of variance, with the estimate by moments.

    Examples
    --------
    >>> design = estimated_design([[0.03, 0.01], [0.05, 0.06], [-0.01, 0.01]])
    >>> round(design.between, 3), round(design.within, 3)
    (0.026, 0.012)
    """
    cells = _checks.finite_array("differences", differences, ndim=2).astype(float)
    if min(cells.shape) < 2:
        raise ValueError(
            f"differences must be (n_sets >= 2, n_resamples >= 2), got shape {cells.shape}"
        )
    within = cells.var(axis=1, ddof=1).mean()
    between = cells.mean(axis=1).var(ddof=1) - within / cells.shape[1]
    n_sets, n_resamples = cells.shape
    return Design(n_sets, n_resamples, float(np.sqrt(max(0.0, between))), float(np.sqrt(within)))


@dataclass(frozen=True)
class Power:
    """How often a test shows what is there.

    Parameters
    ----------
    value : float
        Share of simulated studies in which it does; of a difference, to the right side.
    error : float
        Monte Carlo standard error of that share.
    effect : float
        The true mean difference over data sets.
    n_runs : int
        Simulated studies.

    Examples
    --------
    >>> print(Power(0.81, 0.004, effect=0.02, n_runs=10_000))
    0.81 ± 0.004 for a difference of 0.02
    """

    value: float
    error: float
    effect: float
    n_runs: int

    def __str__(self) -> str:
        return f"{self.value:.2f} ± {self.error:.3f} for a difference of {self.effect:g}"


def power(
    effect: float,
    design: Design,
    *,
    test: str = "wilcoxon",
    margin: float = 0.0,
    alpha: float = 0.05,
    n_tests: int = 1,
    n_runs: int = 10_000,
    seed: int = 0,
) -> Power:
    """Return the power of a test over data sets, by simulation.

    Parameters
    ----------
    effect : float
        True mean difference; for equivalence, one that counts as none.
    design : Design
        How many sets and resamples there are, and by how much they vary.
    test : "wilcoxon", "t" or "equivalence"
        Two-sided signed ranks (counted) or Student's t of the sets' means; or two one-sided t
        tests.
    margin : float
        Of equivalence; above 0 there.
    alpha : float
        Level of the family.
    n_tests : int
        Tests in the family. Each is tried at alpha / n_tests, the first step of Holm's correction,
        so that the power is never overstated.
    n_runs, seed : int
        Of the simulation.

    Returns
    -------
    Power

    Raises
    ------
    ValueError
        If `test` is unknown, equivalence has no `margin`, `effect` is not finite, `alpha` is no
        probability below 1, or `n_tests` or `n_runs` is below 1.

    Examples
    --------
    >>> few, more = Design(6, 5, 0.02, 0.02), Design(20, 5, 0.02, 0.02)
    >>> round(power(0.015, few, n_runs=2000).value, 1)
    0.2
    >>> round(power(0.015, more, n_runs=2000).value, 1)
    0.8
    """
    effect = float(_checks.finite_array("effect", effect, ndim=0))
    shown = _shown(test, margin, _level(alpha, n_tests), design.n_sets)
    hits = shown(effect, _draws(design, n_runs, seed))
    value = float(hits.mean())
    return Power(value, math.sqrt(value * (1 - value) / hits.size), effect, hits.size)


def with_sets(design: Design, n_sets: int) -> Design:
    """Return the same design with another number of data sets.

    Parameters
    ----------
    design : Design
    n_sets : int
        At least 2.

    Returns
    -------
    Design

    Raises
    ------
    ValueError
        If `n_sets` is below 2.

    Examples
    --------
    >>> with_sets(Design(14, 5, 0.02, 0.02), 30).n_sets
    30
    """
    return replace(design, n_sets=n_sets)


def _level(alpha: float, n_tests: int) -> float:
    return _checks.probability("alpha", alpha) / _checks.count("n_tests", n_tests, minimum=1)


def _draws(design: Design, n_runs: int, seed: int) -> NDArray[np.float64]:
    """Return the sets' mean differences were the true mean 0, (n_runs, n_sets)."""
    rng = np.random.default_rng(seed)
    shape = (_checks.count("n_runs", n_runs, minimum=1), design.n_sets)
    if math.isinf(design.tail):
        sets = rng.normal(size=shape)
    else:  # scaled to standard deviation 1
        sets = rng.standard_t(design.tail, size=shape) * math.sqrt(1 - 2 / design.tail)
    noise = rng.normal(size=shape) / math.sqrt(design.n_resamples)
    return design.between * sets + design.within * noise


def _shown(
    test: str, margin: float, level: float, n_sets: int
) -> Callable[[float, NDArray], NDArray[np.bool_]]:
    """Return a function (effect, draws) -> bool array (n_runs,): where the test shows it."""
    _checks.choice("test", test, TESTS)
    if test == "equivalence":
        margin = _checks.positive("margin", margin)
        reach = special.stdtrit(n_sets - 1, 1 - level)
        return lambda effect, draws: _within(effect + draws, margin, reach)
    if test == "t":
        reach = special.stdtrit(n_sets - 1, 1 - level / 2)
        return lambda effect, draws: _side(effect) * _t(effect + draws) >= reach
    balances, chances = rank_balances(np.arange(1, n_sets + 1))
    tails = np.cumsum(chances[::-1])[::-1]
    reachable = balances[2 * tails <= level * (1 + 1e-9)]
    least = reachable.min() if reachable.size else math.inf
    return lambda effect, draws: _side(effect) * _balance(effect + draws) >= least


def _side(effect: float) -> int:
    return -1 if effect < 0 else 1


def _t(means: NDArray) -> NDArray[np.float64]:
    return means.mean(axis=1) / stats.sem(means, axis=1)


def _balance(means: NDArray) -> NDArray[np.float64]:
    """Return positive minus negative ranks of each run, (n_runs,)."""
    return (np.sign(means) * stats.rankdata(np.abs(means), axis=1)).sum(axis=1)


def _within(means: NDArray, margin: float, reach: float) -> NDArray[np.bool_]:
    """Return where the interval of each run lies within the margin."""
    return np.abs(means.mean(axis=1)) + reach * stats.sem(means, axis=1) < margin
