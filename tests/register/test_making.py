"""What `make` builds does what the probe saw in released models, and refuses the rest kindly."""

import json
from pathlib import Path

import numpy as np
import pytest
from test_scores import cases

from posenc import register
from posenc.register import distances

torch = pytest.importorskip("torch")

from posenc.attention import Places, SelfAttention  # noqa: E402 - behind the check for torch

PROBED = json.loads((Path(__file__).parent / "probed.json").read_text())
DEBERTA = {
    "model_type": "deberta-v2", "relative_attention": True, "position_buckets": 32,
    "max_relative_positions": 128, "position_biased_input": False, "pos_att_type": ["c2p", "p2c"],
}  # fmt: skip


def turned_by(position, rows, places):
    """Return queries of all heads, turned at places, of the first head."""
    rows = rows.expand(1, position.n_heads, *rows.shape)
    at = Places.at(torch.as_tensor(places), rows[0])
    turned, keys = position.rotate(rows, rows, at)
    assert torch.equal(turned, keys)
    return turned[0, 0]


@pytest.mark.parametrize(
    "case", PROBED, ids=lambda case: f"{case['config']['model_type']}-{case['name']}"
)
def test_what_is_made_turns_as_the_probe_saw(case):
    read = register.read(case["config"])
    places = [0, 1, 7, case["length"] - 1]
    for seen in case["layers"]:
        layer, omega = read.layers[seen["layer"]], np.array(seen["inv_freq"])
        n = np.arange(len(omega))
        first, second = (n, n + len(omega)) if seen["pairing"] == "half" else (2 * n, 2 * n + 1)
        first, second = first + seen["first"], second + seen["first"]
        rows = torch.randn(len(places), seen["head_dim"], dtype=torch.float64)
        expected = rows.numpy().copy()
        turns = np.exp(1j * seen["direction"] * np.outer(places, omega))
        z = layer.gain * (expected[:, first] + 1j * expected[:, second]) * turns
        expected[:, first], expected[:, second] = z.real, z.imag
        turned = turned_by(read.make(seen["layer"]).double(), rows, places).numpy()
        allowed = 1e-6 + 1e-6 * max(places)  # frequencies are measured with seven digits
        np.testing.assert_allclose(turned, expected, atol=allowed * np.abs(z).max())


@cases("turned")
def test_scores_are_those_of_their_models(case):
    seen, read = case["seen"], register.read(case["config"])
    position, scale = read.make(0).double(), read.scoring(0).scale
    q, k = (
        turned_by(position, torch.tensor(seen[name], dtype=torch.float64), seen["places"])
        for name in ("query", "key")
    )
    scores = (q @ k.T * scale).numpy()
    for row, expected in zip(scores, seen["scores"], strict=True):
        np.testing.assert_allclose(row[: len(expected)], expected, atol=5e-5 * np.abs(scores).max())


@cases("slopes", without=("falcon",))
def test_slopes_are_those_of_their_models(case):
    x = torch.zeros(1, 2, register.read(case["config"]).make(0).d_model)
    bias = register.read(case["config"]).make(0).bias(x, x, x)
    np.testing.assert_allclose(-bias.squeeze(0)[:, 1, 0], case["seen"], rtol=1e-4)


@cases("rows", without=("deberta", "deberta-v2"))
def test_distances_take_the_rows_of_t5(case):
    read = register.read(case["config"])
    for layer, seen in zip((0, -1), case["seen"], strict=True):
        position = read.make(layer, door="bias")
        position.values.data[:] = torch.arange(position.n_buckets)
        offsets, rows = np.array(seen).T
        bias = bias_at(position, offsets)
        np.testing.assert_array_equal(bias - bias_at(position, [0]), rows)


@cases("rows", without=("t5", "umt5", "mpnet"))
@torch.no_grad()
def test_distances_take_the_rows_of_deberta(case):
    read = register.read(case["config"] | {"pos_att_type": ["c2p", "p2c"]})
    position = read.make(0, door="bias")
    for weight in (*position.query.parameters(), position.key.bias):
        weight.zero_()  # queries alone ask
    position.key.weight.copy_(torch.eye(position.d_model))
    position.vectors.zero_()
    position.vectors[:, 0] = torch.arange(len(position.vectors))
    offsets, rows = np.array(case["seen"][0]).T
    bias = bias_at(position, offsets) * position.d_head**0.5
    middle = bias_at(position, [0]) * position.d_head**0.5
    np.testing.assert_allclose(bias - middle, rows, atol=1e-3)


