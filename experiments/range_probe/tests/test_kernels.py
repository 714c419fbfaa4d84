"""Scores by offset of a model at its start and at its end."""

import json

import numpy as np
import pytest
import torch

from experiments.range_probe import kernels
from posenc_book.bench import build
from posenc_book.read import results
from posenc_book.records.settings import Settings

LENGTH = 12


@pytest.fixture
def make_cell():
    """Return a function that makes the settings of a tiny training."""

    def make(encoding):
        return Settings(
            encoding,
            "time_series",
            "range_probe",
            dataset_options={"distance": 4, "length": LENGTH, "n": 64},
            d_model=16,
            d_ff=32,
            **kernels.CHANGES | {"epochs": 1, "patience": 1},
        )

    return make


def model_of(cell):
    return build.model(cell, 2, 2, LENGTH).eval()


def test_a_bias_is_what_is_added_to_scores(make_cell):
    cell = make_cell("alibi")
    model, x = model_of(cell), torch.randn(8, LENGTH, 2)
    with_bias = kernels.by_offset(model, x)
    model.position.slopes.zero_()
    expected = -np.array([[1 / 16], [1 / 256]]) * np.abs(np.arange(1 - LENGTH, LENGTH))
    np.testing.assert_allclose(with_bias - kernels.by_offset(model, x), expected, atol=1e-5)


def test_of_erpe_it_is_what_is_added_to_weights(make_cell):
    model = model_of(make_cell("erpe"))
    found = kernels.by_offset(model, torch.randn(8, LENGTH, 2))
    np.testing.assert_allclose(found, model.position.values.detach(), atol=1e-6)


def test_content_has_nothing_to_do_with_the_offset(make_cell):
    # two pulses four apart would else stand out of the scores of a model without position
    model = model_of(make_cell("none"))
    x = torch.zeros(2 * LENGTH, LENGTH, 2)
    for i in range(LENGTH):
        x[2 * i, i, 0] = x[2 * i, (i + 4) % LENGTH, 1] = 5
    assert kernels.by_offset(model, x).std(1).max() < 1e-3 * x.abs().max()


def test_the_probe_gives_the_start_of_the_same_model(make_cell):
    cell = make_cell("t5")
    model = model_of(cell)
    found = kernels.probe(cell, model)
    assert found["before"] == found["after"]
    assert np.shape(found["after"]) == (2, 2 * LENGTH - 1)
    with torch.no_grad():
        model.position.values.add_(1)
    moved = kernels.probe(cell, model)
    np.testing.assert_allclose(np.subtract(moved["after"], moved["before"]), 1, atol=2e-4)


def test_the_command_plans_what_is_stored():
    grid = kernels.KernelGrid(kernels.ENCODINGS, kernels.LENGTHS, kernels.WIDTHS)
    planned = {(c.encoding, c.dataset_options["length"], c.d_model) for (c,) in grid.groups()}
    assert planned == {
        (r["encoding"], r["settings"]["dataset_options"]["length"], r["settings"]["d_model"])
        for r in results.load_records("kernels")
    }


def test_the_command_writes_lines_and_goes_on_where_it_stopped(tmp_path, monkeypatch):
    monkeypatch.setattr(kernels, "TASK", "range_probe:distance=4,length={length},n=64")
    monkeypatch.setattr(kernels, "CHANGES", kernels.CHANGES | {"epochs": 1, "patience": 1})
    out = tmp_path / "kernels.jsonl"
    arguments = ["--out", str(out), "--encodings", "t5", "--lengths", "12", "--widths", "8"]
    assert kernels.main(arguments) == 0
    assert kernels.main(arguments) == 0
    (line,) = out.read_text().splitlines()
    assert len(json.loads(line)["metrics"]["after"][0]) == 23


def test_what_cannot_be_is_said(tmp_path, capsys):
    out = str(tmp_path / "kernels.jsonl")
    assert kernels.main(["--out", out, "--encodings", "t6", "--lengths", "16"]) == 2
    assert "experiments.range_probe.kernels:" in capsys.readouterr().err
