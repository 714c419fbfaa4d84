"""Tuning spends the same budget on every encoding and looks at the validation part only."""

from dataclasses import replace
from itertools import chain

import pytest
from trainings import Silent

from posenc import encodings
from posenc_book.bench import report, stages, tuning
from posenc_book.bench.driver import Driver, Summary
from posenc_book.bench.local import SerialEngine
from posenc_book.records import records
from posenc_book.records.settings import Settings
from posenc_book.records.store import Store


def cell(encoding="rotary", **changes) -> Settings:
    return Settings(encoding, "patch", "Trace", seed=3, resample=3, split_seed=3, **changes)


def outcome(trial, accuracy, loss=1.0, test=0.0):
    metrics = {"validation_accuracy": accuracy, "validation_loss": loss, "accuracy": test}
    return {trial.key: records.finished(trial, metrics, device="cpu", seconds=1.0)}


def outcomes(first, accuracies):
    found = {}
    for trial, accuracy in zip(first, accuracies, strict=True):
        found |= outcome(trial, accuracy)
    return found


def test_trials_are_short_and_on_the_official_split():
    trials = tuning.first_trials(cell())
    assert [t.learning_rate for t in trials] == list(tuning.RATES)
    for trial in trials:
        assert (trial.seed, trial.resample, trial.split_seed) == (0, 0, 0)
        assert trial.steps == trial.least_steps == tuning.STEPS
    assert tuning.first_trials(replace(cell(), seed=1, resample=1, split_seed=1)) == trials


@pytest.mark.parametrize("name", encodings.names())
def test_every_encoding_gets_four_different_trials(name):
    first = tuning.first_trials(cell(name))
    last = tuning.last_trial(cell(name), outcomes(first, [0.5, 0.6, 0.4]))
    assert len({trial.key for trial in (*first, last)}) == 4


@pytest.mark.parametrize(
    ("accuracies", "rate"),
    [
        ([0.9, 0.5, 0.4], 9e-5),  # beyond the lower edge
        ([0.4, 0.5, 0.9], 9e-3),  # beyond the upper one
        ([0.8, 0.9, 0.4], 5.5e-4),  # between the best two
        ([0.4, 0.9, 0.8], 1.7e-3),
    ],
)
def test_the_last_rate_of_an_encoding_without_scale(accuracies, rate):
    first = tuning.first_trials(cell())
    last = tuning.last_trial(cell(), outcomes(first, accuracies))
    assert last.learning_rate == rate
    assert last.scale == "paper"


@pytest.mark.parametrize(("name", "scale"), [("sinusoidal", "unit"), ("dft", "loud")])
def test_an_added_encoding_tries_the_other_size_at_its_best_rate(name, scale):
    first = tuning.first_trials(cell(name))
    last = tuning.last_trial(cell(name), outcomes(first, [0.5, 0.4, 0.9]))
    assert (last.learning_rate, last.scale) == (3e-3, scale)


def test_the_best_trial_is_taken_and_of_equal_ones_that_with_the_lowest_loss():
    first = tuning.first_trials(cell("sinusoidal"))
    found = outcomes(first, [0.5, 0.9, 0.9])
    found |= outcome(first[2], 0.9, loss=0.5)
    last = tuning.last_trial(cell("sinusoidal"), found)
    assert tuning.tuned(cell("sinusoidal"), found).learning_rate == 3e-3
    chosen = tuning.tuned(cell("sinusoidal"), found | outcome(last, 0.95))
    assert (chosen.scale, chosen.learning_rate) == ("unit", 3e-3)
    assert (chosen.seed, chosen.resample) == (3, 3)
    assert chosen.tuned == "4 trials of 500 steps"


def test_the_test_part_chooses_nothing():
    first = tuning.first_trials(cell())
    found = outcomes(first, [0.5, 0.9, 0.4])
    tempting = found | outcome(first[0], 0.5, test=1.0)
    assert tuning.tuned(cell(), tempting) == tuning.tuned(cell(), found)
    assert tuning.tuned(cell(), tempting).learning_rate == first[1].learning_rate


def test_failed_trials_are_left_out_and_without_any_the_cell_stays_as_it_is():
    first = tuning.first_trials(cell())
    broken = records.failed(first[1], "boom", device="cpu", seconds=1.0)
    found = outcomes(first, [0.5, 0.9, 0.4]) | {first[1].key: broken}
    assert tuning.tuned(cell(), found).learning_rate == 3e-4
    assert tuning.tuned(cell(), {}) is None


