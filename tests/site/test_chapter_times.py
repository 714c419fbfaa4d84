"""Chapters state how long they take, and what they state is about right."""

from pathlib import Path

import nbformat
import pytest
from sitefiles import ROOT

import chapter_times

CHAPTERS = chapter_times.chapters()


def chapter(folder: Path, stated: str, words: int = 2400) -> Path:
    """Write a chapter of some words, 20 minutes by the rule, and return its path."""
    prose = f"# A chapter\n\n{stated}\n\n" + "word " * words
    cells = [nbformat.v4.new_markdown_cell(text) for text in (prose, "## Exercises\n\nMore.")]
    path = folder / "chapter.ipynb"
    nbformat.write(nbformat.v4.new_notebook(cells=cells), path)
    return path


def test_stated_times_follow_the_rule():
    assert chapter_times.misstated(CHAPTERS) == []


def test_a_page_without_a_time_has_a_reason_and_exists():
    assert chapter_times.UNTIMED.keys() <= {path.stem for path in CHAPTERS}
    assert all(len(reason.split()) >= 3 for reason in chapter_times.UNTIMED.values())


def test_every_page_that_states_a_time_is_measured():
    pages = [*(ROOT / "book").glob("*.ipynb"), *(ROOT / "book").glob("*.md")]
    stating = {p.stem for p in pages if chapter_times.STATED.search(p.read_text(encoding="utf-8"))}
    assert stating <= {path.stem for path in CHAPTERS}
    assert "running-benchmarks" in stating


def page(folder: Path, *cells: str) -> Path:
    """Write a chapter of prose alone, and return its path."""
    notebook = nbformat.v4.new_notebook(cells=[*map(nbformat.v4.new_markdown_cell, cells)])
    nbformat.write(notebook, folder / "page.ipynb")
    return folder / "page.ipynb"


def test_what_stands_between_fences_is_code(tmp_path):
    time = "**Time:** about 5 minutes to read."
    fences = "```python\na = 1\n\nb = 2\n```\n\nand\n\n```console\n$ run\n```\n\n```{aims}\n```\n"
    found = chapter_times.shape(page(tmp_path, time, f"{fences}\n```{{note}}\nTwo words\n```\n"))
    assert found.code == 3
    assert found.stated == (5, 0)
    assert found.words == 6 + 1 + 2


def test_what_is_only_looked_up_takes_no_time(tmp_path):
    looked_up = "## Reference\n\n```console\n$ run\n```\n" + "word " * 5000
    path = page(tmp_path, "# Steps\n\n**Time:** about 5 minutes to read.", looked_up)
    assert chapter_times.shape(path).code == 0
    assert chapter_times.misstated([path]) == []


def test_of_plain_markdown_the_time_is_found_too(tmp_path):
    (tmp_path / "page.md").write_text("# A page\n\n**Time:** about 5 minutes to read.")
    assert chapter_times.shape(tmp_path / "page.md").stated == (5, 0)


@pytest.mark.parametrize("minutes", [15, 20, 25])
def test_a_time_that_is_about_right_passes(tmp_path, minutes):
    path = chapter(tmp_path, f"**Time:** about {minutes} minutes to read.")
    assert chapter_times.shape(path).minutes == 20
    assert chapter_times.misstated([path]) == []


@pytest.mark.parametrize("stated", [(10, 0), (30, 0), (20, 10)])
def test_a_time_that_is_off_by_more_is_named_with_both(tmp_path, stated):
    time = "**Time:** about {} minutes to read, {} for the exercises.".format(*stated)
    [found] = chapter_times.misstated([chapter(tmp_path, time)])
    assert found == f"chapter: states {stated}, the rule gives (20, 0)"


EXERCISES = """\
:::{exercise} One
:label: ex-one

**A warm-up.** Say it.
:::

::::{exercise} Two
:label: ex-two

Write `two`.
::::

:::{exercise} Three

**A small study.** Count.
:::
"""


def test_exercises_count_by_their_kind_and_a_tool_states_their_time(tmp_path):
    path = page(tmp_path, "# A\n\n**Time:** about 70 minutes to read. More.", EXERCISES)
    assert chapter_times.shape(path).exercises == 5 + 10 + 20
    chapter_times.write(path)
    assert "**Time:** about 5 minutes to read, 35 for the exercises. More." in path.read_text()
    assert chapter_times.misstated([path]) == []


def test_every_exercise_of_the_book_is_found():
    for path in CHAPTERS:
        text = chapter_times.markdown(chapter_times.read(path))
        assert len(chapter_times.EXERCISE.findall(text)) == text.count("::{exercise}")


def test_a_chapter_that_states_none_is_named(tmp_path):
    assert chapter_times.misstated([chapter(tmp_path, "It is short.")]) == [
        "chapter: states None, the rule gives (20, 0)"
    ]


def test_the_report_has_a_line_for_each_chapter_and_sets_no_limit(capsys, monkeypatch):
    monkeypatch.setattr("sys.argv", ["chapter_times.py"])
    chapter_times.main()
    _, *lines, last = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == [path.stem for path in CHAPTERS]
    assert {len(line.split("(stated")) for line in lines} == {2}
    assert last == "every stated time follows the rule"
