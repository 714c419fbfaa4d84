"""The ledger: every claim has a text, a verdict that a cell recorded, and a way to the cell."""

import json
import os
import re
from collections.abc import Iterator
from functools import cache
from html import escape

import pytest
import yaml
from sitefiles import ROOT, toc_files

import fill
import ledger
import ledger_html
import repository
import sources
import verdict_marks
from posenc_book.audit import ledger as packaged
from posenc_book.audit.claims import LOOK, SHOWN_MIME, Shown, claim, untestable
from posenc_book.audit.outcomes import DEFINITIONS, Outcome
from quantities import checked

CLAIMS = ledger.read()
PAGES = set(toc_files())
# Every claim that the ledger has ever held: new ones are added here too, none is taken out.
FROZEN = (ROOT / "tests" / "audit" / "claim_ids.txt").read_text().split()
TEXTS = os.environ.get("POSENC_SOURCES")
AUDIT = {
    "B": ("first-principles",),
    "R": ("linear-relationships",),
    "F": ("faithful-encoding",),
    "S": ("survey", "survey-results"),
    "N": ("modern-encodings", "forecasters"),
}
PART = re.compile(
    r"opening|introduction|abstract|[Ss]ections? \d|[Aa]ppendix [A-Z]|Derivation|Problem|comments|"
    "code|beyond"
)
ROLE = re.compile(r"\{claim\}`(.+?)`")
ERRATA = (ROOT / "book" / "errata.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def recorded() -> dict[str, dict]:
    return ledger.records()


# --- the ledger of the book


def test_no_claim_was_lost_and_new_ones_are_listed():
    assert [entry["id"] for entry in CLAIMS] == sorted(FROZEN, key=ledger.order)
    assert len(FROZEN) == len(set(FROZEN)) >= 154


def faults(row: dict) -> Iterator[str]:
    """Say what is wrong with the form of a row that has all its fields."""
    name, anchor = row["anchor"].split("#")
    if f"book/{name.removesuffix('.ipynb')}" not in PAGES:
        yield f"anchor names no page of the book: {name}"
    elif f'id=\\"{anchor}\\"' not in written_in(name):
        yield f"anchor names no cell of {name}: {anchor}"
    if row["verdict"] not in LOOK:
        yield f"verdict must be one of {', '.join(LOOK)}, got {row['verdict']!r}"
    if not row["measured"] and row["verdict"] != "not testable here":
        yield "measured is empty"
    if not row["condition"] and row["verdict"] not in ("confirmed", "refuted"):
        yield f"condition is empty, and the verdict is {row['verdict']!r}"
    if not PART.search(row["place"]):
        yield f"place names no part of the source: {row['place']!r}"
    ours = row.get("ours")
    ways = {"find", "found", "ours"} & row.keys()
    unread = not row.get("read", "from the text").startswith("from the text")
    if len(ways) != (0 if unread else 1) and not ours:
        yield f"it must say one way to find it in the source, got {sorted(ways)}"
    if not ours and re.search("beyond the source|^companion|^published", row["place"]):
        yield f"the place is none of the source, and ours is missing: {row['place']!r}"
    for field in ("claim", "measured", "condition"):
        if row[field].count("$") % 2:
            yield f"{field} has a dollar sign without another"
        if "**" in row[field]:
            yield f"{field} must not be bold"


@cache
def written_in(name: str) -> str:
    return (ROOT / "book" / name).read_text(encoding="utf-8")


def all_faults(rows: list[dict]) -> list[str]:
    """Return the faults of all rows, each with the row's id."""
    found = []
    for row in rows:
        missing = {"anchor", "verdict", "measured", "condition"} - row.keys()
        said = [f"{field} is missing" for field in sorted(missing)] or faults(row)
        found += [f"{row['id']}: {fault}" for fault in said]
    return found


def test_every_row_has_its_form():
    found = all_faults(CLAIMS)
    assert not found, "\n".join(found)


def test_rows_of_later_papers_and_no_others_say_what_was_read():
    assert {entry["source"] for entry in CLAIMS if "read" in entry} == {"N"}
    later = [entry for entry in CLAIMS if entry["source"] == "N"]
    assert all(entry["read"].startswith(ledger.KINDS_OF_READING) for entry in later)


def test_rows_that_are_not_testable_and_no_others_say_what_they_need():
    for entry in CLAIMS:
        ledger.check_needs(entry)
    row = next(entry for entry in CLAIMS if entry["verdict"] == "not testable here")
    for wrong in ({**row, "needs": "luck"}, {**row, "verdict": "confirmed"}):
        with pytest.raises(ledger.LedgerError, match="must say as needs"):
            ledger.check_needs(wrong)


def test_no_row_waits_for_what_has_been_trained_since():
    since = ledger.stored_since(CLAIMS)
    assert not since, f"judge {', '.join(since)} by a cell, or raise `beyond` in book/claims.yml"


def test_what_a_row_needs_is_counted_in_sets(tmp_path):
    lines = [{"dataset": d, "encoding": "t5", "settings": {"norm": "layer"}} for d in "abb"]
    text = "\n".join(map(json.dumps, lines))
    for name in ("lab.jsonl", "tuning-lab.jsonl"):
        (tmp_path / name).write_text(text)
    fields = {"encoding": ["t5", "fire"], "norm": "layer"}
    assert ledger.sets_stored({"results": "*.jsonl", "fields": fields}, tmp_path) == 2
    assert ledger.sets_stored({"results": "*.jsonl", "fields": {"norm": "none"}}, tmp_path) == 0
    assert ledger.sets_stored({"results": "gpu.json"}, tmp_path) == 0


@pytest.mark.parametrize("source", AUDIT)
def test_the_audit_of_a_source_has_a_place_for_each_of_its_claims(source):
    paths = [ROOT / "book" / "audit" / f"{name}.ipynb" for name in AUDIT[source]]
    cells = [cell for path in paths for cell in json.loads(path.read_text())["cells"]]
    text = "\n\n".join("".join(c["source"]) for c in cells if c["cell_type"] == "markdown")
    headed = re.findall(r"^### ([A-Z]\d+): .+\n\n\*.+\]\(\.\./[\w-]+\.ipynb\)\.\*", text, re.M)
    marked = [found["id"] for found in verdict_marks.MARK.finditer(text)]
    theirs = [c["id"] for c in CLAIMS if c["source"] == source and "code" not in c["place"]]
    code_too = {c["id"] for c in CLAIMS if c["source"] == source} - {*theirs}
    assert {*headed, *marked} - code_too == {*theirs}
    assert len(headed + marked) == len({*headed, *marked})
    here = tuple(f"audit/{name}.ipynb#" for name in AUDIT[source])
    assert {*headed} == {c["id"] for c in CLAIMS if c["anchor"].startswith(here)}


# --- what is made from the ledger


def test_the_copy_in_the_package_is_the_ledger():
    assert packaged.rows() == CLAIMS, "run `make ledger`"
    assert packaged.book() == repository.pages(repository.address())
    assert ledger.COPY.read_text(encoding="utf-8") == ledger.copy(CLAIMS)


def test_no_mark_and_no_shown_verdict_is_stale():
    wanted = verdict_marks.renewed(CLAIMS, packaged.book(), ledger.BOOK)
    assert len(wanted) >= 5
    stale = [path.name for path, text in wanted.items() if path.read_text("utf-8") != text]
    assert stale == [], "run `make ledger`"


def test_a_stale_mark_is_renewed_wherever_it_stands(tmp_path):
    (tmp_path / "audit").mkdir()
    (tmp_path / "page.md").write_text('x <sup>[✗ B1](old.ipynb#claim-B1 "refuted: (old)")</sup>')
    (tmp_path / "audit" / "page.md").write_text("no marks")
    cell = {"cell_type": "markdown", "source": ["One\n", "<sup>[B1]()</sup>"]}
    output = {"data": {SHOWN_MIME: {"id": "B1"}, "text/plain": ["old"]}}
    shown = {"cell_type": "code", "source": ["show('B1')"], "outputs": [output]}
    (tmp_path / "n.ipynb").write_text(json.dumps({"cells": [cell, shown]}))
    found = verdict_marks.renewed(CLAIMS, "https://a.org/", tmp_path)
    assert {path.name for path in found} == {"page.md", "n.ipynb"}
    assert "✗" not in found[tmp_path / "page.md"]
    told = json.loads(found[tmp_path / "n.ipynb"])["cells"]
    assert verdict_marks.mark(CLAIMS[0]) in "".join(told[0]["source"])
    assert "".join(told[1]["outputs"][0]["data"]["text/plain"]) == str(
        Shown(CLAIMS[0], "https://a.org/")
    )


def test_a_mark_without_a_verdict_is_refused():
    with pytest.raises(verdict_marks.MarkError, match=r"page marks claim B99"):
        verdict_marks.with_marks("<sup>[B99]()</sup>", {}, "", "page")


# Pages on which readers look something up: their marks stay in sight.
FAMILIES = {f"atlas/{family}" for family in ("added", "signal", "turned", "distances", "offsets")}
LOOKED_UP = FAMILIES | {"datasets", "asked-again", "length-lab", "rest-of-the-family", "schedules"}


def test_every_chapter_that_tells_statements_says_at_its_end_how_many():
    told = verdict_marks.marked_claims_by_page(ledger.BOOK)
    closed = {
        path.stem: fill.names(path)
        for path in ledger.BOOK.glob("*.ipynb")
        if "checked.told." in path.read_text(encoding="utf-8")
    }
    assert closed.keys() == told.keys() - LOOKED_UP, "*Checked in the Audit: [...](claims.md).*"
    assert [page for page, names in closed.items() if f"checked.told.{page}" not in names] == []


def test_what_a_chapter_tells_is_counted_once_with_what_was_wrong(tmp_path):
    cell = {"cell_type": "markdown", "source": ["<sup>[B1]()</sup> <sup>[B1]()</sup> [B2]"]}
    output = {"data": {SHOWN_MIME: {"id": "F3"}}}
    shown = {"cell_type": "code", "source": ["<sup>[B9]()</sup>"], "outputs": [output]}
    (tmp_path / "a.ipynb").write_text(json.dumps({"cells": [cell, shown]}))
    (tmp_path / "b.ipynb").write_text(json.dumps({"cells": []}))
    assert verdict_marks.marked_claims_by_page(tmp_path) == {"a": {"B1", "F3"}}
    assert checked._said(["slip", "refuted", "confirmed"]) == "3 statements, 2 corrected"
    assert checked._said(["not reproduced"]) == "1 statement, none corrected"


# --- the words of the sources


def pages_and_claims() -> dict[str, str]:
    """Return the prose of the book, by name."""
    found = {c["id"]: "\n\n".join(c[k] for k in ("claim", "measured", "condition")) for c in CLAIMS}
    found |= {p.name: p.read_text(encoding="utf-8") for p in repository.texts()}
    for path in repository.notebooks():
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        found[path.name] = "\n\n".join("".join(cell["source"]) for cell in cells)
    return found


def test_nothing_longer_than_eight_words_is_copied_from_a_source():
    hashes = sources.load()
    found = {name: sources.copied(text, hashes) for name, text in pages_and_claims().items()}
    assert {name: runs for name, runs in found.items() if runs} == {}


def test_a_copied_run_is_found_whatever_its_form(tmp_path):
    for names in sources.TEXTS.values():
        for name in names:
            (tmp_path / name).write_text("")
    text = "The ﬁrst of the obser-\nvations shows that in 5 cases nothing well-known helps."
    (tmp_path / sources.TEXTS["B"][0]).write_text(text + "\n\nReferences\n" + "a b " * 9)
    data = sources.shingles(tmp_path)
    hashes = {data[i : i + sources.SIZE] for i in range(0, len(data), sources.SIZE)}
    assert len(hashes) == len(sources.copied(text, hashes)) == 5
    copied = "so *first of the observations shows that in cases nothing* else"
    assert sources.copied(copied, hashes) == [copied[4:-6].strip("* ")]
    assert sources.copied("first of the observations shows $x$ that in cases nothing", hashes) == []
    assert sources.copied("first of the observations shows that in cases", hashes) == []


needs_sources = pytest.mark.skipif(not TEXTS, reason="POSENC_SOURCES names no folder of sources")


@needs_sources
def test_the_words_to_search_for_stand_in_the_source():
    assert sources.not_found(CLAIMS, TEXTS) == []


@needs_sources
def test_the_stored_hashes_are_those_of_the_sources():
    assert sources.HASHES.read_bytes() == sources.shingles(TEXTS)


def test_words_that_do_not_stand_in_the_source_are_named(tmp_path):
    for names in sources.TEXTS.values():
        for name in names:
            (tmp_path / name).write_text("An efﬁcient en-\ncoding, of “old”.")
    rows = [written("B2", find='efficient encoding, of "old"'), written("R3", find="new encoding")]
    assert sources.not_found(rows, tmp_path) == [("R3", "new encoding")]
    with pytest.raises(sources.SourceError, match="blog-first"):
        sources.not_found(rows, tmp_path / "nowhere")


def test_the_file_is_as_the_tool_writes_it(recorded):
    written = ledger.text(ledger.merge(CLAIMS, recorded))
    assert ledger.LEDGER.read_text(encoding="utf-8") == written, "run `make ledger`"


def test_claims_are_sentences_of_their_own():
    claims = [entry["claim"] for entry in CLAIMS]
    assert len(set(claims)) == len(claims)
    assert [text for text in claims if not re.fullmatch(r"[A-Z0-9a-z$].*\.", text)] == []


# --- the pages made from it


def test_counts_add_up():
    ours = sum(bool(entry.get("ours")) for entry in CLAIMS)
    later = sum(entry["source"] == "N" and not entry.get("ours") for entry in CLAIMS)
    told = ledger_html.numbers(CLAIMS)
    assert told.startswith(f"{len(CLAIMS) - ours - later} claims of the four sources: ")
    assert f"{later} statements of the papers behind the modern encodings and forecasters: " in told
    assert f"{ours} statements of ours" in told
    assert sum(map(int, re.findall(r"(\d+) (?:" + "|".join(LOOK) + ")", told))) >= len(CLAIMS)


def test_the_six_verdicts_are_defined_and_counted_apart():
    assert list(LOOK) == list(Outcome) == list(DEFINITIONS)
    assert [len({*one}) for one in zip(*LOOK.values(), strict=True)] == [6, 6]
    table = ledger_html.definitions()
    for verdict, meaning in DEFINITIONS.items():
        assert ledger_html.badge(verdict) in table
        assert escape(meaning) in table
    rows = [{**CLAIMS[0], "verdict": verdict} for verdict in LOOK]
    assert all(f"1 {verdict}" in ledger_html.numbers(rows) for verdict in LOOK)


def test_every_verdict_has_its_own_look_in_both_themes():
    css = (ROOT / "book" / "_assets" / "book.css").read_text()
    for _, look in LOOK.values():
        border = "" if look == "confirmed" else "[^}]*border-"  # which has the line of all
        assert re.search(rf"^\.posenc-{look} {{{border}", css, re.M), look
        assert len(re.findall(rf"--posenc-{look}: #", css)) == 2


def test_the_picture_tells_in_words_what_it_draws():
    drawn = ledger_html.picture(CLAIMS)
    for name, tally in ledger_html.counts(CLAIMS).items():
        told = ", ".join(f"{tally[verdict]} {verdict}" for verdict in LOOK)
        assert f"{ledger_html.GROUPS[name]}: {told}" in drawn
    assert drawn.count("<rect") == len(LOOK) * len(ledger_html.GROUPS)


def test_the_table_escapes_what_it_shows():
    entry = {**CLAIMS[0], "claim": "0 < 1 & 2", "measured": "<b>", "condition": ""}
    shown = ledger_html.row(entry, "order-blindness.html#claim-B1", {"rotary": {"B1"}, "a": set()})
    assert "0 &lt; 1 &amp; 2" in shown
    assert "<b>" not in shown


def test_every_erratum_leads_to_a_verdict_that_shows_it():
    """An item that only mends a symbol may rest on a confirmed claim."""
    verdicts = {entry["id"]: entry["verdict"] for entry in CLAIMS}
    items = re.split(r"\n(?=\*\*)", ERRATA)[1:]
    assert len(items) >= 30
    for item in items:
        cited = {verdicts[claim_id] for claim_id in ROLE.findall(item)}
        showing = {"refuted", "slip", "not reproduced", "confirmed with a condition"}
        assert cited & (showing if "the symbol" not in item else {"confirmed"}), item[:80]


def test_numbers_of_the_errata_are_recorded_ones():
    """Numbers of three digits or more stand in the ledger, in a formula or in quotation marks."""
    prose = re.sub(r'\$\$.*?\$\$|\$[^$]*\$|"[^"]*"|`.*?`|\(.*?\)', " ", ERRATA, flags=re.S)
    known = {n for entry in CLAIMS for n in numbers_of(" ".join(map(str, entry.values())))}
    assert [n for n in numbers_of(prose) if len(n) > 2 and n not in known] == []


def numbers_of(text: str) -> list[str]:
    """Return the numbers of a text without signs and separators, such as 60611 and 0.034."""
    return [n.replace(",", "") for n in re.findall(r"\d+(?:,\d{3})*(?:\.\d+)?", text)]


# --- the tool


def notebook(path, *verdicts):
    bundles = [verdict._repr_mimebundle_() for verdict in verdicts]
    cells = [{"cell_type": "code", "outputs": [{"data": bundle}]} for bundle in bundles]
    path.write_text(json.dumps({"cells": [{"cell_type": "markdown", "source": []}, *cells]}))


def written(claim_id, **fields):
    found = {} if {"find", "found", "ours"} & fields.keys() else {"found": "formula"}
    row = {"id": claim_id, "source": claim_id[0], "place": "Eq. 1", **found}
    return row | {"claim": "It is.", **fields}


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
        ([written("B2", find="a b c d e f g")], "find must have 1 to 6 words"),
        ([written("B2", found="somewhere")], "found must be one of formula"),
        ([written("B2", ours="yes")], "ours must be true"),
        ([written("B2", ours=True, find="a b")], "must have one of find, found, ours"),
        ([written("B2", read="from code")], "must have no field 'read'"),
        ([written("N2", read="by ear")], "read must begin with one of"),
        ([written("N2", read="from code", find="a b")], "must have no find, as it was read"),
    ],
)
def test_a_wrong_ledger_is_refused_by_name(tmp_path, entries, words):
    path = tmp_path / "claims.yml"
    path.write_text(yaml.safe_dump(entries))
    with pytest.raises(ledger.LedgerError, match=re.escape(words)):
        ledger.read(path)
