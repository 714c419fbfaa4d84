"""Each row of what is new since 2025 tells the truth about what is here."""

import re

import pytest
from sitefiles import ROOT

from posenc import encodings
from posenc.attention import Position
from posenc_book.atlas import cards
from posenc_book.atlas.elsewhere import elsewhere
from posenc_book.atlas.news import News, news
from posenc_book.audit import ledger
from posenc_book.read import results

ENTRY = re.compile(r"^@\w+\{(?P<key>[^,]+),\n(?P<fields>.*?)^\}", re.MULTILINE | re.DOTALL)
FIELD = re.compile(r"^\s*(\w+)\s*=\s*\{(.*)\},?$", re.MULTILINE)
BIB = {
    found["key"]: dict(FIELD.findall(found["fields"]))
    for found in ENTRY.finditer((ROOT / "book" / "references.bib").read_text(encoding="utf-8"))
}
ROWS = {one.title: one for one in news()}
DAY = re.compile(r"20\d\d-\d\d-\d\d")


def having(field):
    return pytest.mark.parametrize("title", [t for t, one in ROWS.items() if getattr(one, field)])


@having("card")
def test_a_card_has_a_class_and_cites_the_paper(title):
    one = ROWS[title]
    assert issubclass(encodings.get(one.card), Position)
    assert one.paper in cards()[one.card].papers


@having("claims")
def test_a_judged_claim_is_a_row_of_the_ledger_about_this_paper(title):
    one, entry = ROWS[title], BIB[ROWS[title].paper]
    rows = [ledger.row(id) for id in one.claims]
    places = [entry.get("eprint", ""), entry.get("url", "").removeprefix("https://")]
    named = {
        row["id"]
        for row in ledger.rows()
        if any(place and place in row.get("read", "") for place in places)
    }
    assert named <= set(one.claims)  # none is left out
    for row in rows:
        assert row["id"] in named or row["place"].startswith(title), row["id"]
    assert max(day for row in rows for day in DAY.findall(row["read"])) == one.looked


@having("result")
def test_a_measurement_is_stored_and_a_page_shows_it(title):
    one = ROWS[title]
    assert f'"{one.about}"' in (results.folder() / one.result).read_text(encoding="utf-8")
    page = ROOT / "book" / f"{one.page}.ipynb"
    shown = page.read_text(encoding="utf-8")
    assert any(name in shown for name in (title, one.about)), page


@having("paper")
def test_a_paper_is_in_the_bibliography_and_its_month_is_that_of_its_number(title):
    one, entry = ROWS[title], BIB[ROWS[title].paper]
    if len(one.when) == 4:
        assert entry["year"] == one.when
    elif "eprint" in entry:
        assert one.when == f"20{entry['eprint'][:2]}-{entry['eprint'][2:4]}"
    assert one.when >= "2025"


def test_days_are_days_and_no_row_is_there_twice():
    assert all(DAY.fullmatch(one.looked) and one.looked >= one.when for one in ROWS.values())
    papers = [one.paper or one.where for one in ROWS.values()]
    assert len(papers) == len({*papers})


def test_what_the_atlas_cites_since_2025_has_a_row():
    cited = {paper for card in cards().values() for paper in card.papers}
    cited |= {one.paper for one in elsewhere()}
    recent = {key for key in cited if BIB[key]["year"] >= "2025" and _public(key) >= "2025"}
    assert recent <= {one.paper for one in ROWS.values()}


def _public(key):
    """Return the month of the first version, or the year of an entry without a number."""
    number = BIB[key].get("eprint", "")
    return f"20{number[:2]}-{number[2:4]}" if number else BIB[key]["year"]


ROW = {"question": "longer", "when": "2026-01", "does": "x", "looked": "2026-02-01"}


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"paper": "a", "read": "b", "question": "why"}, "question must be one of longer, .* why"),
        ({"paper": "a", "where": "b", "read": "c"}, "T must have either a paper or where it is"),
        ({"paper": "a"}, "T must have a card, claims or a result, or say what was read"),
        ({"paper": "a", "card": "b", "read": "c"}, "only one of the three"),
    ],
)
def test_a_row_says_one_thing_about_itself(more, message):
    with pytest.raises(ValueError, match=message):
        News("T", **ROW | more)
