"""The pages of the atlas follow from the cards."""

import re
from dataclasses import replace

import nbformat
import pytest
from nbformat.v4 import new_markdown_cell

import atlas
from posenc_book.atlas import card, cards
from posenc_book.atlas.card import FAMILIES
from posenc_book.atlas.facts import facts
from posenc_book.atlas.used import users
from posenc_book.guide.measured import Measured, measured
from posenc_book.read.classification import edition
from posenc_book.read.classification import protocol as protocols
from posenc_book.read.lengths import plan
from posenc_book.read.lengths import read as lab
from verdict_marks import MARK

N_LATER = atlas.COUNTS[len(protocols.LATER)]


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


def test_an_unknown_page_is_named(monkeypatch):
    monkeypatch.setattr(atlas, "pages", lambda: {"atlas": [], "atlas/turned": []})
    with pytest.raises(ValueError, match="names must be among atlas, turned, got rotary"):
        atlas.main(["rotary"])


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


@pytest.mark.parametrize(
    ("name", "words"),
    [("alibi", "unlearned"), ("kerple", "–"), ("tupe", "refuses"), ("rotary", "0.98")],
)
def test_the_index_tells_what_failed_from_what_was_not_measured(name, words):
    assert atlas.in_short(card(name))[0] == words


@pytest.mark.parametrize("page", ["atlas", *(f"atlas/{family}" for family in FAMILIES)])
def test_no_page_of_the_atlas_is_endless(page):
    said = [c.source for c in nbformat.read(atlas.path(page), 4).cells if c.cell_type == "markdown"]
    assert sum(len(MARK.sub("", text).split()) for text in said) < 3500


def test_links_lead_on_from_a_folder_below():
    text = "[a](length-lab), [b](asked-again.ipynb#x), [c](#card-rotary), [d](https://x.y/z)"
    assert atlas.below(text) == text.replace("(length", "(../length").replace("(asked", "(../asked")


def test_paragraphs_and_items_flow_and_tables_and_formulas_stay():
    text = "One\ntwo.\n\n- three\n  four\n- five\n\n| a |\n|---|\n\n$$\nx\n$$\n\n(card-a)=\n### A"
    expected = "One two.\n\n- three four\n- five\n\n| a |\n|---|\n\n$$\nx\n$$\n\n(card-a)=\n### A"
    assert atlas.flowing(text) == expected


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


def test_a_card_says_what_was_not_measured():
    assert said("deberta") == "Not measured."
    for name in ("fire", "transformer_xl"):
        assert said(name).startswith("Not measured in our probe. In [the lab](length-lab), trained")
    assert "trained to 20 symbols, with `threshold` = 16: " in said("fire")
    assert "Not measured" not in said("rotary")
    assert "no longer input was taken." in said("learnable")
    learnable = said("learnable").split("no longer input was taken. ")[1]
    assert learnable.startswith(
        "In [the lab](length-lab), trained to 20 symbols, with a table made"
    )
    assert "the lab" not in said("tape")


@pytest.mark.parametrize(
    ("sets", "words"),
    [
        ({"patch": ("Libras",)}, "so far: none of them have finished"),
        (
            {"patch, window-statistics": ("Libras",)},
            f"the {N_LATER} encodings that came later so far: one of them, "
            "`window_statistics`, has",
        ),
        (
            {"patch, later": ("Libras",)},
            f"the {N_LATER} encodings that came later gain on nine data sets, with patches as "
            "tokens, is",
        ),
        ({"patch, later": ("A",), "time_series, later": ("A",)}, "with steps and patches as"),
    ],
)
def test_the_page_says_which_later_encodings_the_benchmark_trained(monkeypatch, sets, words):
    now = replace(edition.read_edition(), sets=sets)
    monkeypatch.setattr(edition, "read_edition", lambda: now)
    assert words in atlas.in_the_benchmark()


def test_a_card_names_its_users_where_the_register_knows_one():
    notebooks = [nbformat.read(atlas.path(f"atlas/{family}"), 4) for family in FAMILIES]
    cells = [cell.source for one in notebooks for cell in one.cells if "- **Door:**" in cell.source]
    counted = [re.search(r"\*\*Used by:\*\* .*?(\d+) of", cell) for cell in cells]
    assert len(cells) == len(cards())
    assert sum(map(bool, counted)) == len(users())
    lines = {name: atlas.lines(one, facts(name), Measured()) for name, one in cards().items()}
    assert f"{len(users()['rotary'].released)} of the" in lines["rotary"]
    assert {name for name, text in lines.items() if "**Used by:**" in text} == users().keys()
