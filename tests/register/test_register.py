"""What the register reads equals what the probe saw, and bad input gets a sentence."""

import dataclasses
import datetime
import json
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from peers.register.released import GITHUB, RELEASES, days, kept

import newest_release
from posenc import frequencies, register
from posenc.register import command_line, scaling

PROBED = json.loads((Path(__file__).parent / "probed.json").read_text())
LLAMA = {
    "model_type": "llama",
    "hidden_size": 4096,
    "num_attention_heads": 32,
    "num_hidden_layers": 32,
    "max_position_embeddings": 131072,
    "rope_theta": 500000.0,
    "rope_scaling": {
        "factor": 8.0,
        "low_freq_factor": 1.0,
        "high_freq_factor": 4.0,
        "original_max_position_embeddings": 8192,
        "rope_type": "llama3",
    },
}


YARN = {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 8192}
ODD = ("glm4_moe", "glm4v_moe_text", "qwen3_omni_moe_text")


RESULTS = Path(__file__).parents[2] / "results/register.json"


def test_how_many_configurations_were_compared_is_what_the_results_hold():
    held = json.loads(RESULTS.read_text())["architectures"]
    assert held.keys() == set(register.names())
    for name, rows in held.items():
        assert not any("problem" in row for row in rows.values())
        assert register.reading.families()[name]["compared"] == len(rows), name
    for name in ("llama", "kimi_linear"):
        n = len(held[name])
        said = f"in {n} configuration{'' if n == 1 else 's'} of this family: door"
        assert said in register.read(name).explain()


def test_the_register_holds_eighty_architectures_and_each_can_be_read_and_explained():
    assert len(register.names()) >= 80
    for name in register.names():
        # the defaults of some classes share a width among heads that do not divide it, or turn more
        # pairs than axes share
        width = {"head_dim": 128} if name in ODD else {}
        if name in ("glm4v_text", "glm_image_text"):
            width = {"partial_rotary_factor": 0.5}
        found = register.read({"model_type": name} | width)
        assert found.family == name
        assert found.proved
        assert found.explain(131_072)
    with pytest.raises(register.ConfigError, match="hidden_size = 4096 is no multiple of"):
        register.read("glm4_moe")


@pytest.mark.parametrize(
    "case", PROBED, ids=lambda case: f"{case['config']['model_type']}-{case['name']}"
)
def test_what_is_read_is_what_the_probe_saw(case):
    found = register.read(case["config"])
    for seen in case["layers"]:
        layer = found.layers[seen["layer"]]
        for name in ("head_dim", "first", "pairing", "pairing_after", "direction"):
            assert getattr(layer, name) == seen[name], name
        omega = found.inv_freq(seen["layer"], case["length"])
        np.testing.assert_allclose(omega, seen["inv_freq"], rtol=2e-5, atol=1e-8)
        assert layer.gain == pytest.approx(seen.get("gain", layer.gain), rel=1e-5)


def test_a_model_was_probed_for_each_schedule_and_a_released_one_wherever_numbers_are_held():
    probed, released = set(), set()
    for case in PROBED:
        kinds = {one.scaling["type"] for one in register.read(case["config"]).layers if one.scaling}
        probed |= kinds
        released |= kinds if "/" in case["name"] else set()
    assert probed == scaling.KINDS.keys() - {"default", "mrope"}
    assert released == {
        layer.scaling["type"]
        for name in register.released()
        for layer in register.read(name).layers
        if layer.scaling
    }


def test_earlier_and_later_forms_of_a_schedule_say_the_same():
    later = {k: v for k, v in LLAMA.items() if k not in ("rope_theta", "rope_scaling")}
    later["rope_parameters"] = LLAMA["rope_scaling"] | {"rope_theta": 500000.0}
    one, other = register.read(LLAMA), register.read(later)
    np.testing.assert_array_equal(one.inv_freq(0), other.inv_freq(0))
    assert one.layers[0].base == 500000.0
    assert one.layers[0].sources["base"] == "config"


