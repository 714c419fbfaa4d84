"""The page for teachers, whose links lead somewhere and whose minutes add up, and the capstone."""

import re
from functools import cache

import nbformat
import pytest
from course import capstone
from sitefiles import ROOT, anchor, markdown, table, toc_files

import quizzes

TEXT = markdown("book/teaching")
LINKS = re.findall(r"\]\(([\w-]+)\.(ipynb|md)(?:#([\w-]+))?\)", TEXT)
CELL = re.compile(r"\]\(([\w-]+)\.ipynb#([\w-]+)\), `(.+?)` \|$", re.MULTILINE)
SESSION = 90  # minutes


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
    beliefs = table(TEXT, "What students often believe")
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
    assert sum(int(row[0]) for row in table(TEXT, "One session")) == SESSION
    for plan, weeks in {"Four weeks": 4, "Twelve weeks": 12}.items():
        weekly = table(TEXT, plan)
        assert [int(row[0]) for row in weekly] == list(range(1, weeks + 1))
        assert [sum(map(int, row[2:6])) for row in weekly] == [SESSION] * weeks


# --- the capstone

PROJECTS = re.split(r"^## ", markdown("book/capstone"), flags=re.MULTILINE)[2:5]
SECTIONS = dict(zip(("stretch", "encoding", "claim"), PROJECTS, strict=True))


def test_there_is_a_section_for_each_project():
    assert SECTIONS.keys() == capstone.projects().keys()


@pytest.mark.parametrize("key", SECTIONS)
def test_a_rubric_is_the_one_that_is_handed_in_and_adds_up(key):
    shown = table(SECTIONS[key], "What is marked")
    assert {what: int(points) for what, points, *_ in shown} == capstone.projects()[key]["rubric"]
    assert sum(int(points) for _, points, *_ in shown) == 20
    for _, points, whole, half in shown:
        assert whole
        assert bool(half) == (int(points) > 1)
