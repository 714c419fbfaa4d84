"""What the registered families come to, by the registered tests, or that they are not whole yet."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from posenc_book.read.forecasting import plan
from posenc_book.read.forecasting.complete import Stored, refuse_kept_apart
from posenc_book.read.forecasting.effects import Effect, effect
from posenc_book.read.forecasting.registered import Comparison, Family, families
from posenc_book.statistics import friedman
from posenc_book.statistics.answers import LEVEL, word
from posenc_book.statistics.answers import Family as Tested

TESTED = ("worth", "default", "read-out")


@dataclass(frozen=True)
class Answer:
    """What a comparison comes to.

    Parameters
    ----------
    comparison : Comparison
    effect : Effect or None
        None where models refuse what is compared.
    p_value : float or None
        That there is no difference: exact two-sided Wilcoxon test over units, by Holm over the
        family. None where none is tested.
    p_equal : float or None
        That it is beyond the margin: two one-sided t tests, by Holm over the family. None where
        equivalence is not asked for.
    sign : int
        Of the signed ranks: -1 where errors are smaller.
    """

    comparison: Comparison
    effect: Effect | None
    p_value: float | None = None
    p_equal: float | None = None
    sign: int = 0

    @property
    def answer(self) -> str:
        """One of `WORDS`, ahead with smaller errors; "interval" if not tested, or "refuses"."""
        if self.effect is None:
            return "refuses"
        if self.p_value is None:
            return "interval"
        return word(-self.sign, self.p_value, self.p_equal)

    @property
    def differs(self) -> bool:
        """Whether a difference is shown, be it within the margin or not."""
        return self.p_value is not None and self.p_value <= LEVEL

    @property
    def within(self) -> bool:
        """Whether the effect is shown to be within the margin, be it a difference or not."""
        return self.p_equal is not None and self.p_equal <= LEVEL


@dataclass(frozen=True)
class Repeat:
    """A difference that was shown, and what comes of it on the units kept apart.

    Parameters
    ----------
    family : Family
    shown, again : Answer
        On the units that count, and on the others.
    """

    family: Family
    shown: Answer
    again: Answer

    @property
    def same_sign(self) -> bool:
        """Whether both means lie on the same side of no change."""
        means = [one.effect.interval.mean for one in (self.shown, self.again) if one.effect]
        return len(means) == 2 and (means[0] < 0) == (means[1] < 0)


@dataclass(frozen=True)
class Answered:
    """A family and what it comes to.

    Parameters
    ----------
    family : Family
    whole : tuple of str
        Units on which all that is compared is trained.
    answers : tuple of Answer
        In the order of the comparisons; empty as long as a unit is not whole.
    """

    family: Family
    whole: tuple[str, ...]
    answers: tuple[Answer, ...] = ()

    @property
    def is_whole(self) -> bool:
        """Whether all units are."""
        return len(self.whole) == len(self.family.units)

    @property
    def completeness(self) -> str:
        """How many units are whole, such as "not whole: 9 of 14 units"."""
        n = len(self.family.units)
        return f"{n} units" if self.is_whole else f"not whole: {len(self.whole)} of {n} units"


def ask(stored: Stored, question: str) -> list[Answered]:
    """Return what the families of a question come to; one that is not whole has no answers."""
    return [judged(stored, family) for family in families(question)]


def families_text(asked: Iterable[Sequence[Answered]]) -> str:
    """Return a sentence on how many families of several questions are whole."""
    every = [one for some in asked for one in some]
    return f"{sum(one.is_whole for one in every)} of {len(every)} families are whole."


def judged(stored: Stored, family: Family, *, last_check: bool = False) -> Answered:
    """Return what a family comes to.

    Raises ValueError if it has a unit that is kept apart, unless `last_check` is True and nothing
    is tested.
    """
    refuse_kept_apart(family.units, last_check=last_check)
    if last_check and family.tested:
        raise ValueError(f"family must not be tested in the last check, got {family.question!r}")
    whole = stored.whole(family.ways, family.units)
    if len(whole) < len(family.units):
        return Answered(family, whole)
    found = [effect(stored, one, family.units, last_check=last_check) for one in family.comparisons]
    pairs = zip(family.comparisons, found, strict=True)
    if not family.tested:
        return Answered(family, whole, tuple(Answer(*pair) for pair in pairs))
    return Answered(family, whole, _tested(family, [one for one in found if one is not None]))


def _tested(family: Family, effects: Sequence[Effect]) -> tuple[Answer, ...]:
    """Return the answers of a family, each p-value adjusted by Holm over all of it."""
    changes = {str(number): one.by_unit for number, one in enumerate(effects)}
    found = Tested(family.name, tuple(changes), plan.MARGIN).over_sets(changes).values()
    signs = [-1 if friedman.wilcoxon(x).rank_biserial < 0 else 1 for x in changes.values()]
    return tuple(
        Answer(comparison, one, a.p_value, a.p_equal if family.equivalence else None, sign)
        for comparison, one, a, sign in zip(family.comparisons, effects, found, signs, strict=True)
    )


def shown(answered: Answered) -> tuple[Answer, ...]:
    """Return the answers of a family that show a difference."""
    return tuple(one for one in answered.answers if one.differs)


def kept_apart(stored: Stored, *, last_check: bool = False) -> list[Answered]:
    """Return every difference that was shown, on the units kept apart: signs and intervals.

    Raises ValueError unless `last_check` is True: only after the answer of the other units is
    written down.
    """
    refuse_kept_apart(plan.KEPT_APART, last_check=last_check)
    return [_checked(stored, one) for one in _with_differences(stored)]


def repeats(stored: Stored) -> list[Repeat]:
    """Return every difference that was shown beside what became of it in the last check."""
    return [
        Repeat(one.family, *pair)
        for one in _with_differences(stored)
        for pair in zip(shown(one), _checked(stored, one).answers, strict=True)
    ]


def _with_differences(stored: Stored) -> list[Answered]:
    """Return the tested families in which a difference was shown."""
    return [one for question in TESTED for one in ask(stored, question) if shown(one)]


def _checked(stored: Stored, one: Answered) -> Answered:
    """Return what the shown differences of a family come to on the units kept apart."""
    return judged(stored, _repeated(one), last_check=True)


def _repeated(one: Answered) -> Family:
    """Return the shown differences of a family on the units kept apart, without tests."""
    return replace(
        one.family,
        comparisons=tuple(answer.comparison for answer in shown(one)),
        units=plan.KEPT_APART,
        tested=False,
        equivalence=False,
    )
