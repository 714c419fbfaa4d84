"""By which rule does a claim get its verdict?

One rule for confirming and for refuting, so that the authors of a source could apply it to us.
It knows four kinds of statement:

`exact`
    mathematics and code, where one counter-example decides;
`words`
    a source's words against the figures that it prints, with their rounding on both sides;
`figure`
    a printed figure against the same figure computed anew, or against our own measurement;
`decide`
    an empirical statement against a test of ours, with interval, correction for the family of
    tests, margin of equivalence, power, and the number of independent units (see
    `posenc_book.audit.evidence`).

A null result refutes nothing: a difference that is not shown is "not testable here", unless
equivalence within a margin named beforehand is shown. What a source prints is an interval (see
`posenc_book.audit.rounding`), and what cannot be told from the printed digits is not held against
it.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from posenc import _checks
from posenc_book.audit.evidence import Claim, Direction, Evidence, Shown, number, sentence, shows
from posenc_book.audit.outcomes import DEFINITIONS, Outcome
from posenc_book.audit.rounding import Bounds, Truth, as_bounds

__all__ = [
    "DEFINITIONS",
    "Decision",
    "Outcome",
    "Slip",
    "SlipKind",
    "decide",
    "exact",
    "figure",
    "measured_figure",
    "tally",
    "untestable",
    "words",
]


@dataclass(frozen=True)
class Decision:
    """A verdict and what it rests on.

    Parameters
    ----------
    outcome : Outcome
    reason : str
        Why, in whole sentences.
    numbers : mapping of str to float
        The figures that decided, by name.
    """

    outcome: Outcome
    reason: str
    numbers: Mapping[str, float] = field(default_factory=dict)

    def __str__(self) -> str:
        return f"{self.outcome}: {self.reason}"


def tally(outcomes: Iterable[Outcome | Decision]) -> dict[Outcome, int]:
    """Return how often each of the six verdicts was given; each is counted apart."""
    given = [o.outcome if isinstance(o, Decision) else Outcome(o) for o in outcomes]
    return {outcome: given.count(outcome) for outcome in Outcome}


# --- exact statements --------------------------------------------------------------------------


class SlipKind(StrEnum):
    """What may be wrong without the meaning being lost.

    Raises
    ------
    ValueError
        If a value is none of the six.

    Examples
    --------
    >>> [kind.value for kind in SlipKind]
    ['an index', 'a symbol', 'a count', 'a constant', 'a boundary case', 'a choice of words']
    """

    INDEX = "an index"
    SYMBOL = "a symbol"
    COUNT = "a count"
    CONSTANT = "a constant"
    BOUNDARY = "a boundary case"
    WORDING = "a choice of words"


@dataclass(frozen=True)
class Slip:
    """A slip and its correction.

    Parameters
    ----------
    kind : SlipKind
        Or its value.
    corrected : str
        The statement as it holds.

    Raises
    ------
    ValueError
        If `kind` is none of the six, or `corrected` is empty.

    Examples
    --------
    >>> print(Slip("a count", "there are 63 others"))
    This is a slip in a count; corrected: there are 63 others.
    """

    kind: SlipKind
    corrected: str

    def __post_init__(self) -> None:
        known = _checks.choice("kind", self.kind, [kind.value for kind in SlipKind])
        object.__setattr__(self, "kind", SlipKind(known))
        object.__setattr__(self, "corrected", sentence("corrected", self.corrected))

    def __str__(self) -> str:
        return f"This is a slip in {self.kind}; corrected: {self.corrected}"


def exact(holds: bool, found: str, *, slip: Slip | None = None, condition: str = "") -> Decision:
    """Return the verdict on a statement that a proof, a count or a counter-example decides.

    Parameters
    ----------
    holds : bool
        Whether the statement holds as printed (under `condition`, where one is given), as the
        result of a comparison.
    found : str
        What was found; where the statement fails, the counter-example.
    slip : Slip, optional
        Where the statement fails as printed but its meaning survives.
    condition : str
        Under which condition alone the statement holds.

    Returns
    -------
    Decision

    Raises
    ------
    ValueError
        If `holds` is no truth value, `found` is empty, a statement that holds has a slip, or one
        that fails a condition.

    Examples
    --------
    >>> print(exact(len({0.0, 0.5}) == 2, "The two rows differ."))
    confirmed: The two rows differ.
    >>> slip = Slip(SlipKind.INDEX, "k runs from 0.")
    >>> print(exact(False, "The sum from 1 misses the mean.", slip=slip))
    slip: The sum from 1 misses the mean. This is a slip in an index; corrected: k runs from 0.
    """
    holds, found = _checks.flag("holds", holds), sentence("found", found)
    if holds and slip is not None:
        raise ValueError(
            f"slip must be left out where the statement holds as printed, got {slip!r}"
        )
    if condition and not holds:
        raise ValueError(
            "condition must be left out where the statement fails even under it, got "
            f"{condition!r}; `found` says what holds instead"
        )
    if holds and condition:
        text = f"{found} Condition: {sentence('condition', condition)}"
        return Decision(Outcome.CONDITION, text)
    if holds:
        return Decision(Outcome.CONFIRMED, found)
    if slip is not None:
        return Decision(Outcome.SLIP, f"{found} {slip}")
    return Decision(Outcome.REFUTED, f"Counter-example: {found}")


def untestable(missing: str) -> Decision:
    """Return the verdict "not testable here" with what would be needed."""
    return Decision(Outcome.UNTESTABLE, sentence("missing", missing))


# --- printed figures ---------------------------------------------------------------------------


def words(readings: Truth | Mapping[str, Truth], found: str, *, scope: str = "overall") -> Decision:
    """Return the verdict on a source's words, by the figures that it prints itself.

    All readings hold: confirmed. All fail: refuted. With "overall", a reading that holds beside
    others that do not: confirmed with that condition. Where no reading holds and the printed
    digits leave one open: not testable here.

    Parameters
    ----------
    readings : Truth, or mapping of str to Truth
        Whether the words hold, in each table or by each way of reading them.
    found : str
        The figures, in a sentence.
    scope : "overall" or "every"
        "every" where the words claim all readings ("consistently", "in both tables"): a reading
        that fails decides. "overall" where they claim the whole, or where readings are meanings
        that a word may have ("performance" as F1, or as each column): readings that disagree make
        a condition.

    Returns
    -------
    Decision

    Raises
    ------
    ValueError
        If there is no reading, `found` is empty, or `scope` is unknown.

    Examples
    --------
    >>> readings = {"Table 4": Truth.ALWAYS, "Table 5": Truth.NEVER}
    >>> print(words(readings, "0.88 and 0.75.").outcome)
    confirmed with a condition
    >>> print(words(readings, "0.88 and 0.75.", scope="every").outcome)
    refuted
    """
    _checks.choice("scope", scope, ("overall", "every"))
    if isinstance(readings, Truth):
        readings = {"the printed figures": readings}
    if not readings:
        raise ValueError("readings must hold at least one reading, got none")
    found, truths = sentence("found", found), list(readings.values())
    numbers = {t.name.lower(): float(truths.count(t)) for t in Truth}
    holding = [name for name, t in readings.items() if t is Truth.ALWAYS]
    if len(holding) == len(truths):
        return Decision(Outcome.CONFIRMED, f"{found} This holds whatever the rounding.", numbers)
    if all(t is Truth.NEVER for t in truths):
        text = f"{found} The printed figures contradict the words, whatever the rounding."
        return Decision(Outcome.REFUTED, text, numbers)
    if scope == "every" and Truth.NEVER in truths:
        failing = _list(name for name, t in readings.items() if t is Truth.NEVER)
        text = f"{found} The words claim every reading, and it fails by {failing}."
        return Decision(Outcome.REFUTED, text, numbers)
    if holding:
        text = f"{found} It holds by {_list(holding)} only; elsewhere it fails or is not decided."
        return Decision(Outcome.CONDITION, text, numbers)
    text = f"{found} The printed digits do not decide."
    return Decision(Outcome.UNTESTABLE, text, numbers)


def figure(
    source: Bounds, ours: Bounds | float, *, found: str, slip: Slip | None = None
) -> Decision:
    """Return the verdict on a printed figure that can be computed anew, exactly or from figures.

    A figure of our own measurement goes to `measured_figure`: it has noise.

    Parameters
    ----------
    source : Bounds
        The figure, from `printed`.
    ours : Bounds or float
        The same figure computed from other printed figures, with their rounding, or exactly.
    found : str
        Both figures, in a sentence.
    slip : Slip, optional
        Where they differ but the meaning survives.

    Returns
    -------
    Decision

    Raises
    ------
    ValueError
        If the figures agree and a slip is given, or `found` is empty.

    Examples
    --------
    >>> from posenc_book.audit.rounding import printed
    >>> print(figure(printed("0.67"), 2 / 3, found="0.67 is printed, 2/3 computed."))
    confirmed: 0.67 is printed, 2/3 computed. They agree within rounding.
    >>> print(figure(printed("0.66"), 2 / 3, found="0.66 is printed, 2/3 computed.").outcome)
    refuted
    """
    ours, found = as_bounds(ours), sentence("found", found)
    numbers = _both(source, ours)
    if source.overlaps(ours):
        if slip is not None:
            raise ValueError(f"slip must be left out where the figures agree, got {slip!r}")
        return Decision(Outcome.CONFIRMED, f"{found} They agree within rounding.", numbers)
    if slip is not None:
        return Decision(Outcome.SLIP, f"{found} {slip}", numbers)
    text = f"{found} They differ beyond rounding: {source} printed, {ours} computed."
    return Decision(Outcome.REFUTED, text, numbers)


def measured_figure(
    source: Bounds,
    low: float,
    high: float,
    *,
    tolerance: float,
    conditions: str,
    reproduced: bool,
) -> Decision:
    """Return the verdict on a printed figure by a measurement of ours.

    The figure never comes out refuted: another measurement cannot make it wrong.
    """
    ours = Bounds(number("low", low), number("high", high))
    tolerance = _checks.positive("tolerance", tolerance)
    reproduced = _checks.flag("reproduced", reproduced)
    where = f"Our conditions: {sentence('conditions', conditions)}"
    numbers = {**_both(source, ours), "tolerance": tolerance}
    text = f"Printed stands {source}, measured is {ours}."
    if not source.overlaps(ours):
        text += f" They differ beyond rounding and noise. {where}"
        return Decision(Outcome.NOT_REPRODUCED, text, numbers)
    if (ours.high - ours.low) / 2 > tolerance:
        text += f" Our interval is wider than the tolerance of {tolerance:g} and decides nothing."
        return Decision(Outcome.UNTESTABLE, text, numbers)
    if not reproduced:
        return Decision(Outcome.CONDITION, f"{text} They agree. {where}", numbers)
    return Decision(Outcome.CONFIRMED, f"{text} They agree.", numbers)


# --- empirical statements ----------------------------------------------------------------------


def decide(
    claim: Claim, evidence: Evidence, *, alpha: float = 0.05, least_power: float = 0.8
) -> Decision:
    """Return the verdict on an empirical statement: one rule for confirming and refuting.

    1. Units that are not independent decide nothing: not testable here.
    2. What is claimed is shown: confirmed. It is confirmed with a condition if the conditions are
       not the source's, the power falls short, the difference is smaller than the margin, or the
       printed size lies outside our interval.
    3. The opposite is shown, or equivalence within the margin where a difference is claimed:
       refuted. It is not reproduced if the conditions are not the source's or if a test without
       enough power shows the opposite. Equivalence needs no power: its test fails without.
    4. Nothing is shown: not testable here, or not reproduced where a printed difference lies
       outside our interval, beyond its rounding.

    The opposite of "equal" is a difference beyond the margin.

    Parameters
    ----------
    claim : Claim
        What the source says of a difference.
    evidence : Evidence
        What was measured of it.
    alpha : float
        Level of the family of tests, for differences and for equivalence.
    least_power : float
        For the printed difference or the margin, whichever is larger.

    Returns
    -------
    Decision with the figures that decided.

    Raises
    ------
    ValueError
        If `alpha` or `least_power` is no probability below 1, or the interval covers less than
        1 - 2 alpha.

    Examples
    --------
    >>> from posenc_book.audit.evidence import Corrected, Units
    >>> sets = Units("data sets", 14, independent=True)
    >>> test = Corrected(0.001, "gains over none", size=10)
    >>> power = {"power": 0.9, "power_for": 0.01}
    >>> gain = Evidence(0.03, 0.01, 0.05, test, sets, "Patch model.", reproduced=True, **power)
    >>> [str(decide(Claim(side, margin=0.01), gain).outcome) for side in ("greater", "less")]
    ['confirmed', 'refuted']
    """
    least_power = _checks.probability("least_power", least_power)
    shown = shows(evidence, claim.margin, alpha=alpha)
    numbers, text = _numbers(claim, evidence), _summary(evidence)
    if not evidence.units.independent:
        text += f" The {evidence.units.name} are not independent, so they cannot be counted."
        return Decision(Outcome.UNTESTABLE, text, numbers)
    if _supports(claim, shown):
        limits = _limits(claim, evidence, shown, least_power)
        text += f" This shows what is claimed{', but ' + _list(limits) if limits else ''}."
        return Decision(Outcome.CONDITION if limits else Outcome.CONFIRMED, text, numbers)
    if _opposes(claim, shown):
        return _against(claim, evidence, shown, least_power, text, numbers)
    if _outside(claim, evidence):
        text += (
            f" Neither the claim nor its opposite is shown, yet the printed {claim.printed} lies "
            f"outside our interval. Our conditions: {sentence('conditions', evidence.conditions)}"
        )
        return Decision(Outcome.NOT_REPRODUCED, text, numbers)
    why = _weak(claim, evidence, least_power) or ["the power would have done"]
    text += f" Neither the claim nor its opposite is shown: {why[0]}."
    return Decision(Outcome.UNTESTABLE, text, numbers)


# --- parts of the rule -------------------------------------------------------------------------


def _supports(claim: Claim, shown: Shown) -> bool:
    return {
        Direction.GREATER: shown.side > 0,
        Direction.LESS: shown.side < 0,
        Direction.EQUAL: shown.equal,
        Direction.NONE: shown.side != 0,
    }[claim.direction]


def _opposes(claim: Claim, shown: Shown) -> bool:
    return {
        Direction.GREATER: shown.side < 0 or shown.equal,
        Direction.LESS: shown.side > 0 or shown.equal,
        Direction.EQUAL: shown.beyond,
        Direction.NONE: shown.equal,
    }[claim.direction]


def _against(
    claim: Claim,
    evidence: Evidence,
    shown: Shown,
    least_power: float,
    text: str,
    numbers: Mapping[str, float],
) -> Decision:
    """Return refuted, or not reproduced where the refutation would not be fair."""
    what = "equivalence within the margin" if shown.equal else "the opposite of what is claimed"
    limits = [] if shown.equal else _weak(claim, evidence, least_power)
    if not evidence.reproduced:
        limits = [*limits, _elsewhere(evidence)]
    if limits:
        text += f" This shows {what}, but {_list(limits)}."
        return Decision(Outcome.NOT_REPRODUCED, text, numbers)
    return Decision(Outcome.REFUTED, f"{text} This shows {what}.", numbers)


def _limits(claim: Claim, evidence: Evidence, shown: Shown, least_power: float) -> list[str]:
    """Return what keeps a confirmation from being plain."""
    limits = [] if claim.direction is Direction.EQUAL else _weak(claim, evidence, least_power)
    if claim.direction is not Direction.EQUAL and shown.equal:
        limits.append(f"the difference is smaller than the margin of {claim.margin:g}")
    if _outside(claim, evidence):
        limits.append(f"the printed size, {claim.printed}, lies outside our interval")
    if not evidence.reproduced:
        limits.append(_elsewhere(evidence))
    return limits


def _weak(claim: Claim, evidence: Evidence, least_power: float) -> list[str]:
    """Return what is wrong with the power, as a list of one reason or none."""
    target = _target(claim)
    if not target:
        return ["neither a margin nor a printed size says what power to ask for"]
    if evidence.power >= least_power and evidence.power_for <= target * (1 + 1e-9):
        return []
    known = f"{evidence.power:.2f} for a difference of {evidence.power_for:g}"
    return [
        f"the power is {known if evidence.power else 'not known'}, "
        f"where {least_power:g} for {target:g} is asked"
    ]


def _target(claim: Claim) -> float:
    """Return the difference that a test has to be able to see."""
    if claim.printed is None:
        return claim.margin
    return max(claim.margin, float(max(abs(claim.printed.low), abs(claim.printed.high))))


def _outside(claim: Claim, evidence: Evidence) -> bool:
    return claim.printed is not None and not claim.printed.overlaps(
        Bounds(evidence.low, evidence.high)
    )


def _elsewhere(evidence: Evidence) -> str:
    return f"the conditions are not the source's ({evidence.conditions.strip().rstrip('.')})"


def _summary(evidence: Evidence) -> str:
    test = evidence.difference
    text = (
        f"The difference is {evidence.estimate:+.3g} [{evidence.low:+.3g}, {evidence.high:+.3g}] "
        f"over {evidence.units.count} {evidence.units.name}, p {test.value:.2g} "
    )
    tests = "the only test" if test.size == 1 else f"Holm's correction for {test.size} tests"
    text += f"({tests}: {test.family})"
    if evidence.equivalence is not None:
        text += f", p {evidence.equivalence.value:.2g} for equivalence"
    return text + "."


def _numbers(claim: Claim, evidence: Evidence) -> dict[str, float]:
    numbers = {
        "estimate": evidence.estimate,
        "low": evidence.low,
        "high": evidence.high,
        "level": evidence.level,
        "p_difference": evidence.difference.value,
        "margin": claim.margin,
        "power": evidence.power,
        "power_for": evidence.power_for,
        "units": evidence.units.count,
    }
    if evidence.equivalence is not None:
        numbers["p_equivalence"] = evidence.equivalence.value
    if claim.printed is not None:
        low, high = claim.printed.low, claim.printed.high
        numbers |= {"printed_low": float(low), "printed_high": float(high)}
    return {name: float(value) for name, value in numbers.items()}


def _both(source: Bounds, ours: Bounds) -> dict[str, float]:
    return {
        "printed_low": float(source.low),
        "printed_high": float(source.high),
        "ours_low": float(ours.low),
        "ours_high": float(ours.high),
    }


def _list(parts: Iterable[str]) -> str:
    *first, last = parts
    return f"{', '.join(first)} and {last}" if first else last
