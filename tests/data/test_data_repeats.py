"""Series that occur more than once."""

import numpy as np

from posenc_book.data import repeats
from posenc_book.data.dataset import Dataset


def made(values, mask=None):
    x = np.array(values, dtype=np.float32)[:, :, None]
    y = np.zeros(len(x), dtype=np.int64)
    return Dataset(x, y, ("one",), "made", "made", None if mask is None else np.array(mask))


def test_identities_agree_across_parts():
    first, second = repeats.identities((made([[1, 2], [3, 4], [1, 2]]), made([[3, 4], [2, 1]])))
    np.testing.assert_array_equal(first, [0, 1, 0])
    np.testing.assert_array_equal(second, [1, 2])
    assert first.dtype == np.int64


def test_counts():
    assert repeats.count(made([[1, 2], [3, 4], [1, 2]]), made([[3, 4], [3, 4]])) == (1, 1, 2)
    assert repeats.count(made([[1, 2]]), made([[2, 1]])) == (0, 0, 0)


def test_a_missing_step_is_not_a_zero():
    whole, gap = made([[1, 0]]), made([[1, 0]], [[True, False]])
    assert repeats.count(whole, gap) == (0, 0, 0)
    assert repeats.count(whole, made([[1, 0]], [[True, True]])) == (0, 0, 1)


def test_zero_has_one_sign():
    assert repeats.count(made([[0.0, 1]]), made([[-0.0, 1]])) == (0, 0, 1)


def test_what_the_training_part_holds_leaves_the_test_part():
    train, test = made([[1, 2], [3, 4]]), made([[5, 6], [3, 4], [5, 6], [1, 2], [2, 1]])
    left = repeats.without_shared(train, test)
    np.testing.assert_array_equal(left.x[:, :, 0], [[5, 6], [5, 6], [2, 1]])
    assert repeats.count(train, left) == (0, 1, 0)
    again = repeats.without_shared(train, left)
    np.testing.assert_array_equal(again.x, left.x)
