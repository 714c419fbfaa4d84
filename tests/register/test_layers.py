"""Layers of ours with transformers' weights gave transformers' outputs, as far as is stored."""

import json
from pathlib import Path

import pytest

from posenc import register

STORED = json.loads((Path(__file__).parents[2] / "results/layers.json").read_text())
ROWS = STORED["architectures"]
OPTIONAL = {"beams", "cropped", "packed"}  # not every cache of theirs moves, nor every mask packs


def test_there_are_thirty_architectures_and_reasons_for_the_others():
    assert len(ROWS) >= 30
    assert ROWS.keys() | STORED["not_compared"].keys() == set(register.names())
    assert all(STORED["not_compared"].values())


@pytest.mark.parametrize("kind", ROWS)
def test_outputs_are_equal_as_far_as_float32_goes(kind):
    row = ROWS[kind]
    asked = STORED["tolerances"].keys() - (set() if "sections" in str(row["what"]) else {"axes"})
    assert row["differences"].keys() == asked
    for name, size in row["differences"].items():
        if isinstance(size, str):
            assert name in OPTIONAL
        else:
            assert size <= STORED["tolerances"][name]


def test_the_comparison_would_see_that_nothing_turns():
    turned = {kind: row["unturned"] for kind, row in ROWS.items() if row["unturned"] is not None}
    assert len(turned) >= 30
    assert min(turned.values()) > 1000 * max(STORED["tolerances"].values())


@pytest.mark.parametrize(
    "words",
    ["sinks", "softcap", "query_scaling", "window", "chunk", "none", "interleaved", "yarn",
     "sections"],
)  # fmt: skip
def test_what_released_models_do_is_among_them(words):
    assert any(words in one for row in ROWS.values() for one in row["what"])


@pytest.mark.parametrize("kind", ["llama", "qwen3", "gemma3_text", "gpt_oss", "deepseek_v3"])
def test_the_families_that_everybody_asks_for_are_among_them(kind):
    assert kind in ROWS
