"""What no rule reads is refused or named, and nothing is called proved above it."""

import json

import numpy as np
import pytest

from posenc import register
from posenc.register import command_line

SMALL = {"hidden_size": 512, "num_attention_heads": 4, "num_hidden_layers": 8}
YARN = {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 8192}


def explained(config, length=None):
    return register.read(config).explain(length)


@pytest.mark.parametrize("family", ["hunyuan_v1_moe", "hunyuan_v1_dense"])
def test_the_alpha_of_hunyuan_is_a_larger_base_and_no_growth(family):
    rope = {"type": "dynamic", "factor": 1.0, "alpha": 1000.0, "beta_fast": 32, "mscale": 1.0}
    config = {"model_type": family, "head_dim": 128, "rope_theta": 1e4, "rope_scaling": rope}
    found = register.read(config)
    layer, said = found.layers[0], found.explain()
    assert layer.base == pytest.approx(1e4 * 1000 ** (128 / 126))
    np.testing.assert_array_equal(found.inv_freq(0), found.inv_freq(0, 10**6))
    assert "the base is 10,000 x 1,000^(128/126) = 11,158,840, at any length" in said
    assert "A cache stays valid" in said
    assert "Said, and not used by this schedule: factor, beta_fast, mscale." in said


def test_what_phi_3_calls_yarn_is_longrope():
    lists = {"short_factor": [1.0] * 48, "long_factor": [1.5] * 48}
    config = {"model_type": "phi3", "max_position_embeddings": 131_072}
    found = register.read(config | {"rope_scaling": {"type": "yarn"} | lists})
    assert found.layers[0].scaling["type"] == "longrope"
    assert found.layers[0].gain == pytest.approx(np.sqrt(1 + np.log(32) / np.log(4096)))


@pytest.mark.parametrize(
    "entries",
    [
        {"sliding_window": None, "hidden_act": "silu", "rope_scaling": None},
        {"rope_scaling": YARN, "original_max_position_embeddings": 8192, "model": "rotor"},
        {"use_sliding_window": False, "max_window_layers": 28},
    ],
)
def test_nothing_is_named_that_is_read_or_means_nothing(entries):
    found = register.read({"model_type": "llama", "max_position_embeddings": 8192} | entries)
    assert not found.unread
    assert found.proved


def test_no_released_model_has_an_entry_that_is_not_read():
    assert [name for name in register.released() if register.read(name).unread] == []


def test_what_is_said_again_beside_types_of_layers_or_turns_all_is_no_matter():
    config = {"model_type": "laguna", "max_position_embeddings": 8192}
    full = YARN | {"original_max_position_embeddings": 4096, "partial_rotary_factor": 0.5}
    parts = {"full_attention": full, "sliding_attention": {"rope_theta": 1e4}}
    again = {"original_max_position_embeddings": 4096}
    one, two = (register.read(config | {"rope_parameters": parts | more}) for more in ({}, again))
    assert one.layers == two.layers
    assert register.read(config | {"rope_parameters": parts, "partial_rotary_factor": 0.5}).proved
    with pytest.raises(register.ConfigError, match="'original_max_position_embeddings' beside"):
        register.read(config | {"rope_parameters": parts | {again.popitem()[0]: 2048}})
    assert register.read({"model_type": "glm4_moe_lite", "partial_rotary_factor": 1.0}).proved


def test_the_length_of_training_is_not_the_length_that_the_code_allows():
    found = register.read("Qwen/Qwen3-8B")
    assert (found.length, found.trained) == (40_960, 32_768)
    assert "arXiv:2505.09388" in found.trained_source
    said = found.explain(131_072)
    assert "made for 32,768 tokens; 40,960 is what its code allows" in said
    assert "131,072 tokens are 4 times the length of training" in said
    assert "factor 4 is valid" in said
    assert "factor 2 is valid" in found.explain(65_536)


def test_a_configuration_is_known_by_the_numbers_of_a_released_model():
    config = dict(register.reading.released()["Qwen/Qwen3-8B"]["config"])
    found = register.read(config | {"rope_scaling": YARN | {"rope_theta": config["rope_theta"]}})
    assert found.trained == 32_768
    assert "whose numbers these are" in found.trained_source
    other = register.read(config | {"num_hidden_layers": 35})
    assert (other.trained, other.trained_source) == (None, None)
    assert "Length of training: not known" in other.explain()
    assert "Count it from the length of training" in other.explain(131_072)


def test_the_words_of_makers_are_of_models_that_are_held():
    for like, tokens, source in register.makers.WORDS:
        names = [name for name in register.released() if register.makers.re.fullmatch(like, name)]
        assert names
        assert {register.read(name).trained for name in names} == {tokens}
        assert "arXiv" in source or "Meta" in source


def test_a_schedule_that_does_not_say_where_it_starts_is_to_be_checked():
    config = {"model_type": "qwen3", "max_position_embeddings": 65_536}
    said = explained(config | {"rope_scaling": {"rope_type": "yarn", "factor": 8.0}})
    assert "Check: the schedule does not say original_max_position_embeddings, and 65,536" in said
    sure = {"rope_type": "yarn", "factor": 8.0, "original_max_position_embeddings": 8192}
    assert "Check: the schedule" not in explained(config | {"rope_scaling": sure})


@pytest.mark.parametrize("name", ["falcon_mamba", "zamba", "dinov4", "mamba2", "qwen4", "glm6"])
def test_an_unknown_architecture_is_not_taken_for_another_of_like_letters(name):
    with pytest.raises(register.ConfigError) as refused:
        register.read({"model_type": name, "architectures": ["ZambaForCausalLM"]})
    assert "did you mean" not in str(refused.value)
    assert not any(repr(known) in str(refused.value) for known in register.names())


