"""What has to be known of a difference before a rule can judge a claim about it?

A `Claim` says to which side a difference lies, from which size on it counts, and what is printed.
`Evidence` is what was measured: an estimate with its interval, p-values corrected for a named
family of tests, power, and the units that were counted, with whether they are independent. `shows`
says what the evidence shows before any claim is looked at. The verdict is given by
`posenc_book.audit.rules.decide`.

Sources: Holm (1979) for the correction; Schuirmann (1987) and Lakens (2017) for equivalence by two
one-sided tests.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from numbers import Real

from posenc import _checks
from posenc_book.audit.rounding import Bounds
from posenc_book.statistics.friedman import holm


class Direction(StrEnum):
    """What a source says of a difference.

    Raises
    ------
    ValueError
        If a value is none of the four.

    Examples
    --------
    >>> [direction.value for direction in Direction]
    ['greater', 'less', 'equal', 'none']
    """

    GREATER = "greater"
    LESS = "less"
    EQUAL = "equal"
    NONE = "none"  # that there is a difference, not to which side


@dataclass(frozen=True)
class Claim:
    """An empirical statement about a difference.

    Parameters
    ----------
    direction : Direction
        Of the difference: above 0, below 0, none worth the name, or some without a direction.
    margin : float
        Differences up to this size count as none; named before the results were seen. 0 where none
        was named: then nothing can be shown to be equal.
    printed : Bounds, optional
        The difference that the source prints, from `printed`.

    Raises
    ------
    ValueError
        If `direction` is none of the four, or `margin` is negative or not finite.

    Examples
    --------
    >>> claim = Claim("greater", margin=0.01)
    >>> claim.mirrored().direction is Direction.LESS
    True
    """

    direction: Direction
    margin: float
    printed: Bounds | None = None

    def __post_init__(self) -> None:
        known = _checks.choice("direction", self.direction, [d.value for d in Direction])
        object.__setattr__(self, "direction", Direction(known))
        object.__setattr__(self, "margin", _checks.non_negative("margin", self.margin))

    def mirrored(self) -> "Claim":
        """Return the same claim about the difference taken the other way round."""
        swapped = {Direction.GREATER: Direction.LESS, Direction.LESS: Direction.GREATER}
        return Claim(
            swapped.get(self.direction, self.direction),
            self.margin,
            None if self.printed is None else -self.printed,
        )


@dataclass(frozen=True)
class Units:
    """What was counted, and whether the counts are independent.

    Parameters
    ----------
    name : str
        In the plural: "data sets", "seeds".
    count : int
        At least 1.
    independent : bool
        Seeds of one data set are independent for a statement about that set, not for one about
        data sets; windows of one series are not.

    Raises
    ------
    ValueError
        If `name` is empty, `count` is below 1, or `independent` is no truth value.

    Examples
    --------
    >>> Units("data sets", 14, independent=True)
    Units(name='data sets', count=14, independent=True)
    """

    name: str
    count: int
    independent: bool

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name.strip():
            raise ValueError(f"name must say what was counted, got {self.name!r}")
        _checks.count("count", self.count, minimum=1)
        _checks.flag("independent", self.independent)


@dataclass(frozen=True)
class Corrected:
    """A p-value after the correction for its family of tests.

    Parameters
    ----------
    value : float
        In [0, 1].
    family : str
        Which tests belong together, named beforehand.
    size : int
        How many they are.

    Raises
    ------
    ValueError
        If `value` is no probability, `family` is empty, or `size` is below 1.

    Examples
    --------
    >>> correct("gains over no encoding", {"rotary": 0.01, "dft": 0.04})["rotary"]
    Corrected(value=0.02, family='gains over no encoding', size=2)
    """

    value: float
    family: str
    size: int

    def __post_init__(self) -> None:
        if not (isinstance(self.value, Real) and 0 <= self.value <= 1):
            raise ValueError(f"value must be a p-value in [0, 1], got {self.value!r}")
        if not isinstance(self.family, str) or not self.family.strip():
            raise ValueError(
                f"family must name the tests that belong together, got {self.family!r}"
            )
        _checks.count("size", self.size, minimum=1)


def correct(family: str, p_values: Mapping[str, float]) -> dict[str, Corrected]:
    """Return the p-values of a named family after Holm's correction, by the tests' names.

    Parameters
    ----------
    family : str
        What the tests decide together, such as "gains over no encoding, patch model".
    p_values : mapping of str to float
        By the tests' names.

    Returns
    -------
    dict of str to Corrected

    Raises
    ------
    ValueError
        If there is no test, or a value is no probability.

    Source: Holm (1979).

    Examples
    --------
    >>> found = correct("gains over no encoding", {"rotary": 0.01, "dft": 0.04})
    >>> {name: p.value for name, p in found.items()}
    {'rotary': 0.02, 'dft': 0.04}
    """
    if not p_values:
        raise ValueError(f"p_values must hold at least one test of {family!r}, got none")
    adjusted = holm(list(p_values.values()))
    size = len(p_values)
    return {
        name: Corrected(float(p), family, size) for name, p in zip(p_values, adjusted, strict=True)
    }


@dataclass(frozen=True)
class Evidence:
    """What was measured about a difference; above 0 means greater.

    Parameters
    ----------
    estimate, low, high : float
        The difference and its interval, over the units.
    difference : Corrected
        Two-sided p-value that there is no difference.
    units : Units
        What was counted.
    conditions : str
        Under which the measurement was made.
    reproduced : bool
        Whether these are the source's conditions.
    equivalence : Corrected, optional
        p-value of two one-sided tests that the difference lies beyond the claim's margin, such as
        `posenc_book.statistics.equality.tost` gives.
    power : float
        Of the test of the difference, such as `posenc_book.statistics.power` gives; 0 where it is
        not known.
    power_for : float
        The size of the difference for which that power holds.
    level : float
        Coverage of the interval.

    Raises
    ------
    ValueError
        If `low`, `estimate` and `high` do not rise or are not finite, `conditions` is empty,
        `reproduced` is no truth value, or `power`, `power_for` or `level` is out of its range.

    Examples
    --------
    >>> sets, test = Units("data sets", 14, independent=True), Corrected(0.001, "gains", size=10)
    >>> gain = Evidence(0.03, 0.01, 0.05, test, sets, "Patch model.", reproduced=False)
    >>> gain.mirrored().estimate
    -0.03
    """

    estimate: float
    low: float
    high: float
    difference: Corrected
    units: Units
    conditions: str
    reproduced: bool
    equivalence: Corrected | None = None
    power: float = 0.0
    power_for: float = 0.0
    level: float = 0.95

    def __post_init__(self) -> None:
        estimate, low, high = (number(n, getattr(self, n)) for n in ("estimate", "low", "high"))
        if not low <= estimate <= high:
            raise ValueError(f"low, estimate, high must rise, got {low}, {estimate}, {high}")
        sentence("conditions", self.conditions)
        _checks.flag("reproduced", self.reproduced)
        if not 0 <= number("power", self.power) <= 1:
            raise ValueError(f"power must lie in [0, 1], got {self.power!r}")
        _checks.non_negative("power_for", self.power_for)
        _checks.probability("level", self.level)

    def mirrored(self) -> "Evidence":
        """Return the same evidence about the difference taken the other way round."""
        return replace(self, estimate=-self.estimate, low=-self.high, high=-self.low)


@dataclass(frozen=True)
class Shown:
    """What evidence shows, before any claim is looked at.

    Parameters
    ----------
    side : int
        1 above 0, -1 below 0, 0 where no difference is shown.
    equal : bool
        Whether the difference is shown to lie within the margin.
    beyond : bool
        Whether it is shown to lie beyond the margin.
    """

    side: int
    equal: bool
    beyond: bool


def shows(evidence: Evidence, margin: float, *, alpha: float = 0.05) -> Shown:
    """Return what evidence shows: a side, equivalence, or neither.

    Test and interval have to agree. A side is shown if the corrected p-value is at most alpha and
    the interval lies on that side of 0; equivalence if the corrected p-value of the equivalence
    test is at most alpha and the interval lies within the margin.

    Source: Schuirmann (1987) and Lakens (2017) for equivalence.
    """
    alpha = _checks.probability("alpha", alpha)
    if evidence.level < 1 - 2 * alpha - 1e-9:
        raise ValueError(
            f"level must be at least 1 - 2 alpha = {1 - 2 * alpha:g} for tests at alpha = "
            f"{alpha:g}, got an interval at {evidence.level:g}"
        )
    apart = evidence.difference.value <= alpha
    side = int(apart and evidence.low > 0) - int(apart and evidence.high < 0)
    equal = (
        evidence.equivalence is not None
        and evidence.equivalence.value <= alpha
        and -margin < evidence.low
        and evidence.high < margin
    )
    beyond = side != 0 and (evidence.low > margin or evidence.high < -margin)
    return Shown(side, equal, beyond)


def sentence(name: str, text: str) -> str:
    """Return a text that is not empty, with a full stop at its end."""
    if not isinstance(text, str) or not text.strip():
        raise ValueError(f"{name} must say something, got {text!r}")
    return text.strip() if text.strip()[-1] in ".!?" else text.strip() + "."


def number(name: str, value: float) -> float:
    """Return a value as a float, and refuse all but one finite real number."""
    return float(_checks.finite_array(name, value, ndim=0))