@pytest.mark.parametrize("name", ["llama", "deepseek_v3", "gpt_oss", "t5", "swin", "vit", "xlnet"])
def test_every_value_says_where_it_is_from(name):
    for layer in register.read(name).layers:
        said = {
            field.name
            for field in dataclasses.fields(layer)
            if field.name != "sources" and getattr(layer, field.name) != field.default
        }
        assert said <= layer.sources.keys()
        assert set(layer.sources.values()) <= {"config", "default", "code", "probe"}


def test_a_file_is_read_as_its_contents_are(tmp_path):
    path = tmp_path / "config.json"
    path.write_text(json.dumps(LLAMA))
    assert register.read(path) == register.read(LLAMA) == register.read(str(path))


def test_the_text_model_inside_another_is_read():
    inside = {
        "model_type": "gemma3",
        "text_config": {"model_type": "gemma3_text", "num_hidden_layers": 12},
    }
    found = register.read(inside)
    assert found.family == "gemma3_text"
    assert [layer.kind for layer in found.layers] == (["window"] * 5 + ["full"]) * 2
    assert found.layers[0].base == 10_000
    assert found.layers[5].base == 1_000_000


def test_a_text_model_without_a_type_is_what_the_class_around_it_says_or_gets_a_sentence():
    inside = {"hidden_size": 512, "num_attention_heads": 4, "num_hidden_layers": 2}
    assert register.read({"model_type": "gemma3", "text_config": inside}).family == "gemma3_text"
    assert register.read({"model_type": "qwen2_vl", **inside}).family == "qwen2_vl_text"
    for outer in ("llava", "nobody"):
        with pytest.raises(register.ConfigError, match="text_config says no model_type, and"):
            register.read({"model_type": outer, "text_config": inside})
    with pytest.raises(register.ConfigError, match="'gemma3' holds several models"):
        register.read({"model_type": "gemma3", **inside})


@pytest.mark.parametrize(
    ("family", "sections", "expected"),
    [
        ("qwen2_vl_text", [2, 3, 3], ["TTHHHWWW"]),
        ("qwen3_vl_text", [4, 2, 2], ["THWTHWTT"]),
        ("ernie4_5_vl_moe_text", [3, 3, 2], ["HWHWHWTT"]),
    ],
)
def test_pairs_turn_with_time_height_and_width_as_the_probe_saw(family, sections, expected):
    said = {"mrope_section": sections, "rope_theta": 10_000.0, "rope_type": "default"}
    config = {"model_type": family, "head_dim": 16, "num_hidden_layers": 1, "rope_scaling": said}
    shared = register.read(config).layers[0].sections
    seen = [""] * 8
    for axis, pairs in shared.items():
        for pair in pairs:
            seen[pair] += axis[0].upper()
    assert ["".join(seen)] == expected
    assert "sections" in register.read(config).proved


def test_a_text_part_of_the_same_type_is_the_one_that_is_read():
    inside = {"model_type": "llama", "hidden_size": 512, "num_attention_heads": 4}
    found = register.read(LLAMA | {"text_config": inside | {"num_hidden_layers": 2}})
    assert (len(found.layers), found.layers[0].head_dim) == (2, 128)


def test_llama_4_scout_can_be_read_as_it_was_released():
    schedule = LLAMA["rope_scaling"] | {"factor": 16.0, "high_freq_factor": 1.0}
    inside = {"model_type": "llama4_text", "no_rope_layers": [], "rope_theta": 500000.0,
              "rope_scaling": schedule, "max_position_embeddings": 10485760}  # fmt: skip
    found = register.read({"model_type": "llama4", "text_config": inside})
    assert [layer.door for layer in found.layers] == (3 * ["rotate"] + ["none"]) * 12
    plain = frequencies.geometric(128, 500_000)
    slow = 8192 * plain < 2 * np.pi
    np.testing.assert_array_equal(found.inv_freq(0), np.where(slow, plain / 16, plain))


