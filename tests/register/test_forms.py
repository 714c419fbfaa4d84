"""A configuration in other forms, beside another one, and made longer."""

import json
import struct

import numpy as np
import pytest

from posenc import register
from posenc.__main__ import COMMANDS
from posenc.register import command_line, extending
from posenc.register.differences import differences

META = {"dim": 4096, "n_layers": 32, "n_heads": 32, "n_kv_heads": 8, "rope_theta": 500000.0}
LLAMA = {
    "model_type": "llama", "hidden_size": 4096, "num_hidden_layers": 32,
    "num_attention_heads": 32, "num_key_value_heads": 8, "rope_theta": 500000.0,
}  # fmt: skip
KINDS = {int: (4, "<I"), float: (6, "<f"), bool: (7, "<?")}


def text(words: str) -> bytes:
    return struct.pack("<Q", len(words.encode())) + words.encode()


def value(one) -> bytes:
    if isinstance(one, str):
        return struct.pack("<I", 8) + text(one)
    if isinstance(one, list):
        return struct.pack("<IIQ", 9, 8, len(one)) + b"".join(map(text, one))
    kind, form = KINDS[type(one)]
    return struct.pack("<I", kind) + struct.pack(form, one)


def gguf(entries: dict, tensors: tuple[str, ...] = ()) -> bytes:
    """Return the header of a GGUF file, as the specification has it."""
    head = b"GGUF" + struct.pack("<IQQ", 3, len(tensors), len(entries))
    said = b"".join(text(name) + value(one) for name, one in entries.items())
    return head + said + b"".join(
        text(name) + struct.pack("<IQIQ", 1, 64, 0, 0) for name in tensors
    )  # fmt: skip


def header(kind: str, **entries) -> dict:
    named = {f"{kind}.{name.replace('__', '.')}": one for name, one in entries.items()}
    return {"general.architecture": kind, "tokenizer.ggml.tokens": ["a", "b"], **named}


SIZES = {
    "block_count": 2, "embedding_length": 256, "attention__head_count": 4,
    "context_length": 4096, "rope__freq_base": 10000.0,
}  # fmt: skip
SAME = {
    "hidden_size": 256, "num_hidden_layers": 2, "num_attention_heads": 4,
    "max_position_embeddings": 4096, "rope_theta": 10000.0,
}  # fmt: skip


@pytest.mark.parametrize(
    ("kind", "more", "config"),
    [
        ("qwen2", {}, {"model_type": "qwen2"}),
        ("qwen3", {"attention__key_length": 32}, {"model_type": "qwen3", "head_dim": 32}),
        ("phi2", {"rope__dimension_count": 32},
         {"model_type": "phi", "partial_rotary_factor": 0.5}),
        ("gptneox", {"rope__dimension_count": 16}, {"model_type": "gpt_neox", "rotary_pct": 0.25}),
        ("qwen2", {"rope__scaling__type": "yarn", "rope__scaling__factor": 4.0,
                   "rope__scaling__original_context_length": 1024},
         {"model_type": "qwen2", "rope_scaling": {
             "type": "yarn", "factor": 4.0, "original_max_position_embeddings": 1024}}),
        ("qwen2", {"rope__scaling__type": "linear", "rope__scaling__factor": 2.0},
         {"model_type": "qwen2", "rope_scaling": {"type": "linear", "factor": 2.0}}),
        ("gemma2", {"attention__key_length": 64, "attention__sliding_window": 512},
         {"model_type": "gemma2", "head_dim": 64, "sliding_window": 512}),
    ],
)  # fmt: skip
def test_a_gguf_file_says_what_the_configuration_says(tmp_path, kind, more, config):
    path = tmp_path / "model.gguf"
    path.write_bytes(gguf(header(kind, **SIZES, **more)))
    base = {} if config["model_type"] != "gpt_neox" else {"rotary_emb_base": 10000.0}
    same = {n: v for n, v in SAME.items() if not (base and n == "rope_theta")}
    found, wanted = register.read(path), register.read({**same, **base, **config})
    assert [one.base for one in found.layers] == [one.base for one in wanted.layers]
    assert differences(found, wanted) == "No difference."
    assert found.unread == ()


def test_the_weights_of_some_gguf_files_are_reordered(tmp_path):
    path = tmp_path / "model.gguf"
    path.write_bytes(gguf(header("llama", **SIZES), ("blk.0.attn_q.weight", "rope_freqs.weight")))
    found = register.read(tmp_path)  # the folder
    assert {one.pairing for one in found.layers} == {"interleaved"}
    assert "rope_freqs.weight, which divides the frequencies" in found.explain()
    assert found.proved == ()


