"""The survey's Tables 4 and 5 with their rounding: which comparison holds whatever was cut off?

A printed accuracy stands for all values that round to it, so what is computed from the tables is an
interval too. All values here are `Bounds` in percentage points, in the order of
`posenc_book.audit.printed.DATASETS`.
"""

from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike

from posenc import _checks
from posenc_book.audit import printed
from posenc_book.audit.rounding import Bounds, Truth, as_bounds, compare, mean
from posenc_book.audit.rounding import printed as figure


def cells(model: str) -> list[list[Bounds]]:
    """Return Table 4 ("time_series") or 5 ("patch"): one list of eight methods for each set."""
    return [[100 * figure(f"{value:.3f}") for value in row] for row in printed.accuracy(model)]


def columns(model: str, methods: Sequence[str]) -> list[list[Bounds]]:
    """Return the cells of some methods, in their order.

    Raises
    ------
    ValueError
        If a method is not in the tables.
    """
    chosen = [printed.COLUMNS.index(_checks.choice("methods", m, printed.COLUMNS)) for m in methods]
    return [[row[i] for i in chosen] for row in cells(model)]


def rounded_gains(model: str, *, relative: bool = False) -> dict[str, list[Bounds]]:
    """Return the gain over Fixed on every set, for each of `printed.READINGS`.

    Parameters
    ----------
    model : str
    relative : bool
        Whether in per cent of Fixed's accuracy; else in points.
    """
    fixed = [row[0] for row in columns(model, ["Fixed"])]
    found = {}
    for name, methods in printed.READINGS.items():
        middle = largest if name == "best" else mean
        reached = [middle(row) for row in columns(model, methods)]
        pairs = zip(reached, fixed, strict=True)
        found[name] = [100 * (a / f - 1) if relative else a - f for a, f in pairs]
    return found


def largest(values: Sequence[Bounds]) -> Bounds:
    """Return the bounds of the largest value."""
    return Bounds(max(v.low for v in values), max(v.high for v in values))


def smallest(values: Sequence[Bounds]) -> Bounds:
    """Return the bounds of the smallest value."""
    return -largest([-v for v in values])


def median(values: Sequence[Bounds]) -> Bounds:
    """Return the bounds of the median, which grows with each value."""
    return Bounds(_median([v.low for v in values]), _median([v.high for v in values]))


def gap(values: Sequence[Bounds]) -> Bounds:
    """Return the bounds of the largest value minus the smallest."""
    return largest(values) - smallest(values)


def group(values: Sequence[Bounds], members: ArrayLike) -> list[Bounds]:
    """Return the values of a group of sets.

    Parameters
    ----------
    values : sequence of Bounds
    members : array of bool, (n_sets,)
    """
    return [v for v, inside in zip(values, np.asarray(members, bool), strict=True) if inside]


def contrast(
    values: Sequence[Bounds],
    members: ArrayLike,
    middle: Callable[[Sequence[Bounds]], Bounds] = mean,
) -> Bounds:
    """Return the middle of a group of sets minus that of the others."""
    inside = np.asarray(members, bool)
    return middle(group(values, inside)) - middle(group(values, ~inside))


def in_classes(values: Sequence[Bounds]) -> list[Bounds]:
    """Return the means over the length classes of section 5.2, the longest first."""
    length = printed.column("length")
    return [mean(group(values, (low < length) & (length <= high))) for low, high in printed.GAINS]


def rising(values: Sequence[Bounds], along: ArrayLike) -> list[Truth]:
    """Return, for each pair of sets that differ in `along`, whether the value grows with it."""
    along = np.asarray(along)
    order = np.argsort(along, kind="stable")
    pairs = combinations(order.tolist(), 2)
    return [compare(values[j], ">", values[i]) for i, j in pairs if along[i] != along[j]]


def _median(values: list[Fraction]) -> Fraction:
    ordered, half = sorted(values), len(values) // 2
    middle = ordered[half : half + 1] if len(values) % 2 else ordered[half - 1 : half + 1]
    return sum(middle, start=as_bounds(0).low) / len(middle)
