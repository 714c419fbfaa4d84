"""The capstone's page: its rubrics are those that are marked, and its weeks have five days."""

import re

import nbformat
import pytest
from course import capstone
from sitefiles import ROOT

PAGE = nbformat.read(ROOT / "book" / "capstone.ipynb", as_version=4)
TEXT = "\n\n".join(c.source for c in PAGE.cells if c.cell_type == "markdown")
SECTIONS = dict(
    zip(
        ("stretch", "encoding", "claim"),
        re.split(r"^## ", TEXT, flags=re.MULTILINE)[2:5],
        strict=True,
    )
)
every_project = pytest.mark.parametrize("key", SECTIONS)


def rows(section: str, heading: str) -> list[list[str]]:
    """Return the cells of the table below a heading, without its head."""
    below = section.split(f"\n### {heading}\n")[1]
    table = re.search(r"(?:^\|.*\n)+", below, re.MULTILINE)[0].splitlines()[2:]
    return [[cell.strip() for cell in row.strip("|").split("|")] for row in table]


def test_there_is_a_section_for_each_project():
    assert SECTIONS.keys() == capstone.projects().keys()


@every_project
def test_a_rubric_is_the_one_that_is_handed_in_and_adds_up(key):
    shown = rows(SECTIONS[key], "What is marked")
    assert {what: int(points) for what, points, *_ in shown} == capstone.projects()[key]["rubric"]
    assert sum(int(points) for _, points, *_ in shown) == 20
    for _, points, whole, half in shown:
        assert whole
        assert bool(half) == (int(points) > 1)


@every_project
def test_a_week_has_five_days_and_each_ends_with_something(key):
    week = rows(SECTIONS[key], "Your week")
    assert [day for day, *_ in week] == ["1", "2", "3", "4", "5"]
    assert all(do and have for _, do, have in week)


@every_project
def test_a_project_says_how_points_are_lost_and_what_to_hand_in(key):
    lost = SECTIONS[key].split("\n### Where points are lost\n")[1]
    assert len(re.findall(r"^- ", lost, re.MULTILINE)) >= 3
    assert f"../course/dist/student/capstone-{key}.ipynb" in SECTIONS[key]
