"""The rule that gives verdicts: every branch, and what no branch may do."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from posenc_book.audit import rules
from posenc_book.audit.evidence import (
    Claim,
    Corrected,
    Direction,
    Evidence,
    Shown,
    Units,
    correct,
    shows,
)
from posenc_book.audit.rounding import Bounds, Truth, printed
from posenc_book.audit.rules import Outcome, Slip, SlipKind, decide

SETS = Units("data sets", 20, independent=True)
GREATER = Claim(Direction.GREATER, margin=0.01)


def one(p):
    return Corrected(p, "a family", 3)


def evidence(estimate, half, *, p=None, p_equal=None, power=0.9, **changes):
    """Evidence with the p-values that a normal estimate with this 95 % interval has."""
    error = half / 1.96
    if p is None:
        p = 2 * stats.norm.sf(abs(estimate) / error)
    if p_equal is None:
        p_equal = stats.norm.sf((0.01 - abs(estimate)) / error)
    made = Evidence(
        estimate,
        estimate - half,
        estimate + half,
        one(float(p)),
        SETS,
        "our model and splits",
        reproduced=True,
        equivalence=one(float(p_equal)),
        power=power,
        power_for=0.01,
    )
    return replace(made, **changes)


UP = evidence(0.05, 0.02)
DOWN = evidence(-0.05, 0.02)
OPEN = evidence(0.005, 0.02)
SAME = evidence(0.001, 0.004)
SMALL = evidence(0.005, 0.002)  # told apart from 0, and within the margin


@pytest.mark.parametrize(
    ("direction", "shown", "outcome"),
    [
        ("greater", UP, Outcome.CONFIRMED),
        ("greater", DOWN, Outcome.REFUTED),
        ("greater", SAME, Outcome.REFUTED),
        ("greater", SMALL, Outcome.CONDITION),
        ("greater", OPEN, Outcome.UNTESTABLE),
        ("less", DOWN, Outcome.CONFIRMED),
        ("less", UP, Outcome.REFUTED),
        ("less", SAME, Outcome.REFUTED),
        ("less", SMALL, Outcome.REFUTED),
        ("less", OPEN, Outcome.UNTESTABLE),
        ("equal", SAME, Outcome.CONFIRMED),
        ("equal", SMALL, Outcome.CONFIRMED),
        ("equal", UP, Outcome.REFUTED),
        ("equal", DOWN, Outcome.REFUTED),
        ("equal", OPEN, Outcome.UNTESTABLE),
        ("none", UP, Outcome.CONFIRMED),
        ("none", DOWN, Outcome.CONFIRMED),
        ("none", SAME, Outcome.REFUTED),
        ("none", SMALL, Outcome.CONDITION),
        ("none", OPEN, Outcome.UNTESTABLE),
    ],
)
def test_what_is_claimed_against_what_is_shown(direction, shown, outcome):
    decision = decide(Claim(direction, margin=0.01), shown)
    assert decision.outcome is outcome
    assert f"{shown.estimate:+.3g}" in decision.reason
    assert "20 data sets" in decision.reason
    assert "Holm's correction for 3 tests: a family" in decision.reason
    assert decision.reason.endswith(".")
    assert decision.numbers["p_difference"] == shown.difference.value


@pytest.mark.parametrize(("p", "side"), [(0.05, 1), (0.051, 0), (0.09, 0)])
def test_a_difference_is_shown_up_to_the_level_and_no_further(p, side):
    assert shows(evidence(0.05, 0.02, p=p), 0.01).side == side


def test_a_difference_that_may_lie_within_the_margin_does_not_refute_equality():
    straddling = evidence(0.015, 0.01)
    assert shows(straddling, 0.01) == Shown(side=1, equal=False, beyond=False)
    assert decide(Claim("equal", margin=0.01), straddling).outcome is Outcome.UNTESTABLE


def test_power_for_a_larger_difference_than_asked_does_not_count():
    larger = replace(DOWN, power_for=0.03)
    assert decide(GREATER, larger).outcome is Outcome.NOT_REPRODUCED
    assert decide(replace(GREATER, printed=printed("0.03")), larger).outcome is Outcome.REFUTED
    wide = replace(GREATER, margin=0.03)
    assert decide(wide, replace(UP, power_for=0.03)).outcome is Outcome.CONFIRMED
    assert decide(wide, replace(UP, power_for=0.05)).outcome is Outcome.CONDITION


def saying(size, **how):
    return replace(GREATER, printed=printed(size, **how))


EQUAL, UNNAMED = Claim("equal", margin=0.01), Claim("greater", margin=0)
ELSEWHERE = {"reproduced": False, "conditions": "a small model."}
EDGE = replace(OPEN, low=-0.02, high=0.0249)


@pytest.mark.parametrize(
    ("claim", "shown", "outcome", "words"),
    [
        # without a margin nothing is equal, and nothing plainly confirmed
        (UNNAMED, SAME, Outcome.UNTESTABLE, ""),
        (UNNAMED, UP, Outcome.CONDITION, "neither a margin nor a printed size"),
        # low power weakens both sides alike, and equivalence needs none
        (GREATER, replace(UP, power=0.0), Outcome.CONDITION, "power is not known"),
        (GREATER, replace(UP, power=0.5), Outcome.CONDITION, "power is 0.50"),
        (GREATER, replace(DOWN, power=0.0), Outcome.NOT_REPRODUCED, "power is not known"),
        (GREATER, replace(DOWN, power=0.5), Outcome.NOT_REPRODUCED, "power is 0.50"),
        (GREATER, replace(SAME, power=0.0), Outcome.REFUTED, ""),
        (EQUAL, replace(SAME, power=0.0), Outcome.CONFIRMED, ""),
        # under other conditions than the source's nothing is refuted or plainly confirmed
        (GREATER, replace(UP, **ELSEWHERE), Outcome.CONDITION, ""),
        (GREATER, replace(DOWN, **ELSEWHERE), Outcome.NOT_REPRODUCED, "(a small model)."),
        (GREATER, replace(SAME, **ELSEWHERE), Outcome.NOT_REPRODUCED, "(a small model)."),
        # a printed size counts where all that rounds to it lies outside our interval
        (saying("0.12"), UP, Outcome.CONDITION, "the printed size"),
        (saying("0.12"), OPEN, Outcome.NOT_REPRODUCED, "our model and splits."),
        (saying("0.03"), OPEN, Outcome.UNTESTABLE, ""),  # 0.025 rounds to it
        (saying("0.05"), UP, Outcome.CONFIRMED, ""),
        (saying("0.03"), EDGE, Outcome.NOT_REPRODUCED, ""),
        (saying("0.03", rounding="either"), EDGE, Outcome.NOT_REPRODUCED, ""),
        (saying("0.02"), EDGE, Outcome.UNTESTABLE, ""),
        # test and interval have to agree
        (GREATER, replace(UP, difference=one(0.2)), Outcome.UNTESTABLE, ""),
        (EQUAL, replace(UP, difference=one(0.2)), Outcome.UNTESTABLE, ""),
        (GREATER, replace(UP, low=-0.001), Outcome.UNTESTABLE, ""),
        (GREATER, replace(SAME, equivalence=one(0.2)), Outcome.UNTESTABLE, ""),
        (GREATER, replace(SAME, equivalence=None), Outcome.UNTESTABLE, ""),
        (GREATER, replace(SAME, high=0.011), Outcome.UNTESTABLE, ""),
    ],
)
def test_what_else_a_verdict_depends_on(claim, shown, outcome, words):
    decision = decide(claim, shown)
    assert decision.outcome is outcome
    assert words in decision.reason


# --- what holds for all evidence ---------------------------------------------------------------

sizes = st.floats(-0.1, 0.1, allow_nan=False)


@st.composite
def all_evidence(draw):
    estimate, half = draw(sizes), draw(st.floats(0.0005, 0.1))
    made = evidence(
        estimate,
        half,
        p=draw(st.none() | st.floats(0, 1)),
        p_equal=draw(st.none() | st.floats(0, 1)),
        power=draw(st.floats(0, 1)),
        power_for=draw(st.floats(0, 0.05)),
        reproduced=draw(st.booleans()),
        units=draw(st.sampled_from([SETS, replace(SETS, independent=False)])),
    )
    return made if draw(st.booleans()) else replace(made, equivalence=None)


claims = st.builds(
    Claim,
    st.sampled_from(list(Direction)),
    st.sampled_from([0.0, 0.01, 0.03]),
    st.none() | st.sampled_from([printed("0.02"), printed("-0.05"), printed("0.10")]),
)


@given(claims, all_evidence())
def test_mirroring_claim_and_data_changes_nothing(claim, shown):
    assert decide(claim, shown).outcome is decide(claim.mirrored(), shown.mirrored()).outcome


@given(all_evidence(), st.sampled_from([0.01, 0.03]))
def test_what_confirms_a_claim_refutes_its_opposite(shown, margin):
    shown = replace(shown, reproduced=True, units=SETS, power=0.95, power_for=0.01)
    greater = decide(Claim("greater", margin), shown).outcome
    less = decide(Claim("less", margin), shown).outcome
    if greater is Outcome.CONFIRMED:
        assert less is Outcome.REFUTED
    if greater is Outcome.REFUTED and not shows(shown, margin).equal:
        assert less is Outcome.CONFIRMED
    assert (greater is Outcome.UNTESTABLE) == (less is Outcome.UNTESTABLE)


@given(claims, all_evidence())
def test_a_null_result_never_refutes(claim, shown):
    """Neither told apart from 0 nor shown equal: whatever the power, nothing is refuted."""
    if shown.difference.value > 0.05 and (
        shown.equivalence is None or shown.equivalence.value > 0.05
    ):
        assert decide(claim, shown).outcome in (Outcome.UNTESTABLE, Outcome.NOT_REPRODUCED)


@given(claims, all_evidence())
def test_refuting_needs_the_sources_conditions_and_independent_units(claim, shown):
    elsewhere = decide(claim, replace(shown, reproduced=False)).outcome
    assert elsewhere not in (Outcome.REFUTED, Outcome.CONFIRMED, Outcome.SLIP)
    dependent = decide(claim, replace(shown, units=replace(SETS, independent=False)))
    assert dependent.outcome is Outcome.UNTESTABLE
    assert "data sets are not independent" in dependent.reason


STRENGTH = [Outcome.REFUTED, Outcome.NOT_REPRODUCED, Outcome.UNTESTABLE]
STRENGTH += [Outcome.CONDITION, Outcome.CONFIRMED]


@given(claims, all_evidence(), st.floats(0, 1))
def test_a_smaller_p_value_never_makes_a_verdict_weaker(claim, shown, p):
    """The more is shown, the further the verdict from "not testable here", to the same side."""
    sharper = replace(shown, difference=one(min(p, shown.difference.value)), equivalence=None)
    blunter = replace(shown, equivalence=None)
    before, after = decide(claim, blunter).outcome, decide(claim, sharper).outcome
    if before in (Outcome.CONFIRMED, Outcome.CONDITION, Outcome.REFUTED):
        assert after is before


@given(claims, all_evidence())
def test_more_power_never_makes_a_verdict_weaker(claim, shown):
    before = decide(claim, replace(shown, power=0.2)).outcome
    after = decide(claim, replace(shown, power=0.99)).outcome
    middle = STRENGTH.index(Outcome.UNTESTABLE)
    distance = [STRENGTH.index(o) - middle for o in (before, after)]
    assert abs(distance[1]) >= abs(distance[0])
    assert distance[0] * distance[1] >= 0


# --- exact statements --------------------------------------------------------------------------


def test_exact_statements():
    assert rules.exact(True, "All 80 rows differ").outcome is Outcome.CONFIRMED
    conditioned = rules.exact(np.bool_(True), "All rows differ", condition="d is even")
    assert conditioned.outcome is Outcome.CONDITION
    assert conditioned.reason == "All rows differ. Condition: d is even."
    failing = rules.exact(False, "Rows 0 and 512 are equal")
    assert failing.outcome is Outcome.REFUTED
    assert str(failing) == "refuted: Counter-example: Rows 0 and 512 are equal."
    slip = rules.exact(False, "x", slip=Slip(SlipKind.COUNT, "the sum is 1"))
    assert slip.outcome is Outcome.SLIP
    assert slip.reason.endswith("corrected: the sum is 1.")
    counts = rules.tally([Outcome.REFUTED, slip, slip])
    assert (counts[Outcome.REFUTED], counts[Outcome.SLIP]) == (1, 2)
    assert list(counts) == list(Outcome) == list(rules.DEFINITIONS)


# --- printed words and figures -----------------------------------------------------------------

ALWAYS, NEVER, UNDECIDED = Truth.ALWAYS, Truth.NEVER, Truth.OPEN


@pytest.mark.parametrize(
    ("readings", "overall", "each"),
    [
        ((ALWAYS, ALWAYS), Outcome.CONFIRMED, Outcome.CONFIRMED),
        ((NEVER, NEVER), Outcome.REFUTED, Outcome.REFUTED),
        ((ALWAYS, NEVER), Outcome.CONDITION, Outcome.REFUTED),
        ((ALWAYS, UNDECIDED), Outcome.CONDITION, Outcome.CONDITION),
        ((NEVER, UNDECIDED), Outcome.UNTESTABLE, Outcome.REFUTED),
        ((UNDECIDED, UNDECIDED), Outcome.UNTESTABLE, Outcome.UNTESTABLE),
    ],
)
def test_words_against_printed_figures(readings, overall, each):
    named = dict(zip(("Table 4", "Table 5"), readings, strict=True))
    assert rules.words(named, "The gaps are 6.0 and 5.6").outcome is overall
    assert rules.words(named, "The gaps are 6.0 and 5.6", scope="every").outcome is each


def test_words_name_the_readings_that_decide():
    named = {"Table 4": NEVER, "Table 5": ALWAYS}
    assert "by Table 5 only" in rules.words(named, "x").reason
    assert "fails by Table 4" in rules.words(named, "x", scope="every").reason
    assert rules.words(ALWAYS, "x").numbers == {"always": 1, "never": 0, "open": 0}
    with pytest.raises(ValueError, match="at least one reading"):
        rules.words({}, "x")
    with pytest.raises(ValueError, match="scope must be one of"):
        rules.words(ALWAYS, "x", scope="most")


def test_a_printed_figure_computed_anew():
    total = printed("0.33") + printed("0.33") + printed("0.33")
    assert rules.figure(printed("1.00"), total, found="The sum").outcome is Outcome.CONFIRMED
    differs = rules.figure(printed("1.10"), total, found="The sum")
    assert differs.outcome is Outcome.REFUTED
    assert "1.095 to 1.105 printed, 0.975 to 1.005 computed" in differs.reason
    slip = Slip(SlipKind.COUNT, "the sum is 1.00")
    assert rules.figure(printed("1.10"), total, found="x", slip=slip).outcome is Outcome.SLIP
    with pytest.raises(ValueError, match="slip must be left out"):
        rules.figure(printed("1.00"), total, found="x", slip=slip)
    assert rules.figure(printed("0.83"), 0.8251, found="x").outcome is Outcome.CONFIRMED


@pytest.mark.parametrize(
    ("low", "high", "reproduced", "outcome"),
    [
        (0.82, 0.84, True, Outcome.CONFIRMED),
        (0.82, 0.84, False, Outcome.CONDITION),
        (0.70, 0.90, True, Outcome.UNTESTABLE),
        (0.70, 0.80, True, Outcome.NOT_REPRODUCED),
        (0.70, 0.80, False, Outcome.NOT_REPRODUCED),
        (0.836, 0.84, True, Outcome.NOT_REPRODUCED),
        (0.834, 0.84, True, Outcome.CONFIRMED),
    ],
)
def test_a_printed_figure_against_a_measurement(low, high, reproduced, outcome):
    conditions = {"tolerance": 0.02, "conditions": "five seeds", "reproduced": reproduced}
    decision = rules.measured_figure(printed("0.83"), low, high, **conditions)
    assert decision.outcome is outcome
    assert decision.numbers["printed_low"] == 0.825


# --- evidence ----------------------------------------------------------------------------------


def test_holm_over_a_named_family():
    family = correct("gains, patch model", {"rotary": 0.01, "dft": 0.04, "tape": 0.03})
    assert family["rotary"].value == pytest.approx(0.03)
    assert (family["tape"].family, family["tape"].size) == ("gains, patch model", 3)
    assert family["dft"].value == family["tape"].value == pytest.approx(0.06)
    with pytest.raises(ValueError, match="at least one test"):
        correct("none", {})


COUNT = Slip(SlipKind.COUNT, "y")


def measure(**changes):
    right = {"tolerance": 1, "conditions": "c", "reproduced": True}
    return rules.measured_figure(Bounds(0, 1), 0, 9, **{**right, **changes})


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: replace(UP, low=0.06), "must rise"),
        (lambda: replace(UP, estimate=float("nan")), "estimate must be finite"),
        (lambda: replace(UP, conditions=""), "conditions must say something"),
        (lambda: replace(UP, reproduced="yes"), "reproduced must be True or False"),
        (lambda: replace(UP, power=1.2), "power must lie in"),
        (lambda: replace(UP, power_for=-1.0), "power_for must be"),
        (lambda: replace(UP, level=1.0), "level must be a probability"),
        (lambda: Claim("upwards", 0.01), "direction must be one of greater, less, equal, none"),
        (lambda: Claim("greater", -0.01), "margin must be"),
        (lambda: Units("", 3, independent=True), "name must say"),
        (lambda: Units("sets", 0, independent=True), "count must be"),
        (lambda: Units("sets", 3, independent="yes"), "independent must be"),
        (lambda: Corrected(1.5, "f", 1), "value must be a p-value"),
        (lambda: Corrected(0.5, " ", 1), "family must name"),
        (lambda: Corrected(0.5, "f", 0), "size must be"),
        (lambda: Slip("a thought", "x"), "kind must be one of an index, a symbol"),
        (lambda: Slip(SlipKind.COUNT, ""), "corrected must say something"),
        (lambda: rules.untestable(" "), "missing must say something"),
        (lambda: rules.exact("yes", "x"), "holds must be True or False"),
        (lambda: rules.exact(True, ""), "found must say something"),
        (lambda: rules.exact(True, "x", slip=COUNT), "slip must be left out"),
        (lambda: rules.exact(False, "x", condition="under y"), "left out where .*, got 'under y'"),
        (lambda: rules.exact(False, "x", condition="y", slip=COUNT), "condition must be left out"),
        (lambda: measure(tolerance=0), "tolerance must be"),
        (lambda: measure(reproduced="no"), "reproduced must be True or False, got 'no'"),
        (lambda: decide(GREATER, UP, alpha=2), "alpha must be a probability"),
        (lambda: decide(GREATER, UP, least_power=1), "least_power must be a probability"),
        (lambda: decide(GREATER, replace(UP, level=0.5)), r"must be at least 1 - 2 alpha = 0\.9"),
    ],
)
def test_bad_arguments_are_named(make, message):
    with pytest.raises(ValueError, match=message):
        make()
