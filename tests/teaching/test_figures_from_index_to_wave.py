"""The figures of the first three chapters: what they draw agrees with what they say."""

import re

import numpy as np

from posenc import tables
from posenc_book.figures import order_blindness, oscillations, raw_indices


def test_every_weight_is_written_into_its_field(drawn):
    weights = np.array([[0.2, 0.8], [0.6, 0.4]])
    panels = {title: (weights, ["a", "b"]) for title in "wxyz"}
    order_blindness.weights_move(panels, framed=("b", "a"))
    figure, words = drawn["fig-weights-move"]
    assert [t.get_text() for t in figure.axes[0].texts] == ["0.20", "0.80", "0.60", "0.40"]
    assert [t.get_text() for t in figure.axes[0].texts if t.get_weight() == "bold"] == ["0.60"]
    assert [ax.patches[0].get_xy() for ax in figure.axes] == [(-0.5, 0.5)] * 4
    assert "what b gives to a" in words["caption"]


def test_numbers_sent_back_to_their_words_are_alike_in_every_order(drawn):
    orders = [(0, 1, 2), (1, 2, 0), (2, 0, 1)]
    order_blindness.every_order("abc", orders, np.array([5.0, 6.0, 7.0])[np.array(orders)])
    upper, lower = (ax.images[0].get_array() for ax in drawn["fig-every-order"][0].axes)
    assert upper.T.tolist() == [[5, 6, 7], [6, 7, 5], [7, 5, 6]]
    assert lower.T.tolist() == [[5, 6, 7]] * 3


def test_the_four_attempts_show_the_numbers_of_their_alt_text(drawn):
    raw_indices.four_attempts()
    figure, words = drawn["fig-four-attempts"]
    index, _, fraction, bits = figure.axes
    assert index.lines[0].get_ydata().max() == 40
    diamonds = [line.get_xdata()[0] for line in fraction.lines if line.get_marker() == "D"]
    told = [float(number) for number in re.findall(r"0\.\d+", words["alt"])]
    assert np.allclose(diamonds, told, atol=0.005)
    heights = [segment[1, 1] for segment in bits.collections[0].get_segments()]
    assert heights[31] == max(heights) == 6
    assert np.median(heights) <= 2
    assert f"but up to {sorted(heights)[-2]:.0f}, and all 6 from 31 to 32" in words["alt"]


def test_training_draws_a_line_for_each_signal(drawn):
    losses = {"index": [0.7, 9000.0, 5000.0], "digits": [0.7, 7.8, 0.1], "bits": [0.7, 0.5, 0.2]}
    raw_indices.training({name: np.array(curve) for name, curve in losses.items()})
    figure, words = drawn["fig-index-training"]
    assert [line.get_label() for line in figure.axes[0].lines] == list(losses)
    for told in (
        "index: jumps to 9,000 at step 1 and never falls below 5,000 again",
        "digits: jumps to 7.8 at step 1 and falls to 0.10",
        "bits: falls from 0.70 to 0.20",
    ):
        assert told in words["alt"]


def test_bits_below_the_clocks_are_those_of_the_place(drawn):
    oscillations.clocks([*"abcdefgh"])
    figure, _ = drawn["fig-bits-on-clocks"]
    bits = [
        t for t in figure.axes[0].texts if t.get_text() in ("0", "1") and t.get_position()[1] < 0
    ]
    read = [[t.get_text() for t in bits if t.get_position()[0] == place] for place in range(8)]
    assert [int("".join(column), base=2) for column in read] == list(range(8))


def test_columns_of_the_table_are_named_by_their_dimension(drawn):
    table = tables.sinusoidal(100, 64)
    oscillations.sinusoidal_table(table)
    figure, _ = drawn["fig-sinusoidal-table"]
    for line in figure.axes[1].lines:
        assert np.array_equal(line.get_ydata(), table[:, int(line.get_label())])
