"""Figures, tables and the task of the chapters on longer inputs and on time and space."""

import re

import numpy as np
import torch

from posenc import frequencies, schedules
from posenc_book.explorables import rope_schedules
from posenc_book.figures import beyond_training_length as beyond
from posenc_book.figures import time_and_space
from posenc_book.read.classification import control
from posenc_book.statistics.friedman import Effect
from posenc_book.teaching import last_marker, speakers
from posenc_book.teaching.program import CausalRotary, PerToken, geometric

OMEGA = frequencies.geometric(128)


def test_every_training_has_a_mark_and_the_alt_text_says_where_the_marks_of_each_test_lie(drawn):
    found = {
        "bad": {"longer": [0.6, 0.7], "later": [0.4, 0.5]},
        "good": {"longer": [0.9, 1.0], "later": [1.0, 1.0]},
    }
    beyond.longer_and_later(found, ["stubborn"])
    figure, words = drawn["fig-longer-and-later"]
    marks = [line for line in figure.axes[0].lines if line.get_marker() in "os"]
    assert sum(len(line.get_xdata()) for line in marks) == 8
    longer, later = "Longer: good 0.90 to 1.00, bad 0.60 to 0.70.", "Later: all marks of good stand"
    for said in (longer, f"{later} at 1; bad 0.40 to 0.50.", "stubborn have no marks"):
        assert said in words["alt"]


def test_angles_are_stacked_to_what_is_reached(drawn):
    seen, reached = (np.minimum(schedules.turns(OMEGA, n), 1) for n in (4096, 16_384))
    beyond.seen_angles(seen, reached)
    figure, words = drawn["fig-seen-angles"]
    tops = [bar.get_y() + bar.get_height() for bar in figure.axes[0].patches]
    assert np.allclose(tops, [*seen, *reached])
    numbers = [int(one) for one in re.findall(r"\d+", words["alt"])]
    assert numbers == [64, (seen >= 1).sum(), (reached > seen).sum()]


def test_pairs_are_counted_by_what_a_schedule_does():
    rows = beyond.schedule_rows({"as trained": OMEGA, "linear": OMEGA / 4}, 4096, 4.0)
    assert list(rows["linear"].values()) == [0, 64, 0]
    assert list(rows["as trained"].values()) == [64, 0, (schedules.turns(OMEGA, 4096) < 1).sum()]


def test_the_family_of_schedules_is_drawn_and_counted(drawn):
    beyond.schedule_family(OMEGA, 4096, 4.0)
    figure, words = drawn["fig-schedule-family"]
    left, right = figure.axes
    names = ["linear", "NTK", "dynamic NTK, 2 times", "YaRN", "Llama 3", "LongRoPE", "YaRN"]
    lines = [*left.lines, *right.lines[:2]]
    assert [line.get_label().split(":")[0] for line in lines] == names
    at_twice = OMEGA / schedules.ntk(OMEGA, 2.0)
    assert np.allclose(left.lines[2].get_ydata(), at_twice)
    assert np.allclose(left.lines[4].get_ydata(), OMEGA / schedules.llama3(OMEGA, 4.0, 4096))
    assert np.array_equal(right.lines[0].get_ydata().round(9), rope_schedules.LONG_FACTOR)
    assert len({line.get_linestyle() for line in left.lines}) == len(left.lines) - 1  # "--" twice
    legend = [text.get_text() for one in figure.legends for text in one.get_texts()]
    assert legend[1:3] == ["NTK: 1 alone, 17 new", "dynamic NTK, 2 times: 1 alone, 17 new"]
    assert [one for one in legend if one not in words["alt"]] == []
    divisor = OMEGA / schedules.yarn(OMEGA, 4.0, 4096)
    first, last = np.flatnonzero(divisor == 1)[-1], np.flatnonzero(np.isclose(divisor, 4))[0]
    (ramp,) = left.patches  # shaded where YaRN's divisor is neither 1 nor the factor
    assert (ramp.get_x(), ramp.get_x() + ramp.get_width()) == (first, last)


def test_losses_by_context_are_means_with_a_band_and_what_is_not_run_has_no_line(drawn):
    seeds = {
        "rotary": np.array([[1.0, 3.0], [2.0, 5.0]]),
        "none": np.empty((0, 2)),
        "alibi": np.array([[2.0, 2.0], [2.5, 2.5]]),
    }
    found = {"as trained": seeds, "fine-tuned": {name: one / 2 for name, one in seeds.items()}}
    beyond.loss_by_context(found, [128, 512], trained=128, python="3.99")
    figure, words = drawn["fig-text-context"]
    lines = [line for line in figure.axes[0].lines if len(line.get_xdata()) and line.get_marker()]
    means = {
        line.get_label(): list(line.get_ydata()) for line in lines if line.get_marker() in "ov"
    }
    assert means == {"rotary": [1.5, 4.0], "alibi": [2.25, 2.25]}
    assert [ax.get_title("left") for ax in figure.axes] == ["as trained", "fine-tuned"]
    assert [list(ax.lines[-1].get_xdata()) for ax in figure.axes] == [[128, 128]] * 2
    assert "means of 0 to 2 seeds" in words["caption"]
    assert "the help topics of Python 3.99." in words["caption"]
    assert "As trained, rotary rises most, from 1.50 to 4.00 nats, and alibi is" in words["alt"]


