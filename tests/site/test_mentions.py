"""Where other files name a chapter, for whoever rewrites it."""

import subprocess

import nbformat
import pytest
from sitefiles import ROOT

import mentions


@pytest.fixture
def book(tmp_path):
    """Return a repository with a chapter and files that name it and its places."""
    cells = [
        nbformat.v4.new_markdown_cell(
            "# One clock\n\n(old-name)=\n## A new name\n\n$$\nx\n$$ (eq-x)"
        ),
        nbformat.v4.new_code_cell("", metadata={"mystnb": {"figure": {"name": "fig-x"}}}),
        nbformat.v4.new_markdown_cell(":::{exercise}\n:label: ex-x\n\n```\n# no heading\n```\n:::"),
    ]
    (tmp_path / "book").mkdir()
    nbformat.write(nbformat.v4.new_notebook(cells=cells), tmp_path / "book" / "clock.ipynb")
    (tmp_path / "notes.md").write_text(
        "[one](clock), clock#a-new-name and clock.ipynb#gone\nlike clock-work\n{eq}`eq-x`, fig-xy\n"
    )
    (tmp_path / "quiz.yml").write_text("see: clock#old-name\n")
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    return tmp_path


def test_every_place_and_label_is_found_with_its_line(book):
    assert mentions.labels("clock", book) == (
        {"one-clock", "a-new-name"},
        {"old-name", "eq-x", "fig-x", "ex-x"},
    )
    assert mentions.mentions("clock", book) == [
        ("notes.md", 1, "](clock)"),
        ("notes.md", 1, "clock#a-new-name"),
        ("notes.md", 1, "clock.ipynb#gone"),
        ("notes.md", 3, "eq-x"),
        ("quiz.yml", 1, "clock#old-name"),
    ]
    assert mentions.gone("clock", book) == [("notes.md", 1, "clock.ipynb#gone")]


@pytest.mark.parametrize(
    "name",
    [
        *("benchmark", "beyond-training-length", "choosing", "fair-comparison", "faithfulness"),
        *("fourier-view", "give-it-away", "inside-a-head", "oscillations", "raw-indices"),
        *("relative-and-hybrid", "rotary", "rotations", "running-benchmarks", "time-and-space"),
        *("time-series-transformers", "todays-models", "your-gpt"),
    ],
)
def test_a_chapter_has_the_places_that_others_name(name):
    left = {one[2] for one in mentions.gone(name) if not one[0].startswith("tests/")}
    assert left == set(), f"see {ROOT / 'tools' / 'mentions.py'}"
