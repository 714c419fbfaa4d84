"""The call that gives a verdict: what it takes, what it refuses, and what its output tells."""

import json
import subprocess
import sys
from html.parser import HTMLParser

import numpy as np
import pytest

from posenc_book.audit import ledger, rules
from posenc_book.audit.claims import LOOK, MIME, SHOWN_MIME, claim, show, untestable


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


def test_a_slip_gives_the_corrected_form_and_is_not_refuted():
    verdict = claim("B5", holds=False, measured="0 to 0.98", slip="0 is included")
    assert (verdict.verdict, verdict.condition) == ("slip", "Corrected: 0 is included")
    kind = rules.Slip(rules.SlipKind.BOUNDARY, "0 is included")
    assert claim("B5", holds=False, measured="x", slip=kind).condition == str(kind)


@pytest.mark.parametrize("outcome", list(rules.Outcome))
def test_a_rule_gives_any_of_the_six(outcome):
    decision = rules.Decision(outcome, "Because it is so.")
    verdict = claim("S20", rule=decision, measured="1.5 points")
    assert verdict.verdict == outcome.value
    assert type(verdict.verdict) is str
    assert (verdict.measured, verdict.condition) == ("1.5 points", "Because it is so.")
    assert LOOK[verdict.verdict][0] in str(verdict)


def test_the_reason_of_a_rule_may_be_all_that_is_said():
    refuted = claim("B5", rule=rules.exact(False, "Position 0 maps to 0"))
    assert (refuted.measured, refuted.condition) == ("Counter-example: Position 0 maps to 0.", "")
    open_ = claim("B5", rule=rules.untestable("The data are missing"))
    assert (open_.measured, open_.condition) == ("", "The data are missing.")


SLIP = rules.Decision(rules.Outcome.SLIP, "x")


@pytest.mark.parametrize(
    ("arguments", "name"),
    [
        ({"holds": True, "measured": "x", "slip": "y"}, "slip"),
        ({"holds": False, "measured": "x", "slip": " "}, "slip"),
        ({"holds": False, "measured": "x", "slip": "y", "condition": "z"}, "condition"),
        ({"rule": SLIP, "measured": "x", "holds": False}, "holds"),
        ({"rule": SLIP, "measured": "x", "condition": "z"}, "condition"),
        ({"rule": SLIP}, "measured"),
        ({"rule": "refuted", "measured": "x"}, "rule"),
    ],
)
def test_contradictory_claims_are_refused_by_name(arguments, name):
    with pytest.raises(ValueError, match=f"^{name} must"):
        claim("B1", **arguments)


# --- verdicts shown again


def test_a_shown_verdict_says_what_the_ledger_says():
    row = ledger.row("B15")
    shown = show("B15")
    page = _Text()
    bundle = shown._repr_mimebundle_()
    page.feed(bundle["text/html"])
    for part in ("B15", row["verdict"], row["claim"], row["place"], row["measured"]):
        assert part in page.text
        assert part in bundle["text/plain"]
    assert page.ids == []  # the anchor belongs to the cell that decides
    assert MIME not in bundle  # or the ledger would find two verdicts
    assert bundle[SHOWN_MIME] == {"id": "B15"}


def test_a_shown_verdict_links_to_its_cell_on_the_published_site():
    page, anchor = ledger.row("B12")["anchor"].split(".ipynb#")
    address = f"{ledger.book()}book/{page}.html#{anchor}"
    assert f'href="{address}"' in show("B12")._repr_mimebundle_()["text/html"]
    assert address in str(show("B12"))


def test_a_statement_of_ours_is_marked_as_such():
    ours = next(row["id"] for row in ledger.rows() if row.get("ours"))
    assert "A statement of ours" in show(ours)._repr_mimebundle_()["text/html"]
    assert "A statement of ours" in str(show(ours))
    assert "A statement of ours" not in str(show("B15"))


@pytest.mark.parametrize("id", ["", "B99", 15])
def test_what_the_ledger_does_not_hold_cannot_be_shown(id):
    with pytest.raises(ValueError, match=r"^id must"):
        show(id)


def test_showing_needs_no_statistics_and_no_torch():
    code = "import sys; from posenc_book.audit.claims import show; print(show('B15')); "
    code += "assert not {'torch', 'scipy.stats', 'yaml'} & sys.modules.keys()"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "B15" in done.stdout
