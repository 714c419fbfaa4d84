"""Resamples: sizes, class counts, determinism, what stays together, and what is refused."""

import numpy as np
import pytest

from posenc_book import data
from posenc_book.data import registry
from posenc_book.data.dataset import Dataset
from posenc_book.data.repeats import identities
from posenc_book.data.synthetic import FAMILIES

LENGTH = 6
# numbers of the training series of resamples 1 and 2 of `pair`
FIRST_DEALS = [[1, 4, 5, 7, 10, 11, 12, 15, 18, 23], [0, 1, 3, 4, 5, 6, 10, 14, 19, 23]]


def made(labels, first=0, *, values=None, masked=False, groups=None, length=LENGTH, n_classes=3):
    """Return a part in which every value is the number of its series, from `first` on.

    With `masked`, series number i has i % 3 steps that are not real at its end.
    """
    n = len(labels)
    values = np.arange(first, first + n) if values is None else np.array(values)
    x = np.repeat(values + 1, length * 2).reshape(n, length, 2).astype(np.float32)
    mask = None
    if masked:
        mask = np.arange(length) < (length - values % 3)[:, None]
        x[~mask] = 0
    classes = ("a", "b", "c")[:n_classes]
    groups = None if groups is None else np.array(groups, dtype=np.int64)
    return Dataset(x, np.array(labels, dtype=np.int64), classes, "made", "made", mask, groups)


def numbers(part):
    return part.x[:, 0, 0].astype(int) - 1


def pair(**more):
    train = made([0] * 6 + [1] * 3 + [2] * 1, **more)
    return train, made([0] * 4 + [1] * 8 + [2] * 5, first=10, **more)


def counts(part):
    return np.bincount(part.y, minlength=part.n_classes).tolist()


def test_resample_0_is_the_official_split_itself():
    train, test = pair()
    again = data.resample(train, test, 0)
    assert again[0] is train
    assert again[1] is test


@pytest.mark.parametrize("r", range(1, 6))
def test_sizes_class_counts_and_disjointness(r):
    train, test = pair()
    first, second = data.resample(train, test, r)
    assert first.mask is second.mask is None
    assert counts(first) == counts(train)
    assert counts(second) == counts(test)
    assert sorted([*numbers(first), *numbers(second)]) == list(range(27))
    labels = dict(zip(numbers(train), train.y, strict=True))
    labels |= dict(zip(numbers(test), test.y, strict=True))
    for part in (first, second):
        assert [labels[one] for one in numbers(part)] == part.y.tolist()
        assert (part.name, part.classes) == (train.name, train.classes)


def test_equal_arguments_deal_equally_and_others_do_not():
    train, test = pair()
    deals = {
        (r, seed): tuple(numbers(data.resample(train, test, r, seed=seed)[0]))
        for r in range(1, 5)
        for seed in (0, 1)
    }
    assert len(set(deals.values())) == len(deals)
    assert deals[2, 1] == tuple(numbers(data.resample(train, test, 2, seed=1)[0]))


def test_the_deal_is_the_same_on_every_machine():
    # written down once; NumPy promises the bit stream that they come from
    found = [numbers(data.resample(*pair(), r)[0]).tolist() for r in (1, 2)]
    assert found == FIRST_DEALS


def test_every_series_is_as_often_in_the_training_part():
    train, test = pair()
    often = np.zeros(27)
    for r in range(1, 401):
        often[numbers(data.resample(train, test, r)[0])] += 1
    labels = np.concatenate([train.y, test.y])
    shares = np.array([6 / 10, 3 / 11, 1 / 6])[labels]
    # four standard deviations of a binomial share: 27 series, odds of a false alarm 1 in 600
    assert (abs(often / 400 - shares) < 4 * np.sqrt(shares * (1 - shares) / 400)).all()


def test_masks_travel_with_their_series():
    train, test = pair(masked=True)
    for part in data.resample(train, test, 3):
        assert part.mask.shape == (len(part), LENGTH)
        np.testing.assert_array_equal(part.mask.sum(axis=1), LENGTH - numbers(part) % 3)
        assert (part.x[~part.mask] == 0).all()


def test_parts_of_other_lengths_and_without_masks_are_padded():
    train = made([0, 1, 1], length=4)
    test = made([0, 0, 1], first=3)
    parts = data.resample(train, test, 1)
    for part in parts:
        assert part.length == LENGTH
        real = np.full(part.x.shape[:2], True) if part.mask is None else part.mask
        np.testing.assert_array_equal(real.sum(axis=1), np.where(numbers(part) < 3, 4, LENGTH))
    both = np.concatenate([numbers(part) for part in parts])
    assert sorted(both) == list(range(6))


def test_identical_series_stay_together_even_under_two_labels():
    train = made([0, 0, 0, 0, 1, 1, 1], values=[0, 0, 1, 10, 2, 3, 4], n_classes=2)
    # 0 stands in both parts, 4 under both labels
    test = made([0, 0, 0, 0, 1, 1, 1], values=[0, 4, 5, 6, 7, 8, 9], n_classes=2)
    sides = set()
    for r in range(1, 41):
        first, second = data.resample(train, test, r)
        assert not set(numbers(first)) & set(numbers(second))
        assert counts(first) == [4, 3]
        sides.add((0 in numbers(first), 4 in numbers(first)))
    assert sides == {(a, b) for a in (True, False) for b in (True, False)}


def test_a_split_that_identical_series_forbid():
    train = made([0, 1], values=[1, 2], n_classes=2)
    test = made([0, 0, 1], values=[1, 1, 3], n_classes=2)
    with pytest.raises(ValueError, match=r"no draw out of 1000 .* class counts \[1, 1\]"):
        data.resample(train, test, 1)


