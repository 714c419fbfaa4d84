"""A model trained at one length and tested at longer ones."""

import json
import re

import pytest
import torch

from posenc_book import data
from posenc_book.bench import build, extrapolation, jobs, local
from posenc_book.bench.extrapolation import LengthSettings, grow, probe
from posenc_book.bench.local import SerialEngine
from posenc_book.bench.train import train
from posenc_book.read import results
from posenc_book.records.store import Store

LENGTH, LONGER = 12, (12, 24, 48)
MOVING = ["none", "rotary", "relative", "t5", "alibi"]  # scores depend on offsets only
REFUSING = {"learnable": "vectors", "tupe": "vectors", "erpe": "values"}


@pytest.fixture
def long_cell(cell):
    """Return a function that makes a tiny cell that is tested at longer lengths."""

    def make(encoding="rotary", **changes):
        sizes = {"test_lengths": LONGER, "n_test": 40, "max_cases": 0, **changes}
        return LengthSettings(**vars(cell(encoding)) | sizes)

    return make


def make_model(chosen):
    return build.model(chosen, 2, 2, LENGTH).eval()


@pytest.mark.parametrize("encoding", MOVING)
def test_where_only_offsets_count_a_later_place_changes_nothing(long_cell, encoding):
    chosen = long_cell(encoding)
    model = make_model(chosen)
    scores = probe(chosen, model)
    assert scores["refusals"] == {}
    assert len({scores[f"later_{n}"] for n in LONGER}) == 1
    assert scores["longer_12"] == scores["later_12"]
    early, _ = extrapolation._test_series(chosen, LENGTH)
    for n in LONGER:
        x, _, mask = extrapolation._later(chosen, n)
        torch.testing.assert_close(grow(chosen, model, n)(x, mask), model(early), atol=1e-5, rtol=0)


@pytest.mark.parametrize("encoding", ["sinusoidal", "tape", "sine_linear"])
def test_a_later_place_moves_what_is_tied_to_the_place(long_cell, encoding):
    chosen = long_cell(encoding)
    model = make_model(chosen)
    x, y, mask = extrapolation._later(chosen, 48)
    early, _ = extrapolation._test_series(chosen, LENGTH)
    assert not torch.allclose(grow(chosen, model, 48)(x, mask), model(early), atol=1e-4)
    assert x.shape == (40, 48, 2)
    assert mask.sum(1).tolist() == [LENGTH] * 40
    assert torch.equal(x[mask].view(early.shape), early)
    assert len(y) == 40


@pytest.mark.parametrize(("encoding", "weight"), REFUSING.items())
def test_tables_of_a_fixed_size_refuse_with_both_shapes(long_cell, encoding, weight):
    chosen = long_cell(encoding)
    scores = probe(chosen, make_model(chosen))
    assert set(scores["refusals"]) == {"24", "48"}
    assert f"{weight} has shape" in scores["refusals"]["24"]
    assert "in the fitted module and" in scores["refusals"]["24"]
    assert {name for name in scores if name != "refusals"} == {"longer_12", "later_12"}


def test_the_dft_refuses_beyond_its_width_only_if_told_so(long_cell):
    def refused(**options):
        chosen = long_cell("dft", encoding_options=options)  # d_model is 16
        return probe(chosen, make_model(chosen))["refusals"]

    assert refused() == refused(overflow="alias") == {}
    found = refused(overflow="error")
    assert set(found) == {"24", "48"}
    assert "n_positions must be at most d_model = 16" in found["48"]


@pytest.mark.parametrize("encoding", ["sinusoidal", "relative", "tpe", "conv_spe"])
def test_growing_to_the_same_length_changes_no_output(long_cell, encoding):
    chosen = long_cell(encoding)
    model = make_model(chosen)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(0.1)  # away from the start that a new model of this seed has
    x, _ = extrapolation._test_series(chosen, LENGTH)
    assert torch.equal(grow(chosen, model, LENGTH)(x), model(x))


def test_longer_series_are_scaled_like_the_training_part(long_cell):
    chosen = long_cell()
    x, y = extrapolation._test_series(chosen, 48)
    assert x.shape == (40, 48, 2)
    raw = data.load("range_probe", "test", distance=3, length=48, n=40)
    whole = data.load("range_probe", "train", distance=3, length=LENGTH, n=48)
    train_part, _ = data.split_validation(whole, chosen.validation, chosen.split_seed)
    mean, deviation = data.channel_statistics(train_part)
    torch.testing.assert_close(x, torch.tensor((raw.x - mean) / deviation, dtype=torch.float32))
    assert y.tolist() == raw.y.tolist()


