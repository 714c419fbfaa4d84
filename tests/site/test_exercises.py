"""What a chapter says at its head, and its exercises: goals, kinds, hints, solutions."""

import re
from functools import cache

import nbformat
import pytest
import yaml
from docutils import nodes
from parsing import parsed
from sitefiles import ROOT, toc_files
from sphinx_exercise.nodes import solution_node

import solution_folds

NOT_TAUGHT = "The Audit"  # its pages are numbered, and are no chapters
ALSO_TAUGHT = (
    "book/anomaly-windows"  # stands among the notes, and has a quiz and a place in the plan
)
GOALS = re.compile(r"\*\*After this chapter you can\*\*\n\n((?:- .+\n)+)\n\*\*You need\*\* ")
FEWEST, MOST = 2, 4  # goals
# The words that open an exercise of each kind, which readers see in bold.
KINDS = {
    "a picture": r"A picture",
    "an explanation": r"Explain it",
    "a study": r"A small study",
    "a real model or real data": r"(?:A r|R)eal (?:models?|data)",
}
DIRECTIVE = re.compile(
    r"^(?P<fence>:{3,})\{(?P<name>\w+)\} ?(?P<title>[^\n]*)\n(?P<body>.*?)^(?P=fence)$",
    re.MULTILINE | re.DOTALL,
)


def chapters() -> list[str]:
    """Return the pages that teach, in the order of the table of contents."""
    parts = yaml.safe_load((ROOT / "_toc.yml").read_text(encoding="utf-8"))["parts"]
    taught = [one for one in parts if "numbered" in one and one["caption"] != NOT_TAUGHT]
    return [chapter["file"] for part in taught for chapter in part["chapters"]] + [ALSO_TAUGHT]


def parts(page: str) -> list[str]:
    """Return the pages that a chapter has, itself the first."""
    toc = yaml.safe_load((ROOT / "_toc.yml").read_text(encoding="utf-8"))["parts"]
    found = (one for part in toc for one in part["chapters"] if one["file"] == page)
    return [page, *(below["file"] for one in found for below in one.get("sections", []))]


@cache
def text(page: str) -> str:
    """Return the Markdown of a page."""
    path = ROOT / f"{page}.ipynb"
    if not path.is_file():
        return path.with_suffix(".md").read_text(encoding="utf-8")
    cells = nbformat.read(path, as_version=4).cells
    return "\n\n".join(cell.source for cell in cells if cell.cell_type == "markdown")


def exercises(words: str) -> list[list[re.Match]]:
    """Return each exercise with the hints and solutions that stand below it."""
    found: list[list[re.Match]] = []
    for one in DIRECTIVE.finditer(words):
        if one["name"] == "exercise":
            found.append([one])
        elif found and (one["name"] == "solution" or one["title"].startswith("Hint")):
            found[-1].append(one)
    return found


def label(exercise: re.Match) -> str:
    return re.match(r":label: (\S+)\n", exercise["body"])[1]


def is_well_made(exercise: re.Match, *below: re.Match) -> bool:
    """Say whether two hints and one solution stand below an exercise, each folded once."""
    expected = ["Hint 1", "Hint 2", label(exercise)]
    folded = all(re.match(r":class: dropdown\n\n[^:]", one["body"]) for one in below)
    return (
        [one["title"] for one in below] == expected and below[-1]["name"] == "solution" and folded
    )


def kinds(words: str) -> set[str]:
    """Return the kinds of exercises that a page has."""
    tasks = [re.sub(r"^:label: .*\n\s*", "", one["body"]) for one, *_ in exercises(words)]
    return {
        kind
        for kind, name in KINDS.items()
        if any(re.match(rf"\*\*{name}\.?\*\*", task) for task in tasks)
    }


def test_the_chapters_are_those_with_a_place_in_the_table_of_contents():
    assert set(chapters()) <= set(toc_files())
    assert {"book/order-blindness", "book/running-benchmarks", ALSO_TAUGHT} <= set(chapters())
    assert not [page for page in chapters() if "audit" in page]


