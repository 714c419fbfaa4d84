"""The benchmarks: all contestants compute the same, and what is said of rows is right."""

import json
import sys
import time

import pytest
import torch
from sitefiles import ROOT

from posenc import encodings
from posenc.attention import SelfAttention
from posenc_book.audit.survey import summaries

sys.path.insert(0, str(ROOT / "benchmarks"))
import by_hand
import gpu
import gpu_parts
import gpu_tables
import growth
import kernels
import libraries
import score_mods

without_compile = pytest.mark.filterwarnings("ignore:flex_attention called without torch.compile")


@pytest.mark.parametrize(("settled", "calls"), [(False, 4), (True, 8)])
def test_every_contestant_runs_once_a_round_and_twice_if_settled(settled, calls):
    seen = []
    contestants = {name: lambda name=name: seen.append(name) for name in "ab"}
    seconds = libraries.interleaved(contestants, rounds=3, settled=settled)
    assert {name: len(times) for name, times in seconds.items()} == {"a": 3, "b": 3}
    assert seen.count("a") == seen.count("b") == calls  # one round warms up


# --- all contestants compute the same


@without_compile
@pytest.mark.parametrize("name", kernels.NAMES)
def test_kernels_beside_ours_compute_the_same(name, monkeypatch):
    monkeypatch.setattr(torch, "compile", lambda function, **_: function)
    calls, chosen = kernels.contestants(name, 300, training=False)
    assert chosen in ("strided", "blocks", "joined")
    with torch.no_grad():
        expected = calls["ours"]()
        for call in calls.values():
            torch.testing.assert_close(call(), expected, rtol=1e-4, atol=1e-4)


@without_compile
@pytest.mark.parametrize("name", score_mods.NAMES)
def test_score_mods_beside_ours_compute_the_same(name):
    layer = score_mods.made(name, 150, "cpu").requires_grad_(False)
    q, k, v = torch.randn(3, 1, score_mods.N_HEADS, 150, 64)
    calls = score_mods.contestants(layer, 150, compiled=False)
    assert {"ours", "by hand", "SDPA"} <= calls.keys()
    expected = calls["SDPA"](q, k, v)
    for call in calls.values():
        torch.testing.assert_close(call(q, k, v), expected, rtol=1e-4, atol=1e-4)


