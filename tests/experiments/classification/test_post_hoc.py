"""What was asked after the results had been read: on made-up scores, and on the edition."""

import numpy as np
import pytest

from posenc_book.read.classification import edition2, post_hoc
from posenc_book.read.classification.baselines import load_baselines
from posenc_book.read.classification.edition2 import Accuracies

pytestmark = pytest.mark.usefixtures("read_once")
NAMES = ("none", "sinusoidal", *(f"e{i}" for i in range(9)))


def grid(scores):
    sets = tuple(f"s{i}" for i in range(len(scores)))
    return Accuracies("patch", sets, NAMES, scores, np.full((len(scores), 5), 0.1))


def noise(n_sets, seed=0):
    return np.random.default_rng(seed).normal(0, 0.02, size=(n_sets, 11, 5))


def test_encodings_that_are_alike_lie_apart_by_luck():
    found = post_hoc.on_one_set(grid(0.5 + noise(400)))
    assert found.apart.mean() == pytest.approx(found.luck.mean(), rel=0.05)
    assert found.luck.mean() == pytest.approx(3.08 * 2 / np.sqrt(5), rel=0.05)


def test_luck_does_not_grow_with_what_encodings_and_resamples_are_worth():
    plain = noise(50)
    other = plain + np.linspace(0, 0.3, 11)[:, None] + np.linspace(0, 0.2, 5)
    one, two = (post_hoc.on_one_set(grid(0.5 + scores)) for scores in (plain, other))
    assert two.luck == pytest.approx(one.luck)
    assert (two.apart > one.apart).all()


def test_it_is_counted_on_how_many_units_they_lie_farther_apart_than_they_gain():
    scores = np.zeros((2, 11, 5))
    scores[0, 1:] = 0.1  # all gain 10 points there
    scores[1, 1] = 0.1  # one alone gains
    assert post_hoc.on_one_set(grid(scores)).more_than_gained == 1


def test_others_are_compared_with_the_sinusoid_in_a_family_of_nine():
    scores = 0.5 + noise(20, seed=1)
    scores[:, 2] = scores[:, 1] + 0.05
    found = post_hoc.over_the_sinusoid(grid(scores))
    assert len(found) == 9
    assert found[0].encoding == "e0"
    assert found[0].effect.mean == pytest.approx(0.05)


@pytest.mark.parametrize("model", edition2.TOKENS)
def test_what_is_picked_is_no_better_than_the_best_and_better_than_the_worst(model):
    units, found = edition2.learned(edition2.load_grid(model)), post_hoc.picked(model)
    assert found.datasets == units.datasets
    assert found.scores[:, 0] == pytest.approx(units.scores[:, 0])
    means = units.scores[:, 1:].mean((0, 2))
    assert found.scores[:, 1].mean() < units.scores[:, 1:].max(1).mean()
    assert found.scores[:, 1].mean() > means.min()


def test_one_machine_leaves_out_what_a_gpu_trained():
    one, every = post_hoc.on_one_machine("time_series"), edition2.load_grid("time_series")
    assert "Adiac" not in one.datasets
    assert "Adiac" in every.datasets
    patches = edition2.load_grid("patch").datasets
    assert post_hoc.on_one_machine("patch").datasets == patches


@pytest.mark.parametrize(("scatter", "in_reach"), [(0.001, True), (0.2, False)])
def test_equality_is_out_of_reach_where_gains_scatter(scatter, in_reach):
    gains = np.random.default_rng(2).normal(0, scatter, size=(30, 11, 1))
    scores = np.broadcast_to(0.5 + gains, (30, 11, 5))
    assert (post_hoc.least_p_of_equality(grid(scores)) <= edition2.ALPHA) is in_reach


@pytest.mark.parametrize("model", ["time_series", "patch"])
def test_what_sorting_costs_stands_beside_the_gain_of_the_same_set(model):
    one = post_hoc.sorting(model)
    units = edition2.learned(edition2.load_grid(model))
    assert one.sets == units.datasets
    row = one.sets.index("Strawberry")
    means = {
        name: np.mean([b["metrics"]["accuracy"] for b in load_baselines()
                       if (b["dataset"], b["baseline"]) == ("Strawberry", name)])
        for name in ("nearest", "nearest_sorted")
    }  # fmt: skip
    assert np.isclose(one.lost[row], 100 * (means["nearest"] - means["nearest_sorted"]))
    scores = units.only(["Strawberry"]).scores[0].mean(1)
    assert np.isclose(one.gains[row], 100 * (scores[1:].mean() - scores[0]))
