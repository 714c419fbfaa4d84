"""The range probe trained to the end: its protocol, its cells, its training, and the command."""

import json

import numpy as np
import pytest

from experiments.range_probe import __main__ as command
from experiments.range_probe.train import cell, protocol_cells
from posenc_book import data
from posenc_book.audit.one_hot import OneHot
from posenc_book.bench import extrapolation, local
from posenc_book.bench.train import train
from posenc_book.read.range_probe import protocol as probes
from posenc_book.read.range_probe.protocol import DISTANCES, OTHERS, PROTOCOL, SIZED, Variant
from posenc_book.records.store import Store

TINY = {
    "d_model": 16, "n_heads": 2, "n_layers": 1, "d_ff": 16, "steps": 20, "least_steps": 0,
    "check_every": 10, "batch_size": 8,
}  # fmt: skip


def all_cells(**chosen):
    return [one for group in protocol_cells(**chosen).groups() for one in group]


# -- the protocol ----------------------------------------------------------------------------------


def test_every_size_stands_at_every_distance_and_all_encodings_at_one():
    cells = all_cells()
    assert len(cells) == len(protocol_cells()) == len({cell.key for cell in cells}) == 440
    assert {cell.protocol for cell in cells} == {probes.HASH}
    seen = {(c.encoding, c.scale, c.dataset_options["distance"]) for c in cells}
    assert {(v.encoding, v.scale, d) for v in SIZED for d in DISTANCES} < seen
    assert {(v.encoding, v.scale, probes.TESTED_AT) for v in OTHERS} < seen
    assert sorted({cell.seed for cell in cells}) == list(range(10))


def test_a_seed_has_series_and_a_split_of_its_own_the_same_for_every_encoding():
    one, other = cell(SIZED[0], 1, 0), cell(SIZED[3], 1, 0)
    assert one.dataset_options == other.dataset_options
    assert one.split_seed == one.seed == 0
    again = cell(SIZED[0], 1, 1)
    series = [data.load("range_probe", "train", **c.dataset_options).x for c in (one, again)]
    assert series[0].shape == (4000, 32, 2)
    assert not np.array_equal(*series)


def test_some_of_it_is_chosen_by_name_distance_and_seed():
    cells = all_cells(encodings=["dft (loud)", "rotary"], distances=[1, 4], seeds=2)
    found = {(c.encoding, c.dataset_options["distance"], c.seed) for c in cells}
    expected = {("dft", 1), ("dft", 4), ("rotary", 4)}
    assert found == {(*place, seed) for place in expected for seed in (0, 1)}
    for wrong, what in (
        ({"encodings": ["dtf"]}, "encoding must be one of"),
        ({"distances": [3]}, "distance must be one of 1, 2, 4, 8, 15, got '3'"),
        ({"seeds": 0}, "seeds must be"),
        ({"seeds": 11}, "seeds must be at most 10, got 11"),
    ):
        with pytest.raises(ValueError, match=what):
            protocol_cells(**wrong)


# -- its one-hot rows ------------------------------------------------------------------------------


def test_one_hot_rows_are_the_unit_vectors_and_follow_scale_and_dtype():
    assert np.array_equal(OneHot(6, 2, 4).rows(3).numpy(), np.eye(3, 6))
    loud = OneHot(8, 2, 8, scale="loud").double().rows(8)
    assert np.allclose(loud.numpy(), 2 * np.eye(8))
    assert not list(OneHot(6, 2, 4).parameters())


def test_one_hot_rows_refuse_more_positions_than_entries():
    with pytest.raises(ValueError, match="max_length must be at most d_model = 4, got 5"):
        OneHot(4, 2, 5)


# -- training and the command ----------------------------------------------------------------------


def fitted(variant, distance, **changes):
    return train([cell(variant, distance, 0, **changes)], probe=extrapolation.probe)


def test_a_fitted_model_is_tested_beyond_its_length():
    [scores] = fitted(Variant("learnable"), 4, **TINY)
    assert {"longer_32", "later_32", "refusals", "validation_curve"} <= scores.keys()
    assert set(scores["refusals"]) == {"64", "128"}
    [hot] = fitted(SIZED[-1], 1, **TINY | {"d_model": 64})
    assert "longer_64" in hot
    assert "max_length must be at most d_model = 64, got 128" in hot["refusals"]["128"]


@pytest.fixture
def small(monkeypatch, tmp_path):
    """Make the protocol small, and run its cells in this process."""
    monkeypatch.setitem(PROTOCOL, "settings", {**PROTOCOL["settings"], **TINY})
    monkeypatch.setitem(PROTOCOL, "task", {"length": 32, "n": 40, "noise": 0.02})
    monkeypatch.setitem(PROTOCOL, "n_test", 20)
    monkeypatch.setattr(local, "LocalEngine", lambda _: local.SerialEngine())
    monkeypatch.chdir(tmp_path)


@pytest.mark.usefixtures("small")
def test_the_command_trains_what_is_missing_and_goes_on(capsys, tmp_path):
    arguments = ["--encodings", "none", "t5", "--distances", "4", "--device", "cpu"]
    arguments += ["--out", "made/probes.jsonl"]
    assert command.main([*arguments, "--seeds", "1"]) == 0
    assert "2 cells trained, 0 of them failed" in capsys.readouterr().out
    records = list(Store(tmp_path / "made" / "probes.jsonl"))
    assert [r["encoding"] for r in records] == ["none", "t5"]
    assert all(r["protocol"] == probes.HASH and r["profile"] == "probe" for r in records)
    assert json.dumps(records[0]["settings"]["test_lengths"]) == "[32, 64, 128]"
    assert command.main([*arguments, "--seeds", "2"]) == 0
    assert "2 cells trained, 0 of them failed or unfinished; 2 were" in capsys.readouterr().out
