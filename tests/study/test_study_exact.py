import numpy as np
import pytest
from scipy import stats

from posenc.study import exact, statistics


def test_concordance_is_one_for_equal_orders_and_follows_from_the_rank_sums():
    assert exact.concordance(np.tile(np.arange(8.0), (5, 1))) == pytest.approx(1)
    scores = np.random.default_rng(0).random((6, 4))
    sums = statistics.ranks(scores).sum(axis=0)
    by_hand = 12 * ((sums - sums.mean()) ** 2).sum() / (6**2 * (4**3 - 4))
    assert exact.concordance(scores) == pytest.approx(by_hand)


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


def test_group_test_of_noise_is_rarely_significant():
    rng = np.random.default_rng(0)
    members = np.arange(9) < 3
    p = [exact.group_test(rng.normal(size=9), members)[1] for _ in range(200)]
    assert np.mean(np.array(p) <= 0.05) < 0.1
    assert np.mean(p) == pytest.approx(0.5, abs=0.08)


def test_components_recover_what_was_put_in():
    rng = np.random.default_rng(0)
    cells = rng.normal(0, 0.03, (3000, 16, 1)) + rng.normal(0, 0.02, (3000, 16, 5))
    found = np.sqrt(np.mean([np.square(exact.components(one)) for one in cells], axis=0))
    assert found == pytest.approx([0.02, 0.03], rel=0.02)
    shared = rng.normal(0, 0.04, (3000, 1, 5))
    found = np.sqrt(np.mean([np.square(exact.components(one)) for one in cells + shared], axis=0))
    assert found == pytest.approx([np.hypot(0.02, 0.04), 0.03], rel=0.02)
    assert exact.components([[0.1, 0.3], [0.3, 0.1]]) == (pytest.approx(np.sqrt(0.02)), 0)
