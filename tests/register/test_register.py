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
    "model_type": "llama", "hidden_size": 4096, "num_attention_heads": 32,
    "num_hidden_layers": 32, "max_position_embeddings": 131072, "rope_theta": 500000.0,
    "rope_scaling": {"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0,
                     "high_freq_factor": 4.0, "original_max_position_embeddings": 8192},
}  # fmt: skip
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


def test_a_text_model_without_a_type_is_what_the_class_around_it_says():
    inside = {"hidden_size": 512, "num_attention_heads": 4, "num_hidden_layers": 2}
    assert register.read({"model_type": "gemma3", "text_config": inside}).family == "gemma3_text"
    assert register.read({"model_type": "qwen2_vl", **inside}).family == "qwen2_vl_text"


def test_a_text_part_of_the_same_type_is_the_one_that_is_read():
    inside = {"model_type": "llama", "hidden_size": 512, "num_attention_heads": 4}
    found = register.read(LLAMA | {"text_config": inside | {"num_hidden_layers": 2}})
    assert (len(found.layers), found.layers[0].head_dim) == (2, 128)


N, F, W, T = "none", "full", "window", "rotate"
BERT = {"model_type": "modernbert", "num_hidden_layers": 3}
CODER = {"model_type": "modernbert-decoder", "num_hidden_layers": 4}
EVERY = "global_attn_every_n_layers"
MUSE = {"model_type": "muse_spark_text", "num_hidden_layers": 3}
QWEN2 = {
    "model_type": "qwen2", "num_hidden_layers": 4, "max_window_layers": 2,
    "use_sliding_window": True, "sliding_window": 64,
}  # fmt: skip
MIMO = {"model_type": "mimo_v2_flash", "num_hidden_layers": 2, "sliding_window": 9}
LAGUNA = {"model_type": "laguna", "num_hidden_layers": 2, "num_key_value_heads": 8}


@pytest.mark.parametrize(
    ("config", "name", "expected"),
    [
        # windows
        ({"model_type": "phi3", "num_hidden_layers": 1, "sliding_window": 2047}, "window", [2047]),
        ({"model_type": "phi3", "num_hidden_layers": 2}, "kind", [F, F]),
        ({"model_type": "mixtral", "num_hidden_layers": 1, "sliding_window": 9}, "window", [9]),
        ({"model_type": "starcoder2", "num_hidden_layers": 1, "sliding_window": 9}, "window", [9]),
        (QWEN2, "window", [None, None, 64, 64]),
        ("openai/gpt-oss-20b", "window", 12 * [128, None]),
        (MIMO, "window", [None, 9]),
        (MIMO | {"sliding_window_size": 9}, "window", [None, 10]),  # a query is not counted
        (BERT, "window", [None, 65, 65]),  # both sides, and a query itself
        (BERT | {"local_attention": 7}, "window", [None, 4, 4]),
        (BERT | {"sliding_window": 9, "local_attention": 100}, "window", [None, 10, 10]),
        (CODER, "window", [None, 64, 64, None]),
        (CODER | {"local_attention": 7}, "window", [None, 3, 3, None]),
        # which layers see everything
        (BERT | {EVERY: 1}, "kind", [F, F, F]),
        (BERT | {EVERY: 2}, "kind", [F, W, F]),
        (CODER | {EVERY: 2}, "kind", [F, W, F, W]),
        (CODER | {EVERY: 4}, "kind", [F, W, W, W]),
        ({"model_type": "gemma3", "text_config": {"num_hidden_layers": 12}}, "kind",
         ([W] * 5 + [F]) * 2),
        # which layers turn
        ({"model_type": "smollm3", "num_hidden_layers": 8}, "door", [T, T, T, N] * 2),
        ({"model_type": "llama4_text", "num_hidden_layers": 6, "no_rope_layer_interval": 3}, "door",
         [T, T, N] * 2),
        ({"model_type": "llama4_text", "num_hidden_layers": 6, "no_rope_layer_interval": 3}, "kind",
         ["chunk", "chunk", F] * 2),
        (MUSE | {"num_hidden_layers": 6}, "door", [T, N, T, T, T, N]),  # counted from the end
        (MUSE | {"num_hidden_layers": 7}, "door", [T, T, N, T, T, T, N]),
        (MUSE | {"layer_rope_theta": [0, 500_000.0, 500_000.0]}, "door", [N, T, T]),
        # numbers of each layer
        ({"model_type": "gemma3_text", "num_hidden_layers": 6}, "base", [1e4] * 5 + [1e6]),
        (BERT | {"local_rope_theta": 7.0, "global_rope_theta": 9.0}, "base", [9, 7, 7]),
        (LAGUNA | {"num_attention_heads_per_layer": [48, 64]}, "n_heads", [48, 64]),
        ("t5", "causal", [False] * 6 + [True] * 6),
        ("t5", "stack", ["encoder"] * 6 + ["decoder"] * 6),
    ],
)  # fmt: skip
def test_each_layer_is_what_its_configuration_says(config, name, expected):
    assert [getattr(layer, name) for layer in register.read(config).layers] == expected


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"", "line 1: this is no JSON"),
        (b'{\n"model_type": }', "line 2: this is no JSON"),
        (b"[1]", "a configuration is a JSON object, this is a list"),
        (b'{"rope_theta": 1, "a": 2, "rope_theta": 3}', "is said to be 1 and 3; one must"),
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