def bias_at(position, offsets):
    """Return the bias of a head for keys at these offsets from a query, which is all ones."""
    places = torch.cat((torch.zeros(1), torch.as_tensor(np.array(offsets)))).long()
    q = torch.ones(1, position.n_heads, len(places), position.d_head)
    x = torch.zeros(1, len(places), position.d_model)
    bias = position.bias(x, q, q, Places.at(places, x))
    return bias.reshape(-1, *bias.shape[-2:])[0, 0, 1:].detach().numpy()


@cases("squares")
def test_offsets_in_a_square_take_the_numbers_of_swin(case):
    side = case["config"]["window_size"]
    position = register.read(case["config"]).make(0)
    position.table.data[:] = torch.arange(position.table[0].numel()).view_as(position.table[0])
    grid = torch.cartesian_prod(*2 * [torch.arange(side)])
    x = torch.zeros(1, side**2, position.d_model)
    bias = position.bias(x, x, x, Places.at(grid, x, 2))
    np.testing.assert_array_equal(bias.reshape(-1, side**2, side**2)[0].detach(), case["seen"])


@cases("tables", without=("marian", "xglm"))
def test_learned_tables_hold_their_rows(case):
    read = register.read(case["config"])
    firsts = {str(one.stack): n for n, one in reversed(list(enumerate(read.layers)))}
    for stack, seen in case["seen"].items():
        if read.layers[firsts[stack]].table["kind"] == "sinusoidal":
            continue
        position = read.make(firsts[stack], door="embed")
        width = next(case["config"][n] for n in ("hidden_size", "n_embd", "d_model")
                     if n in case["config"])  # fmt: skip
        assert position.vectors.shape == (seen["rows"], width)
        assert position.offset == seen["first"]


@pytest.mark.parametrize(
    ("family", "sections", "expected"),
    [
        ("qwen2_vl_text", [2, 3, 3], "TTHHHWWW"),
        ("qwen3_vl_text", [4, 2, 2], "THWTHWTT"),
        ("ernie4_5_vl_moe_text", [3, 3, 2], "HWHWHWTT"),
    ],
)
def test_axes_turn_their_pairs(family, sections, expected):
    said = {"mrope_section": sections, "rope_theta": 10_000.0, "rope_type": "default"}
    config = {"model_type": family, "head_dim": 16, "num_hidden_layers": 1, "rope_scaling": said}
    read = register.read(config)
    position = read.make(0).double()
    assert "".join("THW"[n] for n in position.axis) == expected
    rows = torch.randn(3, 16, dtype=torch.float64)
    places = torch.tensor([[5, 0, 0], [0, 5, 0], [0, 0, 5]])
    q = rows.expand(1, position.n_heads, 3, 16)
    turned = position.rotate(q, q, Places.at(places, q[0], 3))[0][0, 0]
    plain = register.read({"model_type": "llama", "head_dim": 16, "rope_theta": 1e4}).make(0)
    plain.pairing = position.pairing
    alone = turned_by(plain.double(), rows, [5, 5, 5])
    for row, axis in enumerate("THW"):
        for pair, letter in enumerate(expected):
            both = [pair, pair + 8] if position.pairing == "half" else [2 * pair, 2 * pair + 1]
            there = alone if letter == axis else rows
            torch.testing.assert_close(turned[row, both], there[row, both])


@torch.no_grad()
def test_xlnet_scores_distances_as_the_register_says():
    read = register.read({"model_type": "xlnet", "d_model": 16, "n_head": 2, "d_head": 8})
    position, scale = read.make(0).double(), read.scoring(0).scale
    q, k = torch.randn(2, 1, 2, 6, 8, dtype=torch.float64)
    wide_q, wide_k = position.rotate(q, k)
    away = np.arange(6)[:, None] - np.arange(6)  # query's place minus key's
    codes = torch.as_tensor(distances.sinusoids(away, 16, read.layers[0].relative))
    vectors = position.project(codes).unflatten(-1, (2, 8)).permute(2, 0, 1, 3)
    content = (q + position.of_content) @ k.mT
    expected = content + torch.einsum("bhqd,hqkd->bhqk", q + position.of_offset, vectors)
    torch.testing.assert_close(wide_q @ wide_k.mT * scale, expected * 8**-0.5)


