"""Figures as SVG and PDF: drawn from a notebook, with licence and source, and listed with links."""

import re

import nbformat
import pytest
from sitefiles import ROOT

import figures
import taken

FIGURE = """\
from posenc_book.teaching import plots

figure, ax = plots.new(height=2)
ax.plot([0, {end}, 4])
plots.show(figure, name="fig-{name}", caption="{name}. More.", alt="A line.")
"""


@pytest.fixture(scope="module")
def drawn(tmp_path_factory):
    """Return the folder of two figures that were drawn twice, and what was drawn at first."""
    folder = tmp_path_factory.mktemp("figures")
    cells = [
        nbformat.v4.new_code_cell(
            FIGURE.format(name=name, end=end),
            metadata={"mystnb": {"figure": {"name": f"fig-{name}", "caption": f"{name}. More."}}},
        )
        for name, end in {"one": 1, "two": 2}.items()
    ]
    nbformat.write(nbformat.v4.new_notebook(cells=cells), folder / "small.ipynb")
    assert figures.draw(folder / "small.ipynb", folder) == ["fig-one", "fig-two"]
    first = {path.name: path.read_bytes() for path in folder.glob("fig-*")}
    figures.draw(folder / "small.ipynb", folder)
    return folder, first


def test_both_formats_are_drawn_and_twice_alike(drawn):
    folder, first = drawn
    assert sorted(first) == ["fig-one.pdf", "fig-one.svg", "fig-two.pdf", "fig-two.svg"]
    assert {path.name: path.read_bytes() for path in folder.glob("fig-*")} == first
    assert first["fig-one.svg"] != first["fig-two.svg"]
    assert figures.missing(["fig-one", "fig-two"], folder) == []
    assert figures.missing(["fig-gone"], folder) == ["fig-gone.svg", "fig-gone.pdf"]


def test_each_file_tells_its_licence_and_where_it_comes_from(drawn):
    _, first = drawn
    assert b"CC BY 4.0" in first["fig-one.svg"]
    assert b"The Positional Encoding Book" in first["fig-one.svg"]
    assert first["fig-one.pdf"].startswith(b"%PDF")
    assert b"CC BY 4.0" in first["fig-one.pdf"]


def test_the_table_has_every_figure_of_the_book_once():
    names = [name for found in figures.of_pages().values() for name in found]
    stored = [
        name
        for path in (ROOT / "book").rglob("*.ipynb")
        for name in figures.named(nbformat.read(path, as_version=4))
    ]
    assert sorted(names) == sorted(stored)
    rows = taken.rows()[2:]
    assert [re.search(r"`([\w-]+)`", row)[1] for row in rows] == names
    for row, name in zip(rows, names, strict=True):
        links = re.findall(r"\[(SVG|PDF)\]\(\S+/taken/([\w-]+)\.(\w+)\)", row)
        assert [(kind.lower(), file) for kind, file, _ in links] == [
            (file.rpartition(".")[2], name) for file in figures.files(name)
        ]
        assert row.count(" | ") == 3
