"""The third edition's plan, its stored page, and what is stored of what can be answered."""

import json
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from posenc_book import data
from posenc_book.read import tuning_luck
from posenc_book.read.edition3 import claims, plan, questions

RESULTS = Path(__file__).parents[3] / "results"
PAGE = (RESULTS / "edition-3" / "protocol.md").read_text(encoding="utf-8")
STORED = json.loads((RESULTS / "edition-3" / "planned.json").read_text(encoding="utf-8"))


def test_the_plan_is_frozen_and_the_page_names_its_hashes():
    assert (plan.HASH, plan.ANALYSIS_HASH) == ("6bcbdbb743ae", "9ed147adf0ea")
    assert plan.ANALYSIS["training"] == plan.HASH
    assert f"Trainings `{plan.HASH}`, analysis `{plan.ANALYSIS_HASH}`" in PAGE
    assert f"Frozen on {plan.FROZEN}, before anything was trained on an unused set" in PAGE


def test_what_is_stored_belongs_to_this_plan():
    for path in (RESULTS / "edition-3").glob("*.jsonl"):
        stored = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        assert {record["protocol"] for record in stored} == {plan.HASH}


def test_no_other_edition_has_read_the_unused_sets():
    assert len(set(plan.UNUSED)) == len(plan.UNUSED) == 16
    assert set(plan.COUNTED) | set(plan.LONG) < set(plan.UNUSED)
    assert tuning_luck.PLAN["edition"] == plan.HASH  # its sets are the edition's own, tuned anew
    own = RESULTS / "edition-3", RESULTS / "tuning-luck"
    assert {path.stem.split("-")[-1] for path in own[1].glob("*.jsonl")} == set(plan.COUNTED)
    stored = (path for path in RESULTS.rglob("*.jsonl") if path.parent not in own)
    read = {path.stem.split("-")[-1] for path in stored}
    assert {"Adiac", "Libras"} <= read
    assert not set(plan.UNUSED) & {*read, *plan.SURVEY}


def test_sets_have_the_lengths_that_their_questions_ask_for():
    lengths = {name: data.recorded_facts(name).length for name in (*plan.UNUSED, *plan.SURVEY)}
    assert {name for name in plan.UNUSED if lengths[name] > 300} == set(plan.LONG)
    thirty = questions.QUESTIONS["tokens"].datasets
    assert {name for name in plan.SURVEY if lengths[name] >= 30} == set(thirty)
    width = plan.TRAINING["settings"]["d_model"]
    assert max(lengths[name] for name in plan.SURVEY) <= width
    assert min(lengths[name] for name in plan.COUNTED) > width


def test_the_test_on_these_sets_has_the_power_that_is_told():
    one = questions.QUESTIONS["ahead"]
    n, r, n_tests = len(one.datasets), one.resamples, len(one.pairs)
    stored = STORED["questions"]["ahead"]["erpe - sinusoidal"]
    within = stored["over sets"]["within"]
    rng = np.random.default_rng(1)
    own = rng.normal(scale=0.05, size=(1, n, 1))  # sets differ, which is no error here
    drawn = own + within * rng.normal(size=(4000, n, r))
    mean = drawn.mean((1, 2)) - own.mean()
    error = np.sqrt(drawn.var(axis=2, ddof=1).mean(1) / (n * r))
    reach = stats.t.isf(0.05 / n_tests / 2, n * (r - 1))
    shown = ((mean + stored["on these"]["effect"]) / error > reach).mean()
    assert shown == pytest.approx(0.8, abs=0.03)
    reach = stats.t.isf(0.05 / n_tests, n * (r - 1))
    equal = (abs(mean) + reach * error < stored["on these"]["margin"]).mean()
    assert equal == pytest.approx(0.8, abs=0.03)


def test_questions_and_claims_are_asked_where_both_answers_can_be_reached():
    for title, one in questions.QUESTIONS.items():
        rows = STORED["questions"][title]
        assert tuple(rows) == one.titles
        for row in rows.values():
            assert max(row["on these"]["effect"], row["on these"]["margin"]) <= plan.MARGIN
    assert set(STORED["claims"]) == set(claims.CLAIMS) == {"S19", "S20", "S31", "F23"}
    for name, one in claims.CLAIMS.items():
        enough = [
            max(row["effect"], row["margin"]) <= one.margin
            for row in STORED["claims"][name].values()
        ]
        assert all(enough) if one.of != claims.TREND else not any(enough)


def test_the_cells_of_the_plan_are_those_that_questions_and_claims_need():
    planned = {(dataset, name, layers): n for dataset, name, layers, n in plan.TRAINING["cells"]}
    assert questions.cells() == planned
    assert {name for _, name, _ in planned} == set(plan.ENCODINGS)
    assert {dataset for dataset, *_ in planned} == {*plan.COUNTED, *plan.SURVEY}
    assert {dataset for dataset, *_ in plan.CELLS_ON_GPU} == set(plan.LONG)


def test_a_family_names_what_it_alone_needs():
    assert {name for _, name, _ in questions.cells(["shaw"])} == {"relative", "relative, whole"}
    assert {*questions.cells(["shaw"]).values()} == {questions.QUESTIONS["shaw"].resamples}
    every = questions.cells()
    for family in questions.FAMILIES:
        assert all(n <= every[key] for key, n in questions.cells([family]).items())
