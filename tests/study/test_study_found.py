"""What the chapter on the benchmark gathers is what is stored."""

import numpy as np
import pytest

from posenc.bench import protocols
from posenc.study import edition, found, friedman, second
from posenc.teaching import plots
from posenc.teaching.figures import benchmark as figures

GAINS = found.gains()


def test_gains_are_those_of_the_grids_in_points():
    grid = second.load("patch")
    for row, name in enumerate(grid.datasets):
        for encoding in grid.encodings[1:]:
            one = GAINS[name, "patches"][encoding]
            differences = 100 * grid.gains(encoding)[row]
            assert one.mean == pytest.approx(differences.mean())
            assert one.low <= one.mean <= one.high


def test_every_set_of_the_edition_has_a_column_and_no_other():
    sets = edition.read().sets
    assert list(GAINS) == [(n, t) for m, t in found.TOKENS.items() for n in sets[m]]
    assert list(found.levels()) == list(GAINS)


def test_rotary_is_no_encoding_where_a_series_is_one_token():
    one = GAINS["PenDigits", "patches"]["rotary"]
    assert (one.mean, one.low, one.high) == (0, 0, 0)


def test_levels_hold_the_best_encoding_and_its_name():
    for (name, tokens), level in found.levels().items():
        grid = found.grids()[tokens].only([name])
        means = 100 * grid.scores[0].mean(1)
        assert level["encodings"].max() == pytest.approx(means[grid.encodings.index(level["best"])])
        assert level["none"] == pytest.approx(means[0])


def test_sets_that_share_series_are_planned_as_one():
    assert found.n_units("patch") == len(protocols.DATASETS) - 4
    assert found.n_units("time_series") == len(protocols.UP_TO_100) - 3


def test_progress_counts_trainings_and_trials():
    sets = edition.read().sets
    cells = 5 * len(protocols.ENCODINGS) + 4 * len(protocols.ENCODINGS)
    for model, tokens in found.TOKENS.items():
        row = found.progress()[tokens]
        assert row["trainings"] == cells * len(sets[model])
        assert row["whole sets"].startswith(f"{len(sets[model])} of ")


def test_gains_by_length_are_measured_at_the_same_step():
    steps, gains = found.gains_by_length("PenDigits", "patch")
    assert gains.shape == (len(protocols.ENCODINGS) - 1, len(steps))
    rotary = protocols.ENCODINGS.index("rotary") - 1
    assert np.abs(gains[rotary]).max() == 0


def test_whole_gains_stand_beside_the_short_ones():
    both = found.short_and_whole("MelbournePedestrian", "patch")
    assert list(both) == list(protocols.ENCODINGS[1:])
    for name, row in both.items():
        assert row["whole"] == pytest.approx(GAINS["MelbournePedestrian", "patches"][name].mean)


def test_costs_name_every_encoding_and_fixed_tables_add_nothing():
    costs = found.costs()
    assert list(costs) == list(protocols.ENCODINGS[1:])
    assert costs["sinusoidal"]["parameters added"] == 0 < costs["learnable"]["parameters added"]
    assert all(one["time of a step"] > 0 for one in costs.values())


def test_the_smallest_p_of_the_chapter_is_that_of_the_test():
    for n in (2, 5, 9):
        assert friedman.wilcoxon(np.arange(1.0, n + 1)).p_value == pytest.approx(2 / 2**n)


def test_the_map_colours_a_gain_only_where_the_interval_leaves_zero_out(monkeypatch):
    drawn = []
    monkeypatch.setattr(plots, "show", lambda figure, **words: drawn.append((figure, words)))
    figures.gains_map(GAINS)
    [(figure, words)] = drawn
    [ax] = figure.axes
    [image] = ax.images
    shown = ~np.ma.getmaskarray(np.ma.masked_invalid(image.get_array()))
    columns = list(GAINS.values())
    for (row, column), coloured in np.ndenumerate(shown):
        one = list(columns[column].values())[row]
        assert coloured == (one.low > 0 or one.high < 0)
    assert f"coloured {shown[:, 0].sum()} of 10" in words["alt"]
