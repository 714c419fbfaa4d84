"""Accuracies as what they are: counts of right answers over a number of series.

As binary fractions two means of the same counts can differ in their last digit (0.6 + 0.7 + 0.8 is
not 3 * 0.7), and then a tie is counted as a win. So means of accuracies that are to be compared are
made of the counts, and rounded once: equal ones are equal floats, and the others keep their order.
"""

from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike, NDArray

MOST_CASES = 1_000_000
"""Up to so many series a float tells which fraction it stands for."""


def fraction(accuracy: float) -> Fraction:
    """Return the share of right answers that an accuracy stands for, exactly.

    Parameters
    ----------
    accuracy : float
        Right answers divided by all, of at most `MOST_CASES`.

    Returns
    -------
    Fraction

    Examples
    --------
    >>> fraction(148 / 180), fraction(0.1)
    (Fraction(37, 45), Fraction(1, 10))
    """
    return Fraction(float(accuracy)).limit_denominator(MOST_CASES)


def mean(accuracies: ArrayLike) -> NDArray[np.float64]:
    """Return means over the last axis that are equal where the counts are.

    Parameters
    ----------
    accuracies : array of shape (..., n)
        Each a share of 1, of one training on one set: of means of sets it is no count.

    Returns
    -------
    array of shape (...)

    Examples
    --------
    >>> float(np.mean([0.6, 0.7, 0.8])) == 0.7, float(mean([0.6, 0.7, 0.8])) == 0.7
    (False, True)
    """
    return np.apply_along_axis(
        lambda row: float(sum(map(fraction, row)) / len(row)), -1, np.asarray(accuracies)
    )
