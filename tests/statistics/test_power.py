"""Simulated power against formulas, brute force, and the tests themselves."""

import math

import numpy as np
import pytest
from scipy import stats

from posenc_book.statistics import equality, friedman
from posenc_book.statistics import power as study
from posenc_book.statistics.power import Design

DESIGN = Design(n_sets=20, n_resamples=5, between=0.02, within=0.03)
# sd of a set's mean: 0.02**2 + 0.03**2 / 5
SPREAD = math.sqrt(0.02**2 + 0.03**2 / 5)


def test_power_of_t_equals_the_noncentral_distribution():
    found = study.power(0.015, DESIGN, test="t")
    shift, reach = 0.015 / SPREAD * math.sqrt(20), stats.t.ppf(0.975, 19)
    assert found.value == pytest.approx(stats.nct.sf(reach, 19, shift), abs=4 * found.error)
    assert found.error == pytest.approx(math.sqrt(found.value * (1 - found.value) / 10_000))
    assert str(found).endswith("for a difference of 0.015")


@pytest.mark.parametrize("effect", [0.012, -0.012])
def test_power_of_wilcoxon_equals_trying_it(effect):
    found = study.power(effect, DESIGN, n_tests=3, n_runs=4000, seed=1)
    rng = np.random.default_rng(7)
    hits = []
    for _ in range(1500):
        sets = effect + 0.02 * rng.normal(size=(20, 1))
        test = friedman.wilcoxon(sets + 0.03 * rng.normal(size=(20, 5)))
        hits.append(test.p_value <= 0.05 / 3 and test.rank_biserial * effect > 0)
    assert found.value == pytest.approx(np.mean(hits), abs=4 * math.sqrt(0.25 / 1500))
    assert found.effect == effect


def test_without_an_effect_a_side_is_shown_half_as_often_as_the_level():
    for test in ("t", "wilcoxon"):
        found = study.power(0.0, DESIGN, test=test, n_runs=20_000)
        assert found.value == pytest.approx(0.025, abs=4 * found.error)


def test_heavy_tails_hurt_students_t_more_than_ranks():
    heavy = Design(30, 1, between=1.0, within=0.0, tail=2.5)
    by_t, by_rank = (study.power(0.4, heavy, test=test) for test in ("t", "wilcoxon"))
    assert by_rank.value > by_t.value + 0.05
    draws = study._draws(heavy, 20_000, 0)
    assert np.quantile(draws, 0.75) == pytest.approx(
        stats.t.ppf(0.75, 2.5) / math.sqrt(5), rel=0.01
    )


def test_power_of_equivalence_equals_trying_it():
    found = study.power(0.002, DESIGN, test="equivalence", margin=0.015, n_runs=4000)
    rng = np.random.default_rng(3)
    draws = 0.002 + SPREAD * rng.normal(size=(1500, 20))
    hits = np.mean([equality.tost(row, 0.015).p_value <= 0.05 for row in draws])
    assert 0.3 < found.value < 0.9
    assert found.value == pytest.approx(hits, abs=4 * math.sqrt(0.25 / 1500))


def test_too_few_sets_detect_nothing_whatever_the_effect():
    few = study.with_sets(DESIGN, 5)  # the smallest two-sided p is 1/16
    assert study.power(100.0, few).value == 0
    assert study.power(100.0, study.with_sets(DESIGN, 6)).value == 1


def test_the_seed_decides_the_draws():
    assert study.power(0.01, DESIGN, n_runs=200) == study.power(0.01, DESIGN, n_runs=200)
    assert study.power(0.01, DESIGN, n_runs=200) != study.power(0.01, DESIGN, n_runs=200, seed=1)


def test_a_design_is_recovered_from_its_data():
    rng = np.random.default_rng(0)
    cells = 0.3 + rng.normal(0, 0.02, (4000, 1)) + rng.normal(0, 0.03, (4000, 5))
    found = study.estimated_design(cells)
    assert (found.n_sets, found.n_resamples, found.tail) == (4000, 5, math.inf)
    assert (found.between, found.within) == pytest.approx((0.02, 0.03), rel=0.04)
    assert study.estimated_design(rng.normal(size=(3, 200))).between < 0.2
    alike = np.tile([-1.0, 1.0], (5, 1))
    assert study.estimated_design(alike).between == 0


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: Design(1, 1, 0.1, 0.1), "n_sets must be"),
        (lambda: Design(5, 1, 0, 0), "must not both be 0"),
        (lambda: Design(5, 1, 0.1, 0.1, tail=2), "tail must be above 2"),
        (lambda: study.power(0.1, DESIGN, test="sign"), "test must be one of"),
        (lambda: study.power(0.1, DESIGN, test="equivalence"), "margin must be"),
        (lambda: study.power(math.nan, DESIGN), "effect must be finite"),
        (lambda: study.estimated_design(np.ones((5, 1))), "n_resamples >= 2"),
        (lambda: study.estimated_design(np.ones((5, 3))), "must not both be 0"),
    ],
)
def test_bad_input_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()