def test_the_probe_sees_the_fitted_model_and_joins_the_scores(long_cell):
    """At the training length, on the whole test part, the probe must find the test accuracy."""
    cells = [long_cell(seed=seed, n_test=48, epochs=4, learning_rate=0.01) for seed in range(3)]
    together = train(cells, probe=probe)
    for outcome, chosen in zip(together, cells, strict=True):
        assert outcome["longer_12"] == pytest.approx(outcome["accuracy"])
        alone = train([chosen], probe=probe)[0]
        assert alone["longer_12"] == pytest.approx(alone["accuracy"])
        assert alone["longer_48"] == pytest.approx(outcome["longer_48"], abs=1 / 48)


def test_jobs_hand_the_probe_on(long_cell):
    record = jobs.run(jobs.Job((long_cell(),), "cpu", probe=probe))[0]
    assert set(LONGER) == {
        int(k.removeprefix("longer_")) for k in record["metrics"] if "longer" in k
    }
    assert record["settings"]["test_lengths"] == LONGER


def test_the_key_holds_what_is_tested(long_cell, cell):
    keys = [long_cell().key, long_cell(test_lengths=(12, 24)).key, long_cell(n_test=41).key]
    assert len({*keys, cell("rotary", max_cases=0).key}) == 4


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"max_cases": 10}, "max_cases must be 0, got 10"),
        ({"test_lengths": (11,)}, "test_lengths must be an integer of at least 12, got 11"),
        ({"n_test": 0}, "n_test must be an integer of at least 2, got 0"),
        ({"dataset_options": {}}, r"dataset_options must hold the length .*, got \{\}"),
    ],
)
def test_bad_settings_are_refused(long_cell, changes, message):
    with pytest.raises(ValueError, match=message):
        long_cell(**changes)


@pytest.mark.slow
def test_the_command_writes_records_and_goes_on_where_it_stopped(tmp_path, capsys, monkeypatch):
    out = tmp_path / "lengths.jsonl"
    options = ["--out", out, "--profile", "smoke", "--epochs", 1, "--seeds", 1, "--workers", 1]
    options += ["--task", "range_probe:length=12,n=48", "--n-test", 20, "--lengths", 12, 24]

    def call(*encodings):
        return extrapolation.main([str(o) for o in (*options, "--encodings", *encodings)])

    assert call("rotary") == 0
    done = "1 cells trained, 0 of them failed or unfinished; {} were there"
    assert done.format(0) in capsys.readouterr().out
    # a worker has been started once; the second training can do without
    monkeypatch.setattr(local, "LocalEngine", lambda workers: SerialEngine())
    assert call("rotary", "learnable") == 0
    assert done.format(1) in capsys.readouterr().out
    first, second = (json.loads(line) for line in out.read_text().splitlines())
    assert first["metrics"]["refusals"] == {}
    assert {"longer_12", "longer_24", "later_24"} <= set(first["metrics"])
    assert list(second["metrics"]["refusals"]) == ["24"]
    assert first["settings"]["test_lengths"] == [12, 24]
    assert len(list(Store(out))) == 2


def test_the_command_names_cells_that_fail(tmp_path, capsys, monkeypatch):
    (tmp_path / "too_short.py").write_text(
        "from posenc.attention import Position\n\n\nclass Broken(Position):\n"
        "    def embed(self, x):\n        return x[:, :2]\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(local, "LocalEngine", lambda workers: SerialEngine())
    options = "--profile smoke --epochs 1 --seeds 1 --task range_probe:length=12,n=48 --n-test 20"
    arguments = [*options.split(), "--lengths", "12", "--encodings", "too_short:Broken"]
    assert extrapolation.main([*arguments, "--out", str(tmp_path / "lengths.jsonl")]) == 1
    text = capsys.readouterr().out
    assert "1 cells trained, 1 of them failed" in text
    assert re.search(r"^range_probe, too_short:Broken.*, seed 0: .+", text, re.MULTILINE)


def test_keys_of_the_stored_runs_are_the_hashes_of_their_settings():
    stored = results.load_records("probes")
    assert stored
    assert [LengthSettings(**r["settings"]).key for r in stored] == [r["key"] for r in stored]


def test_a_task_without_a_length_is_named(tmp_path, capsys):
    arguments = ["--out", str(tmp_path / "r.jsonl"), "--task", "range_probe"]
    assert extrapolation.main(arguments) == 2
    assert "length in the task's options must be an integer" in capsys.readouterr().err
