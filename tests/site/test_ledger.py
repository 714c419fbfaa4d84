"""The ledger: every claim has a text, a verdict that a cell recorded, and a way to the cell."""

import json
import re

import pytest
import yaml
from sitefiles import ROOT, toc_files

import ledger
import ledger_html
from posenc.audit.claims import LOOK, MIME, claim, untestable

LISTED = {"B": 20, "R": 9, "F": 22, "S": 21}  # claims that were listed before the measurements
CLAIMS = ledger.read()
BASE = [f"{source}{number}" for source, last in LISTED.items() for number in range(1, last + 1)]
ROLE = re.compile(r"\{claim\}`(.+?)`")
ERRATA = (ROOT / "book" / "errata.md").read_text(encoding="utf-8")

every_claim = pytest.mark.parametrize("entry", CLAIMS, ids=[c["id"] for c in CLAIMS])


@pytest.fixture(scope="module")
def recorded() -> dict[str, dict]:
    return ledger.records()


# --- the ledger of the book


@pytest.mark.parametrize("claim_id", BASE)
def test_every_listed_claim_is_there(claim_id):
    assert claim_id in {entry["id"] for entry in CLAIMS}


def test_at_least_twenty_claims_were_added():
    assert len({entry["id"] for entry in CLAIMS} - set(BASE)) >= 20


@every_claim
def test_a_cell_gave_the_verdict_that_the_ledger_holds(entry, recorded):
    assert entry["id"] in recorded, "no cell gives a verdict on this claim"
    assert {key: entry.get(key) for key in ledger.RECORDED} == recorded[entry["id"]], (
        "out of date: run `make ledger`"
    )


@every_claim
def test_the_anchor_is_a_page_of_the_book_and_a_cell_on_it(entry):
    name, anchor = entry["anchor"].split("#")
    assert f"book/{name.removesuffix('.ipynb')}" in toc_files()
    assert f'id=\\"{anchor}\\"' in (ROOT / "book" / name).read_text(encoding="utf-8")


@every_claim
def test_verdicts_say_what_they_must(entry):
    assert entry["verdict"] in LOOK
    assert entry["measured"] or entry["verdict"] == "not testable here"
    assert entry["condition"] or entry["verdict"] in ("confirmed", "refuted")


def test_every_verdict_of_a_notebook_has_its_claim(recorded):
    assert recorded.keys() <= {entry["id"] for entry in CLAIMS}


def test_the_file_is_as_the_tool_writes_it(recorded):
    written = ledger.text(ledger.merge(CLAIMS, recorded))
    assert ledger.LEDGER.read_text(encoding="utf-8") == written, "run `make ledger`"


def test_claims_are_sentences_of_their_own():
    claims = [entry["claim"] for entry in CLAIMS]
    assert len(set(claims)) == len(claims)
    assert [text for text in claims if not re.fullmatch(r"[A-Z0-9a-z].*\.", text)] == []


# --- the pages made from it


def test_counts_add_up():
    tallies = ledger_html.counts(CLAIMS)
    assert sum(tally.total() for tally in tallies.values()) == len(CLAIMS)
    assert ledger_html.numbers(CLAIMS).startswith(f"{len(CLAIMS)} claims: ")


def test_the_picture_tells_in_words_what_it_draws():
    drawn = ledger_html.picture(CLAIMS)
    for source, tally in ledger_html.counts(CLAIMS).items():
        told = ", ".join(f"{tally[verdict]} {verdict}" for verdict in LOOK)
        assert f"{ledger.SOURCES[source]}: {told}" in drawn
    assert drawn.count("<rect") == len(LOOK) * len(ledger.SOURCES)


def test_the_table_escapes_what_it_shows():
    entry = {**CLAIMS[0], "claim": "0 < 1 & 2", "measured": "<b>", "condition": ""}
    shown = ledger_html.row(entry, "order-blindness.html#claim-B1")
    assert "0 &lt; 1 &amp; 2" in shown
    assert "<b>" not in shown


def test_every_erratum_leads_to_a_verdict_that_shows_it():
    """An item that only mends a symbol may rest on a confirmed claim."""
    verdicts = {entry["id"]: entry["verdict"] for entry in CLAIMS}
    items = re.split(r"\n(?=\*\*)", ERRATA)[1:]
    assert len(items) >= 30
    for item in items:
        cited = {verdicts[claim_id] for claim_id in ROLE.findall(item)}
        showing = {"refuted", "confirmed with a condition"}
        assert cited & (showing if "the symbol" not in item else {"confirmed"}), item[:80]


