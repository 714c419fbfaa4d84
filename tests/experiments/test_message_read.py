"""The contrasts of the message: over sets by Student's t, else with the luck of tuning; Holm."""

import json

import numpy as np
import pytest
from scipy import stats

from experiments.message import recomputed
from posenc_book.read import message
from posenc_book.statistics.answers import HERE, NEW_SERIES, NEW_SETS

FIRST = message.TITLES[0]


@pytest.fixture
def table():
    return np.random.default_rng(0).normal(0.02, 0.03, (len(message.SETS), 4))


def half(answer):
    return (answer.effect.high - answer.effect.low) / 2


def test_over_sets_it_is_students_test_corrected_for_all_contrasts(table):
    one = message.answered({FIRST: table}, 0.5, 0.0)[NEW_SETS][FIRST]
    p_value = stats.ttest_1samp(table.mean(1), 0).pvalue
    assert one.p_value == pytest.approx(len(message.TITLES) * p_value)


def test_the_luck_of_tuning_is_added_where_the_spread_over_sets_does_not_hold_it(table):
    plain, more = (message.answered({FIRST: table}, 0.5, luck) for luck in (0.0, 1.5))
    n, r = table.shape
    reach = stats.t.isf(0.025, n * (r - 1))
    for about in (HERE, NEW_SERIES):
        of_both = [(half(some[about][FIRST]) / reach) ** 2 for some in (plain, more)]
        assert of_both[1] - of_both[0] == pytest.approx(2 * 1.5e-4 / n)
    assert more[NEW_SETS][FIRST] == plain[NEW_SETS][FIRST]
    assert half(plain[NEW_SERIES][FIRST]) > half(plain[HERE][FIRST])


def record(name, arm, seed, accuracy):
    encoding, options = message.ALL[arm]
    metrics = {"accuracy": accuracy, "validation_accuracy": 0.5, "validation_loss": 1.0}
    named = {"key": f"{name} {arm} {seed}", "encoding": encoding, "dataset": name, "seed": seed}
    return named | {
        "protocol": message.LATER_HASH if arm in message.LATER["arms"] else message.HASH,
        "profile": message.PROFILE,
        "settings": {"encoding_options": options},
        "metrics": metrics | {"n_train": 100, "n_test": 100},
    }


def test_a_contrast_waits_for_its_last_training():
    level = {"none": 0.3, "erpe": 0.8, "sinusoidal": 0.7, "erpe, before": 0.7}
    lines = [
        record(name, arm, r, accuracy + 0.01 * i)
        for arm, accuracy in level.items()
        for i, name in enumerate(message.SETS)
        for r in range(1, message.PLAN["trainings"] + 1)
    ]
    found = message.answers(message.scored(lines), 0.0)[NEW_SETS]
    assert {*found} == {"erpe - erpe, before", "erpe, before - sinusoidal"}
    assert found[FIRST].effect.mean == pytest.approx(0.1)
    assert message.scored([{**one, "protocol": "another"} for one in lines]) == {}
    assert message.answers(message.scored(lines[:-1]), 0.0)[NEW_SETS] == {}
    with pytest.raises(ValueError, match="one training of a cell, got two of"):
        message.scored([*lines, {**lines[0], "key": "after a change of code"}])


def test_the_start_is_asked_by_itself_and_corrected_for_two():
    rng, rounds = np.random.default_rng(0), range(1, message.PLAN["trainings"] + 1)
    lines = [
        record(name, arm, r, rng.normal(level, 0.05))
        for arm, level in {"erpe": 0.72, "erpe, before": 0.7, "erpe, from zero": 0.71}.items()
        for name in message.SETS
        for r in rounds
    ]
    scored = message.scored(lines)
    found = message.answers(scored, 0.0, message.OF_THE_START)[NEW_SETS]
    assert [*found] == [*message.OF_THE_START] != [*message.CONTRASTS]
    of = [[np.mean([scored[s, arm, r].accuracy for r in rounds]) for s in message.SETS]
          for arm in ("erpe", "erpe, from zero", "erpe, before")]  # fmt: skip
    alone = [stats.ttest_rel(of[1], of[2]).pvalue, stats.ttest_rel(of[0], of[1]).pvalue]
    p_values = [one.p_value for one in found.values()]
    assert min(p_values) == pytest.approx(2 * min(alone))


def test_what_counts_as_equal_is_below_what_is_to_be_found():
    rooms = [1 - validation for validation, _ in message.PLAN["sets"].values()]
    assert pytest.approx(message.PLAN["share of the room"] * np.mean(rooms)) == message.MARGIN
    assert message.MARGIN < 0.023


def test_the_answers_come_out_alike_without_the_books_code(tmp_path):
    rng = np.random.default_rng(0)
    level = {"erpe": 0.75, "erpe, before": 0.7, "values": 0.71, "sinusoidal": 0.7, "keys": 0.7}
    lines = [
        record(name, arm, r, rng.normal(accuracy, 0.04))
        for arm, accuracy in level.items()
        for name in message.SETS
        for r in range(1, message.PLAN["trainings"] + 1)
    ]
    for name in message.SETS:
        some = [json.dumps(one) for one in lines if one["dataset"] == name]
        (tmp_path / f"{name}.jsonl").write_text("\n".join(some))
    again = recomputed.contrasts(recomputed.accuracies([tmp_path]), message.PLAN)
    found = message.answers(message.scored(lines), 1.4)[NEW_SETS]
    assert {title for title, one in again.items() if one} == {*found} != {*again}
    for title, one in found.items():
        numbers = one.effect.mean, one.effect.low, one.effect.high, one.p_value, one.p_equal
        assert again[title] == pytest.approx(numbers)
