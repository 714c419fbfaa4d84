"""The guide: it says what the first page says, and its numbers are those of the results."""

import functools
import json
import re
from pathlib import Path

import numpy as np
import pytest

from posenc import encodings
from posenc_book.atlas import called
from posenc_book.figures import choosing as figures
from posenc_book.guide import layers, measured
from posenc_book.guide import recommendations as guide
from posenc_book.guide.chooser import Chooser, moved_image, reach, stretch
from posenc_book.read.lengths import read as lab
from posenc_book.read.range_probe import longer as lengths

lines = functools.cache(guide.lines)  # reads all results, which takes seconds
chooser = functools.cache(Chooser)
BOOK = Path(__file__).parents[2] / "book"
CELLS = json.loads((BOOK / "intro.ipynb").read_text(encoding="utf-8"))["cells"]
QUESTIONS = "".join(CELLS[-1]["source"]).split("## Which one should I use?")[1].split("##")[0]
RULES = re.split(r"^(?=\d\. |\*\*No \*yes\*)", QUESTIONS, flags=re.MULTILINE)[1:]

# answers that differ from the usual ones -> the rule of the first page that decides, if it asks
DECIDED = [
    ({"times": "yes"}, 1, "RoPE over the times"),
    ({"times": "grid"}, 1, "RoPE on two axes, axial or mixed"),
    ({"longer": "series"}, 2, "Shaw’s relative encoding or RoPE"),
    ({"longer": "trained"}, 2, "YaRN and a few steps of training"),
    ({"longer": "anew"}, 2, "RoPE with a larger base"),
    ({"token": "patch"}, 3, "the sinusoid"),
    ({"token": "future"}, 3, "the sinusoid"),
    ({"token": "small"}, 3, "the sinusoid"),
    ({}, 4, "RoPE"),
]


@pytest.mark.parametrize(("answers", "rule", "use"), DECIDED)
def test_the_questions_of_the_first_page_and_of_the_chooser_agree(answers, rule, use):
    figure = chooser()
    assert figure.advice(**{**figure.first(), **answers}).use == use
    rule = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", RULES[rule - 1]).replace("'", "’")  # links
    named = {"RoPE over the times": "RoPE and give it the times"}.get(use, use)
    parts = re.split(r", | or | and (?=a few)", named)
    assert [part for part in parts if part not in rule] == []


def test_the_chooser_has_an_answer_for_every_question_of_the_first_page():
    asked = {
        (control.key, option)
        for control in Chooser.controls
        for option in control.options
        if option != control.value
    }
    assert asked == {answer for answers, *_ in DECIDED for answer in answers.items()}
    assert {rule for _, rule, _ in DECIDED} == set(range(1, len(RULES) + 1))
    assert [line.split(".")[0] for line in RULES[:-1]] == list("123")


@pytest.mark.parametrize(
    ("question", "answers"),
    [
        ("Longer series", {"longer": "series"}),
        ("Longer texts, RoPE trained", {"longer": "trained"}),
        ("Uneven samples, real times", {"times": "yes"}),
        ("Images", {"times": "grid"}),
        ("Few data", {"token": "small"}),
    ],
)
def test_the_guide_recommends_what_the_chooser_does(question, answers):
    figure = chooser()
    assert lines()[question].use == figure.advice(**{**figure.first(), **answers}).use


def test_a_language_model_is_led_on_to_longer_texts():
    advice = chooser().advice("no", "no", "no")
    assert lines()["A language model"].use.split("; ") == [advice.use, "for longer texts see below"]
    cases = list(lines())
    below = cases[cases.index("A language model") + 1 :]
    assert [case for case in below if case.startswith("Longer texts")] == below[:2]
    assert "texts grow longer" in advice.why


@pytest.mark.parametrize("longer", ["trained", "anew"])
def test_a_language_model_is_advised_by_text_and_not_by_tasks_of_a_few_symbols(longer):
    advice = chooser().advice("no", longer, "no")
    assert "one text" in advice.why
    assert "cut" in advice.test
    names = ("FIRE", "KERPLE", "random places", "CoPE", "Shaw")
    line = lines()[
        "Longer texts, RoPE trained" if longer == "trained" else "Longer texts, a new model"
    ]
    for said in (advice.use, advice.why, line.use, line.number):
        assert not any(name in said for name in names)
    assert line.use.startswith(advice.use)


def test_every_answer_has_a_reason_and_a_test():
    for advice in chooser().data().values():
        assert advice["why"].endswith(".")
        assert advice["test"].endswith(".")


