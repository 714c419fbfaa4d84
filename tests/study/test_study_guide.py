"""The guide: it says what the first page says, and its numbers are those of the results."""

import functools
import json
import re
from pathlib import Path

import pytest

from posenc.study import edition, guide, lengths, second
from posenc.study.explorables.chooser import Chooser
from posenc.study.found import TOKENS
from posenc.teaching.figures import choosing as figures

lines = functools.cache(guide.lines)  # reads all results, which takes seconds
BOOK = Path(__file__).parents[2] / "book"
CELLS = json.loads((BOOK / "intro.ipynb").read_text(encoding="utf-8"))["cells"]
RULES = [
    line
    for cell in CELLS
    for line in "".join(cell["source"]).splitlines()
    if cell["cell_type"] == "markdown" and (line[:1].isdigit() or line.startswith("**No *yes*"))
]

# answers that differ from the usual ones -> the rule of the first page that decides
DECIDED = [
    ({"order": "no"}, 1, "no encoding"),
    ({"times": "yes"}, 2, "RoPE over the times"),
    ({"longer": "yes"}, 3, "Shaw’s relative encoding or RoPE"),
    ({"last": "cached"}, 4, "RoPE"),
    ({"last": "patch"}, 5, "the sinusoid"),
    ({"last": "small"}, 6, "the sinusoid"),
    ({}, 7, "RoPE"),
]


@pytest.mark.parametrize(("answers", "rule", "use"), DECIDED)
def test_the_questions_of_the_first_page_and_of_the_chooser_agree(answers, rule, use):
    figure = Chooser()
    assert figure.advice(**{**figure.first(), **answers}).use == use
    text = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", RULES[rule - 1]).replace("'", "’")  # links
    named = {"RoPE over the times": "RoPE and give it the times"}.get(use, use)
    assert all(f"{part}" in text for part in named.split(" or "))


def test_the_chooser_has_an_answer_for_every_question_of_the_first_page():
    asked = {
        (control.key, option)
        for control in Chooser.controls
        for option in control.options
        if option != control.value
    }
    assert asked == {answer for answers, *_ in DECIDED for answer in answers.items()}
    assert len(RULES) == len(asked) + 1
    assert [line.split(".")[0] for line in RULES[:-1]] == [str(n + 1) for n in range(len(asked))]


@pytest.mark.parametrize(
    ("question", "answers"),
    [
        ("Longer than in training", {"longer": "yes"}),
        ("Uneven samples, real times", {"times": "yes"}),
        ("A language model", {"last": "cached"}),
        ("Few data", {"last": "small"}),
    ],
)
def test_the_guide_recommends_what_the_chooser_does(question, answers):
    figure = Chooser()
    assert lines()[question].use == figure.advice(**{**figure.first(), **answers}).use


def test_for_patches_the_guide_adds_a_control_to_what_the_chooser_says():
    figure = Chooser()
    advice = figure.advice(**{**figure.first(), "last": "patch"})
    assert lines()["Patches as tokens"].use.split(", beside")[0] == advice.use
    assert "two seeds without any encoding" in advice.why


def test_every_answer_says_how_sure_it_is_in_one_of_four_words():
    for line in lines().values():
        assert line.sure.split()[0].rstrip(":") in {"sure", "fair", "weak", "open"}
        assert any(letter.isdigit() for letter in line.number)


def test_the_evidence_names_the_edition():
    assert edition.read().name in guide.evidence().caption


def test_a_mark_says_how_many_trainings_learned_the_task_where_not_all_did():
    runs = lengths.load()
    for label in guide.cost_and_reach():
        name, *said = label.split(" (") if " of " in label else [label]
        learned, every = len(runs.good(name)), len(runs.runs[name])
        assert said == ([] if learned == every else [f"{learned} of {every})"])


def test_the_evidence_is_that_of_the_second_edition():
    for (said, row), model in zip(guide.evidence().rows.items(), TOKENS, strict=True):
        grid = second.load(model)
        assert said == f"{TOKENS[model]}, {len(grid.datasets)} sets"
        means = [100 * grid.scores[:, i].mean() for i in range(len(grid.encodings))]
        assert row["none"] == f"{means[0]:.1f}"
        assert row["all 10"] == f"{min(means[1:]):.1f} to {max(means[1:]):.1f}"


def test_the_row_on_patches_says_what_the_frozen_analysis_says():
    gains = {g.encoding: g for g in second.gains(second.learned(second.load("patch")))}
    line = lines()["Patches as tokens"]
    assert f"{100 * gains['sinusoidal'].effect.mean:+.1f} points" in line.number
    assert f"RoPE {100 * gains['rotary'].effect.mean:+.1f}" in line.number
    assert second.said_shown(list(gains.values())) in line.sure
    assert line.sure.startswith("fair") == (gains["sinusoidal"].answer == "helps")


def test_an_attention_layer_over_twice_the_tokens_does_more_than_twice_the_work():
    assert 2 < guide._products(256) / guide._products(128) < 4


def test_what_the_guide_calls_zero_is_rounding():
    assert guide._moved_image() < 1e-12
    assert guide._cached_difference() < 1e-12
    assert guide._equal_steps() < 1e-12


def test_marks_that_would_cover_each_other_share_a_name():
    found = {"a": (1.0, 0.5), "b": (1.01, 0.51), "c": (1.01, 0.9)}
    assert figures.merged(found) == {"c": (1.01, 0.9), "b, a": (1.01, 0.51)}
