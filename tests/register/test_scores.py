"""What the register says of families with attention of their own is what their models scored."""

import json
from pathlib import Path

import numpy as np
import pytest

from posenc import register
from posenc.register import distances

SCORED = json.loads((Path(__file__).parent / "scored.json").read_text())


def cases(what, *, without=()):
    found = [case for case in SCORED if case["what"] == what and case["kind"] not in without]
    assert found
    return pytest.mark.parametrize("case", found, ids=lambda case: case["kind"])


@cases("slopes")
def test_slopes_of_heads(case):
    layer = register.read(case["config"]).layers[0]
    assert layer.slopes["n_heads"] == len(case["seen"])
    # Falcon's are rounded to bfloat16, which has eight bits
    rtol = 2**-8 if layer.slopes.get("rounding") else 1e-4
    np.testing.assert_allclose(layer.slopes["values"], case["seen"], rtol=rtol)


@cases("rows")
def test_rows_that_distances_take(case):
    found = register.read(case["config"])
    for layer, seen in zip((0, -1), case["seen"], strict=True):
        offsets, rows = np.array(seen).T
        start = found.rows(layer, 0)
        np.testing.assert_array_equal(found.rows(layer, offsets) - start, rows)
        assert found.rows(layer, offsets).min() >= 0
        assert found.rows(layer, offsets).max() < found.layers[layer].buckets["n"]


@cases("squares")
def test_rows_in_a_square_of_patches(case):
    side = case["config"]["window_size"]
    cells = np.stack(np.divmod(np.arange(side**2), side), -1)
    rows = register.read(case["config"]).rows(0, cells - cells[:, None])
    np.testing.assert_array_equal(rows, case["seen"])


@cases("tables")
def test_tables_and_the_row_of_the_first_position(case):
    found = register.read(case["config"])
    stacks = {str(layer.stack): layer.table for layer in found.layers}
    assert stacks.keys() == case["seen"].keys()
    for stack, seen in case["seen"].items():
        table = stacks[stack]
        extra = table["offset"] if table["kind"] == "sinusoidal" else table["rows_more"]
        assert table["length"] + extra == seen["rows"]
        assert table["offset"] == seen["first"]
        if table["kind"] == "sinusoidal":
            width = case["config"]["d_model"]
            rows = distances.sinusoids(np.array([1, 19]) + table["offset"], width, table)
            half = width // 2
            columns = rows[:, [0, 1, half - 1, half, half + 1, -1]]
            np.testing.assert_allclose(columns, seen["numbers"], atol=2e-6)


@cases("sight")
def test_how_many_keys_queries_see(case):
    for layer, (first, last) in zip(
        register.read(case["config"]).layers, case["seen"], strict=True
    ):
        assert first == (1 if layer.causal else 20)
        assert last == min(20, layer.window or 20)


def test_a_table_that_suffices_is_not_said_to_end():
    assert "tokens fail" not in register.read("roberta").explain(510)


def test_what_a_class_does_not_read_is_said():
    said = register.read({"model_type": "mpt", "attn_config": {"alibi_bias_max": 16}}).explain()
    assert "transformers' class does not read alibi_bias_max = 16" in said


def test_a_model_whose_table_is_switched_off_lets_no_positions_in():
    found = register.read({"model_type": "deberta", "position_biased_input": False})
    assert {layer.door for layer in found.layers} == {"none"}
    assert "No positions enter here" in found.explain()