def grouped():
    train = made([0, 1, 2, 0, 1, 2, 0, 1, 2, 1], groups=[3, 3, 3, 5, 5, 5, 7, 7, 7, 7])
    return train, made([0, 1, 2, 0, 1, 2], first=10, groups=[4, 4, 4, 9, 9, 9])


@pytest.mark.parametrize("r", range(1, 6))
def test_whole_groups_are_dealt_out(r):
    train, test = grouped()
    first, second = data.resample(train, test, r)
    assert not set(first.groups) & set(second.groups)
    assert len(set(second.groups)) == 2
    assert set(first.groups) | set(second.groups) == {3, 4, 5, 7, 9}
    assert set(first.y) == set(second.y) == {0, 1, 2}
    owner = dict(zip(numbers(train), train.groups, strict=True))
    owner |= dict(zip(numbers(test), test.groups, strict=True))
    assert [owner[one] for one in numbers(first)] == first.groups.tolist()


def test_groups_with_identical_series_stay_together():
    train = made([0, 1, 0, 1, 0, 1], values=[0, 1, 2, 0, 3, 4], groups=[1, 1, 2, 2, 3, 3])
    test = made([0, 1, 0, 1], values=[5, 6, 7, 2], groups=[4, 4, 5, 5])
    train, test = (
        Dataset(one.x, one.y, ("a", "b"), "made", "made", None, one.groups) for one in (train, test)
    )
    for r in range(1, 20):
        first, second = data.resample(train, test, r)
        assert not set(numbers(first)) & set(numbers(second))
        assert len({1, 2, 5} & set(first.groups)) in (0, 3)  # 1 and 2 share 0, 2 and 5 share 2


def test_classes_that_no_draw_of_groups_leaves_in_both_parts():
    train = made([0, 1, 2, 2], groups=[1, 1, 2, 2])
    test = made([0, 1], first=4, groups=[3, 3])
    with pytest.raises(ValueError, match="every class of made in both parts with 1 of 3 groups"):
        data.resample(train, test, 1)


def test_divided_groups_are_refused():
    train, test = made([0, 1, 2], groups=[1, 1, 2]), made([0, 1, 2], first=3, groups=[2, 3, 3])
    with pytest.raises(ValueError, match=r"groups must not be divided, got \[2\]"):
        data.resample(train, test, 1)


def test_parts_that_do_not_belong_together():
    train, test = pair()
    with pytest.raises(ValueError, match="test must belong to train, got classes"):
        data.resample(train, made([0, 1], n_classes=2), 1)
    with pytest.raises(ValueError, match="both have groups or both have none"):
        data.resample(train, made([0, 1, 2], groups=[1, 1, 1]), 1)
    with pytest.raises(ValueError, match="test must hold series, got none"):
        data.resample(train, test.take([]), 1)


def test_sets_that_have_only_their_official_split():
    only = {name for name in registry.ENTRIES if data.official_only(name)}
    assert only == {"SMD", "RoomOccupancy", "Epilepsy", "PenDigits"}
    assert all(data.official_only(name) for name in FAMILIES)
    assert data.official_only("Chinatown") is data.official_only("MyGestures") is None
    for name in (*only, *FAMILIES):
        parts = [
            Dataset(one.x, one.y, one.classes, name, one.provenance, None, one.groups)
            for one in pair()
        ]
        assert data.resample(*parts, 0)[0] is parts[0]
        with pytest.raises(ValueError, match=rf"r must be 0 for {name}, got 2: .*\w"):
            data.resample(*parts, 2)


def test_provenance_says_how_the_parts_were_made():
    first, second = data.resample(*pair(), 2, seed=5)
    said = "resample 2 (seed 5) of both official parts: sizes and class counts as official; made"
    assert first.provenance == second.provenance == said
    assert "whole groups" in data.resample(*grouped(), 1)[0].provenance


def test_prepare_takes_a_resample():
    parts = data.prepare("BasicMotions", seed=1, resample=2)
    official = data.load("BasicMotions", "train"), data.load("BasicMotions", "test")
    train, test = data.resample(*official, 2)
    kept, held_out = data.split_validation(train, seed=1)
    mean, deviation = data.channel_statistics(kept)
    np.testing.assert_array_equal(parts.test.x, data.standardise(test, mean, deviation).x)
    np.testing.assert_array_equal(parts.train.y, kept.y)
    np.testing.assert_array_equal(parts.validation.y, held_out.y)
    assert (data.prepare("BasicMotions", seed=1).test.x != parts.test.x).any()


@pytest.mark.parametrize(
    "name", [name for name in registry.ENTRIES if not registry.ENTRIES[name].official_only]
)
def test_real_sets(name, real, monkeypatch, read_once):
    monkeypatch.setenv("POSENC_DATA", str(real))
    monkeypatch.setenv("POSENC_CACHE", str(read_once))
    monkeypatch.setenv("POSENC_OFFLINE", "1")
    if not data.is_here(name):
        pytest.skip(f"{name} is not on this machine")
    train, test = data.load(name, "train"), data.load(name, "test")
    first, second = data.resample(train, test, 2)
    assert len(first) + len(second) == len(train) + len(test)
    same, before = identities((first, second)), identities((train, test))
    assert not np.isin(*same).any()
    assert len({*same[0], *same[1]}) == len({*before[0], *before[1]})
    if train.groups is None:
        assert counts(first) == counts(train)
        assert counts(second) == counts(test)
    else:
        assert not np.isin(first.groups, second.groups).any()
        assert set(first.y) == set(second.y) == set(range(train.n_classes))
