"""Every sentence of the four sources has a row of the ledger, or a kind that needs none."""

import os
import re
from pathlib import Path

import pytest

import ledger
import source_html
import source_rows
import source_text
import sources
from posenc_book.audit.ledger import FOUR

ENTRIES = source_rows.read()
CLAIMS = ledger.read()
EVERY = [one for ones in ENTRIES.values() for one in ones]
TEXTS = os.environ.get("POSENC_SOURCES")
needs_texts = pytest.mark.skipif(not TEXTS, reason="the sources' texts are not in the repository")


def test_every_sentence_has_a_row_or_a_kind():
    assert source_rows.unjudged(ENTRIES) == []
    assert all(("rows" in one) != ("kind" in one) for one in EVERY)


def test_all_four_sources_are_there_and_no_place_twice():
    assert tuple(ENTRIES) == FOUR
    for ones in ENTRIES.values():
        places = [one["at"] for one in ones]
        assert len(places) == len(set(places)) >= 80


def test_no_more_than_a_few_words_are_shown():
    assert max(len(one["words"].split()) for one in EVERY) <= source_text.FEW <= ledger.MOST_WORDS
    text = source_rows.FILE.read_text(encoding="utf-8")
    assert sources.copied(text, sources.load()) == []


def test_named_rows_are_in_the_ledger_and_of_the_same_source():
    assert source_rows.unknown(ENTRIES, CLAIMS) == []
    for source, ones in ENTRIES.items():
        assert {i[0] for one in ones for i in one.get("rows", [])} == {source}


# --- what the page shows


def test_the_page_shows_each_sentence_and_each_row_of_a_source():
    rows = [claim for claim in CLAIMS if claim["source"] == "F"]
    html = source_html.listed(ENTRIES["F"], rows, lambda claim_id: f"<a>{claim_id}</a>")
    assert html.count("<tr><th scope=") == len(ENTRIES["F"]) + html.count("<details")
    assert set(re.findall(r"<a>(\w+)</a>", html)) >= {claim["id"] for claim in rows}


# --- how a text is cut


def test_abbreviations_numbers_and_quotes_end_no_sentence():
    text = "As Ke et al. (2021) say, e.g. in Fig. 2, it is 6.28. “So it is.” Then 1. Next"
    assert source_text.cut(text) == [
        "As Ke et al. (2021) say, e.g. in Fig. 2, it is 6.28.",
        "“So it is.”",
        "Then 1.",
        "Next",
    ]
    assert source_text.cut("2. Attempt 2: Scaling") == ["2. Attempt 2: Scaling"]


def test_words_that_a_line_parted_are_whole_and_formulas_are_a_sign():
    assert source_text.cut("Of posi-\ntional codes.") == ["Of positional codes."]
    one = source_text.Sentence("1", 1, 1, r"Let $x \in \mathbb{R}$ be **a** number.")
    assert one.words == "Let … be a"


def write_texts(folder: Path, text: str) -> None:
    for names in sources.TEXTS.values():
        for name in names:
            (folder / name).write_text("", encoding="utf-8")
    (folder / sources.TEXTS["B"][0]).write_text(text, encoding="utf-8")


def test_places_count_from_the_heading(tmp_path):
    write_texts(tmp_path, "One. Two.\n1. A Title\nThree.\nIt is\nx, or\nnot.\n- Four")
    found = source_text.sentences(tmp_path, "B")
    assert [(s.at, s.text) for s in found] == [
        ("opening, 1.1", "One."),
        ("opening, 1.2", "Two."),
        ("1, 0.1", "1. A Title"),
        ("1, 1.1", "Three."),
        ("1, 2.1", "It is x, or not."),
        ("summary, 1.1", "- Four"),
    ]


def test_a_row_stands_where_its_words_begin():
    claims = [{"id": "B1", "find": "second one. A third"}, {"id": "B2", "found": "table"}]
    texts = ["The first.", "The second-\none.", "A third."]
    assert source_rows.found(texts, claims) == [[], ["B1"], []]


def test_a_changed_sentence_has_to_be_judged_again():
    now = source_text.Sentence("1", 1, 1, "Other words stand here now.")
    with pytest.raises(source_rows.SentenceError, match="read what is judged there again"):
        source_rows.entry(now, [], {"at": now.at, "words": "Some words", "kind": "opinion"})


@needs_texts
def test_the_file_is_what_the_texts_and_the_ledger_make_of_it():
    wanted = source_rows.text(source_rows.renewed(ENTRIES, Path(TEXTS), CLAIMS))
    stored = source_rows.FILE.read_text(encoding="utf-8")
    assert stored == wanted, "run `python tools/source_rows.py FOLDER`"


@needs_texts
def test_no_sentence_is_lost():
    """First principles has no formulas set apart and no pages, so that nothing may be missing."""
    [text] = sources.read(Path(TEXTS), "B")
    cut = source_text.sentences(Path(TEXTS), "B")
    assert "".join(sources.bare(s.text) for s in cut) == sources.bare(text)


@needs_texts
@pytest.mark.parametrize("source", FOUR)
def test_words_to_search_for_stand_in_a_sentence_or_in_a_table(source):
    texts = [s.text for s in source_text.sentences(Path(TEXTS), source)]
    rows = [claim for claim in CLAIMS if claim["source"] == source and "find" in claim]
    placed = {claim_id for ids in source_rows.found(texts, rows) for claim_id in ids}
    # S12 begins a table's row, S59 stands in an algorithm.
    assert {claim["id"] for claim in rows} - placed <= {"S12", "S59"}
