"""Chapters state how long they take, and what they state is about right."""

from pathlib import Path

import nbformat
import pytest
from sitefiles import ROOT

import shape

CHAPTERS = sorted((ROOT / "book").glob("*.ipynb"))


def chapter(folder: Path, stated: str, words: int = 2400) -> Path:
    """Write a chapter of some words, 20 minutes by the rule, and return its path."""
    prose = f"# A chapter\n\n{stated}\n\n" + "word " * words
    cells = [nbformat.v4.new_markdown_cell(text) for text in (prose, "## Exercises\n\nMore.")]
    path = folder / "chapter.ipynb"
    nbformat.write(nbformat.v4.new_notebook(cells=cells), path)
    return path


def test_stated_times_are_within_a_third_of_the_rules():
    assert shape.misstated(CHAPTERS) == []


def test_a_page_without_a_time_has_a_reason_and_exists():
    assert shape.UNTIMED.keys() <= {path.stem for path in CHAPTERS}
    assert all(len(reason.split()) >= 3 for reason in shape.UNTIMED.values())


@pytest.mark.parametrize("minutes", [15, 20, 25])
def test_a_time_that_is_about_right_passes(tmp_path, minutes):
    path = chapter(tmp_path, f"**Time:** about {minutes} minutes.")
    assert shape.shape(path).minutes == 20
    assert shape.misstated([path]) == []


@pytest.mark.parametrize("stated", ["**Time:** about 10 minutes.", "**Time:** about 30 minutes."])
def test_a_time_that_is_off_by_more_is_named_with_both(tmp_path, stated):
    [found] = shape.misstated([chapter(tmp_path, stated)])
    assert found == f"chapter: states {stated.split()[-2]}, the rule gives 20"


def test_a_chapter_that_states_none_is_named(tmp_path):
    assert shape.misstated([chapter(tmp_path, "It is short.")]) == [
        "chapter: states None, the rule gives 20"
    ]


@pytest.mark.parametrize(("wrong", "status"), [([], 0), (["a: states 5, the rule gives 20"], 1)])
def test_the_check_fails_where_a_time_is_wrong(monkeypatch, wrong, status):
    monkeypatch.setattr(shape, "misstated", lambda paths: wrong)
    monkeypatch.setattr("sys.argv", ["shape.py", "--check"])
    assert shape.main() == status
