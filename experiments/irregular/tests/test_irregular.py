"""Irregular time is planned: its stars, its arms, and as many trials for each."""

import os
from collections import Counter

import numpy as np
import pytest
import torch

from experiments.irregular import __main__ as command
from experiments.irregular import train
from posenc_book.bench import local, parts
from posenc_book.data import repeats, stars
from posenc_book.read.irregular import ARMS, CONTRASTS, HASH, PLAN, SURVEYS, TUNING
from posenc_book.records import records
from posenc_book.records.store import Store

needs_sets = pytest.mark.skipif(not os.environ.get("POSENC_DATA"), reason="needs the sets")


@pytest.fixture
def planted(monkeypatch):
    """Two kinds of stars, which differ in how fast they pulse."""
    rng = np.random.default_rng(0)

    def star(i):
        days = np.sort(rng.uniform(0, 100, 30))
        magnitudes = np.sin(days * (0.5, 4.0)[i % 2])
        return stars.Star("sf"[i % 2], np.column_stack([days, np.zeros(30), magnitudes]))

    some = [star(i) for i in range(40)]
    monkeypatch.setattr(stars, "load_stars", lambda _: some)
    stars.fingerprint.cache_clear()
    monkeypatch.setitem(PLAN, "stars", {"readings": 24, "least": 4, "test": 0.25})
    yield
    stars.fingerprint.cache_clear()
    parts._load.cache_clear()


def test_the_plan_is_frozen():
    assert HASH == "7e1820a2b315"


@needs_sets
@pytest.mark.parametrize("survey", SURVEYS)
def test_the_plan_counts_the_stars_that_are_there(survey):
    for clock, n_more in (("numbers", 0), ("since", 1)):
        dealt = stars.deal(survey, 1, clock=clock, **PLAN["stars"])
        counted = Counter(np.concatenate([one.y for one in dealt]).tolist())
        told = {"stars": counted.total(), "kinds": len(counted), "commonest": max(counted.values())}
        assert told == PLAN["surveys"][survey]
        bands = len(stars.SURVEYS[survey].bands)
        assert dealt[0].n_channels == 1 + bands * (bands > 1) + n_more
    assert repeats.count(*dealt) == (0, 0, 0)


@pytest.mark.usefixtures("planted")
def test_every_arm_has_as_many_trials_and_only_clocks_try_units():
    for one in train.cells("asas_stars"):
        tried = train.trials(one)
        assert len({trial.key for trial in tried}) == len(tried) == TUNING["trials"]
        assert {trial.protocol for trial in tried} == {HASH}
        assert {(trial.seed, trial.split_seed, trial.resample) for trial in tried} == {
            (one.seed, one.seed, one.seed)
        }
        units = [trial.dataset_options.get("unit") for trial in tried]
        clocked = one.dataset_options["clock"] != "numbers"
        assert {*units} == ({*TUNING["units"]} if clocked else {None})
    assert {arm for pair in CONTRASTS.values() for arm in pair} <= {*ARMS}
    assert len(train.cells("asas_stars")) == len(ARMS) * PLAN["deals"]


@pytest.mark.usefixtures("planted")
def test_the_clocks_of_a_deal_see_the_same_readings_and_only_times_tell_when():
    dealt = {
        arm: parts.load_parts(train.cell("asas_stars", arm, 2), torch.device("cpu"))
        for arm in ("RoPE, numbers", "RoPE, times", "time since")
    }
    counted, timed, since = dealt.values()
    assert (counted.timed, timed.timed, since.timed) == (False, True, False)
    for part in ("train", "validation", "test"):
        plain, at, more = (getattr(one, part) for one in (counted, timed, since))
        assert torch.equal(plain.x, at.x[..., :1])
        assert torch.equal(plain.x, more.x[..., :1])
        assert torch.equal(plain.y, at.y)
        assert (at.x[..., 1].diff(dim=2) > 0).all()
    unit = train.cell("asas_stars", "RoPE, times", 2).dataset_options["unit"]
    assert timed.train.x[..., 1].max() * unit <= 100


@pytest.mark.usefixtures("planted")
def test_the_best_validation_chooses_rate_and_unit_and_what_failed_is_out():
    one = train.cell("asas_stars", "sinusoid, times", 1)
    tried = train.trials(one)
    known = {
        trial.key: records.finished(trial, metrics(0.5 + 0.01 * i), device="cpu", seconds=1.0)
        for i, trial in enumerate(tried)
    }
    broken = records.failed(tried[-1], "no memory", device="cpu", seconds=1.0)
    best = train.tuned(one, known | {tried[-1].key: broken})
    assert best.learning_rate == tried[-2].learning_rate
    assert best.dataset_options == tried[-2].dataset_options
    assert (best.tuned, best.profile) == ("8 trials of 500 steps", one.profile)
    assert train.tuned(one, {k: r for k, r in known.items() if k != tried[0].key}) is None
    failed = {t.key: records.failed(t, "no memory", device="cpu", seconds=1.0) for t in tried}
    assert train.tuned(one, failed).tuned == "all trials failed"


def metrics(validated):
    return {"accuracy": 0.0, "validation_accuracy": validated, "validation_loss": 1.0}


@pytest.mark.usefixtures("planted")
def test_a_tiny_plan_goes_on_where_it_was(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(local, "LocalEngine", lambda _: local.SerialEngine())
    monkeypatch.setitem(PLAN, "deals", 1)
    told = ["--sets", "asas_stars", "--rehearse", "2", "--device", "cpu", "--out", str(tmp_path)]
    assert command.main([*told, "--seconds", "1e-9"]) == 0
    assert "the same command goes on from here" in capsys.readouterr().out
    assert command.main(told) == 0
    tried, trained = (Store(tmp_path / f"{kind}asas_stars.jsonl") for kind in ("tuning-", ""))
    assert (len([*tried]), len([*trained])) == (len(ARMS) * TUNING["trials"], len(ARMS))
    assert not any("error" in one for store in (tried, trained) for one in store)
    assert {one["protocol"] for one in trained} == {""}
    before = [store.path.stat().st_mtime_ns for store in (tried, trained)]
    assert command.main(told) == 0
    assert [store.path.stat().st_mtime_ns for store in (tried, trained)] == before
