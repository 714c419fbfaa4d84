"""Series with gaps, trained to the end: the protocol, its cells, and the command."""

import functools
from itertools import product

import numpy as np
import pytest
import torch

from experiments.gaps import __main__ as command
from experiments.gaps import train
from posenc_book import data
from posenc_book.bench import build, local, parts
from posenc_book.bench.language import named
from posenc_book.data import repeats
from posenc_book.read.classification import protocol as protocols
from posenc_book.read.gaps.protocol import HASH, PROTOCOL
from posenc_book.records.store import Store

TINY = {
    "d_model": 16, "n_heads": 2, "n_layers": 1, "d_ff": 16, "steps": 20, "least_steps": 0,
    "check_every": 10, "batch_size": 8,
}  # fmt: skip
SET = "ItalyPowerDemand"


def all_cells():
    return [cell for group in train.protocol_cells().groups() for cell in group]


def test_every_encoding_stands_on_every_set_under_both_clocks_with_every_seed():
    cells = all_cells()
    assert len(cells) == len(train.protocol_cells()) == len({cell.key for cell in cells})
    found = {(c.dataset, c.encoding, c.dataset_options["clock"], c.seed) for c in cells}
    names = [PROTOCOL[key] for key in ("datasets", "encodings", "clocks")]
    assert found == set(product(*names, range(PROTOCOL["seeds"])))


def test_a_cell_is_what_the_protocol_says():
    fingerprint = functools.cache(build.encoding_fingerprint)
    for cell in all_cells():
        assert cell.protocol == HASH
        assert cell.model == PROTOCOL["model"]
        assert cell.encoding_source == fingerprint(cell.encoding)
        assert cell.dataset_source
        assert cell.dataset_options["lost"] == PROTOCOL["lost"]
        assert cell.dataset_options["seed"] == cell.split_seed == cell.seed
        assert cell.resample == (0 if data.official_only(cell.dataset) else cell.seed)
        settings = {name: getattr(cell, name) for name in PROTOCOL["settings"]}
        assert settings == PROTOCOL["settings"]


def test_the_sets_are_those_of_a_rule_about_their_size():
    facts = {name: data.recorded_facts(name) for name in protocols.UP_TO_100}
    fit = [name for name, one in facts.items() if 15 <= one.length <= 51 and one.train <= 2000]
    assert sorted(fit) == sorted(PROTOCOL["datasets"])


def parts_of(dataset, clock, seed):
    return parts.load_parts(train.cell(dataset, "none", clock, seed), torch.device("cpu"))


@pytest.mark.parametrize("dataset", PROTOCOL["datasets"])
def test_both_clocks_see_the_same_values_of_the_same_series(dataset):
    one, other = (parts_of(dataset, clock, 1) for clock in PROTOCOL["clocks"])
    for name in ("train", "validation", "test"):
        times, indices = getattr(one, name), getattr(other, name)
        assert torch.equal(times.y, indices.y)
        left = indices.mask if indices.mask is not None else torch.ones(indices.x.shape[:3]).bool()
        assert torch.equal(times.x[times.mask], indices.x[left])
        assert indices.x.shape[2] < times.x.shape[2]


def test_a_seed_has_losses_a_resample_and_a_validation_part_of_its_own():
    whole = [data.load(SET, split) for split in data.SPLITS]
    for seed in (0, 2):
        dealt = data.resample(*whole, seed) if seed else whole
        kept, held_out = data.split_validation(dealt[0], 0.25, seed)
        found = parts_of(SET, "indices", seed)
        for part, expected in zip(
            (found.train, found.validation, found.test), (kept, held_out, dealt[1]), strict=True
        ):
            assert np.array_equal(part.y.ravel(), expected.y)


@pytest.mark.parametrize("dataset", [d for d in PROTOCOL["datasets"] if not data.official_only(d)])
def test_no_series_stands_in_both_parts(dataset):
    whole = data.resample(*(data.load(dataset, split) for split in data.SPLITS), 2)
    assert repeats.count(*whole)[2] == 0
    found = parts_of(dataset, "times", 2)
    kept = torch.cat([found.train.y.ravel(), found.validation.y.ravel()]).sort().values
    assert torch.equal(kept, torch.as_tensor(whole[0].y).sort().values)


def test_the_command_trains_what_is_missing_and_goes_on(capsys, tmp_path, monkeypatch):
    monkeypatch.setitem(PROTOCOL, "settings", {**PROTOCOL["settings"], **TINY})
    monkeypatch.setattr(local, "LocalEngine", lambda _: local.SerialEngine())
    out = tmp_path / "made" / "gaps.jsonl"
    arguments = ["--datasets", SET, "--encodings", "rotary", "--device", "cpu"]
    arguments += ["--out", str(out)]
    assert command.main([*arguments, "--seeds", "1"]) == 0
    assert "2 cells trained, 0 of them failed" in capsys.readouterr().out
    records = list(Store(out))
    assert [r["settings"]["dataset_options"]["clock"] for r in records] == ["times", "indices"]
    assert all(r["protocol"] == HASH and r["profile"] == train.PROFILE for r in records)
    assert [named(r) for r in records] == [
        f"{SET}, rotary, clock {clock}, seed 0" for clock in PROTOCOL["clocks"]
    ]
    assert command.main([*arguments, "--seeds", "2"]) == 0
    assert "2 cells trained, 0 of them failed or unfinished; 2 were" in capsys.readouterr().out
    assert command.main(["--encodings", "nope", "--out", str(tmp_path / "other.jsonl")]) == 2
    assert "encoding must be one of" in capsys.readouterr().err
