"""The answers of irregular time: on new stars of both surveys, by Holm, from whole lines only."""

import json

import numpy as np
import pytest
from scipy import stats

from experiments.irregular import recomputed
from posenc_book.read import irregular
from posenc_book.statistics.answers import AHEAD

ROPE, SINUSOID = irregular.CONTRASTS


def record(survey, arm, deal, accuracy, **changes):
    encoding, clock = irregular.ARMS[arm]
    metrics = {"accuracy": accuracy, "balanced_accuracy": accuracy - 0.1}
    named = {"key": f"{survey} {arm} {deal}", "encoding": encoding, "dataset": survey, "seed": deal}
    return {
        **named,
        "protocol": irregular.HASH,
        "profile": irregular.PROFILE,
        "settings": {"dataset_options": {"clock": clock, "unit": 0.1 * deal}},
        "metrics": metrics,
        **changes,
    }


def lines(gain=0.0, seed=0):
    """Return a whole set of lines in which RoPE gains so much by times."""
    rng = np.random.default_rng(seed)
    return [
        record(survey, arm, r, 0.7 + gain * (arm == "RoPE, times") + rng.normal(0, 0.01))
        for survey in irregular.SURVEYS
        for arm in irregular.ARMS
        for r in range(1, irregular.PLAN["deals"] + 1)
    ]


def test_an_effect_that_was_planted_is_found_and_none_where_none_was():
    found = irregular.answers(irregular.scored(lines(gain=0.08)))
    assert found[ROPE].answer == AHEAD
    assert found[ROPE].effect.low < 0.08 < found[ROPE].effect.high
    assert found[SINUSOID].answer != AHEAD
    nothing = [irregular.answers(irregular.scored(lines(seed=seed))) for seed in range(20)]
    assert sum(one.shown for some in nothing for one in some.values()) <= 1


def test_it_is_about_new_stars_and_corrected_for_both_contrasts():
    some = [one for one in lines(gain=0.03) if one["encoding"] != "sinusoidal"]
    found = irregular.scored(some)
    first, other = (
        np.array([[found[s, arm, r].accuracy for r in range(1, 6)] for s in irregular.SURVEYS])
        for arm in irregular.CONTRASTS[ROPE]
    )
    scatter = (first - other).var(axis=1, ddof=1).mean()
    error = np.sqrt(scatter * (1 / 5 + 0.3 / 0.7) / 2)
    answer = irregular.answers(found)[ROPE]
    assert answer.effect.high - answer.effect.mean == pytest.approx(stats.t.isf(0.025, 8) * error)
    alone = 2 * stats.t.sf((first - other).mean() / error, 8)
    assert answer.p_value == pytest.approx(2 * alone)


def test_an_arm_that_lacks_a_deal_is_named_and_left_out():
    some = [one for one in lines(0.08) if one["key"] != "rr_lyrae RoPE, numbers 3"]
    found = irregular.scored(some)
    assert irregular.missing(found) == [("rr_lyrae", "RoPE, numbers", 3)]
    assert {*irregular.answers(found)} == {SINUSOID}
    assert {*irregular.ARMS} - {*irregular.table(found, "rr_lyrae")} == {"RoPE, numbers"}
    assert {*irregular.table(found, "asas_stars")} == {*irregular.ARMS}
    assert irregular.scored([one | {"protocol": "another"} for one in some]) == {}


def test_a_table_has_both_scores_with_intervals_for_new_stars():
    found = irregular.scored(lines())
    row = irregular.table(found, "asas_stars")["none"]
    assert row["accuracy"].mean == pytest.approx(row["balanced_accuracy"].mean + 0.1)
    deals = [found["asas_stars", "none", r].accuracy for r in range(1, 6)]
    error = np.std(deals, ddof=1) * np.sqrt(1 / 5 + 0.3 / 0.7)
    half = row["accuracy"].high - row["accuracy"].mean
    assert half == pytest.approx(stats.t.isf(0.025, 4) * error)


def test_a_training_that_failed_names_the_commonest_kind_and_two_of_a_cell_are_refused():
    broken = record("asas_stars", "none", 1, 0.0, error="no memory", metrics={})
    found = irregular.scored([broken])["asas_stars", "none", 1]
    assert (found.accuracy, found.balanced_accuracy) == (91 / 489, 1 / 7)
    again = record("asas_stars", "none", 1, 0.7, key="after a change of code")
    with pytest.raises(ValueError, match="must hold one training of a cell, got two"):
        irregular.scored([broken, again])


def test_the_answers_come_out_alike_without_the_books_code(tmp_path):
    some = lines(0.05)
    for survey in irregular.SURVEYS:
        of_it = [json.dumps(one) for one in some if one["dataset"] == survey]
        (tmp_path / f"{survey}.jsonl").write_text("\n".join(of_it))
    again = recomputed.contrasts(recomputed.accuracies(tmp_path))
    for title, one in irregular.answers(irregular.scored(some)).items():
        numbers = one.effect.mean, one.effect.low, one.effect.high, one.p_value, one.p_equal
        assert again[title] == pytest.approx(numbers)
