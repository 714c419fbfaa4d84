"""What the register says of families with attention of their own is what their models scored."""

import json
from pathlib import Path

import numpy as np
import pytest

from posenc import register
from posenc.register import distances

SCORED = json.loads((Path(__file__).parent / "scored.json").read_text())


def cases(what):
    found = [case for case in SCORED if case["what"] == what]
    assert found
    return pytest.mark.parametrize("case", found, ids=lambda case: case["kind"])


@cases("turned")
def test_scores_of_turned_queries(case):
    seen, found = case["seen"], register.read(case["config"])
    layer, omega = found.layers[0], found.inv_freq(0, 100)
    place = np.array(seen["places"])
    n = np.arange(len(omega))
    first, second = (2 * n, 2 * n + 1) if layer.pairing == "interleaved" else (n, n + len(omega))

    def turn(rows):
        rows = np.array(rows)
        z = (rows[:, first] + 1j * rows[:, second]) * np.exp(1j * np.outer(place, omega))
        rows[:, first], rows[:, second] = layer.gain * z.real, layer.gain * z.imag
        return rows

    scores = turn(seen["query"]) @ turn(seen["key"]).T * layer.scale
    for row, expected in zip(scores, seen["scores"], strict=True):
        np.testing.assert_allclose(row[: len(expected)], expected, atol=5e-5 * np.abs(scores).max())


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


def test_encoders_come_first_and_see_every_token():
    layers = register.read("t5").layers
    assert [layer.stack for layer in layers] == ["encoder"] * 6 + ["decoder"] * 6
    assert [layer.causal for layer in layers] == [False] * 6 + [True] * 6
    assert [layer.buckets["bidirectional"] for layer in layers] == [True] * 6 + [False] * 6
    said = register.read("t5").explain()
    assert "in the encoder, a query sees every token" in said
    assert "in the decoder, a query sees everything before it" in said


def test_a_table_that_ends_is_named_with_the_length_asked_about():
    assert "for position 510 and later ones: 511 tokens fail" in register.read("roberta").explain(
        511
    )
    assert "tokens fail" not in register.read("roberta").explain(510)
    assert "makes it longer" in register.read("xglm").explain(3000)


@pytest.mark.parametrize(
    ("config", "sentence"),
    [
        ({"model_type": "deberta", "relative_attention": True, "pos_att_type": "c2c"},
         "pos_att_type must be made of c2p and p2c, got \\['c2c'\\]"),
        ({"model_type": "vit", "patch_size": 300}, "does not fit into image_size"),
        ({"model_type": "vit", "image_size": "big"}, "image_size must be one or two whole numbers"),
        ({"model_type": "swin", "depths": [2, 2]}, "depths lists 2 stages, num_heads 4"),
        ({"model_type": "swin", "depths": "deep"}, "depths must list whole numbers above 0"),
        ({"model_type": "swin", "image_size": 64}, "window_size = 7 is wider than stage 2"),
        ({"model_type": "roberta", "pad_token_id": -1}, "pad_token_id must be a whole number"),
        ({"model_type": "roberta", "max_position_embeddings": 2}, "holds no position"),
        ({"model_type": "mpt", "attn_config": {"softmax_scale": -1}}, "softmax_scale must be"),
        ({"model_type": "t5", "num_decoder_layers": 10**6}, "num_decoder_layers must be at most"),
        ({"model_type": "t5", "relative_attention_max_distance": 8}, "32 buckets cannot share out"),
        ({"model_type": "t5", "relative_attention_num_buckets": 1}, "1 buckets cannot share out"),
        ({"model_type": "mpt", "attn_config": 7}, "attn_config must be an object"),
    ],
)  # fmt: skip
def test_numbers_that_mean_nothing_get_a_sentence(config, sentence):
    with pytest.raises(register.ConfigError, match=sentence):
        register.read(config)


def test_what_a_class_does_not_read_is_said():
    said = register.read({"model_type": "mpt", "attn_config": {"alibi_bias_max": 16}}).explain()
    assert "transformers' class does not read alibi_bias_max = 16" in said


def test_only_layers_with_a_table_of_distances_have_rows():
    with pytest.raises(ValueError, match="layer 0 of llama has no table of distances"):
        register.read("llama").rows(0, 1)


def test_a_model_whose_table_is_switched_off_lets_no_positions_in():
    found = register.read({"model_type": "deberta", "position_biased_input": False})
    assert {layer.door for layer in found.layers} == {"none"}
    assert "No positions enter here" in found.explain()
