"""What the figures and tables of the chapters on rotations and RoPE show is what they are given."""

import numpy as np
import pytest
import torch
from torch import nn

from posenc import frequencies
from posenc_book.figures import rotary, rotations
from posenc_book.teaching import look_back


def test_hands_of_a_clock_make_the_same_turn_from_every_start(drawn):
    rotations.clock_hands(steps=2)
    [(figure, words)] = drawn
    assert words["name"] == "fig-clock-hands"
    for ax, omega in zip(figure.axes, (1.0, 10**-0.5, 0.1), strict=True):
        sectors = [patch for patch in ax.patches if hasattr(patch, "theta1")]
        assert len(sectors) >= 3
        for sector in sectors:
            assert sector.theta2 - sector.theta1 == pytest.approx(np.degrees(2 * omega))


def test_a_shadow_that_rises_and_one_that_falls_share_the_best_factor(drawn):
    rotations.lone_sine(lambda omega, k: (0.5, 0.0))
    assert all(ax.lines[-1].get_slope() == 0.5 for ax in drawn[0][0].axes)
    for line, sign in zip(drawn[0][0].axes[0].lines, (1, -1), strict=False):
        now, later = line.get_data()
        np.testing.assert_allclose(later, now * np.cos(1) + sign * np.sqrt(1 - now**2) * np.sin(1))


def test_the_row_that_is_asked_for_is_drawn(drawn):
    gram = np.arange(36.0).reshape(6, 6)
    rotations.gram_direction(gram, {"one": gram, "two": -gram}, at=2)
    curves = drawn[0][0].axes[1].lines
    np.testing.assert_array_equal(curves[0].get_ydata(), gram[2])
    np.testing.assert_array_equal(curves[1].get_ydata(), -gram[2])
    np.testing.assert_array_equal(curves[0].get_xdata(), np.arange(6) - 2)


def test_the_closest_return_only_falls(drawn):
    distance = np.random.default_rng(0).uniform(1, 2, size=1000)
    rotations.close_returns({2: distance}, marked=[7])
    heights = drawn[0][0].axes[0].lines[0].get_ydata()
    assert (np.diff(heights) <= 0).all()
    assert heights[-1] == distance.min()


def test_the_diagonal_of_scores_is_drawn(drawn):
    added, turned = np.random.default_rng(0).normal(size=(2, 9, 9))
    rotary.scores_by_offset(added, turned, offset=2)
    curves = drawn[0][0].axes[2].lines
    for curve, scores in zip(curves, (added, turned), strict=True):
        np.testing.assert_array_equal(curve.get_ydata(), np.diagonal(scores, 2))


def test_waves_add_up(drawn):
    omega, offsets = frequencies.geometric(8), np.arange(-5, 6)
    rotary.waves_of_pairs(offsets, omega, {"slow": 3}, {"equal": 0, "ahead": 2})
    upper, lower = drawn[0][0].axes
    np.testing.assert_allclose(upper.lines[0].get_ydata(), np.cos(omega[3] * offsets))
    assert [curve.get_ydata().max() for curve in lower.lines] == [4, 4]  # all pairs agree
    assert [offsets[curve.get_ydata().argmax()] for curve in lower.lines] == [0, -2]
    assert "equal, at offset 0, ahead, at offset -2" in drawn[0][1]["alt"]


def test_arrows_lead_to_the_same_pair(drawn):
    rotary.pair_layouts(8)
    texts = drawn[0][0].axes[0].texts
    boxes = {text.get_position(): text.get_text() for text in texts if text.get_text().isdigit()}
    arrows = [text for text in texts if getattr(text, "arrow_patch", None) is not None]
    assert len(boxes) == 16
    assert len(arrows) == 8
    for arrow in arrows:
        assert boxes[arrow.xyann[0], 1.5] == boxes[arrow.xy[0], 0]


def test_rounded_positions_are_found_to_be_equal(drawn):
    omega = frequencies.geometric(16)
    turns = {}
    for name, t in {"exact": np.arange(2000), "halved": np.arange(2000) // 2}.items():
        angles = np.outer(t, omega)
        turns[name] = np.cos(angles), np.sin(angles)
    rows = rotary.precision_rows(turns, omega)
    assert [row["different rows of 2,000"] for row in rows.values()] == [2000, 1000]
    assert float(rows["exact"]["largest error at offset 1"]) < 1e-9
    assert float(rows["halved"]["largest error at offset 1"]) > 0.01
    rotary.score_by_precision(turns)
    flat, rough = (ax.lines[0].get_ydata() for ax in drawn[0][0].axes)
    assert np.ptp(flat) < 1e-9 < np.ptp(rough)
    assert "Exact rounded: a flat line. Halved rounded: no order" in drawn[0][1]["alt"]
    assert f"{np.ptp(rough[:256]):.2f} up to 256" in drawn[0][1]["alt"]


def test_the_hands_are_drawn_as_they_stand_at_the_marked_steps(drawn):
    by_step = {step: 1 / (1 + abs(step + 3)) for step in range(-20, 21)}
    omega = np.array([1.0, 0.1])
    rotary.where_it_looks(by_step, [-3, 12], omega, known=8)
    [ax] = drawn[0][0].axes
    np.testing.assert_allclose(ax.lines[0].get_ydata(), list(by_step.values()))
    tips = [[line.get_data()[i][1] for i in (0, 1)] for d in ax.child_axes for line in d.lines]
    angles = [frequency * step for step in (-3, 12) for frequency in omega]
    np.testing.assert_allclose(tips, np.transpose([np.cos(angles), np.sin(angles)]))
    assert "A spike at -3 of 1.00. A spike at +12 of 0.06." in drawn[0][1]["alt"]


class Perfect(nn.Module):
    """Answer with the letter that stood `back` places ago."""

    def __init__(self, back: int = 3) -> None:
        super().__init__()
        self.back, self.bonus = back, nn.Parameter(torch.ones(()))

    def forward(self, x, positions=None):  # noqa: ARG002
        return self.bonus * nn.functional.one_hot(x.roll(self.back, 1), look_back.N_LETTERS).float()


def test_looking_back_is_scored_by_the_letter_so_many_places_ago():
    assert look_back.accuracy(Perfect(3), back=3) == 1
    assert look_back.accuracy(Perfect(3), back=3, length=64, first=9) == 1
    assert look_back.accuracy(Perfect(2), back=3) < 0.2
    assert look_back.right([Perfect(3), Perfect(3)]) == "100%"


def test_a_rule_without_a_model_names_the_commonest_letter():
    x = look_back._new(length=32)
    hits = {None: 0, 4: 0}
    for row in x:
        for i in range(16, 32):
            for last, seen in ((None, row[: i + 1]), (4, row[i - 4 : i])):
                hits[last] += int(torch.bincount(seen, minlength=16).argmax() == row[i - 3])
    for last, n in hits.items():
        assert look_back.by_counting(last=last) == f"{n / (64 * 16):.0%}"
    assert look_back.by_counting(last=3, back=3) != look_back.by_counting(last=1, back=3)
    assert look_back.by_counting(last=1, back=1) == "100%"


def test_full_turns_are_counted_by_base_and_length():
    rows = rotary.full_turn_rows((100, 10_000), (6, 7, 100_000), d_head=16)
    assert list(rows) == ["100", "10,000"]
    for base, row in zip((100, 10_000), rows.values(), strict=True):
        slowest, none, one, every = row.values()
        assert slowest == pytest.approx(2 * np.pi * base ** (7 / 8))
        assert (none, one, every) == (0, 1, 8)
