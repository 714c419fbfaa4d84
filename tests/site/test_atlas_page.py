"""The pages of the atlas follow from the cards."""

import re

import nbformat
import pytest
from nbformat.v4 import new_markdown_cell

import atlas
from posenc_book.atlas import card, cards
from posenc_book.atlas.card import FAMILIES
from posenc_book.atlas.facts import facts
from posenc_book.atlas.used import users
from posenc_book.guide.measured import Measured, measured
from posenc_book.read.lengths import plan
from posenc_book.read.lengths import read as lab


def test_the_pages_are_what_the_cards_say():
    assert [*atlas.outdated()] == [], "run `python tools/atlas.py`"


def test_a_page_of_other_words_is_out_of_date(tmp_path, monkeypatch):
    notebook = nbformat.read(atlas.path("atlas/turned"), 4)
    cells = [new_markdown_cell(text) for text in atlas.sources(notebook)]
    monkeypatch.setattr(atlas, "pages", lambda: {"atlas/turned": cells})
    assert [*atlas.outdated()] == []
    monkeypatch.setattr(atlas, "BOOK", tmp_path)
    assert [*atlas.outdated()] == ["atlas/turned"]
    changed = next(c for c in notebook.cells if "card-rotary" in c.source and c.source[0] == "(")
    changed.source += " "
    (tmp_path / "atlas").mkdir()
    nbformat.write(notebook, atlas.path("atlas/turned"))
    assert [*atlas.outdated()] == ["atlas/turned"]


def test_a_cell_that_fails_leaves_the_page_as_it_is(tmp_path, monkeypatch):
    monkeypatch.setattr(atlas, "BOOK", tmp_path)
    atlas.path("atlas").write_text("the page before")
    broken = nbformat.v4.new_code_cell("raise RuntimeError('as expected')")
    monkeypatch.setattr(atlas, "pages", lambda: {"atlas": [broken]})
    with pytest.raises(atlas.notebooks.CellExecutionError, match="as expected"):
        atlas.main([])
    assert atlas.path("atlas").read_text() == "the page before"


def test_every_card_stands_on_the_page_of_its_family_and_in_the_index():
    index = "\n".join(atlas.sources(nbformat.read(atlas.path("atlas"), 4)))
    text = {
        family: "\n".join(atlas.sources(nbformat.read(atlas.path(f"atlas/{family}"), 4)))
        for family in FAMILIES
    }
    for one in cards().values():
        holds = [family for family in FAMILIES if f"({one.anchor})=" in text[family]]
        assert holds == [one.family]
        assert index.count(f"| [{one.title}](#{one.anchor}) `{one.name}` | {one.year} |") == 1
        assert f"[{one.title}](#{one.anchor})" in text[one.family].split("## The cards")[0]


def test_the_index_has_names_in_order_and_years_in_each_family():
    cells = atlas.sources(nbformat.read(atlas.path("atlas"), 4))
    [line] = [line for cell in cells for line in cell.splitlines() if line.startswith("By name:")]
    titles = re.findall(r"\[([^]]+)\]\(#card-", line)
    assert len(titles) == len(cards())
    assert titles == sorted(titles, key=str.lower)
    for family in FAMILIES:
        years = [int(row.split("|")[2]) for row in atlas.index(family).splitlines()[2:]]
        assert years == sorted(years)


def said(name: str) -> str:
    """Return the page's line on inputs beyond the training length."""
    return atlas.beyond(card(name), measured().get(name, Measured()))


@pytest.mark.parametrize("name", [one.name for one in plan.ENCODINGS if not one.random])
def test_a_card_has_the_numbers_of_the_lab(name):
    table = lab.farthest(lab.load_lab())[name]
    assert {*table} == {"copy", "reverse", "sort", "flip_flop"}
    for task, shown in table.items():
        share = shown.split("%")[0]
        assert f"{share} % " in said(name).split("[the lab](length-lab)")[1], task
    assert said(name).endswith(" on flip-flop, at 30 to 100.")


def test_a_card_names_its_users_where_the_register_knows_one():
    notebooks = [nbformat.read(atlas.path(f"atlas/{family}"), 4) for family in FAMILIES]
    cells = [cell.source for one in notebooks for cell in one.cells if "- **Door:**" in cell.source]
    counted = [re.search(r"\*\*Used by:\*\* .*?(\d+) of", cell) for cell in cells]
    assert len(cells) == len(cards())
    assert sum(map(bool, counted)) == len(users())
    lines = {name: atlas.lines(one, facts(name), Measured()) for name, one in cards().items()}
    assert f"{len(users()['rotary'].released)} of the" in lines["rotary"]
    assert {name for name, text in lines.items() if "**Used by:**" in text} == users().keys()