def test_how_layers_score():
    assert register.read("gpt_oss").scoring(0).sinks
    assert register.read("gemma2").scoring(0).softcap == 50
    growing = register.read("llama4_text").scoring(3).query_scaling
    assert (growing.beta, growing.every, growing.shift) == (0.1, 8192, 1)
    assert register.read("llama4_text").scoring(0).query_scaling is None
    assert register.read("ministral3").scoring(0).query_scaling.shift == 0
    still = {"rope_type": "yarn", "factor": 64.0, "llama_4_scaling_beta": 0.0}
    still |= {"original_max_position_embeddings": 4096, "rope_theta": 1e6}
    read = register.read({"model_type": "ministral3", "rope_parameters": still})
    assert read.scoring(0).query_scaling is None  # growing by zero is not growing
    assert register.read("t5").scoring(0).scale == 1
    assert register.read(DEBERTA).scoring(0).scale is None  # its encoding has the factor itself
    assert register.read("deepseek_v3").scoring(0).scale == pytest.approx(192**-0.5)


@pytest.mark.parametrize(
    "name", ["llama", "deepseek_v3", "gpt_oss", "nanochat", "t5", "bert", DEBERTA, "gemma4_text"]
)
def test_what_is_made_fits_into_a_layer(name):
    read = register.read(name)
    one, position = read.layers[0], read.make(0)
    layer = SelfAttention(
        64, one.n_heads, position, causal=one.causal, d_head=one.head_dim, scoring=read.scoring(0)
    ) if one.door != "embed" else SelfAttention(768, one.n_heads, position)  # fmt: skip
    x = torch.randn(1, 5, layer.d_model)
    assert layer(x).isfinite().all()


LACKING = {
    "a sinusoidal table with all sines first": {"marian", "pegasus", "whisper", "xglm"},
    "sines and cosines side by side": {"wav2vec2-conformer"},
    "axes that take frequencies in turn": {"pixtral"},
    "places that are shares of a picture": {"dinov3_vit"},
    "pairs whose dimensions take two angles": {"vjepa2"},
    "axes that share pairs other than those of plain RoPE": {"hy_v4_vl_text"},
}


def test_every_architecture_is_made_or_gets_a_sentence():
    lacking = {}
    for name in register.names():
        if name in ("glm4_moe", "glm4v_moe_text", "qwen3_omni_moe_text"):
            continue  # these defaults mean nothing, as another test says
        width = {"partial_rotary_factor": 0.5} if name in ("glm4v_text", "glm_image_text") else {}
        read = register.read({"model_type": name} | width)
        for number in {0, len(read.layers) - 1}:
            try:
                read.make(number, "bias" if name == "mpnet" else None)
            except ValueError as error:
                what = str(error).split(name)[0].removeprefix("the library has no encoding for ")
                lacking.setdefault(what.removesuffix(", as "), set()).add(name)
    assert lacking.pop("this layer of ")  # it has no attention
    assert lacking == LACKING


@pytest.mark.parametrize(
    ("config", "sentence"),
    [
        ({"model_type": "falcon", "alibi": True}, "has other slopes than falcon"),
        ({"model_type": "xlnet", "clamp_len": 40}, "no encoding for distances that end at 40"),
        (DEBERTA | {"pos_att_type": "c2p"}, "c2p without the other of c2p and p2c"),
        (DEBERTA | {"pos_att_type": []}, "no term without the other of c2p and p2c"),
        ({"model_type": "mpnet"}, "door must be one of bias, embed, as mpnet uses both"),
        ({"model_type": "lfm3"}, "this layer of lfm3 has no attention"),
        ({"model_type": "gpt2", "n_positions": 10**9}, "must have at most 1,073,741,824"),
        ({"model_type": "t5", "num_heads": 10**9, "d_kv": 4}, "must have at most 1,073,741,824"),
    ],
)  # fmt: skip
def test_what_is_not_there_gets_a_sentence(config, sentence):
    with pytest.raises(ValueError, match=sentence):
        register.read(config).make(0)


FLASH = {  # what says where the layers of DeepSeek-V4 Flash stand, in the form of its release
    "model_type": "deepseek_v4", "num_hidden_layers": 4, "compress_ratios": [0, 4, 128, 0, 0],
    "rope_theta": 10000, "compress_rope_theta": 160000, "head_dim": 512, "qk_rope_head_dim": 64,
    "rope_scaling": {"type": "yarn", "factor": 16, "original_max_position_embeddings": 65536},
}  # fmt: skip


@pytest.mark.parametrize(
    ("config", "back"), [({"model_type": "roformer", "rotary_value": True}, False), (FLASH, True)]
)
def test_values_turn_where_a_model_turns_them_and_back_where_it_turns_back(config, back):
    read = register.read(config)
    layer, position = read.layers[0], read.make(0)
    assert (layer.values_turn, layer.turned_back) == (True, back)
    assert [position.is_closed(door) for door in ("carry", "deliver")] == [False, not back]
    assert ("turned back by its own place" in read.explain()) == back
    plain = register.read({"model_type": "roformer"})
    assert not plain.layers[0].values_turn
    assert plain.make(0).is_closed("carry")