def test_the_first_question_that_asks_for_something_decides():
    assert chooser().advice("yes", "trained", "patch").decided == "times"
    assert chooser().advice("no", "trained", "patch").decided == "longer"
    assert chooser().advice("no", "no", "patch").decided == "token"
    assert chooser().advice("no", "no", "no").decided == ""


def test_long_documents_lead_to_a_schedule():
    figure = chooser()
    [state] = [one.state for one in figure.presets if one.label == "Long documents"]
    assert figure.advice(**{**figure.first(), **state}).use.startswith("YaRN")


def test_that_rotary_leads_on_no_task_is_counted():
    found = lab.load_lab()
    first = [found.order(task)[0] for task in found.tasks if found.learned(task)]
    assert "rotary" not in first
    assert len(set(first)) > 1
    assert list(reach().leaders.values()) == first


def test_the_schedule_is_what_keeps_the_model_of_characters_working():
    one = stretch()
    far = one.far
    assert one.nats["rotary", far, "as trained"] > one.nats["none", far, "as trained"]
    assert one.nats["yarn", far, "as trained"] < one.nats["alibi", far, "as trained"]
    assert one.nats["yarn", far, "fine-tuned"] < one.nats["rotary", far, "fine-tuned"]


def test_a_language_model_is_told_what_others_lose_at_its_own_length():
    one = stretch()
    told = lines()["A language model"]
    for name in ("rotary", "alibi", "none"):
        assert one.said(name, one.short) in told.number
    assert told.sure.startswith("weak")


def test_a_repair_is_recommended_with_its_price_on_short_texts():
    one = stretch()
    assert one.nats["yarn", one.short, "as trained"] > one.nats["rotary", one.short, "as trained"]
    advice = chooser().advice("no", "trained", "no")
    for said in (advice.why, lines()["Longer texts, RoPE trained"].number):
        assert one.said("yarn", one.short) in said
        assert one.said("yarn", one.short, tuned=True) in said
    assert "short texts" in advice.test


def test_two_axes_are_said_not_to_be_measured_in_accuracy():
    assert "not measured in accuracy" in lines()["Images"].sure
    why = chooser().advice("grid", "no", "no").why
    assert "axial_rotary" in why
    assert "Not measured in accuracy" in why
    assert encodings.make("axial_rotary", 8, 1, 4).n_axes == 2


def test_for_patches_the_guide_adds_a_control_to_what_the_chooser_says():
    figure = chooser()
    advice = figure.advice(**{**figure.first(), "token": "patch"})
    assert lines()["Patches as tokens"].use.split(", beside")[0] == advice.use
    assert "twice without any" in advice.test


def test_every_answer_says_how_sure_it_is_in_one_of_four_words():
    for line in lines().values():
        assert line.sure.split()[0].rstrip(":") in {"sure", "fair", "weak", "open"}
        assert any(letter.isdigit() for letter in line.number)


def test_a_mark_says_how_many_trainings_learned_the_task_where_not_all_did():
    runs, found = lengths.load_longer(), measured.measured()
    shown = [n for n, one in found.items() if np.isfinite([one.cost, one.longer]).all()]
    for name, label in zip(shown, guide.cost_and_reach(), strict=True):
        learned, every = len(runs.good(name)), len(runs.runs[name])
        assert label.startswith(called(name))
        assert label.endswith(f" ({learned} of {every})") == (learned < every)


def test_an_attention_layer_over_twice_the_tokens_does_more_than_twice_the_work():
    assert 2 < guide._products(256) / guide._products(128) < 4


def test_what_the_guide_calls_zero_is_rounding():
    assert moved_image() < 1e-12
    assert layers.cached_difference(guide.WIDTH) < 1e-12
    assert layers.equal_steps(guide.LONG, guide.WIDTH) < 1e-12


def test_marks_that_would_cover_each_other_share_a_name():
    found = {"a": (1.0, 0.5), "b": (1.01, 0.51), "c": (1.01, 0.9)}
    assert figures.merged(found) == {"c": (1.01, 0.9), "b, a": (1.01, 0.51)}


def test_bars_of_mended_models_are_the_stored_losses_and_the_cut_text_is_the_shortest():
    one, bars = stretch(), guide.mended()
    assert (
        bars["RoPE as trained"] == max(bars.values()) == one.nats["rotary", one.far, "as trained"]
    )
    assert list(bars.values()) == sorted(bars.values(), reverse=True)
    assert bars[f"RoPE, the last {one.short} only"] == one.nats["rotary", one.short, "as trained"]
