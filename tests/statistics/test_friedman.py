"""Counted p-values against enumeration and scipy; intervals against their coverage."""

from itertools import permutations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from posenc_book.statistics import friedman

properties = settings(deadline=None, max_examples=40, derandomize=True)


def enumerated_p(scores):
    """Friedman's p by listing every order of every set but the first, with scipy's statistic."""
    first, *rest = [list(row) for row in scores]
    found = stats.friedmanchisquare(*np.transpose(scores)).statistic
    hits = [
        stats.friedmanchisquare(*np.transpose([first, *orders])).statistic >= found - 1e-9
        for orders in product(*(list(permutations(row)) for row in rest))
    ]
    return np.mean(hits)


def test_four_sets_and_three_encodings_with_chi_square_six():
    # rank sums 6, 6 and 12: 12 / (4 * 3 * 4) * (36 + 36 + 144) - 3 * 4 * 4 = 6
    scores = [[3, 2, 1], [2, 3, 1], [3, 2, 1], [2, 3, 1]]
    test = friedman.friedman(scores)
    assert test.exact
    assert test.statistic == pytest.approx(6.0)
    assert test.p_value == pytest.approx(15 / 216)  # 0.069, in the published tables of the test
    assert test.p_chi_square == pytest.approx(0.0498, abs=5e-5)
    assert test.smallest_p == pytest.approx(1 / 6**3)  # three sets ordered as the first


@pytest.mark.parametrize("decimals", [3, 0], ids=["few ties", "many ties"])
@pytest.mark.parametrize("shape", [(4, 3), (3, 4)])
def test_friedman_equals_enumeration(shape, decimals):
    scores = np.random.default_rng(3).normal(size=shape).round(decimals)
    test = friedman.friedman(scores)
    assert test.exact
    assert test.statistic == pytest.approx(stats.friedmanchisquare(*scores.T).statistic)
    assert test.p_value == pytest.approx(enumerated_p(scores))


def test_counting_and_drawing_agree(monkeypatch):
    scores = np.random.default_rng(5).normal(size=(8, 4)).round(1)
    counted = friedman.friedman(scores)
    monkeypatch.setattr(friedman, "MOST_STATES", 1)
    drawn = friedman.friedman(scores)
    assert counted.exact
    assert not drawn.exact
    assert drawn.smallest_p == 1 / 20_001
    assert drawn == friedman.friedman(scores)
    assert drawn.p_value == pytest.approx(counted.p_value, abs=4 * np.sqrt(0.25 / 20_000))


def test_friedman_of_ties_alone_says_nothing():
    test = friedman.friedman(np.ones((5, 3)))
    assert (test.p_value, test.smallest_p) == (1.0, 1.0)


def enumerated_signed_rank(differences):
    """Two-sided signed-rank p by trying every pattern of signs, Pratt's zeros."""
    ranks = stats.rankdata(np.abs(differences)) * (np.array(differences) != 0)
    found = abs((ranks * np.sign(differences)).sum())
    sums = [abs((ranks * signs).sum()) for signs in product((-1, 1), repeat=len(ranks))]
    return np.mean(np.array(sums) >= found - 1e-9)


@properties
@given(st.lists(st.integers(-5, 5), min_size=1, max_size=10))
def test_wilcoxon_equals_all_patterns_of_signs(differences):
    test = friedman.wilcoxon(np.array(differences, dtype=float))
    assert test.p_value == pytest.approx(enumerated_signed_rank(differences))
    assert test.n == np.count_nonzero(differences)
    assert test.p_value >= test.smallest_p - 1e-12


@pytest.mark.parametrize("n", [5, 12, 38])
@pytest.mark.parametrize("alternative", ["two-sided", "greater"])
def test_wilcoxon_equals_scipy_where_scipy_is_exact(n, alternative):
    differences = np.random.default_rng(n).normal(0.3, size=n)
    test = friedman.wilcoxon(differences, alternative=alternative)
    reference = stats.wilcoxon(differences, method="exact", alternative=alternative)
    assert test.p_value == pytest.approx(reference.pvalue)


def test_wilcoxon_of_many_differences_is_near_the_count(monkeypatch):
    differences = np.random.default_rng(2).normal(0.2, size=150)
    counted = friedman.wilcoxon(differences).p_value
    monkeypatch.setattr(friedman, "MOST_EXACT", 100)
    assert friedman.wilcoxon(differences).p_value == pytest.approx(counted, rel=0.05)


def test_smallest_p_is_reached_by_one_sign_and_no_less():
    assert friedman.wilcoxon([1, 2, 3, 4.0]).p_value == 2 / 16
    assert friedman.wilcoxon([1, 2, -3, 4.0]).smallest_p == 2 / 16
    assert friedman.wilcoxon([1, 2, 0, 4.0]).smallest_p == 2 / 8
    assert friedman.wilcoxon([0.0, 0.0]).p_value == 1


