"""`score_mod` beside what others do: all contestants compute the same."""

import sys

import pytest
import torch
from sitefiles import ROOT

sys.path.insert(0, str(ROOT / "benchmarks"))
import score_mods


@pytest.mark.filterwarnings("ignore:flex_attention called without torch.compile")
@pytest.mark.parametrize("name", score_mods.NAMES)
def test_all_contestants_compute_the_same(name):
    length = 150
    layer = score_mods.made(name, length, "cpu").requires_grad_(False)
    q, k, v = torch.randn(3, 1, score_mods.N_HEADS, length, 64)
    calls = score_mods.contestants(layer, length, compiled=False)
    assert {"ours", "by hand", "SDPA"} <= calls.keys()
    expected = calls["SDPA"](q, k, v)
    for call in calls.values():
        torch.testing.assert_close(call(q, k, v), expected, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize(
    ("quartiles", "said"),
    [([1.01, 1.02, 1.03], "quickest"), ([0.8, 0.9, 0.99], "slower"), ([0.99, 1.0, 1.01], "level")],
)
def test_the_quickest_other_decides(quartiles, said):
    over = {"by hand": quartiles, "SDPA": [2.9, 3.0, 3.1]}
    row = {"encoding": "t5", "length": 1024, "ms": 1.0, "over ours": over}
    assert score_mods.table([row]).endswith(f"| {quartiles[1]:.2f} | 3.00 |  | {said} |")
