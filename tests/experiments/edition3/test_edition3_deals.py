"""The deals in halves: sizes, classes, and what stays together."""

import os

import numpy as np
import pytest

from posenc import data
from posenc.data import repeats
from posenc.data.dataset import Dataset
from posenc.experiments.edition3 import deals, sets


def made(labels, first, masked=False):
    y = np.array(labels, dtype=np.int64)
    x = np.repeat(np.arange(first, first + len(y), dtype=np.float32), 4).reshape(-1, 4, 1)
    mask = np.arange(4) < 3 + np.zeros((len(y), 1)) if masked else None
    return Dataset(x, y, ("a", "b"), "made", "made", mask)


def pair(masked=False):
    return made([0, 0, 1], 0, masked), made([0, 0, 0, 1, 1, 1, 1], 3)


def places(part):
    return part.x[:, 0, 0].astype(int).tolist()


@pytest.mark.parametrize("r", [1, 2, 3])
def test_each_class_is_halved_and_each_series_has_one_place(r):
    first, second = deals.halves(*pair(), r)
    assert np.bincount(first.y).tolist() == [2, 2]
    assert np.bincount(second.y).tolist() == [3, 3]
    assert sorted(places(first) + places(second)) == list(range(10))


def test_deals_differ_and_can_be_made_again():
    made_of = [tuple(places(deals.halves(*pair(), r)[0])) for r in range(1, 7)]
    assert len(set(made_of)) > 3
    assert tuple(places(deals.halves(*pair(), 1)[0])) == made_of[0]


def test_masks_go_with_their_series():
    masked = {0: 0, 1: 0}
    for r in range(1, 4):
        for side, part in enumerate(deals.halves(*pair(masked=True), r)):
            short = np.array(places(part)) < 3
            real = np.full((len(part), 4), True) if part.mask is None else part.mask
            np.testing.assert_array_equal(real.sum(1), 4 - short)
            masked[side] += short.sum()
    assert min(masked.values()) > 0


def test_the_official_split_is_no_deal():
    with pytest.raises(ValueError, match="r must be at least 1"):
        deals.halves(*pair(), 0)


@pytest.mark.skipif(not os.environ.get("POSENC_DATA"), reason="needs the sets")
@pytest.mark.parametrize("name", sets.COUNTED)
def test_the_unused_sets_can_be_dealt_and_share_nothing(name):
    parts = data.load(name, "train"), data.load(name, "test")
    for r in range(1, 6):
        first, second = deals.halves(*parts, r)
        assert len(first) + len(second) == len(parts[0]) + len(parts[1])
        assert 0 <= len(second) - len(first) <= first.n_classes
        assert repeats.count(first, second)[2] == 0
        assert len(data.split_validation(first, 0.25, seed=r)[1]) >= 20
