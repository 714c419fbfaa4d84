"""Figures of the Fourier view, faithfulness and their Audit draw what they are given."""

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest

from posenc import fourier, frequencies
from posenc.faithfulness import decoding_error
from posenc_book.figures import faithful_encoding, faithfulness, fourier_view
from posenc_book.teaching import plots

mpl.use("Agg")


@pytest.fixture
def shown(monkeypatch):
    """Keep the figures that are shown: name -> figure."""
    kept = {}
    monkeypatch.setattr(
        plots, "show", lambda figure, *, name, caption, alt: kept.update({name: figure})
    )
    yield kept
    for figure in kept.values():
        plt.close(figure)


def curves(ax) -> list[np.ndarray]:
    return [line.get_ydata() for line in ax.get_lines()]


def test_the_opening_figure_has_a_tick_for_each_wave(shown):
    fourier_view.two_selections(64)
    ticks, smoothed = shown["fig-density"].axes
    drawn = [np.array(rows.get_segments())[:, 0, 0] for rows in ticks.collections]
    assert np.allclose(drawn[0], frequencies.geometric(64))
    assert np.allclose(drawn[1], frequencies.harmonic(64))
    assert np.allclose([values.sum() for values in curves(smoothed)], 1)
    [note] = ticks.texts
    slow = np.sum(frequencies.geometric(64) < 2 * np.pi / 64)
    assert note.get_text().startswith(f"{slow} of 32 ")


def test_a_word_is_added_to_its_position(shown):
    code, word = np.random.default_rng(0).normal(size=(2, 8))
    fourier_view.sum_with_a_word(code, word)
    tops = [
        np.array(ax.collections[0].get_segments())[:, 1, 1]
        for ax in shown["fig-sum-with-a-word"].axes
    ]
    assert np.allclose(tops, [code, word, code + word])


def test_kernels_and_shares_are_drawn_as_given(shown):
    lags = np.arange(-4, 4)
    fourier_view.two_kernels(lags, np.cos(lags), lags == 0)
    assert np.allclose(curves(shown["fig-two-kernels"].axes[0])[0], np.cos(lags))
    shares = {"sinusoidal": [1.0, 0.5, 0.0], "DFT": [1.0, 1.0, 1.0]}
    fourier_view.shares_read([0.5, 1.0, 2.0], shares, [1.0, 0.1])
    [ax] = shown["fig-share-read"].axes
    assert [list(values) for values in curves(ax)] == list(shares.values())


def test_waves_add_up_to_a_spike(shown):
    fourier_view.spike_of_waves(s=3, d=8)
    tops = np.array(shown["fig-partial-sums"].axes[-1].collections[0].get_segments())[:, 1, 1]
    assert np.allclose(tops, np.arange(8) == 3)


def test_mistakes_are_drawn_and_counted(shown):
    true = np.arange(4)
    faithfulness.kinds_of_mistakes({"sinusoidal": (true, true), "DFT": (true, true[::-1])})
    left, right = shown["fig-kinds-of-mistakes"].axes
    titles = [ax.get_title(loc="left") for ax in (left, right)]
    assert titles == ["sinusoidal: 0% wrong", "DFT: 100% wrong"]
    assert np.array_equal(curves(right)[0], true[::-1])


def test_the_lineup_has_a_row_for_each_position():
    tables = faithfulness.lineup(40, 16)
    assert {len(table) for table in tables.values()} == {40}
    assert tables["DFT"].shape == tables["random"].shape == tables["index"].shape == (40, 16)
    assert tables["bits"].shape == (40, 6)
    assert tables["digits"].shape == (40, 2)


def test_random_rows_of_the_lineup_are_not_the_noise_that_they_meet():
    table = faithfulness.lineup(40, 16)["random"]
    noise = np.random.default_rng(0).standard_normal(table.shape)  # of `decoding_error`, seed 0
    assert abs(np.corrcoef(table.ravel(), noise.ravel())[0, 1]) < 0.2
    assert decoding_error(table, 4.0, 1).error_rate > 0.5  # would be 0: rows grow, none moves


def test_every_encoding_of_the_lineup_has_a_line(shown):
    names = list(faithfulness.lineup(4, 4))
    apart = [{name: k + 1 for k, name in enumerate(names)} for _ in (16, 32)]
    faithfulness.separation_by_length([16, 32], apart)
    lost = {name: [0, 1] for name in names}
    faithfulness.share_of_mistakes([0.1, 1], lost)
    separation, noise = (shown[name].axes[0] for name in ("fig-separation", "fig-noise"))
    assert [line.get_label() for line in separation.get_lines()] == names
    assert [line.get_label() for line in noise.get_lines()][: len(names)] == names
    looks = [(line.get_color(), line.get_linestyle()) for line in separation.get_lines()]
    assert len({color for color, _ in looks}) == len(names)


def test_the_audit_draws_spikes_and_widths(shown):
    spikes = np.eye(8)[[2, 5]]
    blurred = fourier.reconstruct(spikes, [0.5, 0.3, 0.1, 0.1, 0.0])
    faithful_encoding.algorithm_one(blurred, spikes, places=(2, 5))
    upper, lower = shown["fig-algorithm-one"].axes
    assert np.allclose(curves(upper), blurred)
    assert np.allclose(curves(lower), spikes)
    faithful_encoding.widths([1, 2], {"a": [4, 2], "b": [1, 1]})
    assert np.allclose(curves(shown["fig-width-sigma"].axes[0]), [[4, 2], [1, 1]])
    assert upper.get_xlim() == lower.get_xlim() == (0, 7)  # the whole lattice


def test_densities_stand_above_the_spikes_that_they_make(shown):
    densities = {"sinusoidal": np.array([0.6, 0.3, 0.1]), "DFT": fourier.dft_density(4)}
    rebuilt = {name: fourier.reconstruct(np.eye(4)[[0, 2]], g) for name, g in densities.items()}
    faithfulness.density_and_spikes(densities, rebuilt)
    above, below = shown["fig-density-and-spikes"].axes
    assert np.allclose(curves(above), [*densities.values()])
    assert np.allclose(curves(below), np.concatenate([*rebuilt.values()]))
    assert below.get_xlim() == (0, 3)
