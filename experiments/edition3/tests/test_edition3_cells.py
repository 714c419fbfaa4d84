"""Cells, their trials, and what the best of them trains."""

import os

import pytest

from experiments.edition3 import train
from posenc_book.read.edition3 import plan
from posenc_book.records import records


def cell(**changes):
    return train.cell("RacketSports", "sinusoidal", **changes)


@pytest.mark.skipif(not os.environ.get("POSENC_DATA"), reason="needs the sets")
class TestCells:
    """Cells carry the fingerprint of their set, which must be at hand."""

    def test_every_resample_is_a_deal_of_its_own(self):
        of_one = train.trainings(cell(), 3)
        assert [(c.seed, c.split_seed, c.resample) for c in of_one] == [
            (r, r, r) for r in (1, 2, 3)
        ]
        kept = train.trainings(train.cell("RoomOccupancy", "none"), 2)
        assert [(c.seed, c.resample) for c in kept] == [(1, 0), (2, 0)]
        assert cell(layers=4).n_layers == 4
        assert len({cell().key, cell(layers=4).key}) == 2

    def test_unused_sets_are_trained_on_deals_in_halves(self):
        one = train.cell("ERing", "none")
        assert one.dataset_options == {"deal": "halves"}
        assert {t.resample for t in train.first_trials(one)} == {train.TRIAL_DEAL}
        assert not cell().dataset_options

    def test_only_what_has_rows_tries_another_size_of_them(self):
        scales = {}
        for name in plan.ENCODINGS:
            one = train.cell("RacketSports", name)
            known = {t.key: record(t, 0.5) for t in train.first_trials(one)}
            scales[name] = train.last_trial(one, known).scale
        assert scales["tpe, kernel alone"] == scales["relative, whole"] == "paper"
        assert scales["tape + erpe"] == scales["sinusoidal + t5"] == scales["tpe"] == "unit"
        assert scales["dft"] == scales["learnable"] == "loud"

    def test_all_have_the_same_trials_and_the_same_top(self):
        tables, turned = cell(), train.cell("RacketSports", "rotary")
        for one in (tables, turned):
            tried = train.first_trials(one)
            assert [t.learning_rate for t in tried] == plan.RATES
            assert {(t.resample, t.seed) for t in tried} == {(0, train.TRIAL_DEAL)}
            known = {t.key: record(t, 0.1 * i) for i, t in enumerate(tried)}
            last = train.last_trial(one, known)
            assert last.learning_rate <= max(plan.RATES)
            assert (last.scale == "unit") == (one is tables)
            assert train.tuned(one, known) is None
            known[last.key] = record(last, 0.9)
            best = train.tuned(one, known)
            assert (best.learning_rate, best.scale) == (last.learning_rate, last.scale)
            assert best.tuned == "5 trials of 500 steps"
            assert train.last_trial(one, dict(list(known.items())[1:])) is None

    def test_what_fails_in_all_trials_is_trained_all_the_same(self):
        one = cell()
        known = {
            t.key: records.failed(t, "no memory", device="cpu", seconds=1.0)
            for t in train.first_trials(one)
        }
        assert train.last_trial(one, known) is None
        found = train.tuned(one, known)
        assert (found.learning_rate, found.tuned) == (
            train.TUNING["if all fail"],
            "all trials failed",
        )
        first = train.first_trials(one)[0]
        known[first.key] = record(first, 0.4)
        assert train.last_trial(one, known).learning_rate == first.learning_rate
        assert train.tuned(one, known) is None


def record(one, accuracy):
    metrics = {"accuracy": 0.0, "validation_accuracy": accuracy, "validation_loss": 1.0}
    return records.finished(one, metrics, device="cpu", seconds=1.0)
