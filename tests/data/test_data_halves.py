"""Deals in halves: equal shares of each class, equal series on one side, the same everywhere."""

import numpy as np
import pytest

from posenc_book import data
from posenc_book.data import repeats
from posenc_book.data.dataset import Dataset
from posenc_book.data.resamples import halves


def made(labels, first):
    y = np.array(labels, dtype=np.int64)
    x = np.repeat(np.arange(first, first + len(y), dtype=np.float32), 4).reshape(-1, 4, 1)
    return Dataset(x, y, ("a", "b"), "made", "made")


def pair():
    return made([0, 0, 1], 0), made([0, 0, 0, 1, 1, 1, 1], 3)


def places(part):
    return part.x[:, 0, 0].astype(int).tolist()


@pytest.mark.parametrize("r", [1, 2, 3])
def test_each_class_is_halved_and_each_series_has_one_place(r):
    first, second = halves(*pair(), r)
    assert np.bincount(first.y).tolist() == [2, 2]
    assert np.bincount(second.y).tolist() == [3, 3]
    assert sorted(places(first) + places(second)) == list(range(10))
    label = dict(zip(range(10), [0, 0, 1, 0, 0, 0, 1, 1, 1, 1], strict=True))
    assert [label[place] for place in places(first)] == first.y.tolist()


def test_deals_differ_and_can_be_made_again():
    made_of = [tuple(places(halves(*pair(), r)[0])) for r in range(1, 7)]
    assert len(set(made_of)) > 3
    assert tuple(places(halves(*pair(), 1)[0])) == made_of[0]
    assert places(halves(*pair(), 1)[0]) == [4, 5, 7, 9]  # on every machine, with every numpy
    assert places(halves(*pair(), 1, seed=1)[0]) != list(made_of[0])


def test_equal_series_stay_on_one_side_whatever_the_official_split_did():
    train, test = pair()
    twins = test.x.copy()
    twins[:2] = train.x[:2]  # two of a class, each once in either part
    test = Dataset(twins, test.y, test.classes, test.name, test.provenance)
    assert repeats.count(train, test)[2] == 2
    sides = set()
    for r in range(1, 9):
        first, second = halves(train, test, r)
        assert repeats.count(first, second)[2] == 0
        sides.add(0 in places(first))
    assert sides == {True, False}


def test_where_equal_series_leave_no_halves_it_is_said():
    train = made([0, 0, 1], 0)
    same = Dataset(np.zeros((4, 4, 1), np.float32), np.array([0, 1, 1, 1]), ("a", "b"), "made", "")
    with pytest.raises(ValueError, match=r"no draw out of 1000 gives the class counts \[1, 2\]"):
        halves(train, same, 1)


def test_what_cannot_be_halved_is_told():
    train, test = pair()
    with pytest.raises(ValueError, match="r must be an integer of at least 1, got 0"):
        halves(train, test, 0)
    with pytest.raises(ValueError, match=r"two series at least to be halved, got one of 'b'"):
        halves(train, test.take([0, 1]), 1)
    grouped = [
        Dataset(p.x, p.y, p.classes, p.name, "", None, np.arange(len(p)) + 20 * i)
        for i, p in enumerate((train, test))
    ]
    with pytest.raises(ValueError, match="groups, which must not be divided; use resample"):
        halves(*grouped, 1)
    rides = [data.load("elevator", split, n=10) for split in data.SPLITS]
    with pytest.raises(ValueError, match="elevator cannot be dealt in halves: its series are made"):
        halves(*rides, 1)