@pytest.mark.parametrize("page", chapters())
def test_a_chapter_says_at_its_head_what_its_reader_can_do_afterwards(page):
    goals = GOALS.search(text(page).partition("\n## ")[0])
    assert goals, "goals stand right above what the chapter needs"
    assert FEWEST <= goals[1].count("\n") <= MOST


@pytest.mark.parametrize("page", chapters())
def test_a_chapter_asks_for_a_picture_an_explanation_a_study_and_something_real(page):
    assert set().union(*(kinds(text(part)) for part in parts(page))) == KINDS.keys()


@pytest.mark.parametrize("page", [page for page in toc_files() if "{exercise}" in text(page)])
def test_two_hints_and_a_solution_follow_each_exercise_folded_once(page):
    made = exercises(text(page))
    assert len(made) == len(re.findall(r"^:{3,}\{exercise\}", text(page), re.MULTILINE))
    assert [label(one) for one, *below in made if not is_well_made(one, *below)] == []


TASK = ":::{exercise} A\n:label: ex-a\n\n**A picture.** Draw it.\n:::\n\n"
FIRST, SECOND = (f":::{{admonition}} Hint {n}\n:class: dropdown\n\nSo.\n:::\n\n" for n in (1, 2))
SOLUTION = ":::{solution} ex-a\n:class: dropdown\n\nThus.\n:::\n"


def test_what_a_page_lacks_is_seen():
    [made] = exercises(TASK + FIRST + SECOND + SOLUTION)
    assert is_well_made(*made)
    assert kinds(TASK + FIRST + SECOND + SOLUTION) == {"a picture"}
    assert kinds(TASK.replace("**", "")) == set()


@pytest.mark.parametrize(
    "below",
    [
        FIRST + SOLUTION,
        SECOND + FIRST + SOLUTION,
        FIRST + SECOND,
        SOLUTION + FIRST + SECOND,
        FIRST + SECOND + SOLUTION.replace("ex-a", "ex-b"),
        FIRST.replace(":class: dropdown\n", "") + SECOND + SOLUTION,
        "::::{solution} ex-a\n:class: dropdown\n\n:::{dropdown} Again\nThus.\n:::\n::::\n",
    ],
)
def test_an_exercise_that_is_not_well_made_is_seen(below):
    [made] = exercises(TASK + below)
    assert not is_well_made(*made)


def cell(mode=None):
    return nodes.container("", hide_mode=mode) if mode else nodes.container()


def test_the_folded_cells_of_a_solution_move_into_it_and_are_folded_no_more():
    solution = solution_node("", nodes.title(), nodes.section("", nodes.paragraph()))
    mine, also_mine, open_one, later = cell("all"), cell("all"), cell(), cell("all")
    page = nodes.section("", cell("all"), solution, mine, also_mine, open_one, later)
    solution_folds.take_in(solution)
    assert solution[-1].children[1:] == [mine, also_mine]
    assert not any("hide_mode" in one for one in (mine, also_mine))
    assert page.children[1:] == [solution, open_one, later]
    assert later["hide_mode"] == "all"


def test_a_solution_without_cells_stays_as_it_is():
    solution = solution_node("", nodes.title(), nodes.section("", nodes.paragraph()))
    page = nodes.section("", solution, cell("input"))
    solution_folds.take_in(solution)
    assert len(solution[-1]) == 1
    assert len(page) == 2


@pytest.mark.parametrize("page", [page for page in toc_files() if "{solution}" in text(page)])
def test_no_solution_on_the_site_is_folded_twice(site, page):
    found = parsed(site / f"{page}.html").select("article .solution.admonition")
    assert found
    for solution in found:
        assert not solution.select("details, .dropdown")
        after = solution.find_next_sibling()
        assert after is None or "tag_hide-cell" not in after.get("class", [])
