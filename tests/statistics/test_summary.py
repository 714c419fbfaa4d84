"""Ranks, critical differences and corrections against textbooks, scipy and counts by hand."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import stats

from posenc_book.statistics import summary as statistics

SCORES = np.array(
    [
        [0.9, 0.8, 0.8, 0.1],
        [0.7, 0.9, 0.6, 0.2],
        [0.5, 0.5, 0.5, 0.5],
        [0.6, 0.4, 0.3, 0.35],
        [0.8, 0.75, 0.85, 0.2],
        [0.91, 0.72, 0.73, 0.24],
    ]
)


def naive_ranks(row):
    """1 + how many are better + half of how many others are equal."""
    return [1 + sum(b > a for b in row) + 0.5 * (sum(b == a for b in row) - 1) for a in row]


@settings(max_examples=40)
@given(arrays(float, (4, 5), elements=st.sampled_from([0.1, 0.2, 0.3, 0.4])))
def test_ranks_share_ties_and_sum_up(scores):
    ranks = statistics.ranks(scores)
    assert np.array_equal(ranks, [naive_ranks(row) for row in scores])
    assert np.all(ranks.sum(axis=1) == 15)
    assert statistics.average_ranks(scores) == pytest.approx(ranks.mean(axis=0))


def test_critical_difference_of_the_textbook():
    # Demšar (2006), Table 5(a) and section 3.2.4: q for 4 classifiers 2.569, 14 data sets
    assert statistics.critical_difference(14, 4) == pytest.approx(1.25, abs=0.005)
    assert statistics.critical_difference(14, 4, alpha=0.1) == pytest.approx(1.12, abs=0.005)


def test_nemenyi_rejects_exactly_beyond_the_critical_difference():
    means = statistics.average_ranks(SCORES)
    p = statistics.nemenyi(SCORES)
    limit = statistics.critical_difference(*SCORES.shape)
    assert np.array_equal(p, p.T)
    assert np.array_equal(p < 0.05, np.abs(means[:, None] - means) > limit)
    assert (p < 0.05).any()


def test_interval_holds_the_mean_and_shrinks_to_a_point():
    found = statistics.interval([0.7, 0.8, 0.9])
    assert found.mean == pytest.approx(0.8)
    assert 0.7 <= found.low < 0.8 < found.high <= 0.9
    assert found == statistics.interval([0.7, 0.8, 0.9])
    same = statistics.interval([0.5, 0.5])
    assert (same.low, same.high, same.n) == (0.5, 0.5, 2)
    with pytest.raises(ValueError, match="at least one seed"):
        statistics.interval([])


def test_interval_covers_about_as_often_as_its_docstring_says():
    rng = np.random.default_rng(0)
    samples = rng.normal(size=(400, 5))
    found = [statistics.interval(s, n_resamples=500) for s in samples]
    coverage = np.mean([i.low <= 0 <= i.high for i in found])
    assert 0.78 < coverage < 0.92


def test_students_interval_by_hand():
    found = statistics.t_interval([1.0, 2.0, 3.0])
    half = stats.t.ppf(0.975, 2) / np.sqrt(3)
    assert (found.mean, found.low, found.high, found.n) == pytest.approx((2, 2 - half, 2 + half, 3))
    with pytest.raises(ValueError, match="at least two seeds, got 1"):
        statistics.t_interval([0.5])


def test_compare_counts():
    found = statistics.compare([0.5, 0.6, 0.7], [0.4, 0.6, 0.9])
    assert (found.wins, found.ties, found.losses) == (1, 1, 1)
    assert found.difference == pytest.approx(-0.1 / 3)
    with pytest.raises(ValueError, match="must pair up, got 1 and 2"):
        statistics.compare([0.5], [0.4, 0.6])


@pytest.mark.parametrize(
    ("scores", "message"),
    [
        ([[0.1, np.nan]], "must be finite"),
        ([0.1, 0.2], "must have 2 axes"),
        ([[0.1], [0.2]], "n_methods >= 2"),
    ],
)
def test_bad_tables_are_named(scores, message):
    with pytest.raises(ValueError, match=message):
        statistics.ranks(scores)
