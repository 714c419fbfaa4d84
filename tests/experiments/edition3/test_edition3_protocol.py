"""The third edition's protocol, its page, and what can be answered."""

import json
import math
import os
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from posenc_book import data
from posenc_book.read.classification.protocol import DATASETS
from posenc_book.read.edition3 import (
    budget,
    claims,
    measured,
    page,
    planned,
    protocol,
    questions,
    sets,
)
from posenc_book.records import records
from posenc_book.statistics.power import Design, power

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "results" / page.NAME).read_text(encoding="utf-8")
STORED = json.loads((ROOT / planned.FILE).read_text(encoding="utf-8"))


def test_the_page_is_what_the_code_says():
    assert page.text() == PAGE
    assert f"Trainings `{protocol.HASH}`, analysis `{protocol.ANALYSIS_HASH}`" in PAGE


def test_it_is_frozen_and_its_hashes_stay():
    assert protocol.FROZEN == "2026-11-27"
    assert (protocol.HASH, protocol.ANALYSIS_HASH) == ("6bcbdbb743ae", "9ed147adf0ea")
    assert f"Frozen on {protocol.FROZEN}, before anything was trained on an unused set" in PAGE


def test_what_is_stored_belongs_to_this_protocol():
    for path in (ROOT / "results" / "edition-3").glob("*.jsonl"):
        stored = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        assert {record["protocol"] for record in stored} == {protocol.HASH}


def test_no_edition_has_read_the_unused_sets():
    assert len(sets.UNUSED) == len(set(sets.UNUSED)) == 16
    assert not set(sets.UNUSED) & {*DATASETS, *sets.SURVEY}
    stored = (ROOT / "results").rglob("*.jsonl")
    read = {path.stem.split("-")[-1] for path in stored if path.parent.name != "edition-3"}
    assert {"Adiac", "Libras"} <= read
    assert not set(sets.UNUSED) & read
    left = (*sets.NOT_TUNED, *sets.LONG, *sets.TOO_FEW)
    assert sorted([*sets.COUNTED, *left]) == sorted(sets.UNUSED)


def test_sets_have_the_role_that_their_counts_give_them():
    facts = {name: data.recorded_facts(name) for name in (*sets.UNUSED, *sets.SURVEY)}
    one_a_class = {name for name, f in facts.items() if f.train == f.n_classes}
    assert one_a_class == set(sets.NOT_TUNED)
    unused = [facts[name] for name in sets.UNUSED]
    assert {f.name for f in unused if f.length > 300} == set(sets.LONG)
    assert {f.name for f in unused if f.repeats[2]} == set(sets.SHARED)
    few = {name for name in sets.UNUSED if STORED["sets"][name]["of the test part"] > 0.05}
    assert few == set(sets.TOO_FEW)
    assert {n for n in sets.SURVEY if facts[n].length >= sets.LEAST_TOKENS} == set(sets.THIRTY)
    width = protocol.TRAINING["settings"]["d_model"]
    assert max(facts[name].length for name in sets.SURVEY) <= width
    assert min(facts[name].length for name in sets.COUNTED) > width


def test_each_question_can_be_answered_either_way():
    for title, one in questions.QUESTIONS.items():
        rows = STORED["questions"][title]
        assert len(rows) == len(one.pairs)
        for row in rows.values():
            assert max(row["on these"]["effect"], row["on these"]["margin"]) <= protocol.MARGIN
            assert row["on these"]["answerable"]
            assert not row["over sets"]["answerable"]


@pytest.mark.parametrize(("title", "pair"), [("ahead", 0), ("choice", 1), ("depth", 1)])
def test_what_is_stored_is_what_edition_2_gives(title, pair):
    one = questions.QUESTIONS[title]
    first, other, contrast = one.pairs[pair]
    stored = STORED["questions"][title][f"{first} - {other}"]["on these"]
    assert planned.on_these(one, contrast) == {n: stored[n] for n in ("effect", "margin")}


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


