"""The quizzes: five questions a chapter, one right answer each, every answer explained."""

import json
from collections import Counter

import pytest
from sitefiles import ROOT

import quizzes

PATHS = sorted(quizzes.FOLDER.glob("*.yml"))


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.stem)
def test_every_quiz_can_be_read_and_belongs_to_a_chapter(path):
    questions = quizzes.read(path)
    assert (ROOT / "book" / f"{path.stem}.ipynb").is_file()
    texts = [option.text for question in questions for option in question.options]
    assert max(Counter(q.text for q in questions).values()) == 1
    assert all(texts)
    assert any("“" in question.text or "wrong" in question.text for question in questions)


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
QUESTION = f"- question: What?\n  options:\n{OPTIONS}\n"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (QUESTION * 4, "needs 5 questions, has 4"),
        (QUESTION * 4 + QUESTION.replace("right:", "wrong:"), "question 5: needs three or four"),
        (
            QUESTION.replace("wrong 2, why: so", "wrong 2") + QUESTION * 4,
            "question 1: every option",
        ),
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
