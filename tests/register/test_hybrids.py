"""Layers that mix tokens otherwise than by attention, in its place or beside it."""

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
    assert "beside attention a recurrent layer reads the same input" in parallel.explain()
    assert "a recurrent layer follows, which reads what attention gives, too" in behind.explain()
    assert "from 45 recurrent layers" in behind.explain()
    assert "and from 9 recurrences beside attention, and from the causal" in behind.explain()


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


def test_muse_spark_counts_the_layers_that_do_not_turn_from_its_end_or_lists_them():
    for n_layers in (6, 62):
        doors = [
            layer.door
            for layer in register.read(
                {"model_type": "muse_spark_text", "num_hidden_layers": n_layers}
            ).layers
        ]
        assert doors[::-1][:6] == ["none", "rotate", "rotate", "rotate", "none", "rotate"]
    said = {"model_type": "muse_spark_text", "num_hidden_layers": 3}
    listed = register.read(said | {"layer_rope_theta": [0, 500_000.0, 500_000.0]})
    assert [layer.door for layer in listed.layers] == ["none", "rotate", "rotate"]
    with pytest.raises(register.ConfigError, match=r"lists 37\.0 for layer 1; this family's code"):
        register.read(said | {"layer_rope_theta": [0, 37.0, 37.0]})


def test_minimax_m2_is_no_hybrid_though_its_first_releases_say_minimax():
    found = register.read(MINIMAX_M2)
    assert found.family == "minimax_m2"
    assert {(layer.kind, layer.turning) for layer in found.layers} == {("full", 64)}
    assert "read as 'minimax_m2', as architectures says" in found.checks[0]
    assert not found.proved


@pytest.mark.parametrize("kind", ["hunyuan_v1_dense", "hunyuan_v1_moe"])
def test_hunyuans_alpha_grows_the_base(kind):
    rope = {"alpha": 1000.0, "factor": 1.0, "type": "dynamic"}
    found = register.read({"model_type": kind, "head_dim": 128, "rope_scaling": rope})
    assert found.layers[0].base == pytest.approx(10_000 * 1000 ** (128 / 126))
    assert found.layers[0].scaling is None
    assert found.proved


def test_an_indexer_chooses_keys_and_glm_5_3_flash_has_it_choose_pools():
    found = register.read("glm5_next_text")
    kinds = {(one.kind, one.door, one.mixer) for one in found.layers}
    assert kinds == {("none", "none", "recurrent"), ("full", "none", None)}
    assert found.layers[3].chosen == {"most": 2048, "pool": 16, "coded": True, "tail": True}
    said = found.explain()
    chosen = "chooses at most 2,048 tokens, in pools of 16, besides up to 15 behind the last whole"
    assert f"a query sees everything before it, of which an indexer {chosen} pool." in said
    assert "a mean of its tokens, whose places a learned code tells." in said
    with pytest.raises(register.ConfigError, match="index_topk = 100 is no multiple of index_kpoo"):
        register.read({"model_type": "glm5_next_text", "index_topk": 100})
    lists = {"linear_attn_config": {"full_attn_layers": [1], "kda_layers": [2]}}
    assert register.read({"model_type": "glm5_next_text"} | lists).layers == found.layers
    for name in ("deepseek_v32", "glm_moe_dsa", "axk2", "hy_v4"):
        most = {"model_type": name, "index_topk": 77}
        assert {one.chosen["most"] for one in register.read(most).layers} == {77}
    packed = [one for one in register.read("deepseek_v4").layers if one.compressed == 4]
    assert {one.chosen["most"] for one in packed} == {512}
    assert "and one key for each 4 tokens before, of which an indexer chooses at most 512." in (
        register.read("deepseek_v4").explain()
    )


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
    with pytest.raises(register.ConfigError, match="sparse_attention_config must be an object"):
        register.read({"model_type": "minimax_m3_vl_text", "sparse_attention_config": [1]})