@pytest.mark.parametrize("family", ["phi3", "mixtral", "starcoder2"])
def test_a_window_that_is_null_by_default_is_read_where_a_configuration_says_one(family):
    found = register.read({"model_type": family, "sliding_window": 2047})
    assert {(layer.kind, layer.window) for layer in found.layers} == {("window", 2047)}
    assert {layer.kind for layer in register.read(family).layers} == {"full"}


def test_sections_that_share_other_pairs_than_there_are_get_a_sentence():
    for wrong, sentence in (([16, 24], "three whole numbers"), ([1, 1, 1], "must share 64 pairs")):
        config = {"model_type": "qwen2_vl_text", "rope_scaling": {"mrope_section": wrong}}
        with pytest.raises(register.ConfigError, match=sentence):
            register.read(config)
    config = {"model_type": "ernie4_5_vl_moe_text", "rope_scaling": {"mrope_section": [20, 24, 20]}}
    with pytest.raises(register.ConfigError, match="begin with two equal numbers"):
        register.read(config)


def test_layers_behind_the_first_have_the_window_that_qwen_switches_on():
    said = {"use_sliding_window": True, "max_window_layers": 2, "sliding_window": 64}
    found = register.read({"model_type": "qwen2", "num_hidden_layers": 4} | said)
    assert [layer.window for layer in found.layers] == [None, None, 64, 64]


@pytest.mark.parametrize(
    ("config", "attend"),
    [
        ({"model_type": "lfm2", "full_attn_idxs": [2, 5, 7]}, [2, 5, 7]),
        (
            {"model_type": "kimi_linear",
             "linear_attn_config": {"full_attn_layers": [4, 8], "kda_layers": [1, 2, 3, 5, 6, 7]}},
            [3, 7],
        ),
        ({"model_type": "qwen3_next", "full_attention_interval": 2}, [1, 3, 5, 7]),
        ({"model_type": "qwen3_next"}, [3, 7]),
    ],
)  # fmt: skip
def test_layers_that_attend_are_those_that_a_configuration_numbers(config, attend):
    found = register.read(config | {"num_hidden_layers": 8})
    assert [n for n, layer in enumerate(found.layers) if layer.kind != "none"] == attend