def test_rounding_noise_makes_no_rank():
    assert friedman.wilcoxon([0.3 - 0.2, -(0.2 - 0.1)]).rank_biserial == 0


def test_resamples_of_a_set_count_once():
    cells = np.random.default_rng(0).normal(0.5, size=(6, 5))
    assert friedman.wilcoxon(cells) == friedman.wilcoxon(cells.mean(axis=1))


def test_rank_biserial_of_a_worked_example():
    # ranks 1 to 4, the second negative: (1 + 3 + 4 - 2) / 10
    assert friedman.wilcoxon([1, -2, 3, 4.0]).rank_biserial == pytest.approx(0.6)


def test_holm_of_a_worked_example():
    # Holm (1979): 4 * 0.01, then 3 * 0.02, then max(2 * 0.03, 0.06), then 0.06
    assert friedman.holm([0.02, 0.01, 0.04, 0.03]) == pytest.approx([0.06, 0.04, 0.06, 0.06])
    assert friedman.holm([0.6, 0.9]).tolist() == [1.0, 1.0]
    assert friedman.holm([]).size == 0


def test_wilcoxon_holm_adjusts_all_pairs():
    scores = np.random.default_rng(0).normal([0, 0, 3], size=(8, 3))
    table = friedman.wilcoxon_holm(scores)
    raw = [stats.wilcoxon(scores[:, i] - scores[:, j]).pvalue for i, j in ((0, 1), (0, 2), (1, 2))]
    assert table[[0, 0, 1], [1, 2, 2]] == pytest.approx(friedman.holm(raw))
    assert np.array_equal(table, table.T)
    assert np.diag(table).tolist() == [1, 1, 1]


def test_cliques_are_the_longest_runs_without_a_pair_apart():
    scores = np.random.default_rng(1).normal([0, 5, 0.05, 5.05, 9], 0.5, size=(20, 5))
    best, *rest = np.argsort(friedman.average_ranks(scores))
    assert best == 4
    groups = friedman.cliques(scores)
    assert [set(group) for group in groups] == [{1, 3}, {0, 2}]
    assert friedman.cliques(scores, alpha=0.0) == [tuple(int(m) for m in (best, *rest))]


def test_cliques_overlap_where_neighbours_are_alike_and_ends_are_not():
    scores = np.random.default_rng(4).normal([0, 0.8, 1.6], size=(14, 3))
    table = friedman.wilcoxon_holm(scores)
    assert table[0, 2] <= 0.05 < min(table[0, 1], table[1, 2])
    assert friedman.cliques(scores) == [(2, 1), (1, 0)]


def test_effects_by_bootstrap_cover_what_they_promise():
    rng = np.random.default_rng(11)
    hits, n_runs = 0, 300
    for _ in range(n_runs):
        cells = 0.02 + rng.normal(0, 0.03, (20, 1)) + rng.normal(0, 0.03, (20, 5))
        interval = friedman.effect(cells, method="bootstrap", n_draws=500)
        hits += interval.low <= 0.02 <= interval.high
    error = np.sqrt(0.95 * 0.05 / n_runs)
    assert abs(hits / n_runs - 0.95) < 3.5 * error


def test_effect_by_t_equals_scipys_interval():
    differences = np.random.default_rng(0).normal(size=9)
    found = friedman.effect(differences, level=0.9)
    low, high = stats.ttest_1samp(differences, 0).confidence_interval(0.9)
    assert (found.low, found.high) == pytest.approx((low, high))
    assert (found.n_sets, found.n_resamples) == (9, 1)
    assert str(found).startswith(f"{found.mean:+.3f} [")


def test_bootstrap_draws_within_sets_too():
    cells = np.tile([-1.0, 1.0], (10, 1))  # every set has mean 0
    assert friedman.effect(cells.mean(axis=1), method="bootstrap").high == 0
    assert friedman.effect(cells, method="bootstrap").high > 0.1


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: friedman.friedman([[1, 2, 3]]), "n_sets >= 2"),
        (lambda: friedman.friedman([[1, np.nan], [1, 2]]), "finite"),
        (lambda: friedman.wilcoxon([]), "not empty"),
        (lambda: friedman.holm([0.1, 1.2]), "p_values must lie"),
        (lambda: friedman.effect([1.0]), "at least two sets"),
        (lambda: friedman.effect(np.ones((2, 2, 2))), "differences must be"),
        (lambda: friedman.effect([1.0, 2.0], method="magic"), "method must be one of"),
    ],
)
def test_bad_input_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()
