"""Recordings with gaps: what is lost, what is left, and where it stands."""

import numpy as np
import pytest

from posenc_book import data
from posenc_book.data.dataset import stack
from posenc_book.data.lost_samples import lose_samples

SHARE = 0.3


@pytest.fixture
def series():
    """Three series of 10, 7 and 1 steps; every value says where it was recorded, from 1 on."""
    steps = [np.arange(1, n + 1, dtype=np.float32)[:, None] * [1, -1] for n in (10, 7, 1)]
    return stack(steps, np.array([0, 1, 0]), ("a", "b"), "ramps", "made for a test")


def times(series, **options):
    return lose_samples(series, "train", lost=SHARE, clock="times", **options)


def indices(series, **options):
    return lose_samples(series, "train", lost=SHARE, clock="indices", **options)


def test_the_share_counts_real_steps_and_leaves_one(series):
    assert times(series).mask.sum(axis=1).tolist() == [7, 5, 1]


def test_times_stay_and_lost_steps_are_empty(series):
    found = times(series)
    assert found.length == series.length
    places = np.where(found.mask, np.arange(1, 11), 0)
    np.testing.assert_array_equal(found.x[:, :, 0], places)
    np.testing.assert_array_equal(found.x[:, :, 1], -places)


def test_indices_hold_the_same_values_in_the_same_order(series):
    timed, counted = times(series), indices(series)
    assert counted.length == 7
    for i in range(len(series)):
        left, moved = timed.x[i][timed.mask[i]], counted.x[i][counted.mask[i]]
        np.testing.assert_array_equal(left, moved)
    assert counted.mask.argmin(axis=1).tolist() == [0, 5, 1]  # real steps come first


def test_series_of_equal_length_need_no_mask_when_counted():
    whole = stack([np.ones((8, 1))] * 2, np.zeros(2, dtype=np.int64), ("a",), "ones")
    assert lose_samples(whole, "test", lost=0.5, clock="indices").mask is None


def test_other_seeds_and_splits_lose_other_steps():
    whole = stack([np.ones((50, 1))] * 4, np.zeros(4, dtype=np.int64), ("a",), "ones")
    masks = [
        lose_samples(whole, split, lost=0.5, seed=seed).mask
        for split, seed in (("train", 0), ("train", 0), ("test", 0), ("train", 1))
    ]
    np.testing.assert_array_equal(masks[0], masks[1])
    assert not np.array_equal(masks[0], masks[2])
    assert not np.array_equal(masks[0], masks[3])
    assert not (masks[0] == masks[0][0]).all()  # nor does every series lose the same


def test_a_registered_set_takes_the_options():
    whole = data.load("BasicMotions", "test")
    found = data.load("BasicMotions", "test", lost=0.25, clock="indices", seed=3)
    assert found.x.shape == (40, 75, 6)
    assert whole.length == 100
    assert "25% of the steps lost at random (seed 3)" in found.provenance
    assert "only their order" in found.provenance
    np.testing.assert_array_equal(found.y, whole.y)
