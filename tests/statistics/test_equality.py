"""Statements of equality: published examples, and an independent sampler."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from posenc_book.statistics import equality

properties = settings(deadline=None, max_examples=25, derandomize=True)

# Differences of mean accuracy on 54 UCI sets (ten times tenfold cross-validation), in 1/10,000,
# from the accuracies that come with Benavoli et al. (2017): AODE minus naive Bayes, HNB minus AODE.
AODE_NBC = np.fromstring(
    """
    194 26 -47 72 -200 46 101 15 727 79 260 -436 61 0 62 7 21 168 -27 324 83 0 176 186 1000 34
    419 243 475 355 -58 1004 44 -133 67 392 278 69 400 34 111 328 168 70 37 560 40 1691 504 181
    -50 -14 20 68
    """,
    sep=" ",
)
HNB_AODE = np.fromstring(
    """
    31 149 -92 101 -1317 -180 -116 -190 332 -18 -76 -710 -33 -306 124 37 53 40 -100 131 317 -23
    -129 172 1536 126 1 151 -70 -25 333 -9 -113 -167 -3 140 25 15 -49 -92 136 -84 90 2 -193 413
    -279 891 -13 1117 -62 -69 -8 494
    """,
    sep=" ",
)


def as_tuple(found):
    return found.worse, found.equal, found.better


@pytest.mark.parametrize(
    ("differences", "printed"),
    [(AODE_NBC, (0.000, 0.123, 0.877)), (HNB_AODE, (0.001, 0.965, 0.034))],
    ids=["better", "equal"],
)
def test_signed_rank_gives_the_probabilities_that_its_authors_print(differences, printed):
    found = equality.signed_rank(differences / 1e4, 0.01, n_draws=50_000)
    error = np.sqrt(0.25 / 50_000) + np.sqrt(0.25 / 50_000)  # theirs and ours
    assert as_tuple(found) == pytest.approx(printed, abs=3 * error + 0.0005)


def test_a_difference_on_the_edge_of_the_rope_is_equal():
    assert equality.signed_rank([0.01] * 8, 0.01).equal == 1
    assert equality.signed_rank([0.011] * 30, 0.01).better > 0.99


def test_resamples_of_a_set_are_averaged():
    cells = np.random.default_rng(0).normal(0.01, 0.02, (12, 4))
    assert equality.signed_rank(cells, 0.01) == equality.signed_rank(cells.mean(axis=1), 0.01)


@properties
@given(st.integers(0, 1000), st.floats(0.002, 0.03))
def test_swapping_the_methods_swaps_better_and_worse(seed, rope):
    cells = np.random.default_rng(seed).normal(0.005, 0.02, (6, 5))
    single = equality.correlated_t(cells[0], rope, test_share=0.3).probabilities
    mirrored = equality.correlated_t(-cells[0], rope, test_share=0.3).probabilities
    assert as_tuple(mirrored) == pytest.approx(as_tuple(single)[::-1])
    ranks, swapped = equality.signed_rank(cells, rope), equality.signed_rank(-cells, rope)
    assert as_tuple(swapped) == pytest.approx(as_tuple(ranks)[::-1])
    assert sum(as_tuple(ranks)) == pytest.approx(1)
    first, other = (equality.tost(sign * cells, rope) for sign in (1, -1))
    assert (first.p_above, first.p_below) == pytest.approx((other.p_below, other.p_above))


def test_correlated_t_of_a_worked_example():
    """Differences 1, 5, -3: mean 1, variance 16; three folds add 1/2 to the 1/3."""
    found = equality.correlated_t([1, 5, -3], 2, test_share=1 / 3)
    scale = np.sqrt(16 * float(Fraction(1, 3) + Fraction(1, 2)))
    assert found.mean == 1
    assert found.probabilities.better == pytest.approx(stats.t.sf(1 / scale, 2))
    assert found.probabilities.worse == pytest.approx(stats.t.sf(3 / scale, 2))
    assert found.high == pytest.approx(1 + scale * stats.t.ppf(0.975, 2))


def test_resamples_that_do_not_vary_decide_at_once():
    for value, expected in ((0.03, (0, 0, 1)), (0.0, (0, 1, 0))):
        found = equality.correlated_t([value] * 5, 0.01, test_share=0.3)
        assert as_tuple(found.probabilities) == expected


def test_tost_equals_two_t_tests():
    values = np.random.default_rng(0).normal(0.002, 0.01, 20)
    found = equality.tost(values, 0.01)
    assert found.p_above == pytest.approx(
        stats.ttest_1samp(values, 0.01, alternative="less").pvalue
    )
    below = stats.ttest_1samp(values, -0.01, alternative="greater").pvalue
    assert found.p_below == pytest.approx(below)
    assert found.p_value == max(found.p_above, found.p_below)
    interval = stats.ttest_1samp(values, 0).confidence_interval(0.9)
    assert (found.low, found.high) == pytest.approx(tuple(interval))


def test_tost_by_signed_ranks_equals_scipys():
    values = np.random.default_rng(1).normal(0.002, 0.01, 15)
    found = equality.tost(values, 0.01, test="signed_rank")
    above = stats.wilcoxon(values - 0.01, alternative="less", method="exact").pvalue
    below = stats.wilcoxon(values + 0.01, alternative="greater", method="exact").pvalue
    assert (found.p_above, found.p_below) == pytest.approx((above, below))


def test_tost_of_resamples_is_wider():
    values = [0.001, 0.002, -0.001, 0.003, 0.0]
    assert equality.tost(values, 0.01).p_value < equality.tost(values, 0.01, test_share=0.3).p_value
    assert equality.tost([0.0, 0.0], 0.01).p_value == 0
    assert equality.tost([0.02, 0.02], 0.01).p_value == 1


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: equality.signed_rank([0.1], 0), "rope must be"),
        (lambda: equality.signed_rank([], 0.1), "not empty"),
        (lambda: equality.correlated_t([0.1], 0.1, test_share=0.1), "at least two resamples"),
        (lambda: equality.correlated_t([0.1, 0.2], 0.1, test_share=1), "test_share must be"),
        (lambda: equality.tost([0.1], 0.1), "at least two"),
        (
            lambda: equality.tost([0.1, 0.2], 0.1, test="signed_rank", test_share=0.2),
            "test_share is for Student's t",
        ),
    ],
)
def test_bad_input_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_the_corrected_resampled_test_is_students_where_nothing_is_shared():
    differences = np.random.default_rng(0).normal(0.5, 1, 5)
    plain = stats.ttest_1samp(differences, 0)
    assert equality.resampled_p(differences, 0.0) == pytest.approx(plain.pvalue)
    shared = 2 * stats.t.sf(plain.statistic * np.sqrt(0.2 / (0.2 + 0.25)), 4)  # share 1/5: 1/4
    assert equality.resampled_p(differences, 0.2) == pytest.approx(shared)
    assert equality.resampled_p(np.zeros(5), 0.2) == 1
    with pytest.raises(ValueError, match="at least two resamples, got 1"):
        equality.resampled_p([0.1], 0.2)
