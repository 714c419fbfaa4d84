"""The page of the atlas follows from the cards."""

import nbformat

import atlas
from posenc.teaching.atlas import cards


def test_the_page_is_what_the_cards_say():
    assert atlas.is_current(), "run `python tools/atlas.py`"


def test_a_page_of_other_words_is_out_of_date(tmp_path, monkeypatch):
    notebook = nbformat.read(atlas.PAGE, 4)
    changed = next(c for c in notebook.cells if "card-rotary" in c.source and c.source[0] == "(")
    changed.source += " "
    monkeypatch.setattr(atlas, "PAGE", tmp_path / "atlas.ipynb")
    monkeypatch.setattr(atlas, "title", lambda page: page)
    assert not atlas.is_current()
    nbformat.write(notebook, atlas.PAGE)
    assert not atlas.is_current()


def test_every_card_has_its_anchor_and_its_row_in_the_index():
    text = "\n".join(cell.source for cell in nbformat.read(atlas.PAGE, 4).cells)
    for one in cards().values():
        assert text.count(f"({one.anchor})=") == 1
        assert text.count(f"| [{one.title}](#{one.anchor}) `{one.name}` |") == 1


def test_paragraphs_and_items_flow_and_tables_and_formulas_stay():
    text = "One\ntwo.\n\n- three\n  four\n- five\n\n| a |\n|---|\n\n$$\nx\n$$\n\n(card-a)=\n### A"
    expected = "One two.\n\n- three four\n- five\n\n| a |\n|---|\n\n$$\nx\n$$\n\n(card-a)=\n### A"
    assert atlas.flowing(text) == expected