def test_the_number_of_sets_is_the_first_that_is_enough():
    every = STORED["questions"]["choice"]["chosen - erpe"]["over sets"]

    def reached(n):
        design = Design(n, 4, every["between"], every["within"])
        options = {"n_tests": 2, "n_runs": 4000, "seed": 1}
        shown = power(planned.MARGIN, design, test="t", **options)
        equal = power(0.0, design, test="equivalence", margin=planned.MARGIN, **options)
        return min(shown.value, equal.value)

    assert reached(every["sets for the margin"]) > 0.77
    assert reached(every["sets for the margin"] - 2) < 0.8


def test_luck_is_priced_by_the_sets_of_edition_2():
    for name in ("Coffee", "LSST"):
        row = STORED["sets"][name]
        assert row["within"] == pytest.approx(planned.each_set()[name]["within"], abs=1e-4)
        n = min(row["test"], 2000)
        assert row["of the test part"] == pytest.approx(math.sqrt(0.18 / n), abs=1e-4)


def test_claims_are_tested_only_where_both_answers_can_be_reached():
    assert set(STORED["claims"]) == set(claims.CLAIMS) == {"S19", "S20", "S31", "F23"}
    for name, one in claims.CLAIMS.items():
        rows = STORED["claims"][name]
        answerable = [row["answerable"] for row in rows.values()]
        assert all(answerable) if one.of != claims.TREND else not any(answerable)
        for row in rows.values():
            enough = max(row["effect"], row["margin"]) <= one.margin
            assert enough == row["answerable"]


def test_what_is_stored_of_a_claim_is_what_edition_2_gives():
    rows = planned.of_claim(claims.CLAIMS["S31"])
    stored = STORED["claims"]["S31"]["mean"]
    assert rows == {"mean": {name: stored[name] for name in ("effect", "margin")}}


def test_each_claim_and_question_is_trained_where_it_is_asked():
    there = questions.cells()
    for title, one in (questions.QUESTIONS | claims.CLAIMS).items():
        names = one.encodings if title in claims.CLAIMS else one.names
        for dataset in one.datasets:
            for name in names:
                for layers in getattr(one, "layers", (2,)):
                    assert there[dataset, name, layers] >= one.resamples
    named = {name for _, name, _ in there}
    assert named == set(questions.ENCODINGS)
    assert {dataset for dataset, *_ in there} == {*sets.COUNTED, *sets.SURVEY}
    assert not {dataset for dataset, *_ in questions.cells_on_gpu()} & {*sets.COUNTED}


def test_it_stays_within_forty_hours():
    hours = budget.hours()
    assert hours["all"] == pytest.approx(sum(v for name, v in hours.items() if name != "all"))
    assert hours["all"] <= budget.HOURS
    assert set(hours) == {*sets.COUNTED, *sets.SURVEY, "all"}


def test_every_cell_was_measured_and_longer_series_cost_more():
    stored = budget.stored()
    for dataset, name, layers in questions.cells():
        step, judge = stored[dataset][measured.key(name, layers)]
        assert 0 < judge < step
    hours = budget.hours()
    assert hours["ToeSegmentation1"] > hours["CBF"] > hours["ERing"]
    deep, flat = (budget.seconds("LSST", "erpe", layers, 100) for layers in (4, 2))
    assert 1.4 < deep / flat < 2.6


def test_steps_are_those_of_edition_2():
    assert 500 < budget.steps("LSST") < 4000
    assert budget.steps("CBF") == budget.steps("ERing")  # neither was read, so the mean of all


def test_measuring_reads_no_set(monkeypatch):
    for name in ("load", "fingerprint"):
        monkeypatch.setattr(data, name, lambda *_, **__: pytest.fail("a set was read"))
    monkeypatch.setattr(measured, "STEPS", 1)
    found = measured.measured([("Coffee", "erpe", 1)])
    assert list(found) == ["Coffee"]
    assert [len(pair) for pair in found["Coffee"].values()] == [2]


