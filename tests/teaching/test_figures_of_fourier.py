"""Figures of the Fourier view, faithfulness and their Audit draw what they are given."""

import numpy as np

from posenc import frequencies
from posenc.faithfulness import decoding_error
from posenc_book.figures import faithfulness, fourier_view


def curves(ax) -> list[np.ndarray]:
    return [line.get_ydata() for line in ax.get_lines()]


def test_the_opening_figure_has_a_tick_for_each_wave(drawn):
    fourier_view.two_selections(64)
    ticks, smoothed = drawn["fig-density"][0].axes
    marks = [np.array(rows.get_segments())[:, 0, 0] for rows in ticks.collections]
    assert np.allclose(marks[0], frequencies.geometric(64))
    assert np.allclose(marks[1], frequencies.harmonic(64))
    assert np.allclose([values.sum() for values in curves(smoothed)], 1)
    [note] = ticks.texts
    slow = np.sum(frequencies.geometric(64) < 2 * np.pi / 64)
    assert note.get_text().startswith(f"{slow} of 32 ")


def test_a_word_is_added_to_its_position(drawn):
    code, word = np.random.default_rng(0).normal(size=(2, 8))
    fourier_view.sum_with_a_word(code, word)
    tops = [
        np.array(ax.collections[0].get_segments())[:, 1, 1]
        for ax in drawn["fig-sum-with-a-word"][0].axes
    ]
    assert np.allclose(tops, [code, word, code + word])


def test_waves_add_up_to_a_spike(drawn):
    fourier_view.spike_of_waves(s=3, d=8)
    tops = np.array(drawn["fig-partial-sums"][0].axes[-1].collections[0].get_segments())[:, 1, 1]
    assert np.allclose(tops, np.arange(8) == 3)


def test_mistakes_are_drawn_and_counted(drawn):
    true = np.arange(4)
    faithfulness.kinds_of_mistakes({"sinusoidal": (true, true), "DFT": (true, true[::-1])})
    left, right = drawn["fig-kinds-of-mistakes"][0].axes
    titles = [ax.get_title(loc="left") for ax in (left, right)]
    assert titles == ["sinusoidal: 0% wrong", "DFT: 100% wrong"]
    assert np.array_equal(curves(right)[0], true[::-1])


def test_random_rows_of_the_lineup_are_not_the_noise_that_they_meet():
    table = faithfulness.lineup(40, 16)["random"]
    noise = np.random.default_rng(0).standard_normal(table.shape)  # of `decoding_error`, seed 0
    assert abs(np.corrcoef(table.ravel(), noise.ravel())[0, 1]) < 0.2
    assert decoding_error(table, 4.0, 1).error_rate > 0.5  # would be 0: rows grow, none moves


def test_every_encoding_of_the_lineup_has_a_line(drawn):
    names = list(faithfulness.lineup(4, 4))
    apart = [{name: k + 1 for k, name in enumerate(names)} for _ in (16, 32)]
    faithfulness.separation_by_length([16, 32], apart)
    lost = {name: [0, 1] for name in names}
    faithfulness.share_of_mistakes([0.1, 1], lost)
    separation, noise = (drawn[name][0].axes[0] for name in ("fig-separation", "fig-noise"))
    assert [line.get_label() for line in separation.get_lines()] == names
    assert [line.get_label() for line in noise.get_lines()][: len(names)] == names
    looks = [(line.get_color(), line.get_linestyle()) for line in separation.get_lines()]
    assert len({color for color, _ in looks}) == len(names)