def test_numbers_of_the_errata_are_recorded_ones():
    """Numbers of three digits or more stand in the ledger, in a formula or in quotation marks."""
    prose = re.sub(r'\$\$.*?\$\$|\$[^$]*\$|"[^"]*"|`.*?`|\(.*?\)', " ", ERRATA, flags=re.S)
    known = {n for entry in CLAIMS for n in numbers_of(" ".join(entry.values()))}
    assert [n for n in numbers_of(prose) if len(n) > 2 and n not in known] == []


def numbers_of(text: str) -> list[str]:
    """Return the numbers of a text without signs and separators, such as 60611 and 0.034."""
    return [n.replace(",", "") for n in re.findall(r"\d+(?:,\d{3})*(?:\.\d+)?", text)]


def test_a_form_to_contest_a_verdict_exists():
    page = (ROOT / "book" / "claims.md").read_text(encoding="utf-8")
    name = re.search(r"issues/new\?template=([\w.-]+)", page)[1]
    form = yaml.safe_load((ROOT / ".github" / "ISSUE_TEMPLATE" / name).read_text())
    assert {"name", "description", "body"} <= form.keys()
    assert "claim" in {field.get("id") for field in form["body"]}


# --- the tool


def notebook(path, *verdicts):
    """Write a notebook whose cells recorded these verdicts."""
    bundles = [verdict._repr_mimebundle_() for verdict in verdicts]
    cells = [{"cell_type": "code", "outputs": [{"data": bundle}]} for bundle in bundles]
    path.write_text(json.dumps({"cells": [{"cell_type": "markdown", "source": []}, *cells]}))


def written(claim_id, **fields):
    return {"id": claim_id, "source": claim_id[0], "place": "Eq. 1", "claim": "It is.", **fields}


def test_verdicts_are_copied_and_texts_are_kept(tmp_path):
    notebook(tmp_path / "one.ipynb", claim("B2", holds=True, measured="2 of 2"))
    notebook(tmp_path / "two.ipynb", untestable("B10", reason="not public"))
    old = written("B2", verdict="refuted", measured="1 of 2", condition="x", anchor="gone")
    merged = ledger.merge([written("B10"), old], ledger.records(tmp_path))
    assert [entry["id"] for entry in merged] == ["B2", "B10"]
    assert merged[0] == written(
        "B2", verdict="confirmed", measured="2 of 2", condition="", anchor="one.ipynb#claim-B2"
    )
    assert merged[1]["verdict"] == "not testable here"
    assert merged[1]["condition"] == "not public"


def test_a_claim_without_a_verdict_is_named(tmp_path):
    notebook(tmp_path / "one.ipynb")
    merged = ledger.merge([written("B2")], ledger.records(tmp_path))
    assert ledger.without_verdict(merged) == ["B2"]


def test_a_verdict_without_a_claim_is_refused(tmp_path):
    notebook(tmp_path / "one.ipynb", claim("F40", holds=True, measured="x"))
    with pytest.raises(ledger.LedgerError, match=r"one\.ipynb .* F40"):
        ledger.merge([written("B2")], ledger.records(tmp_path))


def test_two_verdicts_on_a_claim_are_refused(tmp_path):
    for name in ("one", "two"):
        notebook(tmp_path / f"{name}.ipynb", claim("B2", holds=True, measured="x"))
    with pytest.raises(ledger.LedgerError, match=r"B2 .* one\.ipynb and in two\.ipynb"):
        ledger.records(tmp_path)


@pytest.mark.parametrize(
    ("entries", "words"),
    [
        ({"B2": "x"}, "must be a list"),
        (["x"], "claim number 1"),
        ([written("B2", claim=" ")], "claim B2 must have a text as claim"),
        ([{"id": "B2", "source": "B", "claim": "It is."}], "must have a text as place"),
        ([written("X2")], "id must look like B6, got 'X2'"),
        ([written("B2", source="R")], "source must be 'B', got 'R'"),
        ([written("B2", notes="x")], "must have no field 'notes'"),
        ([written("B2"), written("B2")], "B2 stands there twice"),
    ],
)
def test_a_wrong_ledger_is_refused_by_name(tmp_path, entries, words):
    path = tmp_path / "claims.yml"
    path.write_text(yaml.safe_dump(entries))
    with pytest.raises(ledger.LedgerError, match=re.escape(words)):
        ledger.read(path)


def test_the_same_claims_give_the_same_bytes(tmp_path):
    path = tmp_path / "claims.yml"
    path.write_text(ledger.text(CLAIMS), encoding="utf-8")
    assert ledger.text(ledger.read(path)) == path.read_text(encoding="utf-8")


def test_the_notebook_tool_and_the_ledger_look_for_the_same_data():
    import notebooks

    assert notebooks.MIME == MIME
