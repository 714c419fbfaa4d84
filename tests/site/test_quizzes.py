"""The quizzes: five questions a chapter, ten a part, one right answer each, all explained."""

import json
import re
from collections import Counter

import pytest
import yaml
from sitefiles import ROOT, anchor, markdown

import quizzes

CHAPTERS, PARTS = sorted(quizzes.FOLDER.glob("*.yml")), sorted(quizzes.PARTS.glob("*.yml"))
PATHS = [*CHAPTERS, *PARTS]
# The parts that teach, in _toc.yml.
BOOK = ["From index to clock", "Clocks that turn", "Into the transformer", "Time series"]


def contents() -> dict[str, list[str]]:
    """Return the pages of each part, such as "book/rotary"."""
    toc = yaml.safe_load((ROOT / "_toc.yml").read_text())["parts"]
    return {part["caption"]: [page["file"] for page in part["chapters"]] for part in toc}


def anchors(page: str) -> set[str]:
    headings = re.findall(r"^#{1,3} (.+)$", markdown(f"book/{page}"), re.MULTILINE)
    return {*map(anchor, headings)}


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.stem)
def test_every_quiz_can_be_read_and_belongs_to_a_chapter_or_part(path):
    questions = quizzes.read(path)
    if path in CHAPTERS:
        assert quizzes.source_of(path.stem)
    else:
        assert path.stem in quizzes.parts().values()
    texts = [option.text for question in questions for option in question.options]
    assert max(Counter(q.text for q in questions).values()) == 1
    assert all(texts)
    assert any("“" in question.text or "wrong" in question.text for question in questions)


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.stem)
def test_every_question_leads_to_a_section_that_is_there(path):
    for question in quizzes.read(path):
        page, _, place = question.see.partition("#")
        assert place in anchors(page), question.see


@pytest.mark.parametrize("part", BOOK)
def test_every_chapter_of_the_book_has_a_quiz_and_every_part_too(part):
    pages = contents()[part]
    quizzed = {f"book/{path.stem}" for path in CHAPTERS}
    assert set(pages) <= quizzed
    assert quizzes.parts()[pages[-1]] == quizzes.slug(part)


@pytest.mark.parametrize("path", PARTS, ids=lambda path: path.stem)
def test_the_quiz_of_a_part_asks_about_its_chapters_and_about_several(path):
    (pages,) = [p for caption, p in contents().items() if quizzes.slug(caption) == path.stem]
    asked = Counter("book/" + question.see.partition("#")[0] for question in quizzes.read(path))
    assert set(asked) <= set(pages)
    assert len(asked) >= 3


def test_the_page_of_the_parts_holds_each_of_their_quizzes_under_its_heading():
    text = (ROOT / "book" / "part-quizzes.md").read_text(encoding="utf-8")
    found = re.findall(r"^## (.+?)\n.*?```\{quiz\} parts/(\S+)", text, re.MULTILINE | re.DOTALL)
    assert [quizzes.slug(heading) for heading, _ in found] == [quiz for _, quiz in found]
    assert [quiz for _, quiz in found] == list(quizzes.parts().values())


def test_the_last_chapter_of_a_part_leads_on_to_its_quiz():
    for page, part in {**quizzes.parts(), "book/rotary": "part-quizzes"}.items():
        path = ROOT / "book" / quizzes.source_of(quizzes.name(page))
        source = [path.read_text(encoding="utf-8")]
        quizzes.add_quiz(None, page, source)
        assert (f"(part-quizzes.md#{part})" in source[0]) == (page != "book/rotary")


def test_the_right_answer_stands_in_no_fixed_place():
    places = Counter(
        [option.right for option in question.options].index(True)
        for path in PATHS
        for question in quizzes.read(path)
    )
    assert len(places) >= 3
    assert max(places.values()) < 0.6 * sum(places.values())


OPTIONS = "\n".join(f"    - {{{kind}: {kind} {i}, why: so}}" for i, kind in enumerate(
    ["right", "wrong", "wrong"]
))  # fmt: skip
QUESTION = f"- question: What?\n  see: rotary#ten-lines\n  options:\n{OPTIONS}\n"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (QUESTION * 4, "needs 5 questions, has 4"),
        (QUESTION * 4 + QUESTION.replace("right:", "wrong:"), "question 5: needs three or four"),
        (
            QUESTION.replace("wrong 2, why: so", "wrong 2") + QUESTION * 4,
            "question 1: every option",
        ),
        (QUESTION + QUESTION.replace("  see: rotary#ten-lines\n", ""), "question 2: needs `see`"),
    ],
)
def test_a_quiz_with_a_fault_is_refused_by_name(tmp_path, text, said):
    path = tmp_path / "chapter.yml"
    path.write_text(text)
    with pytest.raises(ValueError, match=rf"chapter\.yml.*{said}"):
        quizzes.read(path)


def test_only_the_page_is_changed_and_only_at_its_end():
    path = ROOT / "book" / f"{PATHS[0].stem}.ipynb"
    before = path.read_text(encoding="utf-8")
    source = [before]
    quizzes.add_quiz(None, f"book/{PATHS[0].stem}", source)
    old, new = json.loads(before)["cells"], json.loads(source[0])["cells"]
    assert new[:-1] == old
    assert "```{quiz}" in new[-1]["source"]
    source = ["# Nothing"]
    quizzes.add_quiz(None, "book/no-such-chapter", source)
    assert source == ["# Nothing"]


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.stem)
def test_to_guess_the_longest_option_does_not_help(path):
    longest = []
    for question in yaml.safe_load(path.read_text(encoding="utf-8")):
        sizes = {"right": 0, "wrong": 0}
        for option in question["options"]:
            kind = "right" if "right" in option else "wrong"
            sizes[kind] = max(sizes[kind], len(re.sub(r"[`*$_]", "", option[kind])))
        longest.append(sizes["right"] > sizes["wrong"])
    assert sum(longest) <= 0.4 * len(longest)


STRONG = re.compile(r"\b(?:nothing|none|never|always|all|every|any|only|cannot)\b", re.IGNORECASE)


def answers():
    """Yield for each question the texts of its options, the right one first."""
    for path in PATHS:
        for question in quizzes.read(path):
            options = sorted(question.options, key=lambda option: not option.right)
            yield [option.text for option in options]


@pytest.mark.parametrize("choose", [max, min], ids=["longest", "shortest"])
def test_a_blind_reader_does_not_do_much_better_than_by_lot(choose):
    """Strike out what sounds absolute, then take the longest or the shortest of the rest."""
    shares = []
    for texts in answers():
        left = [text for text in texts if not STRONG.search(text)] or texts
        taken = [text for text in left if len(text) == choose(map(len, left))]
        shares.append((texts[0] in taken) / len(taken))
    assert len(shares) > 100
    assert sum(shares) <= 0.4 * len(shares)
