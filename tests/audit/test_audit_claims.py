"""The call that gives a verdict: what it takes, what it refuses, and what its output tells."""

import json
import subprocess
import sys

import numpy as np
import pytest
from bs4 import BeautifulSoup

from posenc_book.audit import ledger, rules
from posenc_book.audit.claims import LOOK, MIME, SHOWN_MIME, claim, show, untestable


def test_a_claim_that_holds_is_confirmed():
    assert claim("B1", holds=True, measured="1 of 1").verdict == "confirmed"


@pytest.mark.parametrize(
    ("holds", "condition", "verdict"),
    [
        (True, "for even widths", "confirmed with a condition"),
        (False, "", "refuted"),
        (False, "what holds instead", "refuted"),
        (np.bool_(False), "", "refuted"),
    ],
)
def test_a_condition_weakens_what_holds_and_saves_nothing_that_fails(holds, condition, verdict):
    found = claim("B1", holds=holds, measured="1 of 1", condition=condition)
    assert (found.verdict, found.condition) == (verdict, condition)


def test_untestable_says_what_is_missing():
    verdict = untestable("S1", reason="the data are not public")
    assert (verdict.verdict, verdict.condition) == ("not testable here", "the data are not public")


def test_every_form_of_the_output_tells_the_same():
    verdict = claim("B5", holds=False, measured="0 < 1 & 2", condition="an instead")
    bundle = verdict._repr_mimebundle_()
    page = BeautifulSoup(bundle["text/html"], "html.parser")
    assert [tag["id"] for tag in page.find_all(id=True)] == ["claim-B5"]
    for part in ("B5", "refuted", "0 < 1 & 2", "an instead"):
        assert part in bundle["text/plain"]
        assert part in page.text
    assert json.loads(json.dumps(bundle[MIME])) == {
        "id": "B5",
        "verdict": "refuted",
        "measured": "0 < 1 & 2",
        "condition": "an instead",
    }


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
    assert claim("B5", rule=rules.untestable("No data")).condition == "No data."


SLIP = rules.Decision(rules.Outcome.SLIP, "x")


@pytest.mark.parametrize(
    ("call", "name"),
    [
        (lambda: claim("", holds=True, measured="x"), "id"),
        (lambda: claim(5, holds=True, measured="x"), "id"),
        (lambda: claim("B1", holds=1, measured="x"), "holds"),
        (lambda: claim("B1", holds=np.ones(2, bool), measured="x"), "holds"),
        (lambda: claim("B1", holds=True, measured=" "), "measured"),
        (lambda: claim("B1", holds=True, measured="x", slip="y"), "slip"),
        (lambda: claim("B1", holds=False, measured="x", slip=" "), "slip"),
        (lambda: claim("B1", holds=False, measured="x", slip="y", condition="z"), "condition"),
        (lambda: claim("B1", rule=SLIP, measured="x", holds=False), "holds"),
        (lambda: claim("B1", rule=SLIP, measured="x", condition="z"), "condition"),
        (lambda: claim("B1", rule=SLIP), "measured"),
        (lambda: claim("B1", rule="refuted", measured="x"), "rule"),
        (lambda: untestable("", reason="x"), "id"),
        (lambda: untestable("B1", reason=""), "reason"),
        (lambda: show(""), "id"),
        (lambda: show("B99"), "id"),
    ],
)
def test_what_contradicts_itself_or_says_nothing_is_refused_by_name(call, name):
    with pytest.raises(ValueError, match=f"^{name} must"):
        call()


# --- verdicts shown again


def test_a_shown_verdict_says_what_the_ledger_says():
    row = ledger.row("B15")
    shown = show("B15")
    bundle = shown._repr_mimebundle_()
    page = BeautifulSoup(bundle["text/html"], "html.parser")
    for part in ("B15", row["verdict"], row["claim"], row["place"], row["measured"]):
        assert part in page.text
        assert part in bundle["text/plain"]
    assert not page.find_all(id=True)  # the anchor belongs to the cell that decides
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


def test_showing_needs_no_statistics_and_no_torch():
    code = "import sys; from posenc_book.audit.claims import show; print(show('B15')); "
    code += "assert not {'torch', 'scipy.stats', 'yaml'} & sys.modules.keys()"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "B15" in done.stdout
