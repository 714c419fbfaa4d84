"""The exit is planned: its series and their cut, and names before scores."""

import json
import os

import pytest

from experiments.exit_head import __main__ as command
from experiments.exit_head import series, train
from posenc_book.bench import local
from posenc_book.data.errors import FileFormatError, MissingDataError
from posenc_book.forecast.units import UNITS
from posenc_book.read.exit_head import HASH, LEADS_FROM, NONE, PLAN, PROFILE
from posenc_book.read.forecasting import plan as before
from posenc_book.records import records
from posenc_book.records.forecasts import TRIAL
from posenc_book.records.store import Store

SMALL = "belgian_price"
needs_series = pytest.mark.skipif(
    not os.path.isdir(os.path.join(os.environ.get("POSENC_DATA", ""), series.FOLDER)),
    reason="needs the series",
)


def test_the_plan_is_frozen():
    assert HASH == "8ef151e9dc5a"


def test_hours_and_half_hours_are_cut_and_trained_as_before():
    assert series.shape(24) == UNITS["bike_sharing"][0]
    assert series.shape(48) == UNITS["vic_electricity"][0]
    shapes = [series.shape(season) for season in (7, 24, 48, 96, 144, 288)]
    assert {one.context / one.patch for one in shapes} == {12}
    assert PLAN["training"] == before.HASH
    assert (PLAN["seeds"], NONE) == (before.TRAINING["seeds"], before.NONE)


def test_a_file_that_is_missing_or_another_is_named_with_where_it_came_from(tmp_path, monkeypatch):
    monkeypatch.setenv("POSENC_DATA", str(tmp_path))
    with pytest.raises(MissingDataError, match=r"belgian_price\.csv\.gz .*Nixtla"):
        series.path_of(SMALL)
    (tmp_path / series.FOLDER).mkdir()
    (tmp_path / series.FOLDER / f"{SMALL}.csv.gz").write_bytes(b"time,value\n")
    with pytest.raises(FileFormatError, match=r"belgian_price.*sha256 .*Nixtla"):
        series.path_of(SMALL)


@needs_series
def test_files_leave_out_what_the_plan_leaves_out():
    names = "bank_calls", "web_requests", SMALL
    found = {name: series.windows(name) for name in names}
    assert [series.fits(one) for one in found.values()] == [False, False, True]
    assert found["web_requests"]["test"] == 5
    assert {*names[:2]} < {*PLAN["left out"]}


def record(one, error):
    score = {"validation_mase": error}
    return records.finished(one, score, device="cpu", seconds=1.0)


def failed(one):
    return records.failed(one, "no memory", device="cpu", seconds=1.0)


@needs_series
def test_the_best_trial_is_trained_and_names_the_series():
    pair = train.cell(SMALL, "linear"), train.cell(SMALL, "patches_flat")
    known = {
        trial.key: record(trial, error)
        for one, best in zip(pair, (0.4, 0.3), strict=True)
        for tried in (train.trials(one), train.naming(one))
        for trial, error in zip(tried, (0.9, best, 0.5, 0.6), strict=True)
    }
    assert train.tuned(pair[1], known).learning_rate == before.RATES[1]
    assert {(t.profile, t.steps) for t in train.trials(pair[1])} == {(TRIAL, 750)}  # not tested
    assert (pair[1].profile, pair[1].protocol, pair[1].steps) == (PROFILE, HASH, 1500)
    one = train.leads_of({SMALL: pair}, known)[SMALL]
    assert one["learned"]
    assert one["lead"] > LEADS_FROM
    assert {(t.profile, t.steps) for t in train.naming(pair[1])} == {(TRIAL, 1500)}
    last = train.naming(pair[0])[3].key, train.trials(pair[0])[3].key
    fewer = {key: some for key, some in known.items() if key not in last}
    assert train.leads_of({SMALL: pair}, fewer) is None
    assert train.tuned(pair[0], fewer) is None
    every = train.trials(pair[1]) + train.naming(pair[1])
    in_vain = {trial.key: failed(trial) for trial in every}
    assert train.tuned(pair[1], in_vain).tuned == "all trials failed"
    assert not train.leads_of({SMALL: pair}, known | in_vain)[SMALL]["learned"]


@needs_series
def test_series_are_named_before_anything_else_and_never_otherwise(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(local, "LocalEngine", lambda _: local.SerialEngine())
    monkeypatch.setattr(train, "naive", lambda _: 9.0)
    monkeypatch.setitem(PLAN, "encodings", [NONE, "rotary"])
    told = ["--sets", SMALL, "--rehearse", "2", "--device", "cpu", "--out", str(tmp_path)]
    names, trained = tmp_path / "leads.json", tmp_path / f"{SMALL}.jsonl"
    assert command.main([*told, "--seconds", "1e-9"]) == 0
    assert not names.exists()
    assert command.main(told) == 0
    assert names.exists()
    assert not trained.exists()
    assert "the same command goes on" in capsys.readouterr().out
    assert command.main(told) == 0
    tried = tmp_path / f"tuning-{SMALL}.jsonl"
    assert [len([*Store(path)]) for path in (tried, trained)] == [5 * 4, 4 * 5]
    every = [one for path in (tried, trained) for one in Store(path)]
    assert not any("error" in one or "mase" in one["metrics"] for one in every)
    changed = json.loads(names.read_text())
    changed["leads"][SMALL]["lead"] = 1.0
    names.write_text(json.dumps(changed))
    assert command.main(told) == 2
    assert "named otherwise" in capsys.readouterr().err