def test_stages_tune_then_train_and_go_on_where_they_were(tmp_path, monkeypatch):
    options = {"length": 12, "n": 48, "distance": 3}
    small = {"d_model": 8, "n_heads": 1, "n_layers": 1, "d_ff": 8, "patch": 2, "batch_size": 16}
    course = {"steps": 20, "least_steps": 20, "check_every": 10, "patience_steps": 10}
    made = Settings(
        "none", "patch", "range_probe", dataset_options=options, tuned="", **small, **course
    )
    groups = [[made.with_seed(seed) for seed in range(2)]]
    files = stages.beside(tmp_path / "run.jsonl")
    assert files.trials.name == "run-tuning.jsonl"

    def train(cells, store):
        return Driver(cells, store, SerialEngine()).run(Silent())

    monkeypatch.setattr(tuning, "STEPS", 20)
    done = [(title, s.trained, s.skipped) for title, s in stages.run(groups, files, train)]
    again = [(title, s.trained, s.skipped) for title, s in stages.run(groups, files, train)]
    titles = ["tuning, first trials", "tuning, last trial", "training"]
    assert done == list(zip(titles, (3, 1, 2), (0, 0, 0), strict=True))
    assert again == list(zip(titles, (0, 0, 0), (3, 1, 2), strict=True))
    final = [r["settings"] for r in Store(files.results)]
    assert len({s["learning_rate"] for s in final}) == 1
    assert {s["tuned"] for s in final} == {"4 trials of 500 steps"}


@pytest.mark.parametrize("elsewhere", [0, 1, 2, 3])
def test_a_group_waits_for_a_trial_that_another_run_has_begun(tmp_path, elsewhere):
    groups = [[cell(name).with_seed(seed) for seed in (0, 1)] for name in ("rotary", "none")]
    files, left = stages.beside(tmp_path / "run.jsonl"), elsewhere

    def train(cells, store):
        """Store a trial as another run does: not yet, if it is the one that it has begun."""
        nonlocal left
        done = Summary()
        store.refresh()
        for one in chain(*cells.groups()):
            if store.finished(one.key):
                continue
            of_first = one.profile == tuning.PROFILE and one.encoding == "rotary"
            if of_first and left == 0:
                left, done.elsewhere = -1, 1
                continue
            left -= of_first
            store.append(outcome(one, 0.5 + one.learning_rate)[one.key])
            done.trained += 1
        return done

    waiting = [done.waiting for _, done in stages.run(groups, files, train)]
    assert waiting == [0, elsewhere < 3, 2]
    assert {r["encoding"] for r in Store(files.results)} == {"none"}
    again = [(done.trained, done.waiting) for _, done in stages.run(groups, files, train)]
    assert again == [(elsewhere < 3, 0), (1, 0), (2, 0)]
    final = [r["settings"] for r in Store(files.results)]
    assert [s["learning_rate"] for s in final] == [0.009] * 4


def test_a_group_whose_trials_failed_does_not_wait(tmp_path):
    files = stages.beside(tmp_path / "run.jsonl")

    def fail(cells, store):
        for one in chain(*cells.groups()):
            store.append(records.failed(one, "no memory", device="cpu", seconds=0.0))
        return Summary(len(cells), failed=len(cells))

    begun = []
    groups = [[cell(), cell().with_seed(4)]]
    found = list(stages.run(groups, files, fail, lambda *told: begun.append(told)))
    assert [(done.failed, done.waiting) for _, done in found] == [(3, 0), (0, 0), (2, 0)]
    assert begun == [("tuning, first trials", 0), ("tuning, last trial", 1), ("training", 0)]


def scores(one):
    return {"accuracy": 0.5, "validation_accuracy": one.learning_rate, "validation_loss": 1.0}


def no_memory(_):
    raise MemoryError("no room")


def all_but_the_highest_rate(one):
    return scores(one) if one.learning_rate < 3e-3 else no_memory(one)


TUNED = ["run", "--tune", "--resamples", 2, "--datasets", "BasicMotions", "--models", "patch"]
TUNED += ["--encodings", "none", "--profile", "smoke", "--device", "cpu", "--out", "r.jsonl"]


def test_a_tuned_run_names_the_trials_that_failed(call, stand_in):
    stand_in(all_but_the_highest_rate)
    for trained, before in ((3, ""), (0, " (1 of them failed)")):
        code, text, _ = call(*TUNED)
        assert code == 1
        of_first = f"{trained} trained ({trained // 3} failed), {3 - trained} were there{before}"
        assert f"tuning, first trials: {of_first}\n" in text
        assert "failed: none patch BasicMotions, 1 trial: MemoryError: no room\n" in text
        assert "status r-tuning.jsonl\nto try them again: the same command with" in text


def test_a_report_knows_of_tuning_and_resamples(call, stand_in):
    stand_in(scores)
    assert call(*TUNED)[0] == 0
    found = list(Store("r.jsonl"))
    tuned = "tuned by 4 trials of 500 steps."
    assert report.design(found) == f"2 resamples (official split and 1 other), {tuned}"
    assert report.design(found[:1]) == f"1 seed on the official split, {tuned}"
    assert report.design(found[1:]) == f"1 resample (without the official split), {tuned}"
    plain = records.finished(cell("none").with_seed(1), {}, device="cpu", seconds=1.0)
    assert report.design([*found, plain | {"dataset": "A", "settings": {}}]) == (
        "A: 1 seed on the official split; BasicMotions: 2 resamples (official split and 1 other), "
        "not tuned or tuned by 4 trials of 500 steps."
    )
