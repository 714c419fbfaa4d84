"""What the chapter on the benchmark gathers is what is stored."""

import functools

import numpy as np
import pytest

from posenc_book.data.units import unit_of
from posenc_book.figures import benchmark as figures
from posenc_book.read.classification import edition, edition2, found
from posenc_book.read.classification import protocol as protocols
from posenc_book.statistics import summary as statistics
from posenc_book.teaching import plots

pytestmark = pytest.mark.usefixtures("read_once")


@functools.cache
def gains_by_set():
    return found.gains_by_set()


def test_gains_are_those_of_the_grids_in_points():
    grid = edition2.load_grid("patch")
    for row, name in enumerate(grid.datasets):
        for encoding in grid.encodings[1:]:
            one = gains_by_set()[name, "patches"][encoding]
            differences = 100 * grid.gains(encoding)[row]
            assert one.mean == pytest.approx(differences.mean())
            assert one.low <= one.mean <= one.high


def test_intervals_allow_for_series_that_resamples_share():
    name, row = "Libras", edition2.load_grid("patch").datasets.index("Libras")
    gains = 100 * edition2.load_grid("patch").gains("sinusoidal")[row]
    found_width = (
        gains_by_set()[name, "patches"]["sinusoidal"].high
        - gains_by_set()[name, "patches"]["sinusoidal"].low
    )
    plain = statistics.t_interval(gains)
    assert found_width / (plain.high - plain.low) == pytest.approx(
        (1 + 5 * 1) ** 0.5
    )  # half tested
    official = 100 * edition2.load_grid("patch").gains("sinusoidal")[0]
    assert gains_by_set()["PenDigits", "patches"]["sinusoidal"].low == pytest.approx(
        statistics.t_interval(official).low
    )


def test_steps_are_compared_with_patches_on_the_same_independent_sets():
    gains = found.steps_over_patches()
    both = {
        unit_of(n) for n, t in gains_by_set() if t == "steps" and (n, "patches") in gains_by_set()
    }
    assert gains.shape == (len(both),)
    libras = [
        np.mean([one.mean for one in gains_by_set()["Libras", t].values()])
        for t in ("steps", "patches")
    ]
    assert np.isclose(gains, libras[0] - libras[1]).any()


def test_every_set_of_the_edition_has_a_column_and_no_other():
    sets = edition.read_edition().sets
    assert list(gains_by_set()) == [(n, t) for m, t in found.TOKENS.items() for n in sets[m]]
    assert list(found.levels()) == list(gains_by_set())


def test_levels_hold_the_best_encoding_and_its_name():
    for (name, tokens), level in found.levels().items():
        grid = found.grids()[tokens].only([name])
        means = 100 * grid.scores[0].mean(1)
        first = level["best"].split(" and ")[0]  # "and 2 more" where several share the highest
        assert level["encodings"].max() == pytest.approx(means[grid.encodings.index(first)])
        assert level["none"] == pytest.approx(means[0])


def test_sets_that_share_series_are_planned_as_one():
    assert found.n_units("patch") == len(protocols.DATASETS) - 4
    assert found.n_units("time_series") == len(protocols.UP_TO_100 + protocols.UP_TO_275) - 4


def test_costs_name_every_encoding_and_fixed_tables_add_nothing():
    costs = found.costs()
    assert list(costs) == list(protocols.ENCODINGS[1:])
    assert costs["sinusoidal"]["parameters added"] == 0 < costs["learnable"]["parameters added"]
    assert all(one["time of a step"] > 0 for one in costs.values())


@pytest.fixture
def drawn(monkeypatch):
    """Return a list that gathers what is shown: figures with their words."""
    found = []
    monkeypatch.setattr(plots, "show", lambda figure, **words: found.append((figure, words)))
    return found


def test_colour_is_ordered_like_the_gain_and_a_dot_means_doubt(drawn):
    looks = {}
    for tokens in ("steps", "patches"):
        figures.gains_map(gains_by_set(), tokens)
        figure, words = drawn[-1]
        [ax] = figure.axes
        [image] = ax.images
        sets = {name: row for (name, kind), row in gains_by_set().items() if kind == tokens}
        rows = [list(row.values()) for row in sets.values()]
        colours = image.cmap(image.norm(image.get_array()))[..., :3]
        for row, column in np.ndindex(colours.shape[:2]):
            looks[tokens, row, column] = rows[row][column].mean, colours[row, column]
        [dots] = ax.lines
        doubtful = {(round(x), round(y)) for x, y in dots.get_xydata()}
        assert doubtful == {
            (column, row)
            for row, several in enumerate(rows)
            for column, one in enumerate(several)
            if one.low <= 0 <= one.high
        }
        up = {name: sum(one.low > 0 for one in row.values()) for name, row in sets.items()}
        for name, n in up.items():
            assert (f"{name} {n}" in words["alt"]) == (n > 0)
        losses = sum(one.high < 0 for several in rows for one in several)
        assert f"{sum(up.values())} gains (" in words["alt"]
        assert f"and {losses} losses" in words["alt"]
    for sign in (1, -1):  # over both maps: they have one scale
        some = sorted((abs(mean), *colour) for mean, colour in looks.values() if mean * sign > 0)
        light = np.array(some)[:, 1:] @ (0.2126, 0.7152, 0.0722)
        assert (np.diff(light) <= 1e-3).all()
        assert light[0] - light[-1] > 0.1


def test_answers_come_from_the_frozen_analysis_and_units_have_their_means():
    for tokens, (units, gains) in found.answers().items():
        grid = edition2.learned(found.grids()[tokens])
        assert [(g.encoding, g.answer) for g in gains] == [
            (g.encoding, g.answer) for g in edition2.gains(grid)
        ]
        for dots, gain in zip(units, gains, strict=True):
            assert dots.mean() == pytest.approx(100 * gain.effect.mean)


def test_the_figure_of_answers_draws_every_unit_and_every_mean(drawn):
    answers = found.answers()
    figures.answers(answers, 1.0)
    [(figure, words)] = drawn
    for ax, (units, gains) in zip(figure.axes, answers.values(), strict=True):
        dots = [line for line in ax.lines if line.get_marker() == "o"]
        np.testing.assert_array_equal([line.get_xdata() for line in dots], units)
        whiskers = [line.get_xdata() for line in ax.lines if line.get_linewidth() == 2]
        ends = [[100 * g.effect.low, 100 * g.effect.high] for g in gains]
        np.testing.assert_allclose(whiskers, ends)
        low, high = ax.get_xlim()
        assert all(low < x < high for line in ax.lines for x in line.get_xdata())
        means = [100 * gain.effect.mean for gain in gains]
        assert f"{len(gains)} means from {min(means):+.1f} (" in words["alt"]
        assert f"{sum(g.effect.low > 0 for g in gains)} intervals above zero" in words["alt"]


def test_tokens_are_counted_from_the_lengths_of_series():
    assert found.n_tokens("PenDigits", "steps") == 8
    assert found.n_tokens("PenDigits", "patches") == 1
    assert found.n_tokens("SmoothSubspace", "patches") == 2
    for name, tokens, n, mean, low, high in found.by_tokens():
        means = [one.mean for one in gains_by_set()[name, tokens].values()]
        assert n == found.n_tokens(name, tokens)
        assert (mean, low, high) == (np.mean(means), min(means), max(means))  # rounded alike
