"""The gain along the lead: planted slopes are found, and lines that lack a training say so."""

import json

import numpy as np
import pytest
from scipy import stats

from posenc_book.read import exit_head
from posenc_book.read.exit_head import LEADS_FROM, NONE, OTHERS, SERIES
from posenc_book.statistics.answers import AHEAD, EQUAL, UNDECIDED

SEEDS = range(exit_head.PLAN["seeds"])


@pytest.fixture
def leads():
    return dict(zip(SERIES, np.linspace(-0.02, 0.3, len(SERIES)), strict=True))


def record(name, encoding, seed, error, reader="patches_flat"):
    line = {"key": f"{name} {reader} {encoding} {seed}", "dataset": name, "model": reader}
    known = {"encoding": encoding, "seed": seed, "protocol": exit_head.HASH}
    return line | known | {"profile": exit_head.PROFILE, "metrics": {"mase": error}}


def planted(leads, slopes):
    """Lines in which each encoding gains so much for each lead."""
    rng = np.random.default_rng(0)
    return [
        record(name, encoding, seed, np.exp(rng.normal(-slope * lead, 0.01)))
        for encoding, slope in zip((NONE, *OTHERS), (0.0, *slopes), strict=True)
        for name, lead in leads.items()
        for seed in SEEDS
    ]


def test_a_slope_is_found_where_it_is_and_not_where_it_is_not(leads):
    found = exit_head.lines(leads, exit_head.errors(planted(leads, (0.2, 0.0))))
    rises, stays = (found[name] for name in OTHERS)
    assert (rises.slope.answer, stays.slope.answer) == (AHEAD, EQUAL)
    assert rises.slope.effect.low < 0.2 < rises.slope.effect.high
    assert rises.without_one[0] < rises.slope.effect.mean < rises.without_one[1]
    assert rises.at[0.0].mean == pytest.approx(0, abs=0.01)
    assert rises.at[LEADS_FROM].mean == pytest.approx(0.2 * LEADS_FROM, abs=0.01)
    assert stays.at[LEADS_FROM].low < 0 < stays.at[LEADS_FROM].high


def test_both_encodings_are_corrected_together(leads):
    lines = planted(leads, (0.02, 0.02))
    found = exit_head.errors(lines)
    alone = [
        exit_head.line(e, [*leads.values()], exit_head.gains(found, leads, "patches_flat", e))
        for e in OTHERS
    ]
    together = exit_head.lines(leads, found)
    least = min(alone, key=lambda one: one.slope.p_value).slope
    assert together[least.contrast].slope.p_value == pytest.approx(2 * least.p_value)


def test_a_lead_below_zero_is_no_work():
    gain = np.array([[0.0], [0.0], [0.02], [0.04]])
    one = exit_head.line("rotary", [-0.3, 0.0, 0.1, 0.2], gain)
    assert one.slope.effect.mean == pytest.approx(0.2)
    assert one.on_lead == pytest.approx(np.polyfit([-0.3, 0.0, 0.1, 0.2], gain[:, 0], 1)[0])


def test_under_a_mean_the_gain_is_told_over_the_series(leads):
    mean = [record(n, e, s, 0.9 + 0.1 * (e == NONE), "patches_mean")
            for n in leads for e in (NONE, *OTHERS) for s in SEEDS]  # fmt: skip
    found = exit_head.errors(mean)
    assert exit_head.under_a_mean(leads, found)["rotary"].mean == pytest.approx(-np.log(0.9))


def test_no_test_is_asked_where_too_few_series_lead(leads):
    few = {name: min(lead, 0.1) + 0.01 * (lead > 0.24) for name, lead in leads.items()}
    assert sum(lead >= LEADS_FROM for lead in few.values()) == 4
    one = exit_head.lines(few, exit_head.errors(planted(few, (0.5, 0.0))))[OTHERS[0]]
    assert one.slope.answer == UNDECIDED
    assert one.slope.effect.mean == pytest.approx(0.5, abs=0.1)


def test_lines_that_are_not_whole_say_what_is_missing(leads):
    lines = planted(leads, (0.2, 0.0))
    with pytest.raises(
        ValueError, match=f"1 of {10 * len(SERIES)} .*{SERIES[-1]} patches_flat rotary 4"
    ):
        exit_head.lines(leads, exit_head.errors(lines[:-1]))
    assert exit_head.errors([{**one, "protocol": "another"} for one in lines]) == {}
    failed = {**lines[0], "error": "no memory", "metrics": {}}
    assert [*exit_head.errors([failed]).values()] == [exit_head.PLAN["failed counts as"]]
    with pytest.raises(ValueError, match="one training of a cell, got two of"):
        exit_head.errors([lines[0], {**lines[0], "key": "after a change of code"}])


def test_errors_and_freedom_are_those_of_two_groups_with_spreads_of_their_own():
    few, many = np.array([0.3, 0.9, 0.1]), np.array([0.2, 0.4, 0.1, 0.3, 0.2])
    x, y = np.repeat([0.0, 1.0], (3, 5)), np.concatenate((few, many))
    mean, error, freedom = exit_head.fitted(x, y, (0, 1))
    welch = stats.ttest_ind(many, few, equal_var=False)
    assert mean / error == pytest.approx(welch.statistic)
    assert freedom == pytest.approx(8**2 * 2 * 4 / (3**2 * 2 + 5**2 * 4))


def test_leads_of_another_plan_are_refused_and_only_what_is_learned_counts(tmp_path):
    path = tmp_path / "leads.json"
    named = {"a": exit_head.named(1.0, 0.9, 0.8), "b": exit_head.named(0.7, 0.9, 0.8)}
    path.write_text(json.dumps({"protocol": exit_head.HASH, "leads": named}))
    assert exit_head.leads(path) == {"a": pytest.approx(np.log(9 / 8))}
    path.write_text(json.dumps({"protocol": "", "leads": named}))
    with pytest.raises(ValueError, match=r"must hold the leads of plan"):
        exit_head.leads(path)