def test_a_damaged_gguf_file_is_told_and_not_followed(tmp_path):
    whole = gguf(header("llama", **SIZES), ("a",))
    path = tmp_path / "model.gguf"
    rng = np.random.default_rng(0)
    for cut in range(5, len(whole), 7):
        path.write_bytes(whole[:cut])
        with pytest.raises(register.ConfigError, match=r"model\.gguf"):
            register.read(path)
    for _ in range(200):
        damaged = bytearray(whole)
        damaged[rng.integers(4, len(whole))] = rng.integers(256)
        path.write_bytes(damaged)
        try:
            register.read(path).explain()
        except register.ConfigError:
            continue
    path.write_bytes(gguf(header("some", **SIZES)))
    with pytest.raises(register.ConfigError, match=r"general\.architecture is 'some', and those"):
        register.read(path)


def test_metas_params_are_a_llama_whose_weights_pair_neighbours():
    found, wanted = register.read(META), register.read(LLAMA)
    assert "pairing: interleaved | half" in differences(found, wanted)
    assert found.layers[0].base == wanted.layers[0].base
    scaled = register.read(META | {"use_scaled_rope": True}).layers[0]
    assert scaled.scaling["type"] == "llama3"
    assert scaled.scaling["original_max_position_embeddings"] == 8192


def test_mistrals_params_have_a_yarn_of_their_own_names(tmp_path):
    yarn = {"factor": 16, "original_max_position_embeddings": 16384, "alpha": 1, "beta": 32,
            "apply_scale": False}  # fmt: skip
    said = META | {"head_dim": 128, "yarn": yarn, "rope_new": 3}
    (tmp_path / "params.json").write_text(json.dumps(said))
    found = register.read(tmp_path)
    assert found.family == "mistral"
    scaling = found.layers[0].scaling
    assert (scaling["beta_fast"], scaling["beta_slow"], found.layers[0].gain) == (32, 1, 1)
    assert found.unread == ("rope_new = 3",)


def test_what_differs_is_told_once_for_all_layers_that_differ_so():
    one, other = register.read(LLAMA), register.read(LLAMA | {"rope_theta": 1e4})
    assert differences(one, one) == "No difference."
    assert differences(one, other) == "Every layer:\n  base: 500,000 | 10,000"
    longer = register.read(LLAMA | {"num_hidden_layers": 33})
    assert differences(one, longer).splitlines()[0] == "layers: 32 | 33"


def test_a_model_is_made_longer(capsys):
    config = LLAMA | {"max_position_embeddings": 8192}
    block = extending.yarn(register.read(config), 32_768)
    assert block["factor"] == 4
    stretched = register.read(config | {"rope_parameters": block})
    told = extending.extend(config, register.read(config), 32_768)
    kept = np.isclose(stretched.inv_freq(0), register.read(config).inv_freq(0), rtol=1e-12).sum()
    assert f"Of 64 pairs {kept} stay as they are" in told
    assert f"multiplied by {stretched.layers[0].gain:.5g}" in told
    assert "takes 4.00 GiB" in told  # 32 layers, 8 heads, 2 x 128 numbers of 2 bytes
    assert "--rope-scale 4 --yarn-orig-ctx 8192 -c 32768" in told
    assert "changes short texts, too" in told
    assert command_line.extend(["llama", "--to", "100000"]) == 0
    assert "num_key_value_heads is not said" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("config", "to", "sentence"),
    [
        ({"model_type": "bloom"}, 9999, "no layer of bloom turns"),
        (LLAMA | {"max_position_embeddings": 4096}, 4096, "to must be more than 4,096"),
        (LLAMA | {"max_position_embeddings": 4096,
                  "rope_scaling": {"type": "linear", "factor": 2.0}}, 9999, "a second on top"),
    ],
)  # fmt: skip
def test_what_cannot_be_made_longer_is_told(config, to, sentence):
    with pytest.raises(register.ConfigError, match=sentence):
        extending.yarn(register.read(config), to)


def test_the_command_prints_json_differences_and_what_to_paste(tmp_path, capsys):
    path = tmp_path / "config.json"
    path.write_text(json.dumps(LLAMA | {"max_position_embeddings": 8192}))
    assert command_line.main([str(path), "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert len(said["layers"]) == 32
    assert len(said["layers"][0]["inv_freq"]) == 64
    assert command_line.main([str(path), "--diff", "llama"]) == 0
    assert "base: 500,000 | 10,000" in capsys.readouterr().out
    assert command_line.main([str(path), "--length", "16384"]) == 0
    assert "--max-model-len 16384" in capsys.readouterr().out
    assert "extend" in COMMANDS
