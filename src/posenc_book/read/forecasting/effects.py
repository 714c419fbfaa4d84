"""What an encoding changes: logarithms of two errors' ratio, unit by unit and seed by seed."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from posenc_book.read.forecasting.complete import Stored, refuse_kept_apart
from posenc_book.read.forecasting.registered import Comparison
from posenc_book.statistics.summary import Interval, t_interval


@dataclass(frozen=True, eq=False)
class Effect:
    """What is compared, on each unit.

    Parameters
    ----------
    units : tuple of str
    differences : array of shape (n_units, n_seeds)
        Logarithms of an error over another; negative where the former is smaller.
    """

    units: tuple[str, ...]
    differences: NDArray[np.float64]

    @property
    def by_unit(self) -> NDArray[np.float64]:
        """The mean over seeds, (n_units,)."""
        return self.differences.mean(1)

    @property
    def interval(self) -> Interval:
        """Mean and 95 % interval by Student's t over units, in logarithms."""
        return t_interval(self.by_unit)

    @property
    def of_seeds(self) -> float:
        """By how much one seed's effect scatters around its unit's: a standard deviation."""
        return float(np.sqrt(self.differences.var(axis=1, ddof=1).mean()))

    @property
    def of_units(self) -> float:
        """By how much the units' effects differ: a standard deviation, seeds' luck included."""
        return float(self.by_unit.std(ddof=1))


def effect(
    stored: Stored, comparison: Comparison, units: Sequence[str], *, last_check: bool = False
) -> Effect | None:
    """Return what a comparison comes to on some units; None where models refuse on one of them.

    Where the two have different numbers of seeds, those that both have are compared. Raises
    ValueError if a place is not whole, or a unit is kept apart and `last_check` is False.
    """
    refuse_kept_apart(units, last_check=last_check)
    rows = [_row(stored, comparison, unit, last_check=last_check) for unit in units]
    found = [row for row in rows if row is not None]
    if len(found) < len(rows):
        return None
    n_seeds = min(map(len, found))
    return Effect(tuple(units), np.array([row[:n_seeds] for row in found]))


def _row(
    stored: Stored, comparison: Comparison, unit: str, *, last_check: bool
) -> NDArray[np.float64] | None:
    """Return the logarithms of a unit, (n_seeds,)."""
    terms = []
    for ways, score, sign in zip(
        (comparison.over, comparison.under), comparison.scores, (1, -1), strict=True
    ):
        for way in ways:
            errors = stored.scores(way, unit, score, last_check=last_check)
            if errors is None:
                return None
            terms.append(sign * np.log(errors))
    n_seeds = min(map(len, terms))
    return np.sum([term[:n_seeds] for term in terms], axis=0)


def per_cent(logarithm: float) -> float:
    """Return a change in per cent from the logarithm of a ratio."""
    return 100 * math.expm1(logarithm)
