"""Series with gaps, trained to the end: the protocol, its cells, and the command."""

import numpy as np
import pytest
import torch

from posenc import data
from posenc.bench import gaps, local, parts, protocols
from posenc.bench.gaps import PROTOCOL, protocol_cells
from posenc.bench.store import Store

TINY = {
    "d_model": 16, "n_heads": 2, "n_layers": 1, "d_ff": 16, "steps": 20, "least_steps": 0,
    "check_every": 10, "batch_size": 8,
}  # fmt: skip
SET = "ItalyPowerDemand"


def all_cells(**chosen):
    return [cell for group in protocol_cells(**chosen).groups() for cell in group]


def test_every_encoding_stands_on_every_set_under_both_clocks_with_every_seed():
    cells = all_cells()
    assert len(cells) == len(protocol_cells()) == len({cell.key for cell in cells})
    assert {cell.protocol for cell in cells} == {gaps.HASH}
    found = {(c.dataset, c.encoding, c.dataset_options["clock"], c.seed) for c in cells}
    sizes = (len(PROTOCOL[k]) for k in ("datasets", "encodings", "clocks"))
    assert len(found) == np.prod([*sizes, PROTOCOL["seeds"]])
    assert {cell.resample for cell in cells} == {cell.seed for cell in cells} == set(range(5))
    for cell in cells:
        assert cell.resample == (0 if data.official_only(cell.dataset) else cell.seed)


def test_the_sets_are_those_of_a_rule_about_their_size():
    facts = {name: data.recorded_facts(name) for name in protocols.UP_TO_100}
    fit = [name for name, one in facts.items() if 15 <= one.length <= 51 and one.train <= 2000]
    assert sorted(fit) == sorted(gaps.DATASETS)


def test_the_hash_belongs_to_the_protocol(monkeypatch):
    monkeypatch.setitem(PROTOCOL["settings"], "learning_rate", 0.1)
    assert gaps.hashed(PROTOCOL) != gaps.HASH
    assert gaps.cell(SET, "rotary", "times", 0, steps=5).protocol == ""


def test_both_clocks_see_the_same_values_and_series_of_a_seed():
    times, indices = (gaps.cell(SET, "none", clock, 1) for clock in PROTOCOL["clocks"])
    one, other = (
        data.resample(*(data.load(SET, s, **c.dataset_options) for s in ("train", "test")), 1)[0]
        for c in (times, indices)
    )
    assert one.x.shape[1] == 2 * other.x.shape[1] == 24
    assert np.array_equal(one.x[one.mask].ravel(), other.x.ravel())
    assert np.array_equal(one.y, other.y)


def test_another_seed_loses_other_steps():
    masks = [
        data.load(SET, "train", **gaps.cell(SET, "none", "times", seed).dataset_options).mask
        for seed in (0, 1)
    ]
    assert not np.array_equal(*masks)


def test_training_takes_the_series_of_its_resample():
    shapes = {
        clock: parts.load(gaps.cell(SET, "none", clock, 2), torch.device("cpu")).train.x.shape
        for clock in PROTOCOL["clocks"]
    }
    assert shapes["times"][2] == 2 * shapes["indices"][2]


def test_some_of_it_is_chosen_by_name_and_seed():
    cells = all_cells(datasets=[SET], encodings=["rotary", "none"], seeds=2)
    assert {(c.dataset, c.encoding, c.seed) for c in cells} == {
        (SET, name, seed) for name in ("rotary", "none") for seed in (0, 1)
    }
    for wrong, what in (
        ({"datasets": ["LSST"]}, "dataset must be one of .* got 'LSST'"),
        ({"encodings": ["alibi"]}, "encoding must be one of"),
        ({"seeds": 6}, "seeds must be at most 5, got 6"),
    ):
        with pytest.raises(ValueError, match=what):
            protocol_cells(**wrong)


def test_the_command_trains_what_is_missing_and_goes_on(capsys, tmp_path, monkeypatch):
    from posenc.bench.__main__ import main

    monkeypatch.setitem(PROTOCOL, "settings", {**PROTOCOL["settings"], **TINY})
    monkeypatch.setattr(local, "LocalEngine", lambda workers: local.SerialEngine())
    out = tmp_path / "made" / "gaps.jsonl"
    arguments = ["gaps", "--datasets", SET, "--encodings", "rotary", "--device", "cpu"]
    arguments += ["--out", str(out)]
    assert main([*arguments, "--seeds", "1"]) == 0
    assert "2 cells trained, 0 of them failed" in capsys.readouterr().out
    records = list(Store(out))
    assert [r["settings"]["dataset_options"]["clock"] for r in records] == ["times", "indices"]
    assert all(r["protocol"] == gaps.HASH and r["profile"] == gaps.PROFILE for r in records)
    assert main([*arguments, "--seeds", "2"]) == 0
    assert "2 cells trained, 0 of them failed or unfinished; 2 were" in capsys.readouterr().out
    assert main(["gaps", "--encodings", "nope", "--out", str(tmp_path / "other.jsonl")]) == 2
    assert "encoding must be one of" in capsys.readouterr().err
