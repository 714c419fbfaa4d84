"""Accuracies are counts: equal ones tie, whatever binary fractions make of their means."""

import functools
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from scipy import stats

from posenc_book.data.units import unit_of
from posenc_book.read import results
from posenc_book.read.classification import (
    baselines,
    edition,
    edition2,
    found,
    found_tables,
    sanity,
)
from posenc_book.read.classification.edition2 import Accuracies
from posenc_book.records import cases
from posenc_book.statistics import counts, friedman


@pytest.mark.parametrize("n", [139, 180, 2000, 123_457])
def test_a_float_tells_its_count(n):
    for right in (0, 1, n // 3, n - 1, n):
        assert counts.fraction(right / n) == Fraction(right, n)


def test_means_of_equal_counts_are_equal():
    rng = np.random.default_rng(0)
    right = rng.integers(0, 139, size=(200, 5))
    moved = right + np.array([1, -1, 2, -3, 1])  # as many in all
    one, other = counts.mean(right / 139), counts.mean(moved / 139)
    assert (one == other).all()
    assert ((right / 139).mean(1) != (moved / 139).mean(1)).any()


@functools.cache
def cells_of(model):
    return edition.by_cell(edition.load_edition(), model)


def counted(tokens, rival):
    """Return on how many sets a baseline has more right answers than the sinusoid, in integers."""
    model = {"steps": "time_series", "patches": "patch"}[tokens]
    cells = cells_of(model)
    found = {}
    for one in baselines.load_baselines():
        if one["baseline"] == rival:
            right = round(one["metrics"]["accuracy"] * one["n_test"])
            found.setdefault(one["dataset"], []).append((right, one["n_test"]))
    wins = 0
    for name in edition.read_edition().sets[model]:
        n = found[name][0][1]
        ours = [round(cells[name, "sinusoidal", r]["accuracy"] * n) for r in range(5)]
        theirs = [right for right, _ in found[name]]
        wins += sum(theirs) * len(ours) > sum(ours) * len(theirs)
    return wins


def test_a_rival_wins_by_right_answers_not_by_the_last_digit():
    levels = found.levels()
    rows = found_tables.ahead(levels)
    for tokens in ("steps", "patches"):
        for rival, shown in (("nearest", "1-NN"), ("minirocket", "MiniRocket")):
            said = rows[f"{shown} beats the sinusoid"][tokens]
            assert said.startswith(f"{counted(tokens, rival)} of ")
    assert rows["MiniRocket beats the sinusoid"]["patches"] == "31 of 38 sets"
    tied = levels["DistalPhalanxTW", "patches"]
    assert tied["MiniRocket"] == tied["the sinusoid"]


def test_encodings_that_share_the_first_place_are_counted():
    right = np.array([[70, 70, 70, 70, 70], [60, 70, 80, 90, 70], [90, 60, 80, 70, 70]])
    scores = np.stack([right[0] - 20, *right[1:], right[0]])[None] / 139
    grid = Accuracies(
        "patch", ("A",), ("none", "dft", "rotary", "tape"), scores, np.full((1, 5), 0.1)
    )
    table = sanity.sanity_table(grid, [])
    assert table.loc["A", "best encoding"] == "dft and 1 more"


def exact(grid):
    """Return the scores of a grid as fractions with the number of test series below, by unit."""
    by_unit = {}
    for name, of_set in zip(grid.datasets, grid.scores, strict=True):
        n = n_test(name)
        sums = [sum(round(a * n) for a in accuracies) for accuracies in of_set]
        by_unit.setdefault(unit_of(name), []).append(
            [Fraction(one, n * of_set.shape[1]) for one in sums]
        )
    return {
        unit: [sum(column) / len(sets) for column in zip(*sets, strict=True)]
        for unit, sets in by_unit.items()
    }


def n_test(name):
    first = next(r for r in results.load_records(f"second-{name}") if "error" not in r)
    return cases.n_test(first)


@pytest.mark.parametrize("model", ["patch", "time_series"])
def test_ranks_and_signs_of_the_edition_are_those_of_the_counts(model):
    grid = edition2.load_grid(model)
    fractions, units = exact(grid), grid.units()
    means = units.scores.mean(2)
    for rounded, row in zip(means.round(friedman.DECIMALS), fractions.values(), strict=True):
        by_value = {value: place for place, value in enumerate(sorted(set(row)))}
        places = [by_value[value] for value in row]
        np.testing.assert_array_equal(stats.rankdata(rounded), stats.rankdata(places))
    for i, k in combinations(range(len(units.encodings)), 2):
        counted = [row[i] - row[k] for row in fractions.values()]
        rounded = (means[:, i] - means[:, k]).round(friedman.DECIMALS)
        assert [np.sign(one) for one in rounded] == [(one > 0) - (one < 0) for one in counted]
        sizes = {value: n for n, value in enumerate(sorted({abs(one) for one in counted}))}
        np.testing.assert_array_equal(
            stats.rankdata(np.abs(rounded)), stats.rankdata([sizes[abs(one)] for one in counted])
        )


def test_means_on_the_limit_of_the_rope_are_equal_to_it():
    gains = [[0.01 + 0.03, 0.01 - 0.03, 0.01, 0.01, 0.01]] * 6
    assert np.mean(gains[0]) != 0.01
    assert edition2.equality.signed_rank(gains, rope=0.01).equal == 1