@without_compile
@pytest.mark.parametrize("name", by_hand.BY_HAND)
def test_attention_by_hand_computes_what_ours_does(name):
    torch.manual_seed(0)
    layer = SelfAttention(32, 2, encodings.make(name, 32, 2, 20))
    x = torch.randn(2, 20, 32)
    hand = by_hand.attention(layer, 20, compiled=False)
    with torch.no_grad():  # FlexAttention has no backward pass on a processor
        torch.testing.assert_close(hand(x), layer(x), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("pairing", libraries.PAIRINGS)
def test_a_library_that_turns_as_we_do_is_timed_and_another_is_named(pairing):
    pair = [torch.randn(2, libraries.N_HEADS, 9, libraries.D_HEAD) for _ in range(2)]
    turn = libraries.ours(pairing, 9)
    libraries.check("ours", pairing, turn, pair, 9, flipped=False)
    flipped = [a.transpose(1, 2) for a in pair]
    other = libraries.both(lambda a: turn(a.transpose(1, 2), a.transpose(1, 2))[0].transpose(1, 2))
    libraries.check("theirs", pairing, other, flipped, 9, flipped=True)
    [wrong] = {*libraries.PAIRINGS} - {pairing}
    with pytest.raises(ValueError, match="theirs turns otherwise"):
        libraries.check("theirs", wrong, turn, pair, 9, flipped=False)


# --- what is said of rows


def test_a_row_says_which_kernel_it_was_and_how_much_quicker(monkeypatch):
    monkeypatch.setattr(torch, "compile", lambda function, **_: function)
    monkeypatch.setattr(kernels, "MOST_ROUNDS", 2)
    row = kernels.measure("t5", 280, training=True)
    assert row["kernel"] == "blocks"
    assert row["over ours"].keys() == {"SDPA", "compiled"}
    whole = {"threads": 1, "length": 280, "encoding": "t5", "what": "training"} | row
    assert "| t5, training | blocks | 280 | 1 |" in kernels.table([whole])


@pytest.mark.parametrize(
    ("ratio", "said"), [(1.3, "clearly quicker"), (1.1, "quicker"), (0.9, "slower")]
)
def test_the_quickest_other_kernel_decides(ratio, said):
    assert kernels.verdict({"over ours": {"SDPA": 2.0, "Flex": ratio}}) == said


@pytest.mark.parametrize(
    ("quartiles", "said"),
    [([1.01, 1.02, 1.03], "quickest"), ([0.8, 0.9, 0.99], "slower"), ([0.99, 1.0, 1.01], "level")],
)
def test_the_quickest_other_score_mod_decides(quartiles, said):
    over = {"by hand": quartiles, "SDPA": [2.9, 3.0, 3.1]}
    row = {"encoding": "t5", "length": 1024, "ms": 1.0, "over ours": over}
    assert score_mods.table([row]).endswith(f"| {quartiles[1]:.2f} | 3.00 |  | {said} |")


# --- how cost grows


@pytest.mark.parametrize("power", [0, 1, 1.5, 2])
def test_the_exponent_of_a_power_is_that_power_by_the_last_three_sizes(power):
    seconds = [1e6, *(3 * n**power for n in (2, 4, 8))]
    series = {"sizes": [1, 2, 4, 8], "seconds": seconds, "megabytes": [0.0] * 4}
    assert growth.exponent(series, "seconds") == pytest.approx(power)
    assert growth.exponent(series, "megabytes") is None


def test_a_series_ends_before_a_call_is_too_large(monkeypatch):
    monkeypatch.setattr(growth, "weighed", lambda call: (0.0, call() ** 2.0))
    found = growth.along([32, 64, 4096], lambda n: lambda: n)
    assert found["sizes"] == [32]  # 64**2 megabytes would be too many


def test_powers_are_read_off_the_documentation():
    powers = {name: growth.documented_power(name) for name in growth.names()}
    assert powers["none"] == 0
    assert all(powers[name] == 1 for name in ("sinusoidal", "learnable", "rotary", "conv_spe"))
    assert all(powers[name] == 2 for name in ("relative", "t5", "tpe", "deberta", "fire", "tupe"))
    assert all(growth.documented(name) for name in powers if name != "none")


def test_one_encoding_is_measured_along_every_axis(monkeypatch):
    small = {"length": [16, 32, 64], "batch": [1, 2], "heads": [2, 4], "depth": [1, 2]}
    monkeypatch.setattr(growth, "AXES", small)
    monkeypatch.setattr(growth, "BASE", {"length": 16, "batch": 1, "heads": 4, "depth": 1})
    monkeypatch.setattr(growth, "ROUND_SECONDS", 0.0)
    found = growth.measure("tpe", most=32)
    assert {axis: of["sizes"] for axis, of in found["step"].items()} == small | {"length": [16, 32]}
    assert all(t > 0 for of in found["step"].values() for t in of["seconds"])
    shown = growth.table({"tpe": found})
    assert f"| tpe | {growth.documented('tpe')} | 2 | " in shown
    assert summaries.TABLE_2["tpe"][1] in shown


# --- the script for a GPU, tried on a processor


def test_the_plain_gpt_sees_no_later_token_and_learns():
    torch.manual_seed(0)
    model = by_hand.PlainGPT(16, 16, 2, 1, 12)
    tokens = torch.randint(16, (2, 13))
    other = tokens.clone()
    other[:, 8:] = 0
    torch.testing.assert_close(model(tokens[:, :12])[:, :8], model(other[:, :12])[:, :8])
    step, before = by_hand.training_step(model, tokens), model.head.weight.clone()
    step()
    assert not torch.equal(model.head.weight, before)


def fails():
    raise RuntimeError("no such kernel")


def test_the_script_stores_every_part_at_a_small_size_and_goes_on(tmp_path, monkeypatch):
    out = tmp_path / "gpu.json"
    monkeypatch.setattr(gpu_parts, "_named", lambda: ["rotary", "alibi", "dywpe"])
    monkeypatch.setitem(gpu.PARTS, "grid", lambda *_: iter([({"length": 1}, fails)]))
    command = ["gpu.py", "--tiny", "--device", "cpu", "--out", str(out)]
    monkeypatch.setattr(sys, "argv", command)
    gpu.main()
    found = json.loads(out.read_text())["cpu"]
    rows = {(row["encoding"], row["length"]): row for row in found["attention"]}
    assert rows.keys() == {(n, at) for n in ("rotary", "alibi", "dywpe") for at in (32, 64)}
    assert all(row["of none"] > 0 for row in rows.values())
    assert [name for (name, at), row in rows.items() if row["of hand"] and at == 32] == ["rotary"]
    assert [row["encoding"] for row in found["decoding"]] == ["rotary", "alibi"]  # of no signal
    assert found["turning"][0]["of ours"]["posenc"] == 1
    assert found["gpt"][0]["ratio"] > 0
    assert found["grid"] == [{"length": 1, "why": "RuntimeError: no such kernel"}]
    assert "| rotary |" in gpu_tables.table(gpu_tables.read(out))
    ratio, _ = gpu_tables.worst(gpu_tables.read(out), "of none")
    assert ratio == max(row["of none"] for row in rows.values())
    gpu.main()  # nothing is measured twice
    assert json.loads(out.read_text())["cpu"] == found


def test_what_the_time_has_no_room_for_is_said_and_measured_the_next_time():
    part = [({"length": n}, lambda n=n: {"ratio": n}) for n in (1, 2)]
    late = list(gpu_parts.measured(iter(part), 0, {}))
    assert late == [{"length": n, "why": "no time left"} for n in (1, 2)]
    done = [{"length": 1, "ratio": 7}, late[1]]
    again = gpu_parts.measured(iter(part), time.monotonic() + 600, gpu.known(done))
    assert list(again) == [{"length": 1, "ratio": 7}, {"length": 2, "ratio": 2}]