def test_layers_without_rotation_have_no_frequencies():
    found = register.read({"model_type": "smollm3", "num_hidden_layers": 8})
    assert [layer.door for layer in found.layers] == ["rotate", "rotate", "rotate", "none"] * 2
    with pytest.raises(ValueError, match="layer 3 of smollm3 does not turn"):
        found.inv_freq(3)


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"model_type": "nobody"}, "does not know model_type 'nobody'"),
        ({"model_type": "llamma"}, "did you mean 'llama'"),
        ({"model_type": None}, "model_type must name the architecture, got None"),
        ({"rope_scaling": {"rope_type": "spiral"}}, "rope_type must be one of .*, got 'spiral'"),
        ({"rope_scaling": {"rope_type": ["yarn"]}}, "rope_type must be one of"),
        ({"rope_scaling": {"type": "linear"}}, "'linear' needs factor, which is not said"),
        ({"rope_scaling": "linear"}, "rope_scaling must be an object"),
        (
            {"rope_scaling": {"type": "linear", "factor": "4"}},
            "factor must be a number above 0, got '4'",
        ),
        ({"rope_scaling": {"type": "linear", "factor": True}}, "factor must be a number above 0"),
        (
            {"rope_parameters": {"rope_theta": 1e4}},
            "rope_theta is said to be 500000.0 in the .* and",
        ),
        (
            {"rope_parameters": {"rope_type": "yarn"}},
            "'llama3' in rope_scaling and 'yarn' in rope_p",
        ),
        ({"rotary_emb_base": 7}, "rope_theta = 500000.0 and rotary_emb_base = 7 say the same"),
        ({"rope_theta": -1}, "rope_theta must be a number above 0, got -1"),
        ({"rope_theta": 0.5, "rope_scaling": None}, "rope_theta must be at least 1, got 0.5"),
        ({"rope_theta": float("nan")}, "rope_theta must be a number above 0, got nan"),
        ({"num_hidden_layers": 0}, "num_hidden_layers must be a whole number of at least 1, got 0"),
        ({"num_hidden_layers": 10**9}, "num_hidden_layers must be at most 10,000"),
        (
            {"num_hidden_layers": 2, "layer_types": ["full_attention"]},
            "lists 1 layers, num_hidden_layers says 2",
        ),
        ({"use_sliding_window": True}, "use_sliding_window needs max_window_layers or layer_types"),
        (
            {"model_type": "lfm2", "full_attn_idxs": [2, 40]},
            "full_attn_idxs must list numbers from 0 to 31",
        ),
        (
            {"model_type": "exaone4", "sliding_window_pattern": "LLLG", "rope_scaling": None},
            "sliding_window_pattern must be a whole number of at least 1, got 'LLLG'",
        ),
        ({"layer_types": 7}, "layer_types must be a list of names, got 7"),
        ({"hidden_size": 8}, "hidden_size = 8 is no multiple of num_attention_heads = "),
        ({"hidden_size": None}, "hidden_size must be a whole number of at least 1, got null"),
        (
            {"num_attention_heads": 32, "num_key_value_heads": 7},
            "num_attention_heads = 32 is no multiple of num_key_value_heads = 7",
        ),
        ({"partial_rotary_factor": 1.5}, "partial_rotary_factor must be at most 1, got 1.5"),
        (
            {"max_position_embeddings": 4096},
            "original_max_position_embeddings = 8,192 tokens does not fit .* = 4,096",
        ),
        (
            {"num_hidden_layers": 1, "layer_types": ["sliding_attention"], "sliding_window": None},
            "layer_types lists sliding_attention, but sliding_window is null",
        ),
        ({"rope_scaling": {"mrope_section": [16, 24, 24]}}, "mrope_section is said, which this"),
        ({"rope_scaling": YARN | {"beta_slow": 64}}, "'yarn' cannot have these numbers: beta_fast"),
        ({"rope_scaling": YARN | {"truncate": "no"}}, "truncate must be True or False, got 'no'"),
        (
            {"rope_scaling": YARN | {"original_max_position_embeddings": 0.5}},
            "original_max_position_embeddings must be a whole number, got 0.5",
        ),
        ({"rope_scaling": YARN | {"mscale": [1]}}, "mscale must be a number above 0"),
        ({"rope_scaling": YARN, "rope_theta": 0.5}, "'yarn' cannot have these numbers"),
        (
            {
                "rope_scaling": {
                    "type": "longrope",
                    "short_factor": 2,
                    "long_factor": [1, 2],
                    "original_max_position_embeddings": 4096,
                }
            },
            "'longrope' cannot have these numbers: short_factor",
        ),
        (
            {"model_type": "gemma2", "attn_logit_softcapping": [1], "rope_scaling": None},
            "attn_logit_softcapping must be a number above 0, got \\[1\\]",
        ),
        ({"text_config": {"model_type": "qwen2"}}, "is said to be 'llama', .* and 'qwen2' in text"),
        ({"text_config": "qwen2"}, "text_config must be an object with named entries"),
        ({"head_dim": 7}, "an even number of a head's 7 dimensions must turn"),
        ({"head_dim": float("inf")}, "head_dim must be a whole number of at least 1, got inf"),
    ],
)
def test_a_configuration_that_means_nothing_gets_a_sentence(changes, sentence):
    with pytest.raises(register.ConfigError, match=sentence):
        register.read(LLAMA | changes)


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"", "line 1: this is no JSON"),
        (b'{\n"model_type": }', "line 2: this is no JSON"),
        (b"[1]", "a configuration is a JSON object, this is a list"),
        (
            b'{"rope_theta": 1, "a": 2, "rope_theta": 3}',
            "rope_theta is said to be 1 and 3; one must",
        ),
        (b"\xff\xfe{}", "no JSON that can be read"),
        (b"[" * 100_000, "no JSON that can be read"),
        (b" " * 10_000_001, "has up to 10,000,000 bytes, this file 10,000,001"),
    ],
)
def test_a_file_that_cannot_be_read_gets_one_line_and_an_exit_status(
    content, sentence, tmp_path, capsys
):
    path = tmp_path / "config.json"
    path.write_bytes(content)
    assert command_line.main([str(path)]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.count("\n") == 1
    assert str(path) in captured.err
    assert re.search(sentence, captured.err)


def test_a_file_may_say_infinity_of_what_is_not_about_positions(tmp_path):
    path = tmp_path / "config.json"
    path.write_text(json.dumps(LLAMA | {"time_step_limit": [0.0, float("inf")]}))
    assert register.read(path).layers == register.read(LLAMA).layers


def test_a_missing_file_and_a_length_below_one_are_named(capsys):
    assert command_line.main(["nowhere.json"]) == 2
    assert "nowhere.json is neither a file nor a name of the register" in capsys.readouterr().err
    assert command_line.main(["qwen_2"]) == 2
    assert "did you mean 'qwen2'?" in capsys.readouterr().err
    assert command_line.main(["llama", "--length", "0"]) == 2
    assert "length" in capsys.readouterr().err


def test_slow_pairs_at_a_length_are_counted(tmp_path, capsys):
    path = tmp_path / "config.json"
    path.write_text(json.dumps(LLAMA))
    assert command_line.main([str(path), "--length", "262144"]) == 0
    said = capsys.readouterr().out
    omega = register.read(LLAMA).inv_freq(0)
    plain = frequencies.geometric(128, 500_000)  # in the training that came before the schedule
    for length, hands in ((8192, plain), (131072, omega), (262144, omega)):
        slow = int((hands * length < 2 * np.pi).sum())
        assert re.search(
            rf"At {length:,} tokens .*, {slow} of 64 pairs make less than one turn", said
        )
    assert "262,144 tokens are 2 times what the configuration says" in said
    assert "A cache stays valid" in said


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        (
            "llama4_text",
            "Layers that turn see at most 8,192 of them, so that no schedule is needed",
        ),
        ("google/gemma-3-1b-it", "factor 7.63 is valid in the layers that see everything, best"),
        ("llama", "factor 488 is valid, best with more training"),
        ("openai/gpt-oss-20b", "reaches 131,072 tokens. Set its factor anew, to 244; a second"),
    ],
)
def test_which_schedule_is_valid_for_longer_inputs_depends_on_what_queries_see(name, sentence):
    assert sentence in register.read(name).explain(1_000_000)