def test_deepseek_v4_has_one_base_a_layer_and_keys_for_several_tokens():
    read = register.read(FLASH)
    assert [one.base for one in read.layers] == [10_000, 160_000, 160_000, 10_000]
    assert [one.compressed for one in read.layers] == [None, 4, 128, None]
    assert [one.window for one in read.layers] == [128] * 4
    assert [bool(one.scaling) for one in read.layers] == [False, True, True, False]
    assert {(one.gain, one.first, one.turning, one.sinks) for one in read.layers} == {
        (1.0, 448, 64, True)
    }
    assert "issue 45910" in read.explain()
    nested = {k: v for k, v in FLASH.items() if k not in ("rope_scaling", "qk_rope_head_dim")}
    nested["rope_parameters"] = {
        "main": {"rope_type": "default", "rope_theta": 5_000.0, "partial_rotary_factor": 0.25},
        "compress": {"rope_type": "default", "rope_theta": 7_000.0, "partial_rotary_factor": 0.25},
    }
    found = [(one.base, one.turning) for one in register.read(nested).layers]
    assert found == [(5_000.0, 128), (7_000.0, 128), (7_000.0, 128), (5_000.0, 128)]


@pytest.mark.parametrize(
    ("ask", "sentence"),
    [
        (
            lambda: register.read("llama").make(0, door="bias"),
            "door must be 'rotate' for this laye",
        ),
        (lambda: register.read("llama").make(32), "layer must be from 0 to 31, got 32"),
        (lambda: register.read("smollm3").inv_freq(3), "layer 3 of smollm3 does not turn"),
        (lambda: register.read("llama").rows(0, 1), "layer 0 of llama has no table of distances"),
    ],
)
def test_what_a_layer_has_not_gets_a_sentence(ask, sentence):
    with pytest.raises(ValueError, match=sentence):
        ask()


def test_ten_million_tokens_take_no_table_of_ten_million_rows():
    config = {"model_type": "llama4_text", "max_position_embeddings": 10**7}
    position = register.read(config).make(0)
    assert sum(held.numel() for held in position.buffers()) < 10**7


INKLING = {
    "model_type": "inkling_text", "hidden_size": 24, "num_hidden_layers": 6, "d_rel": 3,
    "num_attention_heads": 2, "head_dim": 8, "swa_num_attention_heads": 4, "swa_head_dim": 10,
    "sliding_window_size": 5, "rel_extent": 7, "log_scaling_n_floor": 4, "log_scaling_alpha": 0.3,
}  # fmt: skip


@pytest.mark.parametrize(("number", "n_heads", "d_head", "reach"), [(0, 4, 10, 5), (5, 2, 8, 7)])
def test_inklings_scores_are_those_of_its_rule(number, n_heads, d_head, reach):
    read = register.read(INKLING)
    one, position = read.layers[number], read.make(number)
    assert (one.n_heads, one.head_dim, position.reach) == (n_heads, d_head, reach)
    assert one.convolved == 4
    layer = SelfAttention(
        24,
        n_heads,
        position,
        causal=True,
        d_head=d_head,
        window=one.window,
        scoring=read.scoring(number),
    ).double()
    x = torch.randn(1, 9, 24, dtype=torch.float64)
    q, k, _ = layer._in_heads(x)
    r = position.amounts(x).unflatten(-1, (n_heads, 3)).transpose(1, 2)
    away = torch.arange(9)[:, None] - torch.arange(9)  # query's place minus key's
    curves = position.profiles[:, (reach - 1 - away).clamp(0, reach - 1)]
    curves = curves * ((away >= 0) & (away < reach))
    scores = q @ k.mT / d_head + torch.einsum("bhic,cij->bhij", r, curves)
    if number == 5:
        n = torch.arange(1, 10, dtype=torch.float64)
        scores = scores * (1 + 0.3 * (n / 4).clamp(min=1).log())[:, None]
    hidden = (away < 0) | (away >= (one.window or 9))
    expected = scores.masked_fill(hidden, -torch.inf).softmax(-1)
    torch.testing.assert_close(layer.weights(x), expected, rtol=0, atol=1e-12)


def test_inkling_2_bounds_what_mixes_and_its_sinks_are_none_of_ours():
    read = register.read("inkling2_text")
    assert read.make(0).clip == read.make(5).clip == 8
    assert read.make(5).query_scaling.every == 128_000
    assert read.make(0).query_scaling is None
    with pytest.raises(ValueError, match="the library has no sinks that tokens make"):
        read.scoring(0)
    assert "Each token makes its own sink's logit" in read.explain()
    assert any("Scalable-Softmax" in note for note in read.notes)
