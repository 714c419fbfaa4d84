"""Chapters state how long they take, and what they state is about right."""

from pathlib import Path

import nbformat
import pytest
from sitefiles import ROOT

import chapter_times

CHAPTERS = chapter_times.chapters()


def chapter(folder: Path, stated: str) -> Path:
    """Write a chapter that takes 20 minutes by the rule, and return its path."""
    cells = (f"# A\n\n{stated}\n\n" + "word " * 2400, "## Exercises\n\nMore.")
    notebook = nbformat.v4.new_notebook(cells=[*map(nbformat.v4.new_markdown_cell, cells)])
    nbformat.write(notebook, folder / "page.ipynb")
    return folder / "page.ipynb"


def test_stated_times_follow_the_rule():
    assert chapter_times.misstated(CHAPTERS) == []


def test_every_page_that_states_a_time_is_measured():
    pages = [*(ROOT / "book").glob("*.ipynb"), *(ROOT / "book").glob("*.md")]
    stating = {p.stem for p in pages if chapter_times.STATED.search(p.read_text(encoding="utf-8"))}
    assert stating <= {path.stem for path in CHAPTERS}
    assert "running-benchmarks" in stating


@pytest.mark.parametrize("minutes", [15, 20, 25])
def test_a_time_that_is_about_right_passes(tmp_path, minutes):
    path = chapter(tmp_path, f"**Time:** about {minutes} minutes to read.")
    assert chapter_times.shape(path).minutes == 20
    assert chapter_times.misstated([path]) == []


@pytest.mark.parametrize("stated", [(10, 0), (30, 0), (20, 10)])
def test_a_time_that_is_off_by_more_is_named_with_both(tmp_path, stated):
    time = "**Time:** about {} minutes to read, {} for the exercises.".format(*stated)
    [found] = chapter_times.misstated([chapter(tmp_path, time)])
    assert found == f"page: states {stated}, the rule gives (20, 0)"
    [none] = chapter_times.misstated([chapter(tmp_path, "It is short.")])
    assert none == "page: states None, the rule gives (20, 0)"


def test_every_exercise_of_the_book_is_found():
    for path in CHAPTERS:
        text = chapter_times.markdown(chapter_times.read(path))
        assert len(chapter_times.EXERCISE.findall(text)) == text.count("::{exercise}")
