"""The command that trains: its stages, what it resumes, and what it refuses."""

import argparse
import os
import time

import pytest

from posenc_book.bench import local
from posenc_book.read.classification import commands
from posenc_book.read.classification import protocol as second
from posenc_book.read.edition3 import __main__ as command
from posenc_book.read.edition3 import gpu, protocol, questions, sets
from posenc_book.read.edition3.questions import cells_on_gpu
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
    monkeypatch.setattr(command.local, "LocalEngine", lambda _: local.SerialEngine())


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
    with pytest.raises(SystemExit):
        command.main(["--sets", "Wine"])


def test_the_gpus_command_trains_the_short_rows_and_the_longest_sets(monkeypatch, tmp_path):
    told = {}
    monkeypatch.setattr(gpu.tiers, "train", lambda options: told.update(vars(options)) or 0)
    monkeypatch.setattr(gpu.command, "main", lambda arguments: told.update(own=arguments) or 1)
    assert gpu.main(["--out", str(tmp_path), "--device", "cuda"]) == 1
    assert (told["tier"], told["model"], told["out"]) == (4, "time_series", tmp_path)
    blocks = second.blocks(told["tier"], told["model"])
    short = [b for b in blocks if b.dataset in told["datasets"]]
    n = sum(len(b.encodings) for b in short) * second.TRAINING["resamples"]
    assert 600 < n < 800
    options = command._parser().parse_args(told["own"])
    assert tuple(options.sets) == sets.LONG
    assert options.out == tmp_path / "edition-3"
    assert 0 < options.seconds < gpu.SECONDS
    assert {dataset for dataset, *_ in cells_on_gpu()} == set(sets.LONG)


def test_the_gpus_command_takes_the_options_that_edition_2_asks_for():
    parser = argparse.ArgumentParser()

    commands.add_to(parser.add_subparsers())
    there = vars(parser.parse_args(["protocol"])).keys() - {"command"}
    options = gpu._parser().parse_args([])
    assert vars(gpu.short_rows(options)).keys() == there


def test_no_time_is_left_for_the_second_part(monkeypatch, capsys):
    monkeypatch.setattr(gpu.tiers, "train", lambda _: time.sleep(0.02) or 0)
    monkeypatch.setattr(gpu.command, "main", lambda _: pytest.fail("there was no time"))
    assert gpu.main(["--seconds", "0.01"]) == 0
    assert "goes on from here" in capsys.readouterr().out


def test_places_are_those_of_one_set(monkeypatch):
    monkeypatch.setattr(protocol.data, "fingerprint", lambda _: "0123456789abcdef")
    places = command.places_of("RacketSports", PLANNED | {("LSST", "none", 2): 1})
    assert [n for _, n in places] == [3, 3, 3]
    assert {one.dataset for one, _ in places} == {"RacketSports"}


def test_a_family_names_what_it_alone_needs():
    assert {name for _, name, _ in questions.cells(["shaw"])} == {"relative", "relative, whole"}
    assert {*questions.cells(["shaw"]).values()} == {questions.QUESTIONS["shaw"].resamples}
    every = questions.cells()
    for family in questions.FAMILIES:
        assert all(n <= every[key] for key, n in questions.cells([family]).items())
    assert every.keys() == {key for one in questions.FAMILIES for key in questions.cells([one])}
    with pytest.raises(SystemExit):
        command.main(["--families", "none"])
