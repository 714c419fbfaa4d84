import json
from html.parser import HTMLParser

import numpy as np
import pytest

from posenc.audit.claims import MIME, claim, untestable


class _Text(HTMLParser):
    def __init__(self):
        super().__init__()
        self.ids, self.text = [], ""

    def handle_starttag(self, tag, attrs):  # noqa: ARG002
        self.ids += [value for name, value in attrs if name == "id"]

    def handle_data(self, data):
        self.text += data


def test_a_claim_that_holds_is_confirmed():
    assert claim("B1", holds=True, measured="1 of 1").verdict == "confirmed"


def test_a_condition_turns_a_confirmation_into_a_conditional_one():
    verdict = claim("B1", holds=True, measured="1 of 1", condition="for even widths")
    assert verdict.verdict == "confirmed with a condition"


@pytest.mark.parametrize("condition", ["", "what holds instead"])
def test_a_claim_that_fails_is_refuted_with_or_without_a_condition(condition):
    assert claim("B1", holds=False, measured="0 of 1", condition=condition).verdict == "refuted"


def test_numpy_truth_values_are_accepted():
    assert claim("B1", holds=np.bool_(False), measured="x").verdict == "refuted"


def test_untestable_says_what_is_missing():
    verdict = untestable("S1", reason="the data are not public")
    assert (verdict.verdict, verdict.condition) == ("not testable here", "the data are not public")


def test_every_form_of_the_output_tells_the_same():
    verdict = claim("B5", holds=False, measured="0 < 1 & 2", condition="an instead")
    bundle = verdict._repr_mimebundle_()
    page = _Text()
    page.feed(bundle["text/html"])
    assert page.ids == ["claim-B5"]
    for part in ("B5", "refuted", "0 < 1 & 2", "an instead"):
        assert part in bundle["text/plain"]
        assert part in page.text
    assert json.loads(json.dumps(bundle[MIME])) == {
        "id": "B5",
        "verdict": "refuted",
        "measured": "0 < 1 & 2",
        "condition": "an instead",
    }


@pytest.mark.parametrize(
    ("arguments", "name"),
    [
        ({"id": "", "holds": True, "measured": "x"}, "id"),
        ({"id": 5, "holds": True, "measured": "x"}, "id"),
        ({"id": "B1", "holds": 1, "measured": "x"}, "holds"),
        ({"id": "B1", "holds": None, "measured": "x"}, "holds"),
        ({"id": "B1", "holds": np.ones(2, bool), "measured": "x"}, "holds"),
        ({"id": "B1", "holds": True, "measured": " "}, "measured"),
    ],
)
def test_bad_claims_are_refused_by_name(arguments, name):
    with pytest.raises(ValueError, match=f"^{name} must"):
        claim(**arguments)


@pytest.mark.parametrize(("id", "reason", "name"), [("", "x", "id"), ("B1", "", "reason")])
def test_bad_untestables_are_refused_by_name(id, reason, name):
    with pytest.raises(ValueError, match=f"^{name} must"):
        untestable(id, reason=reason)
