"""The script for a GPU, tried on a processor: what it compares with, and what it stores."""

import json
import sys
import time

import pytest
import torch
from sitefiles import ROOT

from posenc import encodings
from posenc.attention import SelfAttention

sys.path.insert(0, str(ROOT / "benchmarks"))
import by_hand
import gpu
import gpu_parts
import gpu_tables


@pytest.mark.filterwarnings("ignore:flex_attention called without torch.compile")
@pytest.mark.parametrize("name", by_hand.BY_HAND)
def test_attention_by_hand_computes_what_ours_does(name):
    torch.manual_seed(0)
    layer = SelfAttention(32, 2, encodings.make(name, 32, 2, 20))
    x = torch.randn(2, 20, 32)
    hand = by_hand.attention(layer, 20, compiled=False)
    with torch.no_grad():  # FlexAttention has no backward pass on a processor
        torch.testing.assert_close(hand(x), layer(x), rtol=1e-5, atol=1e-5)


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
    shown = gpu_tables.table(gpu_tables.read(out))
    assert "| rotary |" in shown
    ratio, whose = gpu_tables.worst(gpu_tables.read(out), "of none")
    assert ratio == max(row["of none"] for row in rows.values())
    assert "on cpu" in whose
    gpu.main()  # nothing is measured twice
    assert json.loads(out.read_text())["cpu"] == found


def fails():
    raise RuntimeError("no such kernel")


def test_what_the_time_has_no_room_for_is_said_and_measured_the_next_time():
    part = [({"length": n}, lambda n=n: {"ratio": n}) for n in (1, 2)]
    late = list(gpu_parts.measured(iter(part), 0, {}))
    assert late == [{"length": n, "why": "no time left"} for n in (1, 2)]
    done = [{"length": 1, "ratio": 7}, late[1]]
    again = gpu_parts.measured(iter(part), time.monotonic() + 600, gpu.known(done))
    assert list(again) == [{"length": 1, "ratio": 7}, {"length": 2, "ratio": 2}]


def test_one_round_of_a_slow_call_must_do(monkeypatch):
    monkeypatch.setattr(gpu_parts, "SLOW", 0.0)
    assert [len(s) for s in gpu_parts.timed({"a": int, "b": int}, 9, "cpu").values()] == [1, 1]


def test_a_machine_without_a_gpu_is_told_so(monkeypatch, tmp_path):
    monkeypatch.setattr(sys, "argv", ["gpu.py", "--out", str(tmp_path / "gpu.json")])
    monkeypatch.setattr(gpu.torch.cuda, "is_available", lambda: False)
    with pytest.raises(SystemExit, match="finds no GPU"):
        gpu.main()


def test_without_a_card_the_table_says_what_is_missing():
    assert gpu_tables.table({}) == gpu_tables.MISSING
    assert gpu_tables.worst({}, "of none") is None