def test_a_window_of_mimo_may_count_the_tokens_before_a_query_alone():
    for entries, window in (({}, 129), ({"sliding_window": 9}, 9),
                            ({"sliding_window": 9, "sliding_window_size": 9}, 10)):  # fmt: skip
        found = register.read({"model_type": "mimo_v2_flash", **entries})
        assert {one.window for one in found.layers} == {None, window}


@pytest.mark.parametrize(
    ("config", "sentence"),
    [
        ({"model_type": "nemotron_h", "num_hidden_layers": 52},
         "layers_block_type or layer_types must list the 52 layers; .* its own 4"),
        ({"model_type": "nemotron_h", "hybrid_override_pattern": "MX"},
         "hybrid_override_pattern must list layers as .*, got 'MX'"),
        ({"model_type": "nemotron_h", "hybrid_override_pattern": "MM", "num_hidden_layers": 3},
         "lists 2 layers, num_hidden_layers says 3"),
        ({"model_type": "zamba2", "num_hidden_layers": 1, "layers_block_type": ["full_attention"]},
         "lists 'full_attention', which is not known here"),
        ({"model_type": "jamba", "layer_types": ["full_attention"] * 32},
         "layer_types = .* cannot be said in this family"),
        ({"model_type": "jamba", "attn_layer_offset": 8},
         "attn_layer_offset = 8 must be smaller than attn_layer_period = 8"),
        ({"model_type": "bamba", "attn_layer_indices": [32]},
         "attn_layer_indices must list numbers from 0 to 31"),
        ({"model_type": "recurrent_gemma", "block_types": ["mamba"]},
         "block_types lists 'mamba', which is not known here"),
        ({"model_type": "recurrent_gemma", "rope_scaling": {"type": "linear", "factor": 2.0}},
         "rope_type must be one of default, got 'linear'"),
        (GRANITE | {"position_embedding_type": "alibi"},
         "position_embedding_type must be 'rope', 'nope' or null, got 'alibi'"),
    ],
)  # fmt: skip
def test_a_hybrid_that_means_nothing_gets_a_sentence(config, sentence):
    with pytest.raises(register.ConfigError, match=sentence):
        register.read(config)


def test_laguna_lists_the_heads_of_each_layer():
    config = {"model_type": "laguna", "num_hidden_layers": 2, "num_key_value_heads": 8}
    found = register.read(config | {"num_attention_heads_per_layer": [48, 64]})
    assert [(layer.n_heads, layer.sources["n_heads"]) for layer in found.layers] == [
        (48, "config"), (64, "config"),
    ]  # fmt: skip
    for listed, sentence in (([48], "a number for each of 2 layers"), ([48, 60], "no multiple of")):
        with pytest.raises(register.ConfigError, match=sentence):
            register.read(config | {"num_attention_heads_per_layer": listed})


@pytest.mark.parametrize("kind", ["hunyuan_v1_dense", "hunyuan_v1_moe"])
def test_hunyuans_norm_behind_the_turn_is_said(kind):
    found = register.read(kind)
    assert found.layers[0].weighed
    assert "Behind the turn learned numbers weigh each dimension." in found.explain()


@pytest.mark.parametrize(("weights", "moves"), [((1.0, 1.0), False), ((1.0, 2.0), True)])
def test_weights_behind_the_turn_that_differ_in_a_pair_make_scores_depend_on_places(weights, moves):
    omega = register.read("hunyuan_v1_dense").inv_freq(0, 2048)[3]

    def score(query_place, key_place):
        q, k = (np.array([np.cos(omega * t), np.sin(omega * t)]) for t in (query_place, key_place))
        return (weights * q) @ (weights * k)

    assert (abs(score(7, 2) - score(107, 102)) > 0.1) == moves


def test_queries_that_grow_by_zero_do_not_grow():
    rope = {"rope_type": "yarn", "factor": 64.0, "original_max_position_embeddings": 4096}
    config = {"model_type": "ministral3", "rope_parameters": rope | {"rope_theta": 1e6}}
    still = {"rope_parameters": config["rope_parameters"] | {"llama_4_scaling_beta": 0.0}}
    assert register.read(config | still).layers[0].query_scaling is None
    assert "grow with their place" not in register.read(config | still).explain()
