"""What stands beside the verdicts, on answers that were made up."""

import math

import pytest

from posenc_book.audit.outcomes import Outcome
from posenc_book.audit.survey import again
from posenc_book.read.edition3.claims import CLAIMS
from posenc_book.read.edition3.reading import Answer, Family
from posenc_book.statistics import answers, friedman

NAN = math.nan


def answer(estimate, p_value, p_equal, title="asked"):
    effect = friedman.Effect(estimate, estimate - 0.01, estimate + 0.01, 0.95, 6, 8)
    alone = answers.Answer(title, effect, p_value, p_equal)
    return Answer(
        **vars(alone), alone=alone, on_new_series=alone, on_new_sets=alone, by_set=(), carried=()
    )


@pytest.mark.parametrize("estimate", [-0.01, 0.01])
@pytest.mark.parametrize("differs", [False, True])
@pytest.mark.parametrize("equal", [False, True])
def test_only_what_is_shown_as_said_and_beyond_the_margin_confirms(estimate, differs, equal):
    found = again.verdict_of(answer(estimate, 1 - differs, 1 - equal))
    if not differs and not equal:
        assert found is None
    else:
        as_said = estimate > 0 and differs and not equal
        assert found == (Outcome.CONDITION if as_said else Outcome.NOT_REPRODUCED)


def test_a_sentence_has_numbers_conditions_and_the_verdict():
    told = again.sentence("F23", Family((answer(0.0123, 1, 0),)))
    assert (
        "on 6 of the survey's sets, 16 resamples of each, steps as tokens: +0.012 [+0.002" in told
    )
    assert told.endswith(", shown to be within 0.01 of 0. By itself that would be: not reproduced")
    assert again.sentence("S31", Family((answer(0.0123, 1, 1),))).endswith(", which is undecided")
    told = again.sentence("S19", Family((answer(0.0123, 0, 1),)))
    assert told.endswith("shown to be above 0. By itself that would be: confirmed with a condition")
    trends = Family(
        (answer(0.0123, NAN, NAN, "a doubling of length"), answer(-1, NAN, NAN, "more"))
    )
    told = again.sentence("S20", trends)
    assert "a doubling of length +0.012 [" in told
    assert "; more -1.000 [" in told
    assert told.endswith("which is not tested, as six sets can't decide a trend")
    missing = Family((), (("LSST", "dft", 2, 1),))
    assert again.sentence("F23", missing).endswith("not yet trained")


@pytest.mark.parametrize("name", CLAIMS)
def test_each_of_the_four_has_its_sentence(name):
    assert again.ledger_sentence(name).startswith(again.OPENING)