def test_scores_stand_at_the_seconds_from_query_to_key(drawn):
    seconds = np.array([0.0, 1.0, 4.0])
    scores = np.arange(9.0).reshape(3, 3)
    time_and_space.scores_over_time(seconds, {"given": scores})
    line = drawn["fig-uneven-scores"][0].axes[0].lines[0]
    at = dict(zip(line.get_ydata(), line.get_xdata(), strict=True))
    assert [at[scores[0, 2]], at[scores[2, 0]]] == [4, -4]  # from query (row) to key


def test_letters_stand_at_their_seconds_and_at_their_numbers(drawn):
    time_and_space.two_rulers([1, 2, 4, 7], "ABCD", asked=3, meant=2)
    figure, words = drawn["fig-two-rulers"]
    texts = [(text.get_text(), *text.get_position()) for text in figure.axes[0].texts]
    assert [x for said, x, y in texts if said.isalpha() and y > 0.5] == [1, 2, 4, 7]
    assert np.allclose(
        [x for said, x, y in texts if said.isalpha() and y < 0.5], [0, 7 / 3, 14 / 3, 7]
    )
    assert words["alt"].endswith("3 seconds apart above, 1 apart below.")


def test_what_is_eight_back_depends_on_the_width(drawn):
    time_and_space.reading_order(4, [8, 12], back=8, asked=(2, 3))
    figure, words = drawn["fig-reading-order"]
    assert [len(ax.texts) for ax in figure.axes] == [32, 48]
    for ax, expected in zip(figure.axes, ["11", "19"], strict=True):
        marked = [text.get_text() for text in ax.texts if text.get_color() == "white"]
        assert marked == [expected, str(int(expected) + 8)]
    assert "with 8 columns it is 1 row up and 0 columns to the right" in words["alt"]
    assert "with 12 columns it is 1 row up and 4 columns to the right" in words["alt"]


def test_a_map_of_the_lab_shows_each_task_and_leaves_out_what_is_not_run(drawn):
    found = {
        "copy": {"none": [1.0, 0.2, 0.1], "alibi": [1.0, 0.9, 0.8]},
        "parity": {"none": [0.9, 0.5, 0.5], "alibi": [np.nan] * 3},
    }
    beyond.lab_maps(found, [20, 30, 40], trained=20)
    figure, words = drawn["fig-length-lab"]
    assert [ax.get_title("left") for ax in figure.axes[:2]] == ["copy", "parity"]
    assert np.array_equal(figure.axes[0].images[0].get_array(), [*found["copy"].values()])
    assert figure.axes[1].images[0].get_array().mask[1].all()
    assert "copy: 85 % with alibi, no more within 10 points, the lowest 15 %" in words["alt"]
    assert "parity: 50 % with none, no more within 10 points, the lowest 50 %" in words["alt"]


def test_the_control_stands_beside_what_it_controls(drawn):
    one = control.Beside("Libras", np.array([2.0, 4.0]), np.array([1.0, 0.0]))
    down = control.Beside("Libras", np.array([-0.01, 0.0]), np.array([1.0, 0.0]))
    time_and_space.beside_control({"steps": [down]})
    assert "Libras, steps: +0.0 and +0.5." in drawn[0][1]["alt"], "and not minus zero"
    drawn.clear()
    time_and_space.beside_control({"steps": [one], "patches": [one]})
    figure, words = drawn["fig-beside-control"]
    labels = [tick.get_text() for tick in figure.axes[0].get_yticklabels()]
    assert labels == ["Libras, steps", "Libras, patches"]
    means = [line.get_xdata() for line in figure.axes[0].lines if line.get_markersize() == 8]
    assert np.concatenate([np.atleast_1d(mean) for mean in means]).tolist() == [3.0, 0.5] * 2
    assert "Libras, patches: +3.0 and +0.5." in words["alt"]


def test_a_wave_along_rows_is_blind_to_columns():
    along_rows = np.array([[np.pi / 3, 0.0]])
    scores = time_and_space.score_map(along_rows, reach=3)
    assert scores.shape == (7, 7)
    np.testing.assert_allclose(scores, scores[:, :1] + np.zeros(7))
    np.testing.assert_allclose(scores[:, 0], np.cos(np.arange(-3, 4) * np.pi / 3))
    rows = time_and_space.by_direction(along_rows, distance=3)
    assert rows == {"lowest score": "-1.00", "highest score": "1.00"}


