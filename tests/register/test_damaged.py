"""Configurations that mean nothing get one sentence, however they are damaged, and nothing else."""

import copy
import json
import random

import pytest

from posenc import register
from posenc.register import command_line, reading

VALUES = (
    None, True, 0, -1, 1, 7, 0.5, -2.5, 1e-300, 10**30, "", "x", [], [1], ["a"], [1, 2, 3], {},
    {"a": 1}, {"rope_type": "yarn"}, {"rope_type": "linear", "factor": 2}, ["full_attention"] * 3,
    {"full_attention": None, "sliding_attention": 3}, 10**400, 5e-324, 1e308,
)  # fmt: skip
ENTRIES = (
    "rope_scaling", "rope_parameters", "layer_types", "sliding_window", "no_rope_layers",
    "use_sliding_window", "max_window_layers", "head_dim", "rope_theta", "partial_rotary_factor",
    "max_position_embeddings", "original_max_position_embeddings", "text_config", "is_decoder",
)  # fmt: skip
BYTES = (b"9" * 40, b"-", b"{", b"[", b"null", b"1e9", b'"', b",", b"\x00", b"NaN", b"9" * 5000)


def one_of_each_family(draw):
    """Return a released configuration, or the defaults of a class."""
    if draw.random() < 0.5:
        return copy.deepcopy(draw.choice(list(reading.released().values()))["config"])
    name = draw.choice(register.names())
    return {"model_type": name} | copy.deepcopy(reading.families()[name]["defaults"])


def damage(config, draw):
    """Change, add or remove an entry, at the top or within another."""
    part = config
    while True:
        inside = [one for one in part.values() if isinstance(one, dict) and one]
        if not inside or draw.random() < 0.5:
            break
        part = draw.choice(inside)
    known = sorted(part.keys() - {"model_type"})
    name = draw.choice([*known, draw.choice(ENTRIES)])
    if draw.random() < 0.15:
        part.pop(name, None)
    else:
        part[name] = copy.deepcopy(draw.choice(VALUES))


@pytest.mark.parametrize("seed", range(8))
def test_damaged_entries(seed):
    draw = random.Random(seed)
    explained, sentences = 0, []
    for _ in range(100):
        config = one_of_each_family(draw)
        for _ in range(draw.choice([1, 1, 2, 3])):
            damage(config, draw)
        try:
            explained += bool(register.read(config).explain(131_072))
        except register.ConfigError as error:
            sentences.append(str(error))
    assert explained + len(sentences) == 100
    assert min(explained, len(sentences)) > 5, "damage that all survive, or nothing does"
    assert all("\n" not in one and 15 < len(one) < 300 for one in sentences)


YARN = {
    "rope_type": "yarn", "factor": 8.0, "original_max_position_embeddings": 512, "beta_fast": 32,
    "beta_slow": 1, "mscale": 1.0, "mscale_all_dim": 1.0, "attention_factor": 1.0,
}  # fmt: skip
ODD = (10**400, -(10**400), 5e-324, 1e308, 1, 10**5000, [10**400], [1e308] * 3, float("inf"))


def with_one_odd_value(config):
    """Yield a configuration with each odd value in place of each entry, at the top and inside."""
    for name, value in config.items():
        inside = with_one_odd_value(value) if isinstance(value, dict) else ()
        for other in (*ODD, *inside):
            yield config | {name: copy.deepcopy(other)}


@pytest.mark.parametrize("kind", ["llama", "deepseek_v3", "gemma3_text", "swin", "bloom", "t5"])
def test_no_odd_value_in_any_entry_ends_in_anything_but_a_sentence(kind):
    config = {"rope_scaling": YARN} | reading.families()[kind]["defaults"]
    sentences = []
    for odd in with_one_odd_value(config):
        try:
            assert register.read(odd | {"model_type": kind}).explain(4096)
        except register.ConfigError as error:
            sentences.append(str(error))
    assert sentences
    assert all(15 < len(one) < 300 for one in sentences)


LINEAR = {"type": "linear", "factor": 2.0}
TINY = {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 8192}
LISTS = {"short_factor": 2, "long_factor": [1, 2], "original_max_position_embeddings": 4096}
PARTS = {"sliding_attention": {"rope_theta": 1e4}, "full_attention": {"rope_theta": 1e6}}