def test_layers_with_a_window_turn_no_farther_than_they_see():
    found = register.read("openai/gpt-oss-20b")
    slow = int((found.inv_freq(0) * 128 < 2 * np.pi).sum())
    said = f"At 128 tokens (as far as a query sees), {slow} of 32 pairs make less than one turn."
    assert said in found.explain(131_072)


def test_what_is_made_turns_by_what_is_read():
    torch = pytest.importorskip("torch")
    q = torch.randn(1, 32, 9, 128, dtype=torch.float64)
    found = register.read(LLAMA)
    turned, _ = found.make(0).double().rotate(q, q)
    omega = torch.as_tensor(found.inv_freq(0))
    angles = torch.arange(9)[:, None] * omega
    z = torch.complex(q[..., :64], q[..., 64:]) * torch.polar(torch.ones_like(angles), angles)
    torch.testing.assert_close(turned, torch.cat((z.real, z.imag), -1))


def test_a_layer_that_is_not_there_is_named():
    pytest.importorskip("torch")
    with pytest.raises(ValueError, match="layer must be from 0 to 31, got 32"):
        register.read("llama").make(32)


def test_the_command_imports_no_torch():
    code = (
        "import sys; sys.argv[1:] = ['explain', 'llama']; from posenc.__main__ import main; "
        "main(); print('torch' in sys.modules)"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.startswith("llama: 32 layers")
    assert run.stdout.endswith("False\n")


def test_every_released_model_can_be_read_by_its_name_and_says_where_its_numbers_are_from():
    released = register.released()
    assert len(released) > 100
    for name, address in released.items():
        found = register.read(name)
        assert address.startswith("https://")
        assert {layer.sources["base"] for layer in found.layers if layer.base} <= {"config"}
        assert address in found.explain()


def test_a_released_model_says_its_day_with_who_says_so_and_each_copy_must():
    older = ("Lightning-AI/litgpt", "mlc-ai/mlc-llm", "AI-Hypercomputer/maxtext")
    dated = 0
    for name, entry in register.reading.released().items():
        found = register.read(name)
        if "released" not in entry:
            assert any(f"/{one}/" in entry["address"] for one in older), name
            assert "Released:" not in found.explain()
            continue
        dated += 1
        day = datetime.date.fromisoformat(entry["released"])
        assert datetime.date(2025, 1, 1) <= day <= datetime.date.fromisoformat(entry["date"]), name
        assert entry["released_source"].startswith("https://")
        line = f"Released: {day}, as {entry['released_source']} says."
        assert line in found.explain().splitlines()
    assert dated > 40
    assert register.read({"model_type": "llama"}).released is None


def test_each_dated_model_was_held_against_transformers_layers():
    stored = json.loads((RESULTS.parent / "register-released.json").read_text())["models"]
    assert stored.keys() == days().keys()
    assert len(stored) >= 35
    for name, row in stored.items():
        read = register.read(name)
        assert (row["family"], row["of"]) == (read.family, len(read.layers))
        assert row["largest"] <= 1  # of the tolerance
        assert row["layers"] >= 1


def test_the_table_of_releases_is_what_the_register_holds():
    held = register.reading.released()
    said = {name: one["released"] for name, one in held.items() if "released" in one}
    assert {name: one["released"] for name, one in days().items()} == said
    for place in RELEASES["copies"]:
        for name in place["models"]:
            path = place["path"].format(name.replace("/", place.get("slash", "/")))
            address = GITHUB.format(place["repository"], place["commit"], path)
            assert (held[name]["address"], held[name]["date"]) == (address, place["date"])


def test_of_a_copied_configuration_what_is_about_positions_is_kept(capsys):
    said = {"model_type": "mistral", "vocab_size": 9, "sliding_window": None, "rope_theta": 1e9,
            "rope_scaling": None, "rope_speed": 2}  # fmt: skip
    entries = {"model_type": "mistral", "sliding_window": None, "rope_theta": 1e9}
    assert kept("a model", {"model_type": "mistral3", "text_config": said}) == entries
    assert capsys.readouterr().out == "a model: nothing reads rope_speed\n"
    own = {"model_type": "kimi_k2", "architectures": ["DeepseekV3ForCausalLM"], "rope_theta": 5e4}
    assert kept("another", own | {"eos_token_id": 3}) == own


def test_deepseek_v4_and_kimi_k3_of_2026_are_what_their_configurations_say():
    read = register.read("deepseek-ai/DeepSeek-V4-Pro")
    assert (len(read.layers), read.length, read.released) == (61, 1_048_576, "2026-04-24")
    assert {layer.base for layer in read.layers} == {160_000.0}
    kinds = {(one.door, one.kind) for one in register.read("moonshotai/Kimi-K3").layers}
    assert kinds == {("none", "full"), ("none", "none")}


def test_the_weekly_run_warns_of_a_newest_release_that_is_more_than_six_months_old(capsys):
    held = {"an old one": "2025-08-05", "the new one": "2026-04-24"}
    assert newest_release.notice(held, datetime.date(2026, 10, 24)) == (
        "the newest release that the register holds is the new one of 2026-04-24, 183 days ago."
    )
    late = newest_release.notice(held, datetime.date(2026, 10, 25))
    assert late.startswith("::warning title=Released models::")
    newest_release.main(["2099-01-01"])
    assert capsys.readouterr().out.startswith("::warning title=Released models::the newest release")


def test_deepseek_v3_and_gpt_oss_are_what_their_configurations_say():
    layer = register.read("deepseek-ai/DeepSeek-V3").layers[0]
    assert (layer.head_dim, layer.turning, layer.first) == (192, 64, 128)
    assert layer.gain == 1
    assert layer.scale == pytest.approx(192**-0.5 * (0.1 * np.log(40) + 1) ** 2)
    read = register.read("openai/gpt-oss-20b")
    assert [one.window for one in read.layers] == 12 * [128, None]
    assert read.layers[0].gain == pytest.approx(0.1 * np.log(32) + 1)
    assert read.layers[0].scaling["truncate"] is False


def test_llama_3_1_is_the_release_that_its_configuration_says():
    found = register.read("meta-llama/Meta-Llama-3.1-8B")
    assert (found.family, len(found.layers), found.length) == ("llama", 32, 131_072)
    np.testing.assert_array_equal(found.inv_freq(0), register.read(LLAMA).inv_freq(0))


def test_what_no_comparison_reached_is_not_called_compared():
    schedule = {"rope_type": "yarn", "factor": 40, "mscale": 1.0, "mscale_all_dim": 1.0,
                "original_max_position_embeddings": 1024}  # fmt: skip
    for name, unreached in (("olmo2", {"gain", "scale"}), ("llama", set()), ("deepseek_v3", set())):
        plain, scaled = (
            set(
                register.read(one).explain().splitlines()[-1].rstrip(".").split(": ")[1].split(", ")
            )
            for one in ({"model_type": name}, {"model_type": name, "rope_scaling": schedule})
        )
        assert plain - scaled == unreached
        said = register.read({"model_type": name, "rope_scaling": schedule}).explain()
        assert ("Not compared in such a configuration: gain, scale." in said) == bool(unreached)


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("openai/gpt-oss-20b", "layers with a window turn by it, too. Its ramp is not rounded"),
        ("deepseek-ai/DeepSeek-V3", "still dimensions included, is 1.874 times larger"),
        ("llama4_text", "these weights have the pairs of the RoFormer paper"),
        ("llama4_text", "by no learned number, in layers without rotation alone"),
        ("nanochat", "turns by .t omega; here it is -t omega"),
        ("t5", "from 91 in the encoder and 113 in the decoder on"),
        ("whisper", "all sines come first and the last wavelength"),
    ],
)
def test_where_a_model_and_its_paper_differ_is_said(name, sentence):
    found = register.read(name)
    assert any(re.search(sentence, note) for note in found.notes)
    assert all(note in found.explain() for note in found.notes)