def test_layers_with_a_window_turn_no_farther_than_they_see():
    found = register.read("openai/gpt-oss-20b")
    slow = int((found.inv_freq(0) * 128 < 2 * np.pi).sum())
    said = f"At 128 tokens (as far as a query sees), {slow} of 32 pairs make less than one turn."
    assert said in found.explain(131_072)


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


def test_a_released_model_says_its_day_with_who_says_so():
    dated = {n: one for n, one in register.reading.released().items() if "released" in one}
    assert len(dated) > 40
    for name, entry in dated.items():
        day = datetime.date.fromisoformat(entry["released"])
        assert datetime.date(2025, 1, 1) <= day <= datetime.date.fromisoformat(entry["date"]), name
        assert entry["released_source"].startswith("https://")
        line = f"Released: {day}, as {entry['released_source']} says."
        assert line in register.read(name).explain().splitlines()
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


@pytest.mark.parametrize(
    ("config", "length", "sentence"),
    [
        # which schedule is valid for longer inputs
        ("llama4_text", 10**6, "Layers that turn see at most 8,192 of them, so that no schedule"),
        ("google/gemma-3-1b-it", 10**6, "factor 7.63 is valid in the layers that see everything"),
        ("llama", 10**6, "factor 488 is valid, best with more training"),
        ("openai/gpt-oss-20b", 10**6, "reaches 131,072 tokens. Set its factor anew, to 244; a sec"),
        ("llama", 131_072, "made for 2,048 tokens (default of the class, no released number)"),
        ("llama", 131_072, "131,072 tokens are 64 times the default of its class"),
        ({"model_type": "llama", "max_position_embeddings": 2048}, 131_072, "for 2,048 tokens\n"),
        ("t5", 131_072, "names no length. Nothing in it ends before 131,072 tokens"),
        # where a model and its paper differ
        ("openai/gpt-oss-20b", None, "with a window turn by it, too. Its ramp is not rounded"),
        ("deepseek-ai/DeepSeek-V3", None, "still dimensions included, is 1.874 times larger"),
        ("llama4_text", None, "these weights have the pairs of the RoFormer paper"),
        ("llama4_text", None, "by no learned number, in layers without rotation alone"),
        ("nanochat", None, "here it is -t omega"),
        ("t5", None, "from 91 in the encoder and 113 in the decoder on"),
        ("whisper", None, "all sines come first and the last wavelength"),
        # what queries see
        ("pixtral", None, "every patch of its picture"),
        ("pixtral", 1000, "Positions have two axes: height turns pairs 0 to 15"),
        ("dinov3_vit", None, "Each axis has all frequencies, those of RoPE over 32 dimensions."),
        ("dinov3_vit", None, "in a picture of more patches neighbours turn by less."),
        ("vjepa2", None, "That is no turn: scores depend on both places"),
        ("glm5_next_text", None, "chooses at most 2,048 tokens, in pools of 16, besides up to 15"),
        ("glm5_next_text", None, "a mean of its tokens, whose places a learned code tells."),
        ("deepseek_v4", None, "before, of which an indexer chooses at most 512."),
        ("roberta", 511, "for position 510 and later ones: 511 tokens fail"),
        ("xglm", 3000, "makes it longer"),
        ("t5", None, "in the encoder, a query sees every token"),
        ("t5", None, "in the decoder, a query sees everything before it"),
        ("modernbert", None, "a query sees itself, 64 tokens before it and 64 behind it."),
        ("modernbert-decoder", None, "A cache stays valid"),
        # where order comes from
        ("falcon_h1", None, "beside attention a recurrent layer reads the same input"),
        ("zamba2", None, "a recurrent layer follows, which reads what attention gives, too"),
        ("zamba2", None, "and from 9 recurrences beside attention, and from the causal"),
        ("wav2vec2-conformer", None, "over 128 tokens before the layers tells their order, too."),
        ("kimi_linear", None, "Order comes from 21 recurrent layers, which read token after token, "
         "and from the causal mask of 6 layers of attention."),
        ("qwen3_next", None, "recurrent layers, which read token after token, and from 12 layers"),
        ({"model_type": "lfm2", "full_attn_idxs": [2, 5], "num_hidden_layers": 8}, None,
         "over neighbouring tokens, and from 2 layers of attention that turn under a causal mask."),
        ("smollm3", None, "27 layers of attention that turn, and from the causal mask of 36 lay"),
    ],
)  # fmt: skip
def test_an_explanation_says_what_matters_of_a_model(config, length, sentence):
    assert sentence in register.read(config).explain(length)


@pytest.mark.parametrize("name", ["gpt_neox", "llama", "gpt2"])
def test_where_order_comes_from_is_not_said_of_plain_models(name):
    assert "Order comes" not in register.read(name).explain()
