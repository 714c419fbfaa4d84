"""Accuracies are counts: equal ones tie, whatever binary fractions make of their means."""

from fractions import Fraction

import numpy as np
import pytest

from posenc_book.read.classification import (
    edition2,
    found,
    sanity,
)
from posenc_book.read.classification.edition2 import Accuracies
from posenc_book.statistics import counts


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


def test_a_rival_with_as_many_right_answers_is_not_ahead():
    tied = found.levels()["DistalPhalanxTW", "patches"]
    assert tied["MiniRocket"] == tied["the sinusoid"]


def test_encodings_that_share_the_first_place_are_counted():
    right = np.array([[70, 70, 70, 70, 70], [60, 70, 80, 90, 70], [90, 60, 80, 70, 70]])
    scores = np.stack([right[0] - 20, *right[1:], right[0]])[None] / 139
    grid = Accuracies(
        "patch", ("A",), ("none", "dft", "rotary", "tape"), scores, np.full((1, 5), 0.1)
    )
    table = sanity.sanity_table(grid, [])
    assert table.loc["A", "best encoding"] == "dft and 1 more"


def test_means_on_the_limit_of_the_rope_are_equal_to_it():
    gains = [[0.01 + 0.03, 0.01 - 0.03, 0.01, 0.01, 0.01]] * 6
    assert np.mean(gains[0]) != 0.01
    assert edition2.equality.signed_rank(gains, rope=0.01).equal == 1