def test_the_distance_that_t5_is_said_to_share_from_is_the_first_of_its_row():
    found = register.read("t5")
    for layer, first in ((0, 91), (-1, 113)):
        rows = found.rows(layer, -np.arange(300))
        assert rows[first - 1] < rows[first] == rows[-1]


@pytest.mark.parametrize(
    "name",
    ["llama", "deepseek_v3", "falcon", {"model_type": "gpt_oss", "rope_theta": 150000.0,
     "rope_parameters": {"rope_type": "default"}}, "meta-llama/Llama-3.2-1B"],
)  # fmt: skip
def test_nothing_is_said_where_nothing_differs(name):
    assert not register.read(name).notes


def test_a_length_of_the_class_is_no_released_number():
    said = register.read({"model_type": "llama"}).explain(131_072)
    assert "made for 2,048 tokens (default of the class, no released number)" in said
    assert "131,072 tokens are 64 times the default of its class" in said
    own = register.read({"model_type": "llama", "max_position_embeddings": 2048})
    assert own.length_source == "config"
    assert "made for 2,048 tokens\n" in own.explain(131_072)


def test_a_model_without_a_length_says_so_where_one_is_asked_about():
    said = register.read("t5").explain(131_072)
    assert "names no length. Nothing in it ends before 131,072 tokens" in said
    assert "names no length" not in register.read("t5").explain()


def test_a_model_of_several_needs_the_part_about_text():
    for config in ({"model_type": "gemma3"}, {"model_type": "gemma3", "text_config": None}):
        with pytest.raises(register.ConfigError, match="text_config m"):
            register.read(config)
