"""What can be said of a printed figure, which stands for all values that round to it?

0.83 stands for anything from 0.825 to 0.835. `printed` reads a figure as such an interval, exactly;
`Bounds` adds, subtracts, multiplies and divides them, `mean` and `ranks` derive more; `compare`
says whether a comparison holds for all, none or some of the values, so that a claim and its mirror
image are judged alike.

Sources: Moore (1966), Interval Analysis; Kleene (1938) for logic with three values.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from enum import Enum
from fractions import Fraction
from numbers import Rational
from typing import TYPE_CHECKING

from posenc import _checks

Number = Fraction | float


@dataclass(frozen=True)
class Bounds:
    """All values that a figure may have: a closed interval of exact fractions.

    Sums, differences, products and ratios of bounds hold every value that the operation can give
    (interval arithmetic). A figure that is used twice in a formula counts as two, so that results
    may be wider than need be, never narrower.

    Parameters
    ----------
    low, high : Fraction
        Other numbers are taken as they print: 0.1 is a tenth.
    """

    low: Fraction
    high: Fraction

    if TYPE_CHECKING:

        def __init__(self, low: Number, high: Number) -> None: ...

    def __post_init__(self) -> None:
        object.__setattr__(self, "low", _fraction("low", self.low))
        object.__setattr__(self, "high", _fraction("high", self.high))
        if self.low > self.high:
            raise ValueError(f"low must not exceed high, got {self.low} and {self.high}")

    def __add__(self, other: "Bounds | Number") -> "Bounds":
        other = as_bounds(other)
        return Bounds(self.low + other.low, self.high + other.high)

    __radd__ = __add__

    def __neg__(self) -> "Bounds":
        return Bounds(-self.high, -self.low)

    def __sub__(self, other: "Bounds | Number") -> "Bounds":
        return self + -as_bounds(other)

    def __rsub__(self, other: float) -> "Bounds":
        return as_bounds(other) - self

    def __mul__(self, other: "Bounds | Number") -> "Bounds":
        other = as_bounds(other)
        corners = [a * b for a in (self.low, self.high) for b in (other.low, other.high)]
        return Bounds(min(corners), max(corners))

    __rmul__ = __mul__

    def __truediv__(self, other: "Bounds | Number") -> "Bounds":
        other = as_bounds(other)
        if other.low <= 0 <= other.high:
            raise ValueError(f"divisor must keep away from 0, got {other}")
        return self * Bounds(1 / other.high, 1 / other.low)

    def __rtruediv__(self, other: float) -> "Bounds":
        return as_bounds(other) / self

    def overlaps(self, other: "Bounds | Number") -> bool:
        """Return whether both may stand for one value."""
        other = as_bounds(other)
        return self.low <= other.high and other.low <= self.high

    def __str__(self) -> str:
        if self.low == self.high:
            return f"{float(self.low):g}"
        return f"{float(self.low):g} to {float(self.high):g}"


ROUNDINGS = ("nearest", "cut", "either")


def printed(text: str, *, rounding: str = "nearest", unit: str | None = None) -> Bounds:
    """Return the values that a printed figure may stand for.

    Parameters
    ----------
    text : str
        The figure as printed: "0.83", "-1.5", "63,000", "41 %" (0.41). The last digit shown gives
        the unit.
    rounding : "nearest", "cut" or "either"
        Rounded to the nearest unit (half a unit to both sides), cut off after the last digit (a
        unit away from 0), or not known which. Ends belong to the interval in every case.
    unit : str, optional
        The unit of the last digit that counts, where trailing zeros do not: "1000" for "63,000".

    Returns
    -------
    Bounds

    Raises
    ------
    ValueError
        If the text is no number, or the rounding or the unit is unknown.

    Examples
    --------
    >>> print(printed("0.83"))
    0.825 to 0.835
    >>> print(printed("41 %"))
    0.405 to 0.415
    >>> print(printed("63,000", unit="1000"))
    62500 to 63500
    """
    _checks.choice("rounding", rounding, ROUNDINGS)
    number, percent = _decimal("text", text)
    exponent = number.as_tuple().exponent
    assert isinstance(exponent, int)  # `_decimal` lets finite numbers through only
    step = Decimal(1).scaleb(exponent)
    if unit is not None:
        step, _ = _decimal("unit", unit)
        if step <= 0:
            raise ValueError(f"unit must be above 0, got {unit!r}")
    value, width = Fraction(number), Fraction(step)
    inward = width / 2 if rounding in ("nearest", "either") else Fraction(0)
    outward = width if rounding in ("cut", "either") else width / 2
    low, high = value - inward, value + outward
    if number.is_signed():
        low, high = value - outward, value + inward
    scale = Fraction(1, 100) if percent else Fraction(1)
    return Bounds(low * scale, high * scale)


def as_bounds(value: Bounds | Number) -> Bounds:
    """Return a number as an interval of one point; bounds stay as they are."""
    if isinstance(value, Bounds):
        return value
    return Bounds(_fraction("value", value), _fraction("value", value))


def mean(values: Sequence[Bounds | Number]) -> Bounds:
    """Return the bounds of the mean of several figures.

    Parameters
    ----------
    values : sequence of Bounds or float

    Returns
    -------
    Bounds

    Raises
    ------
    ValueError
        If there is no figure, or one is not finite.

    Examples
    --------
    >>> print(mean([printed("0.83"), printed("0.81")]))
    0.815 to 0.825
    """
    if not len(values):
        raise ValueError("values must hold at least one figure, got none")
    return sum((as_bounds(v) for v in values), start=as_bounds(0)) * Fraction(1, len(values))


def ranks(values: Sequence[Bounds | Number]) -> list[Bounds]:
    """Return the bounds of the rank of each figure among all; the largest has rank 1.

    Figures whose rounding overlaps may stand either way; exact figures that tie share their rank.

    Parameters
    ----------
    values : sequence of Bounds or float

    Returns
    -------
    list of Bounds, in the order of the values.

    Raises
    ------
    ValueError
        If a figure is not finite.

    Examples
    --------
    >>> print(*ranks([printed("0.9"), printed("0.83"), printed("0.83")]), sep=", ")
    1, 2 to 3, 2 to 3
    """
    figures = [as_bounds(v) for v in values]
    found = []
    for i, own in enumerate(figures):
        ahead = [compare(other, ">", own) for other in figures[:i] + figures[i + 1 :]]
        behind = [compare(own, ">", other) for other in figures[:i] + figures[i + 1 :]]
        ties = sum(a is b is Truth.NEVER for a, b in zip(ahead, behind, strict=True))
        found.append(how_many(ahead) + 1 + Fraction(ties, 2))
    return found


class Truth(Enum):
    """Whether a comparison of printed figures holds, whatever their rounding.

    Raises
    ------
    ValueError
        If a value is none of the three.

    Source: Kleene (1938) for logic with three values.

    Examples
    --------
    >>> ~Truth.ALWAYS is Truth.NEVER, ~Truth.OPEN is Truth.OPEN
    (True, True)
    """

    ALWAYS = "holds whatever the rounding"
    NEVER = "fails whatever the rounding"
    OPEN = "depends on the rounding"

    def __invert__(self) -> "Truth":
        return {Truth.ALWAYS: Truth.NEVER, Truth.NEVER: Truth.ALWAYS}.get(self, Truth.OPEN)


RELATIONS = ("<", "<=", ">", ">=", "==")


def compare(left: Bounds | Number, relation: str, right: Bounds | Number) -> Truth:
    """Return whether `left relation right` holds for all, no or some values within the rounding.

    "More than 5 %" is `compare(share, ">", 0.05)`, or with `printed("5 %")` where the threshold is
    a rounded figure itself. The mirror case is decided alike: swapping the sides and the sign of
    the relation changes nothing. Rounded figures whose intervals only touch are in order: 0.84 is
    more than 0.83, since rounding by one rule never swaps two values.

    Parameters
    ----------
    left, right : Bounds or float
    relation : "<", "<=", ">", ">=" or "=="

    Returns
    -------
    Truth

    Raises
    ------
    ValueError
        If `relation` is unknown, or a figure is not finite.

    Examples
    --------
    >>> compare(printed("0.84"), ">", printed("0.83")).name
    'ALWAYS'
    >>> compare(printed("0.83"), ">", printed("0.83")).name
    'OPEN'
    >>> compare(printed("5 %"), ">", 0.05).name
    'OPEN'
    """
    _checks.choice("relation", relation, RELATIONS)
    left, right = as_bounds(left), as_bounds(right)
    if relation == "==":
        points = left.low == left.high == right.low == right.high
        return _truth(points, left.overlaps(right))
    if relation in ("<", "<="):
        return compare(right, {"<": ">", "<=": ">="}[relation], left)
    if relation == ">=":
        return ~compare(right, ">", left)
    wide = left.low < left.high and right.low < right.high
    always = left.low > right.high or (wide and left.low == right.high)
    return _truth(always, left.high > right.low)


def within(
    value: Bounds | Number,
    low: Bounds | Number,
    high: Bounds | Number,
) -> Truth:
    """Return whether a figure lies between two others, ends included, as in "5 to 6 %".

    Parameters
    ----------
    value, low, high : Bounds or float

    Returns
    -------
    Truth

    Raises
    ------
    ValueError
        If a figure is not finite.

    Examples
    --------
    >>> within(printed("5.8 %"), 0.05, 0.06).name, within(printed("6.0 %"), 0.05, 0.06).name
    ('ALWAYS', 'OPEN')
    """
    return every([compare(value, ">=", low), compare(value, "<=", high)])


def every(truths: Iterable[Truth]) -> Truth:
    """Return whether all hold: one that never holds decides, then one that is open.

    Parameters
    ----------
    truths : iterable of Truth

    Returns
    -------
    Truth

    Examples
    --------
    >>> every([Truth.ALWAYS, Truth.OPEN]).name, every([Truth.NEVER, Truth.OPEN]).name
    ('OPEN', 'NEVER')
    """
    truths = list(truths)
    return _truth(all(t is Truth.ALWAYS for t in truths), Truth.NEVER not in truths)


def some(truths: Iterable[Truth]) -> Truth:
    """Return whether at least one holds; the mirror of `every`."""
    return ~every(~t for t in truths)


def how_many(truths: Iterable[Truth]) -> Bounds:
    """Return in how many cases a comparison holds, at least and at most.

    Parameters
    ----------
    truths : iterable of Truth

    Returns
    -------
    Bounds

    Examples
    --------
    >>> print(how_many([Truth.ALWAYS, Truth.OPEN, Truth.NEVER]))
    1 to 2
    """
    truths = list(truths)
    return Bounds(truths.count(Truth.ALWAYS), len(truths) - truths.count(Truth.NEVER))


def _truth(always: bool, possible: bool) -> Truth:
    if always:
        return Truth.ALWAYS
    return Truth.OPEN if possible else Truth.NEVER


def _fraction(name: str, value: Number) -> Fraction:
    """Return a number as the fraction that it prints as: 0.1 is a tenth, not 0.1's float."""
    if isinstance(value, Rational) and not isinstance(value, bool):
        return Fraction(value.numerator, value.denominator)
    return Fraction(repr(float(_checks.finite_array(name, value, ndim=0))))


def _decimal(name: str, text: str) -> tuple[Decimal, bool]:
    """Return a printed number and whether it is a percentage."""
    problem = (
        f'{name} must be a number as printed, such as "0.83", "63,000" or "41 %", got {text!r}'
    )
    if not isinstance(text, str):
        raise ValueError(problem)
    digits = text.strip().removesuffix("%").strip().replace("\N{MINUS SIGN}", "-")
    if "," in digits and not re.fullmatch(r"[+-]?\d{1,3}(,\d{3})+(\.\d+)?", digits):
        raise ValueError(f"{problem}; a comma separates thousands only")
    try:
        number = Decimal(digits.replace(",", ""))
    except InvalidOperation as error:
        raise ValueError(problem) from error
    if not number.is_finite():
        raise ValueError(problem)
    return number, text.strip().endswith("%")
