"""Layers that mix tokens otherwise than by attention, or turn otherwise, and what is refused."""

import numpy as np
import pytest

from posenc import register

M, A = "mamba", "attention"
GRANITE = {
    "model_type": "granitemoehybrid", "hidden_size": 1536, "num_attention_heads": 12,
    "num_key_value_heads": 4, "num_hidden_layers": 4, "layer_types": [M, M, A, M],
    "max_position_embeddings": 131_072, "attention_multiplier": 0.0078125,
    "rope_theta": 10_000, "rope_scaling": None, "position_embedding_type": "nope",
}  # fmt: skip
MINIMAX_M2 = {
    "architectures": ["MiniMaxM2ForCausalLM"], "model_type": "minimax", "head_dim": 128,
    "hidden_size": 3072, "num_attention_heads": 48, "num_hidden_layers": 62,
    "max_position_embeddings": 196_608, "rope_theta": 5_000_000, "rotary_dim": 64,
    "auto_map": {"AutoConfig": "configuration_minimax_m2.MiniMaxM2Config"},
}  # fmt: skip


def attend(config):
    return [n for n, layer in enumerate(register.read(config).layers) if layer.kind != "none"]


@pytest.mark.parametrize(
    ("config", "expected"),
    [
        ({"model_type": "jamba", "num_hidden_layers": 16}, [4, 12]),
        ({"model_type": "jamba", "num_hidden_layers": 7, "attn_layer_period": 3,
          "attn_layer_offset": 0}, [0, 3, 6]),
        ({"model_type": "bamba"}, []),
        ({"model_type": "bamba", "attn_layer_indices": [9, 18, 27]}, [9, 18, 27]),
        ({"model_type": "recurrent_gemma", "num_hidden_layers": 8}, [2, 5]),
        ({"model_type": "recurrent_gemma", "num_hidden_layers": 4,
          "block_types": [A, "recurrent"]}, [0, 2]),
        ({"model_type": "nemotron_h", "hybrid_override_pattern": "M-M*EM*"}, [3, 6]),
        ({"model_type": "nemotron_h", "layers_block_type": [M, A, "mlp"]}, [1]),
        ({"model_type": "zamba2", "num_hidden_layers": 3,
          "layers_block_type": [M, "hybrid", M]}, [1]),
        ({"model_type": "falcon_h1", "num_hidden_layers": 2}, [0, 1]),
        ({"model_type": "lfm2", "full_attn_idxs": [2, 5, 7]}, [2, 5, 7]),
        ({"model_type": "kimi_linear", "num_hidden_layers": 8, "linear_attn_config":
          {"full_attn_layers": [4, 8], "kda_layers": [1, 2, 3, 5, 6, 7]}}, [3, 7]),
        ({"model_type": "qwen3_next", "num_hidden_layers": 8}, [3, 7]),
        ({"model_type": "qwen3_next", "num_hidden_layers": 4,
          "full_attention_interval": 2}, [1, 3]),
        (GRANITE, [2]),
        ({**GRANITE, "layer_types": None, "layers_block_type": [A, M, M, A]}, [0, 3]),
    ],
)  # fmt: skip
def test_each_way_of_saying_which_layers_attend_is_read(config, expected):
    assert attend(config) == expected


def test_a_recurrence_beside_attention_says_whether_it_reads_the_same_input():
    parallel, behind = register.read("falcon_h1"), register.read("zamba2")
    assert {(one.door, one.mixer, one.mixer_place) for one in parallel.layers} == {
        ("rotate", "recurrent", "parallel")
    }
    assert {(one.kind, one.mixer, one.mixer_place) for one in behind.layers} == {
        ("none", "recurrent", None),
        ("full", "recurrent", "behind"),
    }
    for one in (parallel, behind):
        assert {"mixer", "mixer_place"} <= set(one.proved)


def test_granite_4_turns_only_where_it_says_rope():
    found = register.read(GRANITE)
    assert [layer.door for layer in found.layers] == ["none"] * 4
    assert [layer.mixer for layer in found.layers] == ["recurrent"] * 2 + [None, "recurrent"]
    assert found.layers[2].scale == 0.0078125
    assert not found.unread
    assert found.proved
    turned = register.read({**GRANITE, "position_embedding_type": "rope"})
    assert (turned.layers[2].door, turned.layers[2].base) == ("rotate", 10_000)


def test_zamba_turns_and_reaches_farther_where_its_switches_say_so():
    plain = register.read("zamba2")
    assert (plain.layers[6].door, plain.length) == ("none", 4096)
    assert plain.layers[6].scale == pytest.approx((plain.layers[6].head_dim / 2) ** -0.5)
    both = register.read({"model_type": "zamba2", "use_mem_rope": True, "use_long_context": True})
    assert (both.layers[6].door, both.length) == ("rotate", 16_384)


def test_what_multiplies_keys_or_queries_before_is_part_of_the_scale():
    plain, louder = (
        register.read({"model_type": "falcon_h1", "key_multiplier": one}).layers[0].scale
        for one in (1.0, 0.25)
    )
    assert louder == plain / 4
    muse = register.read({"model_type": "muse_spark_text", "qk_scale_factor": 3.0}).layers[0]
    assert muse.scale == pytest.approx(3 * muse.head_dim**-0.5)


def test_minimax_m2_is_no_hybrid_though_its_first_releases_say_minimax():
    found = register.read(MINIMAX_M2)
    assert found.family == "minimax_m2"
    assert {(layer.kind, layer.turning) for layer in found.layers} == {("full", 64)}
    assert "read as 'minimax_m2', as architectures says" in found.checks[0]
    assert not found.proved