def test_few_series_choose_little():
    chosen = list(STORED["chosen by"].values())
    assert chosen == sorted(chosen)
    assert chosen[0] < 0.01 < 0.02 < chosen[-1]
    assert planned.chosen_by(8) == pytest.approx(STORED["chosen by"]["8"], abs=1e-4)
    assert min(STORED["sets"][name]["validation, halves"] for name in sets.COUNTED) >= 20


def cell(**changes):
    return protocol.cell("RacketSports", "sinusoidal", **changes)


@pytest.mark.skipif(not os.environ.get("POSENC_DATA"), reason="needs the sets")
class TestCells:
    """Cells carry the fingerprint of their set, which must be at hand."""

    def test_every_resample_is_a_deal_of_its_own(self):
        of_one = protocol.trainings(cell(), 3)
        assert [(c.seed, c.split_seed, c.resample) for c in of_one] == [
            (r, r, r) for r in (1, 2, 3)
        ]
        kept = protocol.trainings(protocol.cell("RoomOccupancy", "none"), 2)
        assert [(c.seed, c.resample) for c in kept] == [(1, 0), (2, 0)]
        assert cell(layers=4).n_layers == 4
        assert len({cell().key, cell(layers=4).key}) == 2

    def test_unused_sets_are_trained_on_deals_in_halves(self):
        one = protocol.cell("ERing", "none")
        assert one.dataset_options == {"deal": "halves"}
        assert {t.resample for t in protocol.first_trials(one)} == {protocol.TRIAL_DEAL}
        assert not cell().dataset_options

    def test_only_what_has_rows_tries_another_size_of_them(self):
        scales = {}
        for name in questions.ENCODINGS:
            one = protocol.cell("RacketSports", name)
            known = {t.key: record(t, 0.5) for t in protocol.first_trials(one)}
            scales[name] = protocol.last_trial(one, known).scale
        assert scales["tpe, kernel alone"] == scales["relative, whole"] == "paper"
        assert scales["tape + erpe"] == scales["sinusoidal + t5"] == scales["tpe"] == "unit"
        assert scales["dft"] == scales["learnable"] == "loud"

    def test_all_have_the_same_trials_and_the_same_top(self):
        tables, turned = cell(), protocol.cell("RacketSports", "rotary")
        for one in (tables, turned):
            tried = protocol.first_trials(one)
            assert [t.learning_rate for t in tried] == list(protocol.RATES)
            assert {(t.resample, t.seed) for t in tried} == {(0, protocol.TRIAL_DEAL)}
            known = {t.key: record(t, 0.1 * i) for i, t in enumerate(tried)}
            last = protocol.last_trial(one, known)
            assert last.learning_rate <= max(protocol.RATES)
            assert (last.scale == "unit") == (one is tables)
            assert protocol.tuned(one, known) is None
            known[last.key] = record(last, 0.9)
            best = protocol.tuned(one, known)
            assert (best.learning_rate, best.scale) == (last.learning_rate, last.scale)
            assert best.tuned == "5 trials of 500 steps"
            assert protocol.last_trial(one, dict(list(known.items())[1:])) is None

    def test_what_fails_in_all_trials_is_trained_all_the_same(self):
        one = cell()
        known = {
            t.key: records.failed(t, "no memory", device="cpu", seconds=1.0)
            for t in protocol.first_trials(one)
        }
        assert protocol.last_trial(one, known) is None
        found = protocol.tuned(one, known)
        assert (found.learning_rate, found.tuned) == (protocol.UNTUNED, "all trials failed")
        first = protocol.first_trials(one)[0]
        known[first.key] = record(first, 0.4)
        assert protocol.last_trial(one, known).learning_rate == first.learning_rate
        assert protocol.tuned(one, known) is None

    def test_convtran_is_another_model(self):
        one = protocol.cell("RacketSports", "convtran", 1)
        assert one.model.endswith(":ConvTran")
        assert (one.n_layers, cell().model) == (1, "time_series")


def record(one, accuracy):
    metrics = {"accuracy": 0.0, "validation_accuracy": accuracy, "validation_loss": 1.0}
    return records.finished(one, metrics, device="cpu", seconds=1.0)
