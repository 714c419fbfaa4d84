"""Exact tests for small tables of scores, such as those that papers print.

Everything here shuffles or counts, so that ties and small samples need no approximation.
"""

from collections.abc import Callable
from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats

from posenc import _checks


def spearman(x: ArrayLike, y: ArrayLike, n_shuffles: int = 9999) -> tuple[float, float]:
    """Return Spearman's rank correlation and its two-sided p-value from shuffling `x`.

    Parameters
    ----------
    x, y : arrays of shape (n,)
    n_shuffles : int
        Random orders, drawn with a fixed seed.

    Returns
    -------
    two floats: the correlation in [-1, 1], and its p-value.

    Raises
    ------
    ValueError
        If the shapes differ, or all values of `x` or of `y` are equal.

    Source: Spearman (1904).

    Examples
    --------
    >>> rho, p_value = spearman([24, 45, 100, 144, 300, 500], [0.1, 0.2, 0.2, 0.4, 0.3, 0.6])
    >>> round(rho, 2), p_value < 0.05
    (0.93, True)
    """
    x = _checks.finite_array("x", x, ndim=1)
    y = _checks.finite_array("y", y, ndim=1)
    if x.size != y.size or min(np.ptp(x), np.ptp(y)) == 0:
        raise ValueError(f"x and y must pair up and vary, got {x.tolist()} and {y.tolist()}")
    a, b = (stats.zscore(stats.rankdata(values)) for values in (x, y))
    shuffled = np.random.default_rng(0).permuted(np.tile(a, (n_shuffles, 1)), axis=1)
    rho, others = float((a * b).mean()), shuffled @ b / b.size
    return rho, float((1 + (np.abs(others) >= abs(rho) - 1e-9).sum()) / (1 + n_shuffles))


def higher_mean(members: NDArray, others: NDArray) -> float:
    """Return by how much the mean of the members exceeds that of the others: for `group_test`.

    Parameters
    ----------
    members, others : arrays of shape (n,) and (m,)

    Returns
    -------
    float
        In the unit of the values.

    Examples
    --------
    >>> higher_mean(np.array([3.0, 5.0]), np.array([1.0, 2.0]))
    2.5
    """
    return float(members.mean() - others.mean())


def smaller_spread(members: NDArray, others: NDArray) -> float:
    """Return by how much the members' standard deviation falls below the others': for `group_test`.

    Parameters
    ----------
    members, others : arrays of shape (n,) and (m,)
        At least two of each.

    Returns
    -------
    float
        In the unit of the values.

    Examples
    --------
    >>> round(smaller_spread(np.array([3.0, 3.5]), np.array([1.0, 2.0, 9.0])), 2)
    4.01
    """
    return float(others.std(ddof=1) - members.std(ddof=1))


def group_test(
    values: ArrayLike,
    members: ArrayLike,
    statistic: Callable[[NDArray, NDArray], float] = higher_mean,
) -> tuple[float, float]:
    """Return a statistic of a group against the rest, and its exact one-sided p-value.

    Every way to choose a group of that size is tried.

    Parameters
    ----------
    values : array of shape (n,)
    members : bool array of shape (n,)
        The group.
    statistic : callable (members' values, others' values) -> float
        Large where the group is what it is said to be; `higher_mean` or `smaller_spread`, say.

    Returns
    -------
    two floats: the statistic, and the share of groups of that size that reach it.

    Raises
    ------
    ValueError
        If the group or the rest is empty, or a value is not finite.

    Examples
    --------
    >>> gains, long = [0.1, 0.3, 0.2, 1.1, 1.4], [False, False, False, True, True]
    >>> difference, p_value = group_test(gains, long)
    >>> round(difference, 2), p_value
    (1.05, 0.1)
    """
    values = _checks.finite_array("values", values, ndim=1)
    members = np.asarray(members, dtype=bool)
    if members.shape != values.shape or members.all() or not members.any():
        raise ValueError(f"members must mark some but not all values, got {members.tolist()}")
    found = statistic(values[members], values[~members])
    hits = []
    for rows in combinations(range(values.size), int(members.sum())):
        chosen = np.isin(np.arange(values.size), rows)
        hits.append(statistic(values[chosen], values[~chosen]) >= found - 1e-9)
    return found, float(np.mean(hits))
