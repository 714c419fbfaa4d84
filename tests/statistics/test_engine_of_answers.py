"""The one engine for answers: its words, its correction, and what each difference is about."""

import numpy as np
import pytest
from scipy import stats

from posenc_book.statistics import answers, equality
from posenc_book.statistics.answers import Family, of_runs, of_sets, word

MARGIN = 0.02


def test_equal_is_said_before_ahead_and_never_both():
    said = {(p, q): word(0.01, p, q) for p in (0.01, 0.5) for q in (0.01, 0.5)}
    assert said == {
        (0.01, 0.01): "equal",
        (0.5, 0.01): "equal",
        (0.01, 0.5): "ahead",
        (0.5, 0.5): "undecided",
    }
    assert word(-0.01, 0.01, None) == "behind"
    assert word(0.01, np.nan, np.nan) == word(0.01, None, None) == "undecided"


def test_on_one_set_the_answer_about_new_series_is_that_of_the_report():
    runs = np.array([0.02, 0.03, 0.01, 0.05, 0.02])
    found = of_runs("a - b", runs[None], MARGIN, test_share=0.4)
    report = equality.correlated_t(runs, MARGIN, test_share=0.4)
    assert (found.effect.low, found.effect.high) == pytest.approx((report.low, report.high))
    assert found.p_value == pytest.approx(equality.resampled_p(runs, 0.4))
    assert found.p_equal == pytest.approx(equality.tost(runs, MARGIN, test_share=0.4).p_value)
    alone = of_runs("a - b", runs[None], MARGIN)
    assert alone.p_value == pytest.approx(stats.ttest_1samp(runs, 0).pvalue)
    assert alone.p_value < found.p_value


def test_the_rule_takes_no_more_than_a_half():
    runs = np.random.default_rng(0).normal(size=(3, 4))
    half, more = (of_runs("a - b", runs, MARGIN, test_share=share) for share in (0.5, 0.8))
    assert half == more


def test_a_family_counts_what_it_has_no_answer_to():
    sets = np.array([0.03, 0.01, 0.05, 0.02, 0.04, 0.06])
    alone = of_sets("a - b", sets, MARGIN)
    assert alone.p_value == 2 / 2**6
    found = Family("asked", ("a - b", "c - b", "d - b"), MARGIN).over_sets({"a - b": sets})
    assert found["a - b"].p_value == pytest.approx(3 * alone.p_value)
    with pytest.raises(ValueError, match=r"registered in 'asked' \(a - b\), got 'c - b'"):
        Family("asked", ("a - b",), MARGIN).answers({"c - b": alone})


def test_new_series_vary_as_the_rule_says_where_resamples_share_them():
    rng, reached = np.random.default_rng(1), 0
    for _ in range(400):
        own = rng.normal(0, 1, size=(6, 1))  # of the series at hand, alike in all resamples
        runs = own + rng.normal(0, 1, size=(6, 5))
        found = of_runs("a - b", runs, MARGIN, test_share=0.5)
        reached += found.effect.low <= 0 <= found.effect.high
    assert 0.92 < reached / 400 < 0.98
    assert answers.ESTIMANDS[1] == "on new series"
