"""The command of the benchmark: its cells, what it trains of a tier, and what it says."""

from dataclasses import replace
from pathlib import Path

import pytest
import torch

from experiments.classification import train
from posenc_book.bench import build
from posenc_book.read.classification import protocol

ONE_SET = ["--datasets", "BasicMotions", "--model", "patch", "--encodings", "none"]
ONE_SET += ["--device", "cpu", "--out", "mine"]


def scores(one):
    return {"accuracy": 0.5, "validation_accuracy": one.learning_rate, "validation_loss": 1.0}


def no_memory(_):
    raise MemoryError("no room")


def test_a_protocol_names_what_failed_now_and_before(call, stand_in):
    stand_in(no_memory)
    code, text, err = call(*ONE_SET)
    assert code == 1, err
    assert text.splitlines() == [
        "BasicMotions, model patch",
        "tuning, first trials: 3 trained (3 failed), 0 were there",
        "tuning, last trial: 0 trained (0 failed), 0 were there",
        "training: 5 trained (5 failed), 0 were there",
        "failed: none patch BasicMotions, 3 trials: MemoryError: no room",
        "failed: none patch BasicMotions, 5 training runs: MemoryError: no room",
        "why they failed: posenc bench status mine/tuning-BasicMotions.jsonl",
        "why they failed: posenc bench status mine/second-BasicMotions.jsonl",
        "to try them again: the same command with --retry-failed; mended code needs no option",
    ]
    code, again, _ = call(*ONE_SET)
    assert code == 1
    assert "training: 0 trained (0 failed), 5 were there (5 of them failed)" in again
    assert again.splitlines()[4:] == text.splitlines()[4:]
    stand_in(scores)
    code, text, _ = call(*ONE_SET, "--retry-failed")
    assert code == 0
    assert text.splitlines()[-1] == "training: 5 trained (0 failed), 0 were there"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([*ONE_SET, "--workers", 0], "workers must be an integer of at least 1, got 0"),
        ([*ONE_SET, "--stack", 0], "stack must be an integer of at least 1, got 0"),
        (["--tier", 2, "--datasets", "Libras"], "tier 2 has none on Libras"),
        (["--tier", 2, "--model", "patch"], "tier 2 has none of model patch"),
        (["--tier", 3, "--encodings", "kerpel"], "'kerpel'; did you mean 'kerple'"),
        (["--out", "/proc/mine"], "--out /proc/mine cannot be written"),
    ],
)
def test_what_cannot_be_done_is_named_before_anything_is_read(call, monkeypatch, arguments, said):
    monkeypatch.setattr("posenc_book.data.load", lambda *_: pytest.fail("read"))
    code, text, err = call(*arguments)
    assert (code, text) == (2, "")
    assert said in err


def test_a_slice_ends_where_the_next_training_would_not_fit(call, stand_in, monkeypatch):
    now = 0.0

    def ten_seconds_each(one):
        nonlocal now
        now += 10
        return scores(one)

    stand_in(ten_seconds_each)
    monkeypatch.setattr("time.monotonic", lambda: now)
    code, text, _ = call(*ONE_SET, "--seconds", 45)
    assert code == 0
    assert text.splitlines()[-2:] == [
        "training: 0 trained (0 failed), 0 were there",
        "5 s are left, and the longest training so far took 10 s: no other is begun; the same "
        "command goes on from here",
    ]
    text = call(*ONE_SET, "--seconds", 45)[1]  # four of five, as nobody knows of the first
    assert "training: 4 trained (0 failed), 0 were there\n5 s are left" in text
    assert call(*ONE_SET, "--seconds", 45)[1].endswith(
        "training: 1 trained (0 failed), 4 were there\n"
    )


def test_protocol_cells_couple_seed_and_resample(monkeypatch):
    monkeypatch.setattr(train.data, "fingerprint", lambda _: "f" * 16)
    cells = train.cells("Trace", "patch", "none")
    assert [(c.seed, c.split_seed, c.resample) for c in cells] == [(r, r, r) for r in range(5)]
    assert {c.protocol for c in cells} == {protocol.HASH}
    official = train.cells("Epilepsy", "patch", "none")
    assert [(c.seed, c.resample) for c in official] == [(r, 0) for r in range(5)]


def test_a_variant_has_settings_and_a_file_of_its_own():
    block = next(b for b in protocol.TIERS[3] if b.variant == "large")
    cell = train.cells(block.dataset, block.model, "none", **block.changes)[0]
    plain = train.cells(block.dataset, block.model, "none")[0]
    assert (cell.d_model, cell.protocol) == (128, protocol.HASH)
    assert cell.key != plain.key
    folder = Path("out")
    assert train.files(folder, "Libras", "large").results != (train.files(folder, "Libras").results)


def test_a_later_encoding_is_trained_by_the_frozen_protocol():
    for name in protocol.LATER:
        cell = train.cells("Libras", "patch", name)[0]
        assert (cell.protocol, cell.encoding) == ("77c712493a92", name)
        for model, length in (("patch", 45), ("patch", 8), ("time_series", 8)):
            made = build.model(replace(cell, model=model), 2, 15, length)
            assert made(torch.randn(3, length, 2)).shape == (3, 15)


def test_named_encodings_are_trained_where_their_tier_has_them():
    later = train.blocks(3, names=["kerple"])
    assert {b.encodings for b in later} == {("kerple",)}
    assert [(b.model, b.dataset, b.variant) for b in later] == [
        (b.model, b.dataset, b.variant) for b in protocol.TIERS[3] if b.encodings == protocol.LATER
    ]
    assert {b.variant for b in train.blocks(3, names=["rotary"])} == {*protocol.VARIANTS}
    assert train.blocks(1, "patch", ["rotary", "rotary"])[0].encodings == ("rotary",)
    both = train.blocks(3, names=["none", "window_statistics"])
    assert {*protocol.CONTROLS} < {b.variant for b in both}
    first = train.blocks(1, "patch", ["fire", "none"])
    assert [b.encodings for b in first] == [("none", "fire")] * len(protocol.DATASETS)
    places = [
        (b.model, b.dataset, b.variant) for b in train.blocks(3, names=["relative", "kerple"])
    ]
    assert len(places) == len([b for b in protocol.TIERS[3] if "kerple" in b.encodings]) + len(
        [b for b in protocol.TIERS[3] if b.variant in protocol.VARIANTS]
    )


def test_the_control_of_window_statistics_is_none_with_richer_tokens():
    block = next(b for b in train.blocks(3) if b.variant == "window-statistics")
    control = train.cells(block.dataset, block.model, "none", **block.changes)[0]
    plain = train.cells(block.dataset, block.model, "none")[0]
    assert control == replace(plain, input_statistics="mean_std_slope")
    assert control.protocol == protocol.HASH
    assert not [
        b for b in train.blocks(3, names=["posenc.encodings:ALiBi"]) if b.variant == block.variant
    ]
