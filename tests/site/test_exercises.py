"""What a chapter says at its head, and its exercises: goals, kinds, hints, solutions."""

import re

import pytest
import yaml
from parsing import parsed
from sitefiles import ROOT, markdown, toc_files

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
    tasks = [re.sub(r"^:label: .*\n\s*", "", one["body"]) for one, *_ in exercises(words)]
    return {
        kind
        for kind, name in KINDS.items()
        if any(re.match(rf"\*\*{name}\.?\*\*", task) for task in tasks)
    }


@pytest.mark.parametrize("page", chapters())
def test_a_chapter_says_at_its_head_what_its_reader_can_do_afterwards(page):
    goals = GOALS.search(markdown(page).partition("\n## ")[0])
    assert goals, "goals stand right above what the chapter needs"
    assert FEWEST <= goals[1].count("\n") <= MOST


@pytest.mark.parametrize("page", chapters())
def test_a_chapter_asks_for_a_picture_an_explanation_a_study_and_something_real(page):
    assert set().union(*(kinds(markdown(part)) for part in parts(page))) == KINDS.keys()


@pytest.mark.parametrize("page", [page for page in toc_files() if "{exercise}" in markdown(page)])
def test_two_hints_and_a_solution_follow_each_exercise_folded_once(page):
    made = exercises(markdown(page))
    assert len(made) == len(re.findall(r"^:{3,}\{exercise\}", markdown(page), re.MULTILINE))
    assert [label(one) for one, *below in made if not is_well_made(one, *below)] == []


@pytest.mark.parametrize("page", [page for page in toc_files() if "{solution}" in markdown(page)])
def test_no_solution_on_the_site_is_folded_twice(site, page):
    found = parsed(site / f"{page}.html").select("article .solution.admonition")
    assert found
    for solution in found:
        assert not solution.select("details, .dropdown")
        after = solution.find_next_sibling()
        assert after is None or "tag_hide-cell" not in after.get("class", [])
