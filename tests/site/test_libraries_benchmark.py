"""RoPE of six libraries beside ours: nothing is timed that turns otherwise."""

import sys

import pytest
import torch
from sitefiles import ROOT

sys.path.insert(0, str(ROOT / "benchmarks"))
import libraries

LENGTH = 9
PAIR = [torch.randn(2, libraries.N_HEADS, LENGTH, libraries.D_HEAD) for _ in range(2)]


@pytest.mark.parametrize("pairing", libraries.PAIRINGS)
def test_who_turns_as_we_do_is_timed(pairing):
    turn = libraries.ours(pairing, LENGTH)
    libraries.check("ours", pairing, turn, PAIR, LENGTH, flipped=False)
    flipped = [a.transpose(1, 2) for a in PAIR]
    other = libraries.both(lambda a: turn(a.transpose(1, 2), a.transpose(1, 2))[0].transpose(1, 2))
    libraries.check("theirs", pairing, other, flipped, LENGTH, flipped=True)


def test_who_turns_otherwise_is_named():
    turn = libraries.ours("half", LENGTH)
    with pytest.raises(ValueError, match="theirs turns otherwise"):
        libraries.check("theirs", "interleaved", turn, PAIR, LENGTH, flipped=False)


def test_who_is_absent_is_left_out(monkeypatch, capsys):
    def absent(n):  # noqa: ARG001
        raise ImportError("no such package")

    monkeypatch.setattr(libraries, "OTHERS", {"theirs": ("half", absent)})
    assert list(libraries.contestants(LENGTH)) == ["posenc, interleaved", "posenc, half"]
    assert "theirs is left out: no such package" in capsys.readouterr().out
