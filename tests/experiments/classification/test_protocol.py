"""`--profile protocol`: the book's protocol on one's own set."""

import shlex

import pytest

from posenc_book.bench import tuning
from posenc_book.read.classification import protocol as protocols
from posenc_book.records.settings import Settings, complete, profile
from posenc_book.records.store import Store

SMALL = shlex.split(
    "--datasets BasicMotions --models patch --n-layers 1 --d-model 8 --n-heads 2 --d-ff 8 "
    "--steps 4 --least-steps 2 --check-every 2 --max-cases 24 --device cpu --engine serial"
)


def test_the_profile_has_the_settings_of_the_protocol():
    cell = Settings("none", "patch", "MyGestures", **profile("protocol"))
    ours = {name: getattr(cell, name) for name in protocols.TRAINING["settings"]}
    assert ours == protocols.TRAINING["settings"]


@pytest.mark.parametrize("encodings", [["rotary"], ["rotary", "none"]])
def test_a_run_by_it_is_tuned_on_five_resamples_with_none(call, tmp_path, monkeypatch, encodings):
    monkeypatch.setattr(tuning, "STEPS", 2)
    out = tmp_path / "mine.jsonl"
    named = ["--profile", "protocol", "--encodings", *encodings, "--out", out]
    code, _, err = call("run", *SMALL, *named)
    assert code == 0, err
    found = [r | {"settings": complete(r["settings"])} for r in Store(out)]
    assert {(r["encoding"], r["settings"]["resample"]) for r in found} == {
        (name, r) for name in ("none", "rotary") for r in range(5)
    }
    assert {r["settings"]["tuned"] for r in found} == {tuning.TUNED}
    assert {r["settings"]["schedule"] for r in found} == {"constant"}
    assert {(r["metrics"]["n_train"], r["metrics"]["n_test"]) for r in found} == {(24, 24)}
    assert len(list(Store(tmp_path / "mine-tuning.jsonl"))) == 8
    call("report", out)
    report = (tmp_path / "mine" / "report.md").read_text()
    assert "5 resamples (official split and 4 others), tuned by" in report
    assert "| gain in accuracy over none | rotary |" in report


def test_a_split_of_ones_own_is_kept_where_seeds_are_asked_for(call, tmp_path, monkeypatch):
    monkeypatch.setattr(tuning, "STEPS", 2)
    out = tmp_path / "mine.jsonl"
    named = ["--profile", "protocol", "--encodings", "none", "--seeds", 2, "--out", out]
    code, _, err = call("run", *SMALL, *named)
    assert code == 0, err
    found = [complete(r["settings"]) for r in Store(out)]
    assert [(one["seed"], one["resample"], one["split_seed"]) for one in found] == [
        (0, 0, 0),
        (1, 0, 0),
    ]
    assert all(one["tuned"] for one in found)


def test_a_run_that_makes_no_trials_refuses_the_profile(capsys):
    from posenc_book.bench import extrapolation

    assert extrapolation.main(["--profile", "protocol"]) == 2
    assert "profile must be one of smoke, laptop, full" in capsys.readouterr().err