def test_an_indexer_chooses_keys_and_glm_5_3_flash_has_it_choose_pools():
    found = register.read("glm5_next_text")
    kinds = {(one.kind, one.door, one.mixer) for one in found.layers}
    assert kinds == {("none", "none", "recurrent"), ("full", "none", None)}
    assert found.layers[3].chosen == {"most": 2048, "pool": 16, "coded": True, "tail": True}
    lists = {"linear_attn_config": {"full_attn_layers": [1], "kda_layers": [2]}}
    assert register.read({"model_type": "glm5_next_text"} | lists).layers == found.layers
    for name in ("deepseek_v32", "glm_moe_dsa", "axk2", "hy_v4"):
        most = {"model_type": name, "index_topk": 77}
        assert {one.chosen["most"] for one in register.read(most).layers} == {77}
    packed = [one for one in register.read("deepseek_v4").layers if one.compressed == 4]
    assert {one.chosen["most"] for one in packed} == {512}


def test_minimax_m3_lists_the_layers_whose_keys_are_chosen_in_a_block_of_its_own():
    sparse = {"sparse_attention_freq": [0, 1, 1], "sparse_topk_blocks": 4, "sparse_block_size": 8}
    config = {"num_hidden_layers": 3, "sparse_attention_config": sparse}
    found = register.read({"model_type": "minimax_m3_vl_text"} | config)
    assert [one.chosen and one.chosen["most"] for one in found.layers] == [None, 32, 32]
    classes = {"model_type": "minimax_m3", "architectures": ["MiniMaxM3ForCausalLM"]}
    other = register.read(classes | config)
    assert (other.family, other.layers) == (found.family, found.layers)
    assert "model_type 'minimax_m3' is read as 'minimax_m3_vl_text'" in other.checks[0]
    assert not other.proved


@pytest.mark.parametrize("kind", ["hunyuan_v1_dense", "hunyuan_v1_moe", "timesfm2_5"])
def test_a_norm_behind_the_turn_is_said(kind):
    found = register.read(kind)
    assert found.layers[0].weighed
    assert "Behind the turn learned numbers weigh each dimension." in found.explain()


# --- pictures, sound, and what no record describes


@pytest.mark.parametrize("name", register.reading._held("refused.json"))
def test_an_architecture_without_a_record_says_what_is_missing(name):
    sentence = f"'{name}' is not read here: .*a description has one entry for each layer, run once"
    for config in (name, {"model_type": name, "hidden_size": 64}):
        with pytest.raises(register.ConfigError, match=sentence):
            register.read(config)


def test_a_refused_tower_is_named_beside_what_is_read():
    found = register.read(
        {"model_type": "llama", "vision_config": {"model_type": "dory", "hidden_size": 64}}
    )
    assert found.others == ("vision_config (dory)",)


def test_a_value_of_an_entry_chooses_what_a_layer_does():
    table, turning = (
        register.read({"model_type": "esm", "position_embedding_type": kind, "pad_token_id": 1})
        for kind in ("absolute", "rotary")
    )
    assert (table.layers[0].door, turning.layers[0].door) == ("embed", "rotate")
    assert table.layers[0].table["offset"] == 2
    assert (turning.layers[0].table, turning.layers[0].base) == (None, 10_000)


def test_convolutions_outside_attention_are_said():
    found = register.read("wav2vec2-conformer")
    assert [(one["over"], one["where"]) for one in found.outside] == [
        (128, "before the layers"), (31, "in each layer"),
    ]  # fmt: skip
    alone = register.read({"model_type": "wav2vec2-conformer", "position_embeddings_type": None})
    assert alone.layers[0].door == "none"
    assert "tells their order." in alone.explain()
    assert "Order comes from nowhere" not in alone.explain()


def test_of_an_encoder_no_cache_is_spoken():
    assert "cache" not in register.read("modernbert").explain()


def test_a_schedule_of_earlier_modernberts_holds_in_all_layers():
    config = {"model_type": "modernbert", "local_rope_theta": 7.0, "global_rope_theta": 9.0}
    linear = {"rope_scaling": {"rope_type": "linear", "factor": 4.0}}
    for one in register.read(config | linear).layers:
        assert one.base == (7 if one.kind == "window" else 9)
        assert one.scaling["factor"] == 4


def test_axes_of_a_picture_take_frequencies_in_turn():
    found = register.read({"model_type": "pixtral", "hidden_size": 32, "num_attention_heads": 2})
    layer = found.layers[0]
    assert layer.sections == {"height": (0, 1, 2, 3), "width": (4, 5, 6, 7)}
    order = 10_000.0 ** -(2 * np.array([0, 2, 4, 6, 1, 3, 5, 7]) / 16)
    np.testing.assert_allclose(found.inv_freq(0), order)


def test_patches_of_dinov3_turn_by_their_share_of_the_picture():
    found = register.read({"model_type": "dinov3_vit", "num_register_tokens": 4})
    layer = found.layers[0]
    assert (layer.alike, layer.of_sides, layer.prefix) == (True, True, 5)
    assert layer.sections == {"height": tuple(range(16)), "width": tuple(range(16, 32))}
    np.testing.assert_allclose(found.inv_freq(0), np.tile(100.0 ** -(np.arange(16) / 16), 2))
    assert "The first 5 tokens do not turn." in found.explain()


def test_pairs_of_vjepa2_take_two_angles_which_is_no_turn():
    found = register.read("vjepa2")
    layer = found.layers[0]
    assert (layer.alike, layer.uneven, layer.turning, layer.head_dim) == (True, True, 60, 64)
    np.testing.assert_allclose(found.inv_freq(0), np.tile(10_000.0 ** -(np.arange(10) / 10), 3))
