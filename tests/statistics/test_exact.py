"""Exact tests for small tables against scipy and counts by hand."""

import numpy as np
import pytest
from scipy import stats

from posenc_book.statistics import exact


def test_spearman_has_scipys_correlation_and_a_fair_p_value():
    rng = np.random.default_rng(1)
    x, y = rng.random(11), rng.integers(4, size=11)
    rho, p = exact.spearman(x, y)
    expected = stats.spearmanr(x, y)
    assert rho == pytest.approx(expected.statistic)
    assert p == pytest.approx(expected.pvalue, abs=0.03)
    assert exact.spearman(np.arange(9), np.arange(9))[1] <= 0.001
    with pytest.raises(ValueError, match="pair up and vary"):
        exact.spearman([1, 2], [3, 3])


def test_group_test_by_hand():
    last = np.array([0, 0, 0, 1], bool)
    assert exact.group_test([1, 2, 3, 9], last) == (7, 1 / 4)
    pair = np.array([1, 1, 0, 0, 0], bool)
    spread, p = exact.group_test([1, 2, 1, 5, 9], pair, exact.smaller_spread)
    assert spread == pytest.approx(4 - np.sqrt(0.5))
    assert p == 3 / 10  # the three pairs among 1, 2, 1; all others leave 9 or 5 in the group
    with pytest.raises(ValueError, match="some but not all"):
        exact.group_test([1, 2], [False, False])
