"""The shipped record of counts and leakage: whole, readable, and equal to a new measurement."""

import json

import numpy as np
import pytest

from posenc_book import data
from posenc_book.data import measure, registry
from posenc_book.data.__main__ import main
from posenc_book.data.dataset import Dataset

RECORD = measure.recorded()
TOLERANCE = 0.03  # other versions of the forest; the effect shown in the book is four times larger


@pytest.fixture
def real_sets(real, read_once, monkeypatch):
    monkeypatch.setenv("POSENC_DATA", str(real))
    monkeypatch.setenv("POSENC_CACHE", str(read_once))
    monkeypatch.setenv("POSENC_OFFLINE", "1")


def made(n, groups=None):
    x = np.random.default_rng(0).normal(size=(n, 5, 2)).astype(np.float32)
    return Dataset(x, np.arange(n) % 2, ("a", "b"), "made", "made", None, groups)


def test_every_registered_set_is_counted_or_named_as_absent():
    assert sorted([*RECORD["sets"], *RECORD["absent"]]) == sorted(registry.ENTRIES)
    absent = {"Sleep", "ElectricDevices", "FaceDetection", "SelfRegulationSCP1", "UniMiB-SHAR"}
    assert set(RECORD["absent"]) == absent


def test_recorded_scores_are_whole():
    leakage = RECORD["leakage"]
    assert leakage["classifier"] == measure.CLASSIFIER
    assert tuple(leakage["seeds"]) == measure.SEEDS
    assert tuple(leakage["scores"]) == measure.LEAKAGE_SETS
    for scores in leakage["scores"].values():
        for runs in scores.values():
            assert len(runs) == len(measure.SEEDS)
            assert all(0 < one < 1 for one in runs)


@pytest.mark.usefixtures("real_sets")
@pytest.mark.parametrize("name", measure.TWIN_SETS)
def test_twins_are_counted_and_found_by_a_nearest_neighbour(name):
    found = measure.twins(name)
    assert found == RECORD["twins"][name]
    assert found["twins"] == RECORD["sets"][name]["repeats"][2]
    assert found["on_twins"] == 1 > found["on_others"]


def test_twins_are_recorded_for_the_sets_with_most_of_them():
    shared = {name: one["repeats"][2] for name, one in RECORD["sets"].items()}
    assert set(RECORD["twins"]) == {name for name, n in shared.items() if n > 10}


def test_a_rule_that_is_blind_to_order_finds_what_needs_none():
    rides = [data.load("elevator", split) for split in ("train", "test")]
    probe = [data.load("range_probe", split) for split in ("train", "test")]
    assert measure.blind_score(*rides) > 0.9
    assert abs(measure.blind_score(*probe) - 0.5) < 0.1


def test_recorded_facts_come_without_the_set():
    facts = data.recorded_facts("LSST")
    assert [row[3] for row in facts.table()] == [True] * 5
    assert sum(map(sum, facts.class_counts.values())) == facts.train + facts.test
    assert "LSST" in str(facts)


@pytest.mark.parametrize("name", ["Sleep", "GunPoint"])
def test_recorded_facts_of_an_uncounted_set(name):
    with pytest.raises(data.MissingDataError, match=rf"{name} was not counted.*LSST"):
        data.recorded_facts(name)


def test_is_here(tiny_folder, monkeypatch):
    assert not data.is_here("LSST")
    assert data.is_here("elevator")
    monkeypatch.setenv("POSENC_DATA", str(tiny_folder.parent))
    assert data.is_here("Tiny")


def test_dealing_at_random_keeps_windows_sizes_and_shares():
    train, test = measure.deal_at_random(made(60), made(20), seed=0)
    assert (len(train), len(test), test.y.sum()) == (60, 20, 10)
    dealt = np.concatenate([train.x, test.x]).reshape(80, -1)
    whole = np.concatenate([made(60).x, made(20).x]).reshape(80, -1)
    np.testing.assert_array_equal(np.sort(dealt, axis=0), np.sort(whole, axis=0))
    again = measure.deal_at_random(made(60), made(20), seed=0)[1]
    np.testing.assert_array_equal(test.x, again.x)
    assert (test.x != measure.deal_at_random(made(60), made(20), seed=1)[1].x).any()


def test_measuring_without_the_sets_says_what_to_fetch(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("POSENC_OFFLINE", "1")
    assert main(["measure", str(tmp_path / "new.json")]) == 1
    assert "MSL is not on this machine" in capsys.readouterr().err
    assert not (tmp_path / "new.json").exists()


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("Chinatow", None, "did you mean Chinatown?"),
        ("Chinatown", None, "cannot read or write the record"),
        ("Chinatown", "{", "old.json: is no record in JSON"),
        ("Chinatown", "[1]", 'old.json: is no record: it has no "sets"'),
    ],
)
def test_measuring_into_a_wrong_record(tmp_path, capsys, name, content, message):
    path = tmp_path / "old.json"
    if content is not None:
        path.write_text(content)
    assert main(["measure", "--only", name, str(path)]) == 1
    assert message in capsys.readouterr().err
    assert path.exists() == (content is not None)


@pytest.mark.slow
@pytest.mark.usefixtures("real_sets")
def test_measuring_writes_the_same_record(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(measure, "LEAKAGE_SETS", ("MSL", "RoomOccupancy"))
    monkeypatch.setattr(measure, "SEEDS", (0,))
    monkeypatch.setattr(measure, "TWIN_SETS", ("Libras",))  # both sets have a test of their own
    assert main(["measure", str(tmp_path / "new.json")]) == 0
    assert "written" in capsys.readouterr().out
    new = json.loads((tmp_path / "new.json").read_text(encoding="utf-8"))
    assert set(new) == set(RECORD)
    assert {name: new["sets"].get(name) for name in RECORD["sets"]} == RECORD["sets"]
    assert new["raw"] == RECORD["raw"]
    assert new["twins"] == {"Libras": RECORD["twins"]["Libras"]}
    for name, scores in new["leakage"]["scores"].items():
        assert set(scores) == set(RECORD["leakage"]["scores"][name])
        for split, runs in scores.items():
            old = RECORD["leakage"]["scores"][name][split]
            assert abs(runs[0] - old[0]) <= TOLERANCE, (name, split)
