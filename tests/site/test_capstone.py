"""The capstone's page: its rubrics are those that are marked, and its weeks have five days."""

import re

import pytest
from course import capstone
from sitefiles import markdown, table

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