def test_a_name_that_is_spelled_alike_is_offered():
    with pytest.raises(register.ConfigError, match="did you mean 'meta-llama/Meta-Llama-3"):
        register.read("meta-llama/Llama-3.1-8B")
    with pytest.raises(register.ConfigError, match="did you mean 'qwen3_moe'"):
        register.read({"model_type": "Qwen3-MoE"})


def test_a_class_that_is_known_is_read_under_another_name_and_that_is_to_be_checked():
    config = dict(register.reading.released()["deepseek-ai/DeepSeek-V3"]["config"])
    config |= {"model_type": "kimi_k2", "architectures": ["DeepseekV3ForCausalLM"]}
    found = register.read(config)
    assert found.family == "deepseek_v3"
    assert found.layers == register.read("deepseek-ai/DeepSeek-V3").layers
    assert "'kimi_k2' is read as 'deepseek_v3', as architectures" in found.explain()
    assert not found.proved


def test_code_of_its_own_decides_and_that_is_said():
    own = {"auto_map": {"AutoModelForCausalLM": "modeling_x.XForCausalLM"}}
    assert "Check: auto_map names code of its own" in explained({"model_type": "phi3"} | own)
    with pytest.raises(register.ConfigError, match="auto_map names code of its own, which decides"):
        register.read({"model_type": "nobody"} | own)


def test_other_models_of_a_configuration_are_named():
    seeing = {"model_type": "siglip_vision_model", "hidden_size": 64, "num_attention_heads": 4}
    seeing |= {"num_hidden_layers": 2, "image_size": 64, "patch_size": 16}
    config = {"model_type": "gemma3", "vision_config": seeing, "text_config": SMALL}
    found = register.read(config)
    assert [(name, tower.family) for name, tower in found.towers] == [
        ("vision_config", "siglip_vision_model")
    ]
    assert "\n\nvision_config\nsiglip_vision_model: " in found.explain()
    unknown = register.read(config | {"vision_config": seeing | {"model_type": "seer"}})
    assert unknown.others == ("vision_config (seer)",)
    assert "Not read: vision_config (seer)." in unknown.explain()
    parts = {"text_config": {"hidden_size": 512}, "vision_config": {"hidden_size": 768}}
    assert register.read({"model_type": "clip"} | parts).others == ("vision_config",)
    beside = register.read(config | {"rope_theta": 3.0, "quantization_config": {"bits": 4}})
    assert beside.unread == ("rope_theta = 3.0",)


def test_other_files_and_addresses_get_a_sentence_on_what_to_give(tmp_path, capsys):
    (tmp_path / "empty").mkdir()
    (tmp_path / "model.gguf").write_bytes(b"GGUF\x03\x00\x00\x00" + bytes(range(256)))
    for given, sentence in (
        (tmp_path / "empty", "is a folder with no config.json, params.json or GGUF"),
        (tmp_path / "model.gguf", "model.gguf: the header announces"),
        ("https://huggingface.co/Qwen/Qwen3-8B/raw/main/config.json",
         "https://huggingface.co/.* is an address: nothing is fetched; download it"),
    ):  # fmt: skip
        with pytest.raises(register.ConfigError, match=sentence):
            register.read(given)
        assert command_line.main([str(given)]) == 2
    assert capsys.readouterr().err.count("\n") == 3


def test_no_name_of_a_file_or_entry_steers_the_terminal(tmp_path, capsys):
    path = tmp_path / "a\x1b[31mb.json"
    assert command_line.main([str(path)]) == 2
    path.write_text(json.dumps({"model_type": "llama", "rope_\x1b]0;x\x07": 1}))
    assert command_line.main([str(path)]) == 0
    said = capsys.readouterr()
    assert "a\\x1b[31mb.json" in said.err
    assert "Not read: rope_\\x1b]0;x\\x07 = 1" in said.out
    assert "\x1b" not in said.err + said.out


def test_two_names_for_one_number_vouch_for_each_other_only_where_one_is_read():
    window = {"sliding_window": 4096, "sliding_window_size": 4096}
    assert not register.read({"model_type": "gemma2"} | window).unread
    assert len(register.read({"model_type": "llama"} | window).unread) == 2
    blocks = {"rope_theta": 5e5, "rope_parameters": {"rope_type": "default", "rope_theta": 5e5}}
    assert not register.read({"model_type": "llama"} | blocks).unread


@pytest.mark.parametrize(
    ("model_type", "name", "value"),
    [
        ("llama", "rotary_pct", 0.25),
        ("llama", "rotary_emb_base", 777),
        ("qwen3", "global_rope_theta", 777.0),
        ("olmo2", "no_rope_layer_interval", 3),
        ("llama", "full_attn_idxs", [0]),
        ("mistral", "sliding_window_size", 9),
        ("llama", "use_alibi", True),
        ("llama", "yarn_factor", 4.0),
        ("llama", "attention_chunk_size", 9),
        ("llama", "rope_ratio", 4),
        ("llama", "ntk_alpha", [1.0, 2.0]),
        ("llama", "position_embedding_type", "alibi"),
    ],
)
def test_an_entry_that_sounds_like_positions_and_is_not_read_is_named(model_type, name, value):
    plain = {"model_type": model_type, "hidden_size": 2048, "num_attention_heads": 16}
    told = register.read(plain | {name: value})
    assert told.layers == register.read(plain).layers
    assert told.unread == (f"{name} = {value!r}",)
    said = told.explain().splitlines()
    assert f"Not read: {name} = {value!r}" in said
    assert ("Not proved" in said[-1], told.proved) == (True, ())
