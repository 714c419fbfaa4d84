"""The page for teachers: its links lead somewhere, its minutes add up, its marks are marks."""

import re
from functools import cache

import nbformat
import pytest
from sitefiles import ROOT, toc_files

import quizzes

TEXT = (ROOT / "book" / "teaching.md").read_text(encoding="utf-8")
LINKS = re.findall(r"\]\(([\w-]+)\.(ipynb|md)(?:#([\w-]+))?\)", TEXT)
CELL = re.compile(r"\]\(([\w-]+)\.ipynb#([\w-]+)\), `(.+?)` \|$", re.MULTILINE)
SESSION = 90  # minutes


def rows(heading: str) -> list[list[str]]:
    """Return the cells of the first table below a heading."""
    below = re.split(rf"^#+ {re.escape(heading)}$", TEXT, flags=re.MULTILINE)[1]
    table = re.search(r"(?:^\|.*\n)+", below, re.MULTILINE)[0].splitlines()[2:]
    return [[cell.strip() for cell in row.strip("|").split("|")] for row in table]


def anchor(heading: str) -> str:
    """Return the anchor of a heading, as MyST makes it."""
    return re.sub(r"[^\w -]", "", heading.lower()).strip().replace(" ", "-")


@cache
def sections(page: str) -> dict[str, list[str]]:
    """Return the code cells of a notebook that a reader sees, by the anchor of their section."""
    found, here = {}, ""
    for cell in nbformat.read(ROOT / "book" / f"{page}.ipynb", as_version=4).cells:
        if cell.cell_type == "markdown":
            for heading in re.findall(r"^#{1,3} (.+)$", cell.source, re.MULTILINE):
                here = anchor(heading)
                found.setdefault(here, [])
        elif not {"remove-cell", "remove-input"} & set(cell.metadata.get("tags", [])):
            found.setdefault(here, []).append(cell.source)
    return found


def test_every_link_leads_to_a_page_and_a_section_that_are_there():
    pages = toc_files()
    broken = []
    for page, ending, target in sorted(set(LINKS)):
        if f"book/{page}" not in pages or not (ROOT / "book" / f"{page}.{ending}").is_file():
            broken.append(f"{page}.{ending} is no page of the book")
        elif target and target not in sections(page):
            broken.append(f"{page}.{ending} has no section {target}")
    assert not broken, "\n".join(broken)


def test_every_misconception_names_a_cell():
    beliefs = rows("What students often believe")
    assert len(beliefs) >= 12
    assert len(CELL.findall(TEXT)) == len(beliefs)


@pytest.mark.parametrize(("page", "section", "piece"), CELL.findall(TEXT))
def test_the_cell_that_corrects_a_misconception_stands_where_the_table_says(page, section, piece):
    assert any(piece in cell for cell in sections(page)[section])


def test_every_chapter_of_the_book_has_needs_and_outcomes():
    listed = re.findall(r"^\| \[[^|]+\]\(([\w-]+)\.\w+\) \|", TEXT, re.MULTILINE)
    quizzed = {path.stem for path in quizzes.FOLDER.glob("*.yml")} - {"datasets"}
    assert set(listed) == quizzed
    assert len(listed) == len(set(listed))


def test_the_minutes_of_every_session_add_up():
    assert sum(int(row[0]) for row in rows("One session")) == SESSION
    for plan, weeks in {"Four weeks": 4, "Twelve weeks": 12}.items():
        table = rows(plan)
        assert [int(row[0]) for row in table] == list(range(1, weeks + 1))
        assert [sum(map(int, row[2:6])) for row in table] == [SESSION] * weeks


def test_the_long_plan_leaves_out_no_chapter():
    named = ", ".join(row[1] for row in rows("Twelve weeks")).lower()
    short = {"a-fair-comparison": "fair-comparison", "the-benchmark": "benchmark"}
    short |= {"rope": "rotary", "the-atlas": "atlas", "the-fourier-view": "fourier-view"}
    short |= {"relative-and-hybrid-encodings": "relative-and-hybrid"}
    short |= {"beyond-the-training-length": "beyond-training-length"}
    short |= {"a-model-that-people-use": "real-model", "position-in-the-message": "in-the-message"}
    short |= {"two-transformers-for-time-series": "time-series-transformers"}
    short |= {"your-own-gpt": "your-gpt"}
    slugs = {anchor(name) for name in named.split(", ")}
    planned = {short.get(slug, slug) for slug in slugs}
    quizzed = {path.stem for path in quizzes.FOLDER.glob("*.yml")}
    assert quizzed - planned == {"datasets", "running-benchmarks"}


def test_sample_answers_reach_from_full_marks_to_hardly_any():
    marked = re.split(r"^## Marking.*$", TEXT, flags=re.MULTILINE)[1]
    questions = re.split(r"^### ", marked, flags=re.MULTILINE)[1:]
    assert len(questions) >= 5
    for question in questions:
        marks = [int(mark) for mark in re.findall(r"^\| (\d) of 4 \|", question, re.MULTILINE)]
        assert marks == sorted(marks, reverse=True)
        assert marks[0] == 4
        assert marks[-1] <= 1 < marks[1] < 4