def test_each_model_names_the_commit_that_was_read():
    for name, row in time_and_space.foundation_models().rows.items():
        (said,) = row.values()
        assert re.search(r"Read in \S+/\S+, .*\b[0-9a-f]{7} \(\d+ \w+ 20\d\d\)$", said), name


def test_the_last_marked_letter_is_the_answer():
    x, answers = last_marker.draw(50, 30, torch.Generator().manual_seed(1))
    for letters, expected in zip(x.tolist(), answers.tolist(), strict=True):
        last = -100
        for letter, answer in zip(letters, expected, strict=True):
            last = letter if letter < last_marker.N_MARKED else last
            assert answer == last


def test_a_model_that_knows_is_right_and_one_that_guesses_is_not():
    class Knows(torch.nn.Module):
        def forward(self, x):
            marked = torch.where(x < 2, torch.arange(x.shape[1]), -1).cummax(1).values
            return torch.nn.functional.one_hot(x.gather(1, marked.clamp(min=0)).clamp(max=1), 2)

    class Guesses(torch.nn.Module):
        def forward(self, x):
            return torch.tensor([1.0, 0.0]).expand(*x.shape, 2)

    assert last_marker.accuracy(Knows(), 40) == 1
    assert abs(last_marker.accuracy(Guesses(), 40) - 0.5) < 0.1
    assert last_marker.right([Knows(), Knows()], 40) == "100% (100 to 100)"


def test_a_rebuilt_model_keeps_its_weights_and_changes_its_frequencies():
    model = last_marker.OneLayer("rotary").eval()
    x = torch.randint(16, (2, 40), generator=torch.Generator().manual_seed(0))
    same, slow = model.rebuilt("rotary"), model.rebuilt("rotary", scaling="linear", factor=4.0)
    assert torch.equal(model(x), same(x))
    assert not torch.allclose(model(x), slow(x))
    assert torch.allclose(model.rebuilt("rotary", window=40)(x), model(x), atol=1e-6)


def test_answers_are_sorted_by_how_far_apart_the_last_two_names_stand():
    texts = torch.tensor([[0, 3, 5, 0, 4, 9, 0, 7, 9, 9, 9, 9, 0, 2]])  # names at 1, 4, 7 and 13

    def says_seven(some):
        return torch.nn.functional.one_hot(torch.full_like(some, 7), 16)

    assert speakers.are_names(texts)[0].nonzero().flatten().tolist() == [1, 4, 7, 13]
    assert speakers.right_by_gap(says_seven, texts) == {
        "2 or 3": "67%",  # wrong at the three letters of 4, right at the six of 7
        "4 to 8": "0%",
        "9 to 30": "nan%",
    }


def test_names_are_scored_by_their_age():
    torch.manual_seed(0)
    model = PerToken(CausalRotary(geometric(8)), n_words=16, n_classes=16).eval()
    texts = torch.randint(16, (3, 20))
    found = speakers.score_by_age(model, texts)
    assert list(found) == list(range(1, 13))
    first, second = model.layers
    with torch.no_grad():
        q, k, _ = second.attention.project(second.norms[0](first(model.words(texts))))
    pairs = [(b, j + 5, j) for b, j in np.ndindex(3, 15) if j and texts[b, j - 1] == 0]
    each = [float((q[b, :, i] * k[b, :, j]).sum(-1).mean() / 8**0.5) for b, i, j in pairs]
    assert np.isclose(found[5], np.mean(each), atol=1e-5)


def test_a_star_is_folded_at_its_period_and_each_reading_stays(drawn):
    days = np.array([0.0, 0.75, 10.25])
    time_and_space.a_star(days, np.array([1.0, 2.0, 3.0]), 0.5)
    left, right = drawn["fig-a-star"][0].axes
    assert left.lines[0].get_xdata().tolist() == days.tolist()
    assert np.allclose(right.lines[0].get_xdata(), [0, 6, 6])
    assert right.lines[0].get_ydata().tolist() == [1, 2, 3]


def test_each_way_to_tell_time_has_a_row_in_both_surveys(drawn):
    scores = {
        "none": Effect(0.5, 0.4, 0.6, 0.95, 1, 5),
        "RoPE, times": Effect(0.7, 0.6, 0.8, 0.95, 1, 5),
    }
    arms = {arm: {"accuracy": one} for arm, one in scores.items()}
    time_and_space.stars_told_apart({"one": arms, "other": arms}, {"one": 0.2, "other": 0.8})
    figure, words = drawn["fig-stars-told-apart"]
    for ax, line in zip(figure.axes, (20, 80), strict=True):
        marks = [one for one in ax.lines if one.get_marker() in ("o", "s")]
        assert [(one.get_xdata()[0], one.get_ydata()[0]) for one in marks] == [(50, 0), (70, 1)]
        assert ax.lines[-1].get_xdata()[0] == line
        assert ax.yaxis_inverted()
    assert "other: none 50, RoPE, times 70." in words["alt"]
