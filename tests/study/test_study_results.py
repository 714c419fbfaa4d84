"""The book's stored results: whole, unmixed, and found wherever the package is."""

import json
from dataclasses import replace
from functools import cache

import pytest

from posenc import data, encodings
from posenc.bench import build, protocols, records, tuning
from posenc.bench.build import MODELS
from posenc.bench.settings import Settings
from posenc.study import results

NAMES = results.names()
OTHERS = ("probes", "lab", "text")  # lengths and language models: tests of their own
TRAINED = [name for name in NAMES if not name.startswith(OTHERS)]


def test_there_are_results():
    assert "published-control" in NAMES


@pytest.mark.parametrize("name", NAMES)
def test_every_line_is_a_record_with_a_key_of_its_own(name):
    lines = (results.folder() / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
    found = [records.check(json.loads(line)) for line in lines]
    assert found
    assert len({record["key"] for record in found}) == len(found)


@pytest.mark.parametrize("name", TRAINED)
def test_keys_are_the_hashes_of_the_settings(name):
    for record in results.load(name):
        assert Settings(**record["settings"]).key == record["key"]


@pytest.mark.parametrize("name", TRAINED)
def test_scores_are_shares_and_every_failure_says_why(name):
    for record in results.load(name):
        if "error" in record:
            assert record["error"]
        else:
            metrics = record["metrics"]
            assert 0 <= metrics["accuracy"] <= 1
            if record["settings"].get("steps"):
                assert 1 <= metrics["best_step"] <= metrics["steps"]
            else:
                assert 1 <= metrics["best_epoch"] <= metrics["epochs"]


def test_the_control_of_the_re_enactments_holds_every_encoding_as_defined():
    found = results.load("published-control")
    assert {record["dataset"] for record in found} == {"RacketSports"}
    assert {record["settings"]["scale"] for record in found} == {"paper"}
    assert not any(record["settings"]["encoding_options"] for record in found)
    for model in MODELS:
        cells = {(r["encoding"], r["seed"]) for r in found if r["model"] == model}
        assert cells == {(e, seed) for e in encodings.names() for seed in range(5)}


def test_a_folder_of_ones_own_takes_the_place_of_the_books(tmp_path, monkeypatch):
    source = results.folder() / "published-control.jsonl"
    line = source.read_text(encoding="utf-8").splitlines()[0]
    (tmp_path / "mine.jsonl").write_text(line + "\n", encoding="utf-8")
    monkeypatch.setenv("POSENC_RESULTS", str(tmp_path))
    assert results.names() == ["mine"]
    assert results.load("*") == [json.loads(line)]


def test_errors_name_what_is_there(tmp_path, monkeypatch):
    with pytest.raises(ValueError, match=r"published-control.*got 'nothing'"):
        results.load("nothing")
    monkeypatch.setenv("POSENC_RESULTS", str(tmp_path / "absent"))
    with pytest.raises(ValueError, match=r"POSENC_RESULTS.*absent"):
        results.names()


def test_encodings_outside_the_registry_are_still_those_that_were_measured(monkeypatch):
    monkeypatch.syspath_prepend(results.folder())  # for `matched`, which is kept beside the results
    stored = {
        (r["encoding"], r["settings"]["encoding_source"])
        for name in (*TRAINED, "probes")
        for r in results.load(name)
        if ":" in r["encoding"]
    }
    modules = {name.partition(":")[0] for name, _ in stored}
    assert modules == {"matched", "posenc.published", "posenc.audit.one_hot"}
    assert {(name, build.fingerprint(name)) for name, _ in stored} == stored


SECOND = [name for name in NAMES if name.startswith(("second-", "tuning-"))]


@pytest.mark.parametrize("name", SECOND)
def test_the_second_edition_follows_its_protocol(name):
    kind, dataset = name.split("-")
    source = data.recorded()["sets"][dataset]["fingerprint"]
    fingerprint = cache(build.fingerprint)
    for record in results.load(name):
        assert record["protocol"] == protocols.HASH
        assert record["dataset"] == dataset
        assert record["profile"] == {"second": protocols.PROFILE, "tuning": tuning.PROFILE}[kind]
        assert record["settings"]["encoding_source"] == fingerprint(record["encoding"])
        assert record["settings"]["dataset_source"] == source


@pytest.mark.parametrize("name", [name for name in SECOND if name.startswith("second-")])
def test_every_cell_has_the_rate_and_scale_that_its_trials_chose(name):
    trials = {r["key"]: r for r in results.load(name.replace("second", "tuning"))}
    chosen = {}
    for record in results.load(name):
        cell = Settings(**record["settings"])
        key = (cell.model, cell.encoding)
        chosen.setdefault(key, set()).add((cell.learning_rate, cell.scale))
        plain = replace(cell, scale="paper", tuned="")
        best = tuning.tuned(plain, trials)
        assert (best.learning_rate, best.scale) == (cell.learning_rate, cell.scale)
    assert all(len(one) == 1 for one in chosen.values())
