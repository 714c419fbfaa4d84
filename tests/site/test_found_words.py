"""Sentences of the pages on the benchmark that hold no number, but rest on the data.

`test_prose_numbers` holds figures to what a page shows. A sentence such as "which encoding it is
matters far less" has none: each stands here with the condition under which it may be printed, so
that a new edition that breaks it fails.
"""

import nbformat
import numpy as np
import pytest
import torch
from sitefiles import ROOT

from posenc import encodings
from posenc.bench import protocols
from posenc.data import measure
from posenc.study import control, families, found, found_tables, second, variants

NUMBERS = ["none", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"]


@pytest.fixture(scope="module")
def gains():
    return {tokens: gains for tokens, (_, gains) in found.answers().items()}


@pytest.fixture(scope="module")
def of_sets():
    return {tokens: units for tokens, (units, _) in found.answers().items()}


def says(page, *sentences):
    cells = nbformat.read(ROOT / f"book/{page}.ipynb", 4).cells
    prose = " ".join(cell.source for cell in cells if cell.cell_type == "markdown")
    for sentence in sentences:
        assert sentence in prose, f"{page} says no more: {sentence}"


def by_answer(gains, answer):
    return [one.encoding for one in gains if one.answer == answer]


def test_the_encodings_that_help_are_counted(gains):
    helps, open_ = (by_answer(gains["patches"], kind) for kind in ("helps", "open"))
    many, few = NUMBERS[len(helps)], NUMBERS[len(open_)]
    says(
        "benchmark",
        f"{many.capitalize()} encodings are shown to help, the sinusoid first; "
        f"{few}, RoPE among them, stay open",
        f"{many} are shown to help, {few} stay open",
        "each of them to help",
    )
    assert gains["patches"][0].encoding == "sinusoidal"
    assert "rotary" in open_
    assert len(by_answer(gains["steps"], "helps")) == len(gains["steps"])


def test_nothing_is_shown_to_be_equal(gains):
    says("benchmark", "Nor is any encoding shown to make no difference")
    says("found-details", "No encoding is shown to be equal to none")
    assert not any(one.p_equal <= second.ALPHA for some in gains.values() for one in some)


def test_which_encoding_it_is_matters_far_less_than_the_set():
    says("benchmark", "which encoding it is matters far less")
    says("choosing", "having an encoding mattered more than which one")
    steps, patches = found.spreads("steps"), found.spreads("patches")
    assert steps["set"] > 10 * steps["encoding"]
    assert steps["set"] > 3 * steps["set:encoding"]
    assert patches["set"] > 1.5 * patches["set:encoding"]


def test_a_few_patches_need_no_encoding_and_more_of_them_do():
    says(
        "benchmark",
        "most sets of a few patches gain next to nothing from an encoding, "
        "most longer ones gain more",
    )
    says("choosing", "the gain depends on the set, and most sets of many patches gain more.")
    few, many = (float(row["mean gain"]) for row in found_tables.by_patches(16).values())
    assert abs(few) < 1
    assert many > 4
    of_sets = [(n, gain) for _, tokens, n, gain, *_ in found.by_tokens() if tokens == "patches"]
    assert np.mean([gain < 2 for n, gain in of_sets if n < 16]) > 0.5
    assert np.mean([gain > 2 for n, gain in of_sets if n >= 16]) > 0.5


def test_no_effect_of_the_mixed_model_is_shown_but_length_by_its_own_interval():
    says("benchmark", "Of the six effects none is shown", "its interval by itself lies above zero")
    rows = found_tables.depends()
    for tokens in ("steps", "patches"):
        assert min(float(row[f"p, {tokens}"]) for row in rows.values()) > second.ALPHA
    low = rows["twice the length"]["patches"].split("[")[1].split(",")[0]
    assert float(low) > 0


def test_two_sets_gain_far_more_than_the_others_with_steps(of_sets):
    says("benchmark", "two sets gain far more than the others")
    means = np.sort(of_sets["steps"].mean(0))
    assert means[-2] > 2 * means[-3]


def test_one_encoding_is_ahead_on_every_set(gains):
    says("benchmark", "T-PE, ahead on every set")
    (one,) = [one for one in gains["steps"] if one.encoding == "tpe"]
    assert one.wins == one.n_units


def test_the_sets_that_decide_tell_no_pair_apart():
    says("benchmark", "one bar joins all ten in both models")
    for grid in found.grids().values():
        assert len(second.ranking(second.deciding(grid)).groups) == 1


def test_dft_rows_are_not_ahead_of_sinusoids(gains):
    says("faithfulness", "DFT rows are not ahead of sinusoids on average")
    says("anomaly-windows", "DFT rows are not ahead of sinusoids on average, with steps or with")
    for some in gains.values():
        means = {one.encoding: one.effect.mean for one in some}
        assert means["dft"] <= means["sinusoidal"]


def test_patches_without_an_encoding_do_better_on_the_hours_of_a_day():
    says("benchmark", "on ItalyPowerDemand patches alone do better than steps with an encoding")
    row = found_tables.steps_and_patches()["ItalyPowerDemand"]
    assert float(row["patches, none"]) > float(row["steps, mean of ten"])


def moves(change):
    """Return by how many points the mean gain on each unit is larger in the other model."""
    by = 100 * (change.varied - change.plain).mean(1)
    return dict(zip(change.datasets, by, strict=True))


def test_the_other_norm_hardly_moves_what_patches_gain():
    says("benchmark", "[exchanging the norms](found-further) hardly moves what patches gain")
    says(
        "found-further",
        "By the rule that was fixed beforehand this is *open*",
        "on Pedestrians (the unit of MelbournePedestrian) and BasicMotions only",
        "both times it gets smaller there; on six of the ten it is larger",
        "None is shown to",
    )
    pairs = variants.whole()
    one = variants.changes(pairs)["other-norm", "patch"]
    assert one.answer == "open"
    assert abs(one.effect.mean) < second.MARGIN
    moved = moves(one)
    assert {name for name, by in moved.items() if abs(by) >= 2} == {"Pedestrians", "BasicMotions"}
    assert max(moved["Pedestrians"], moved["BasicMotions"]) < 0
    assert sum(by > 0 for by in moved.values()) == 6
    assert {one.answer for one in variants.gains(pairs)["other-norm", "patch"]} == {"open"}


def test_the_larger_model_is_better_and_its_gains_are_not_shown_to_differ():
    says(
        "found-further",
        "it reaches 80.8 % without any encoding, as much as the plain model does with one",
        "In the larger model it moves that far on four",
        "on Pedestrians, SyntheticControl and Phalanges it gets smaller, on BasicMotions larger",
        "twice the width, four layers in place of two, eight heads in place of four",
    )
    pairs = variants.whole()
    one = variants.changes(pairs)["large", "patch"]
    assert one.answer == "open"
    moved = moves(one)
    assert {name for name, by in moved.items() if by <= -2} == {
        "Pedestrians", "SyntheticControl", "Phalanges",
    }  # fmt: skip
    assert {name for name, by in moved.items() if by >= 2} == {"BasicMotions"}
    assert {one.answer for one in variants.gains(pairs)["large", "patch"]} == {"open"}
    levels = variants.level_rows(pairs)["a larger model, patches"]
    assert levels["there, none"] == levels["plain, mean of three"] == "80.8"
    plain, larger = protocols.TRAINING["settings"], protocols.VARIANTS["large"]["patch"]
    assert [(larger[key], plain[key]) for key in ("d_model", "n_layers", "n_heads")] == [
        (128, 64), (4, 2), (8, 4),
    ]  # fmt: skip


def test_two_of_the_five_others_make_no_difference():
    says(
        "found-further",
        "ALiBi ($+0.1$ points) and convolutional SPE ($-0.1$) are equal to no encoding within",
        "over fifteen independent sets",
        "T5's bias and two kinds of waves stay *open*",
        "ALiBi and `conv_spe` make *no difference*",
        "on the nineteen sets of up to 100 steps",
        "None of the five is shown to be better or worse than the mean of the ten",
        "at most thirteen patches",
    )
    grid = families.load("others", "patch")
    assert grid.datasets == protocols.UP_TO_100
    gains = {one.encoding: one for one in families.over_none(grid, "others")}
    answers = {name: one.answer for name, one in gains.items()}
    assert answers == {
        "sine_linear": "open",
        "learnable_frequency": "open",
        "t5": "open",
        "alibi": "no difference",
        "conv_spe": "no difference",
    }
    assert {one.n_units for one in gains.values()} == {15}
    assert {one.answer for one in families.over_ten(grid, "others")} <= {"open", "no difference"}
    settings = protocols.TRAINING["settings"]
    longest = max(measure.recorded()["sets"][name]["length"] for name in grid.datasets)
    assert -(-longest // settings["patch"]) == 13
    alibi = encodings.make("alibi", 16, 2, 13)
    bias = alibi.bias(*3 * [torch.zeros(1, 13, 16)])
    assert torch.equal(bias, bias.transpose(-1, -2))
    elsewhere = [second.gains(second.load(model)) for model in second.TOKENS]
    assert not [one for grid in elsewhere for one in grid if one.answer == "no difference"]


def test_no_encoding_of_today_is_told_apart():
    says(
        "found-further",
        "none is told apart",
        "every verdict is *open*",
        "No encoding is shown to be better or worse, and none to be equal within a point",
        "the upper ends of the intervals lie at 0.1 to 3.6 points over the ten",
        "FIRE, made for texts longer than in training, is last; window statistics,",
    )
    grid = families.load("later", "patch")
    gains, beside = families.over_none(grid, "later"), families.over_ten(grid, "later")
    assert {one.answer for one in (*gains, *beside)} == {"open"}
    assert (gains[0].encoding, gains[-1].encoding) == ("window_statistics", "fire")
    assert (beside[0].encoding, beside[-1].encoding) == ("window_statistics", "fire")
    ends = [100 * one.effect.high for one in beside]
    assert (round(min(ends), 1), round(max(ends), 1)) == (0.1, 3.6)


def test_window_statistics_leave_next_to_nothing_for_position():
    says(
        "time-and-space", "leaves next to nothing for position, at most 0.3 points by its interval"
    )
    owed = control.over_planned(control.load("patch")).owed_to_position
    assert owed.mean < 0
    assert round(owed.high, 1) == 0.3