@pytest.mark.parametrize(
    ("kind", "entries", "sentence"),
    [
        ("nobody", {}, "does not know model_type 'nobody'"),
        ("llamma", {}, "did you mean 'llama'"),
        (None, {}, "model_type must name the architecture, got None"),
        # schedules
        ("llama", {"rope_scaling": {"rope_type": "spiral"}}, "must be one of .*, got 'spiral'"),
        ("llama", {"rope_scaling": {"type": "linear"}}, "'linear' needs factor, which is not said"),
        ("llama", {"rope_scaling": "linear"}, "rope_scaling must be an object"),
        ("llama", {"rope_scaling": LINEAR | {"factor": "4"}}, "must be a number above 0, got '4'"),
        ("llama", {"rope_scaling": LINEAR | {"factor": True}}, "factor must be a number above 0"),
        ("llama", {"rope_scaling": LINEAR | {"rope_type": "yarn"}}, "'linear' and rope_type 'y"),
        ("llama", {"rope_scaling": TINY, "rope_parameters": {"rope_type": "linear"}},
         "'yarn' in rope_scaling and 'linear' in rope_p"),
        ("llama", {"rope_scaling": TINY, "rope_parameters": TINY | {"beta_fast": 16}},
         "rope_parameters says 'beta_fast', which rope_sc"),
        ("llama", {"rope_scaling": TINY | {"foo": 1}}, "'foo' = 1, which nothing reads in th"),
        ("llama", {"rope_scaling": {"partial_rotary_factor": 0.5}}, "r' = 0.5, which nothing"),
        ("llama", {"rope_scaling": {"mrope_section": [16, 24, 24]}}, "mrope_section is said, "),
        ("llama", {"rope_scaling": YARN | {"beta_slow": 64}}, "have these numbers: beta_fast"),
        ("llama", {"rope_scaling": YARN | {"truncate": "no"}}, "must be True or False, got 'no'"),
        ("llama", {"rope_scaling": YARN | {"original_max_position_embeddings": 0.5}},
         "original_max_position_embeddings must be a whole number, got 0.5"),
        ("llama", {"rope_scaling": YARN | {"factor": -(10**400)}}, "factor must be a number"),
        ("llama", {"rope_scaling": YARN | {"beta_slow": 5e-324}}, "beta_slow must be a number ab"),
        ("llama", {"rope_scaling": YARN | {"attention_factor": [1.0]}}, "attention_factor must be"),
        ("deepseek_v3", {"rope_scaling": YARN | {"mscale_all_dim": 1e308}}, "mscale_all_dim must "),
        ("llama", {"rope_scaling": YARN, "rope_theta": 0.5}, "'yarn' cannot have these numbers"),
        ("llama", {"rope_scaling": {"type": "longrope"} | LISTS}, "these numbers: short_factor"),
        ("phi3", {"rope_scaling": LINEAR}, "must be one of default, longrope, got 'linear'"),
        ("modernbert", {"rope_scaling": LINEAR}, "type = 'linear', which the class of this"),
        ("recurrent_gemma", {"rope_scaling": LINEAR}, "must be one of default, got 'linear'"),
        ("esm", {"position_embedding_type": "rotary", "rope_scaling": LINEAR},
         "rope_type must be one of default, got 'linear'"),
        ("gemma3_text", {"rope_parameters": PARTS | {"rope_theta": 3.0}}, "'rope_theta' beside th"),
        ("qwen2_vl_text", {"rope_scaling": {"mrope_section": [16, 24]}}, "three whole numbers"),
        ("qwen2_vl_text", {"rope_scaling": {"mrope_section": [1, 1, 1]}}, "must share 64 pairs"),
        ("ernie4_5_vl_moe_text", {"rope_scaling": {"mrope_section": [20, 24, 20]}},
         "begin with two equal numbers"),
        # sizes
        ("llama", {"rope_theta": 5e5, "rope_parameters": {"rope_theta": 1e4}},
         "rope_theta is said to be 500000.0 in the .* and"),
        ("llama", {"rope_theta": 5e5, "rotary_emb_base": 7}, "and rotary_emb_base = 7 say"),
        ("llama", {"rope_scaling": LINEAR, "rope_parameters": {"rope_type": "yarn"}},
         "rope_type is said to be 'linear' in rope_scaling and 'yarn' in rope_parameters"),
        ("llama", {"rope_theta": -1}, "rope_theta must be a number above 0, got -1"),
        ("llama", {"rope_theta": 0.5}, "rope_theta must be at least 1, got 0.5"),
        ("llama", {"rope_theta": 10**5000}, "must be a number that a computer can hold"),
        ("llama", {"num_hidden_layers": 0}, "must be a whole number of at least 1, got 0"),
        ("llama", {"num_hidden_layers": 10**9}, "num_hidden_layers must be at most 10,000"),
        ("t5", {"num_decoder_layers": 10**6}, "num_decoder_layers must be at most"),
        ("llama", {"hidden_size": 8}, "hidden_size = 8 is no multiple of num_attention_heads = "),
        ("glm4_moe", {}, "hidden_size = 4096 is no multiple of"),
        ("llama", {"hidden_size": None}, "hidden_size must be a whole number .*, got null"),
        ("llama", {"num_attention_heads": 32, "num_key_value_heads": 7}, "is no multiple of num"),
        ("inkling_text", {"swa_num_attention_heads": 4, "swa_num_key_value_heads": 3},
         "swa_num_attention_heads = 4 is no multiple of"),
        ("llama", {"partial_rotary_factor": 1.5}, "partial_rotary_factor must be at most 1"),
        ("llama", {"max_position_embeddings": 4096, "rope_scaling": TINY},
         "original_max_position_embeddings = 8,192 tokens does not fit .* = 4,096"),
        ("llama", {"max_position_embeddings": 10**400}, "max_position_embeddings must be a number"),
        ("llama", {"head_dim": 7}, "an even number of a head's 7 dimensions must turn"),
        ("gemma2", {"attn_logit_softcapping": [1]}, r"must be a number above 0, got \[1\]"),
        ("swin", {"embed_dim": 1}, "embed_dim = 1 gives stage 0 a width of 1, which is"),
        ("swin", {"depths": [2, 2]}, "depths lists 2 stages, num_heads 4"),
        ("swin", {"image_size": 64}, "window_size = 7 is wider than stage 2"),
        ("vit", {"patch_size": 300}, "does not fit into image_size"),
        ("vit", {"image_size": "big"}, "image_size must be one or two whole numbers"),
        ("dinov3_vit", {"hidden_size": 396}, "66 dimensions must be a multiple of 4"),
        ("glm5_next_text", {"index_topk": 100}, "index_topk = 100 is no multiple of index_kpoo"),
        ("roberta", {"pad_token_id": -1}, "pad_token_id must be a whole number"),
        ("roberta", {"max_position_embeddings": 2}, "holds no position"),
        ("mpt", {"attn_config": {"softmax_scale": -1}}, "softmax_scale must be"),
        ("mpt", {"attn_config": 7}, "attn_config must be an object"),
        ("minimax_m3_vl_text", {"sparse_attention_config": [1]}, "_config must be an object"),
        ("t5", {"relative_attention_max_distance": 8}, "32 buckets cannot share out"),
        # which layer does what
        ("llama", {"layer_types": 7}, "layer_types must be a list of names, got 7"),
        ("llama", {"num_hidden_layers": 2, "layer_types": ["full_attention"]},
         "lists 1 layers, num_hidden_layers says 2"),
        ("llama", {"num_hidden_layers": 1, "layer_types": ["sliding_attention"],
                   "sliding_window": None}, "lists sliding_attention, but sliding_window is null"),
        ("gpt_oss", {"layer_types": ["foo"] * 36}, "lists 'foo', which is not known"),
        ("gpt_oss", {"layer_types": ["sliding_attention"] * 36, "sliding_window": 0},
         "sliding_window is 0"),
        ("llama", {"use_sliding_window": True}, "needs max_window_layers or layer_types"),
        ("lfm2", {"full_attn_idxs": [2, 40]}, "full_attn_idxs must list numbers from 0 to 31"),
        ("inkling_text", {"local_layer_ids": [99]}, "local_layer_ids must list numbers from 0 to"),
        ("exaone4", {"sliding_window_pattern": "LLLG"}, "must be a whole number .*, got 'LLLG'"),
        ("deepseek_v4", {"compress_ratios": [5] * 61}, "compress_ratios must list layers as 0, 12"),
        ("muse_spark_text", {"num_hidden_layers": 3, "layer_rope_theta": [0, 37.0, 37.0]},
         r"lists 37\.0 for layer 1; this family's code"),
        ("laguna", {"num_hidden_layers": 2, "num_attention_heads_per_layer": [48]},
         "a number for each of 2 layers"),
        ("nemotron_h", {"num_hidden_layers": 52},
         "layers_block_type or layer_types must list the 52 layers; .* its own 4"),
        ("nemotron_h", {"hybrid_override_pattern": "MX"}, "must list layers as .*, got 'MX'"),
        ("nemotron_h", {"hybrid_override_pattern": "MM", "num_hidden_layers": 3},
         "lists 2 layers, num_hidden_layers says 3"),
        ("jamba", {"layer_types": ["full_attention"] * 32}, "= .* cannot be said in this family"),
        ("jamba", {"attn_layer_offset": 8}, "= 8 must be smaller than attn_layer_period = 8"),
        ("recurrent_gemma", {"block_types": ["mamba"]}, "lists 'mamba', which is not known here"),
        # kinds of positions
        ("bert", {"position_embedding_type": "relative_key"}, "'relative_key'"),
        ("wav2vec2-conformer", {"position_embeddings_type": "rotary"},
         "before they become queries and keys.*known are null, relative"),
        ("esm", {"position_embedding_type": "relative_key"}, "is not read here: known are"),
        ("granitemoehybrid", {"position_embedding_type": "alibi"}, "'nope' or null, got 'alibi'"),
        ("deberta", {"relative_attention": True, "pos_att_type": "c2c"},
         r"pos_att_type must be made of c2p and p2c, got \['c2c'\]"),
        ("gemma3_text", {"use_bidirectional_attention": True}, "attention = True changes"),
        # parts
        ("gemma3", {}, "text_config m"),
        ("gemma3", {"text_config": None}, "text_config m"),
        ("gemma3", {"hidden_size": 512}, "'gemma3' holds several models"),
        ("llava", {"text_config": {"hidden_size": 8}}, "text_config says no model_type, and"),
        ("llama", {"text_config": {"model_type": "qwen2"}}, "'llama', .* and 'qwen2' in text"),
        ("llama", {"text_config": "qwen2"}, "text_config must be an object with named entries"),
    ],
)  # fmt: skip
def test_a_configuration_that_means_nothing_gets_a_sentence(kind, entries, sentence):
    with pytest.raises(register.ConfigError, match=sentence):
        register.read({"model_type": kind} | entries)


@pytest.mark.parametrize("seed", range(4))
def test_damaged_files(seed, tmp_path, capsys):
    draw, path = random.Random(seed), tmp_path / "config.json"
    for _ in range(50):
        content = bytearray(json.dumps(one_of_each_family(draw)).encode())
        for _ in range(draw.choice([1, 2, 5])):
            at = draw.randrange(len(content) + 1)
            how = draw.choice(("cut", "put", "change"))
            if how == "cut":
                del content[at : at + draw.randrange(40)]
            elif how == "put":
                content[at:at] = draw.choice(BYTES)
            elif at < len(content):
                content[at] = draw.randrange(256)
        path.write_bytes(content)
        status = command_line.main([str(path), "--length", "4096"])
        said = capsys.readouterr()
        assert status in (0, 2)
        assert (said.err.count("\n"), bool(said.out)) == ((1, False) if status else (0, True))


@pytest.mark.parametrize(
    "types", [{"type": "mrope", "rope_type": "default"}, {"type": "yarn", "rope_type": "yarn"}]
)
def test_two_names_of_one_schedule_agree(types):
    config = {"model_type": "qwen2", "rope_scaling": {"factor": 2.0} | types}
    assert register.read(config).layers
