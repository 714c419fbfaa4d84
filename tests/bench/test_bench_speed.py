"""The speed comparison runs whole, here on sizes that measure nothing."""

import argparse
import importlib.util
import sys
from pathlib import Path

import pytest

from posenc_book.bench.local import SerialEngine

FOLDER = Path(__file__).parents[2] / "benchmarks"
# Stands for a checkout of the survey's code: the same names, and one encoding that crashes.
ENCODER = """
import torch

class TSTransformerEncoder(torch.nn.Module):
    def __init__(self, feat_dim, max_len, d_model, n_heads, num_layers, dim_feedforward, dropout,
                 pos_encoding):
        super().__init__()
        if pos_encoding == "learned":
            raise RuntimeError("no such module")
        self.line = torch.nn.Linear(feat_dim, feat_dim)

    def forward(self, x, padding_masks):
        return self.line(x) * padding_masks.unsqueeze(-1)
"""


@pytest.fixture
def engine(monkeypatch):
    monkeypatch.syspath_prepend(FOLDER)
    spec = importlib.util.spec_from_file_location("engine_speed", FOLDER / "engine.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    monkeypatch.setattr(module, "available_cores", lambda: 1)
    # workers have tests of their own, and to start them takes longer than all else
    monkeypatch.setattr(module, "LocalEngine", lambda workers=None: SerialEngine())
    return module


@pytest.fixture
def options(tmp_path):
    models = tmp_path / "src" / "models"
    models.mkdir(parents=True)
    (models / "TSTransformerEncoder.py").write_text(ENCODER, encoding="utf-8")
    yield argparse.Namespace(
        quick=True, profile="smoke", lengths=[16], device="cpu", reference=tmp_path,
        series=64, epochs=1, rounds=1,
    )  # fmt: skip
    for name in [name for name in sys.modules if name.split(".")[0] == "src"]:
        del sys.modules[name]


def test_the_plain_loop_and_the_engine_are_timed_by_length(engine, options):
    row = engine.against_plain(options).splitlines()[-1]
    length, plain, ours, ratio, *_ = [part.strip() for part in row.strip("|").split("|")]
    assert length == "16"
    assert float(plain) >= 0
    assert float(ours) >= 0
    assert ratio.endswith("×")


def test_a_checkout_is_measured_and_its_crashes_are_reported(engine, options):
    table = engine.against_reference(options)
    rows = {row.split("|")[2].strip(): row for row in table.splitlines()[2:]}
    assert "RuntimeError" in rows["learned"]
    assert "×" in rows["fixed"]


def test_a_wrong_checkout_is_named(engine, tmp_path):
    with pytest.raises(SystemExit, match="checkout"):
        engine.reference_model(tmp_path / "absent")
