"""The script for a GPU, tried on a processor: what it compares with, and what it stores."""

import json
import sys

import pytest
import torch
from sitefiles import ROOT

from posenc import encodings
from posenc.attention import SelfAttention

sys.path.insert(0, str(ROOT / "benchmarks"))
import by_hand
import gpu


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


def test_the_script_stores_attention_at_a_small_size(tmp_path, monkeypatch):
    out = tmp_path / "gpu.json"
    monkeypatch.setattr(gpu, "FIRST", ("rotary", "alibi", "tupe"))
    monkeypatch.setattr(gpu.encodings, "names", lambda _: ["none", "conv_spe"])
    monkeypatch.setitem(gpu.PARTS, "grid", lambda *_: iter([{"why": "left out"}]))
    command = ["gpu.py", "--tiny", "--device", "cpu", "--out", str(out)]
    monkeypatch.setattr(sys, "argv", command)
    gpu.main()
    found = json.loads(out.read_text())["cpu"]
    rows = {(row["encoding"], row["length"]): row for row in found["attention"]}
    assert rows.keys() == {
        (n, length) for n in ("rotary", "alibi", "tupe", "conv_spe") for length in (32, 64)
    }
    assert all(row["of none"] > 0 for row in rows.values())
    assert [name for (name, length), row in rows.items() if row["of hand"] and length == 32] == [
        "rotary",
    ]
    assert found["gpt"][0]["ratio"] > 0
    shown = gpu.table(gpu.read(out))
    assert "| rotary |" in shown
    ratio, whose = gpu.worst(gpu.read(out), "of none")
    assert ratio == max(row["of none"] for row in rows.values())
    assert "on cpu" in whose


def test_what_the_time_has_no_room_for_is_said():
    rows = list(gpu.attention(gpu.TINY, "cpu", until=0))
    assert {row["why"] for row in rows} == {"no time left"}
    assert len(rows) == 2 * (len(encodings.names("series")) - 1)


def test_a_part_that_fails_leaves_the_others_their_turn(monkeypatch):
    def fails(*_):
        yield {"fine": 1}
        raise RuntimeError("no such kernel")

    monkeypatch.setitem(gpu.PARTS, "grid", fails)
    assert list(gpu.rows("grid", {}, "cpu", 0)) == [
        {"fine": 1},
        {"why": "RuntimeError: no such kernel"},
    ]


def test_a_machine_without_a_gpu_is_told_so(monkeypatch, tmp_path):
    monkeypatch.setattr(sys, "argv", ["gpu.py", "--out", str(tmp_path / "gpu.json")])
    monkeypatch.setattr(gpu.torch.cuda, "is_available", lambda: False)
    with pytest.raises(SystemExit, match="finds no GPU"):
        gpu.main()


def test_without_a_card_the_table_says_what_is_missing():
    assert gpu.table({}) == gpu.MISSING
    assert gpu.worst({}, "of none") is None
