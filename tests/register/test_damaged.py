"""Configurations that are damaged at random are explained or get one sentence, nothing else."""

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


@pytest.mark.parametrize(
    ("kind", "entries", "field"),
    [
        ("llama", {"max_position_embeddings": 10**400}, "max_position_embeddings must be a number"),
        ("llama", {"rope_theta": 10**5000}, "rope_theta must be a number that a computer can hold"),
        ("llama", {"rope_scaling": YARN | {"factor": -(10**400)}}, "factor must be a number"),
        (
            "llama",
            {"rope_scaling": YARN | {"beta_slow": 5e-324}},
            "beta_slow must be a number abov",
        ),
        ("deepseek_v3", {"rope_scaling": YARN | {"mscale_all_dim": 1e308}}, "mscale_all_dim must "),
        ("llama", {"rope_scaling": YARN | {"attention_factor": [1.0]}}, "attention_factor must be"),
        (
            "swin",
            {"embed_dim": 1},
            "embed_dim = 1 gives stage 0 a width of 1, which is no multiple",
        ),
    ],
)
def test_a_number_beyond_what_can_be_computed_is_named_with_its_field(kind, entries, field):
    with pytest.raises(register.ConfigError, match=field):
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
    ("name", "entries", "message"),
    [
        ("gpt_oss", {"layer_types": ["foo"] * 36}, "lists 'foo', which is not known"),
        (
            "gpt_oss",
            {"layer_types": ["sliding_attention"] * 36, "sliding_window": 0},
            "sliding_window is 0",
        ),
        ("bert", {"position_embedding_type": "relative_key"}, "'relative_key'"),
        (
            "llama",
            {"rope_scaling": {"type": "linear", "rope_type": "yarn", "factor": 2.0}},
            "'linear' and rope_type 'yarn'",
        ),
    ],
)
def test_nothing_is_guessed(name, entries, message):
    assert register.read(name).layers
    with pytest.raises(register.ConfigError, match=message):
        register.read({"model_type": name} | entries)


@pytest.mark.parametrize(
    "types", [{"type": "mrope", "rope_type": "default"}, {"type": "yarn", "rope_type": "yarn"}]
)
def test_two_names_of_one_schedule_agree(types):
    config = {"model_type": "qwen2", "rope_scaling": {"factor": 2.0} | types}
    assert register.read(config).layers
