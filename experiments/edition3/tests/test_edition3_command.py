"""The command that trains: its stages, what it resumes, and what it refuses."""

import os

import pytest

from experiments.edition3 import __main__ as command
from experiments.edition3 import train
from posenc_book.bench import local
from posenc_book.read.edition3 import plan
from posenc_book.records.store import Store

needs_sets = pytest.mark.skipif(not os.environ.get("POSENC_DATA"), reason="needs the sets")
PLANNED = {
    ("RacketSports", "sinusoidal", 2): 3,
    ("RacketSports", "convtran", 1): 3,
    ("RacketSports", "none", 4): 3,
}


@pytest.fixture
def short(monkeypatch):
    """Three cells, trained in this process."""
    monkeypatch.setattr(command, "cells", lambda _: PLANNED)
    monkeypatch.setattr(local, "LocalEngine", lambda _: local.SerialEngine())


def rehearse(folder, *more):
    told = ["--sets", "RacketSports", "--rehearse", "2", "--out", folder, "--device", "cpu", *more]
    return command.main([*map(str, told)])


@needs_sets
@pytest.mark.usefixtures("short")
def test_a_rehearsal_goes_through_all_stages_and_goes_on_where_it_was(tmp_path, capsys):
    assert rehearse(tmp_path, "--seconds", 1e-9) == 0
    assert "the same command goes on from here" in capsys.readouterr().out
    assert not [*Store(tmp_path / "RacketSports.jsonl")]
    assert rehearse(tmp_path, "--tune") == 0
    assert not [*Store(tmp_path / "RacketSports.jsonl")]
    assert len([*Store(tmp_path / "tuning-RacketSports.jsonl")]) == 5 * len(PLANNED)
    assert rehearse(tmp_path) == 0
    trials, trained = ([*Store(tmp_path / f"{kind}RacketSports.jsonl")] for kind in ("tuning-", ""))
    assert len(trials) == 5 * len(PLANNED)
    assert {r["settings"]["steps"] for r in trials} == {2}
    models = [(r["encoding"], r["model"], r["settings"]["n_layers"]) for r in trained]
    assert sorted(layers for *_, layers in models) == [1, 2, 4]
    assert all(r["settings"]["tuned"] == "5 trials of 2 steps" for r in trained)
    assert all("protocol" not in r["settings"] for r in trials + trained)
    before = (tmp_path / "tuning-RacketSports.jsonl").stat().st_mtime_ns
    assert rehearse(tmp_path) == 0
    assert (tmp_path / "tuning-RacketSports.jsonl").stat().st_mtime_ns == before
    assert len([*Store(tmp_path / "RacketSports.jsonl")]) == len(PLANNED)


def test_a_rehearsal_reads_no_unused_set_and_writes_no_result(capsys):
    assert command.main(["--sets", "CBF", "--rehearse", "2"]) == 2
    assert "sets must be of the survey in a rehearsal" in capsys.readouterr().err
    assert command.main(["--sets", "LSST", "--rehearse", "2"]) == 2
    assert "out must name another folder" in capsys.readouterr().err
    assert command.main(["--sets", "LSST", "--rehearse", "0"]) == 2
    assert command.main(["--seconds", "0"]) == 2
    assert "seconds must be" in capsys.readouterr().err
    for wrong in (["--sets", "Wine"], ["--families", "none"]):
        with pytest.raises(SystemExit):
            command.main(wrong)


def test_sets_that_wait_for_a_gpu_have_their_places(monkeypatch):
    monkeypatch.setattr(train.data, "fingerprint", lambda _: "0123456789abcdef")
    options = command._parser().parse_args(["--sets", *plan.LONG, "--device", "cuda"])
    chosen = command._chosen(options)
    assert tuple(chosen) == plan.LONG
    assert {n for places in chosen.values() for _, n in places} == {5}
