"""Our kernels beside PyTorch's: all contestants compute the same."""

import sys

import pytest
import torch
from sitefiles import ROOT

sys.path.insert(0, str(ROOT / "benchmarks"))
import kernels


@pytest.mark.filterwarnings("ignore:flex_attention called without torch.compile")
@pytest.mark.parametrize("name", kernels.NAMES)
def test_all_contestants_compute_the_same(name, monkeypatch):
    monkeypatch.setattr(torch, "compile", lambda function, **_: function)
    calls, chosen = kernels.contestants(name, 300, training=False)
    assert chosen in ("strided", "blocks", "joined")
    with torch.no_grad():
        expected = calls["ours"]()
        for call in calls.values():
            torch.testing.assert_close(call(), expected, rtol=1e-4, atol=1e-4)


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
def test_the_quickest_other_decides(ratio, said):
    assert kernels.verdict({"over ours": {"SDPA": 2.0, "Flex": ratio}}) == said


def test_without_rows_the_table_says_how_to_make_them():
    assert "benchmarks/kernels.py --out" in kernels.table([])
