"""How long six libraries take to turn queries and keys (RoPE), in the same rounds as ours.

    export PYTHONPATH=. OMP_NUM_THREADS=1
    python benchmarks/libraries.py --checkouts FOLDER --out results/turning.json
    python benchmarks/libraries.py --lengths 64 --rounds 2     # to see that it works

Each starts from tables that it has made, as a model makes them once a call, and gets queries and
keys in its own layout. The outputs are compared before anything is timed. The contestants take
turns, in an order drawn anew each round; the median over rounds of the ratio to ours in the same
pairing counts, with the quartiles beside it: above 1 ours is quicker, and level where they lie on
both sides of 1. Whose package is absent is left out. The machine must be idle.
"""

import argparse
import json
import os
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import torch

sys.path.insert(0, os.fspath(Path(__file__).parents[1]))

from peers.references import PACKAGES, Missing, code, version
from timing import busy, interleaved, ratio_quartiles
from torch import Tensor

from posenc.encodings import Rotary

BATCH, N_HEADS, D_HEAD = 8, 8, 64
LENGTHS = (512, 4096)
CLOSE = 1e-3  # of the largest angles in float32
Turn = Callable[[Tensor, Tensor], tuple[Tensor, Tensor]]


def ours(pairing: str, n: int) -> Turn:
    return Rotary(N_HEADS * D_HEAD, N_HEADS, n, pairing=pairing).rotate


def llama(n: int) -> Turn:
    from transformers import LlamaConfig
    from transformers.models.llama import modeling_llama as m

    config = LlamaConfig(hidden_size=N_HEADS * D_HEAD, num_attention_heads=N_HEADS)
    cos, sin = m.LlamaRotaryEmbedding(config)(torch.empty(0), torch.arange(n)[None])
    return partial(m.apply_rotary_pos_emb, cos=cos, sin=sin)


def x_transformers(n: int) -> Turn:
    from x_transformers import x_transformers as m

    angles, scale = m.RotaryEmbedding(D_HEAD).forward_from_seq_len(n)
    return both(lambda a: m.apply_rotary_pos_emb(a, angles, scale))


def rotary_embedding_torch(n: int) -> Turn:  # noqa: ARG001  it keeps its table itself
    from rotary_embedding_torch import RotaryEmbedding

    return both(RotaryEmbedding(D_HEAD).rotate_queries_or_keys)


def torchtune(n: int) -> Turn:
    module = code("torchtune", "torchtune/modules/position_embeddings.py")
    return both(module.RotaryPositionalEmbeddings(D_HEAD, n))


def timm(n: int) -> Turn:
    from timm.layers import apply_rot_embed

    omega = 10_000.0 ** (-torch.arange(0, D_HEAD, 2) / D_HEAD)
    angles = torch.outer(torch.arange(n), omega).repeat_interleave(2, -1)
    sin, cos = angles.sin(), angles.cos()
    return both(lambda a: apply_rot_embed(a, sin, cos))


def both(one: Callable[[Tensor], Tensor]) -> Turn:
    return lambda q, k: (one(q), one(k))


OTHERS = {  # name -> its pairing, and what makes it for a length
    "transformers": ("half", llama),
    "x-transformers": ("interleaved", x_transformers),
    "rotary-embedding-torch": ("interleaved", rotary_embedding_torch),
    "torchtune": ("interleaved", torchtune),
    "timm": ("interleaved", timm),
}


def contestants(n: int) -> dict[str, tuple[str, Turn]]:
    """Return name -> pairing and what turns, for all that are installed."""
    found = {f"posenc, {pairing}": (pairing, ours(pairing, n)) for pairing in PAIRINGS}
    for name, (pairing, make) in OTHERS.items():
        try:
            found[name] = pairing, make(n)
        except (ImportError, Missing) as reason:
            print(f"{name} is left out: {reason}")
    return found


PAIRINGS = ("interleaved", "half")


def measure(n: int, rounds: int, *, training: bool) -> list[dict]:
    """Return a row for each library: quartiles of its time over ours, and its own median."""
    q, k = (torch.randn(BATCH, N_HEADS, n, D_HEAD, requires_grad=training) for _ in range(2))
    calls, pairings = {}, {}
    for name, (pairing, turn) in contestants(n).items():
        flipped = name == "torchtune"  # whose tokens stand before its heads
        pair = [a.detach().transpose(1, 2).contiguous() if flipped else a.detach() for a in (q, k)]
        pair = [a.requires_grad_(training) for a in pair]
        check(name, pairing, turn, pair, n, flipped=flipped)
        calls[name] = partial(step, turn, *pair, training=training)
        pairings[name] = pairing
    seconds = interleaved(calls, rounds, settled=True)
    return [
        {
            "tokens": n,
            "training": training,
            "whose": name,
            "pairing": pairings[name],
            "milliseconds": round(1e3 * sorted(times)[len(times) // 2], 4),
            "over ours": [
                round(one, 3)
                for one in ratio_quartiles(times, seconds[f"posenc, {pairings[name]}"])
            ],
        }
        for name, times in seconds.items()
        if not name.startswith("posenc")
    ]


def halves_over_pairs(rounds: int = 30) -> float:
    """Return the largest time of ours in halves, in units of neighbouring pairs."""
    worst = 0.0
    for n in LENGTHS:
        for training in (False, True):
            q, k = (torch.randn(BATCH, N_HEADS, n, D_HEAD, requires_grad=training) for _ in "qk")
            calls = {p: partial(step, ours(p, n), q, k, training=training) for p in PAIRINGS}
            seconds = interleaved(calls, rounds, settled=True)
            worst = max(worst, ratio_quartiles(seconds["half"], seconds["interleaved"])[1])
    return worst


def step(turn: Turn, q: Tensor, k: Tensor, *, training: bool) -> None:
    a, b = turn(q, k)
    if training:
        torch.autograd.grad((a.sum(), b.sum()), (q, k))


def check(
    name: str, pairing: str, turn: Turn, pair: list[Tensor], n: int, *, flipped: bool
) -> None:
    """Raise a ValueError where a library's result is another one than ours."""
    order = (lambda a: a.transpose(1, 2)) if flipped else (lambda a: a)
    truth = ours(pairing, n)(*(order(a) for a in pair))
    for mine, other in zip(truth, turn(*pair), strict=True):
        if not (difference := (mine - order(other)).abs().max().item()) < CLOSE:
            raise ValueError(f"{name} turns otherwise: {difference:.2g} at most must be {CLOSE}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--lengths", type=int, nargs="+", default=LENGTHS, help="tokens")
    parser.add_argument("--rounds", type=int, default=30, help="in which all take turns")
    parser.add_argument("--checkouts", type=Path, help="folder with torchtune")
    parser.add_argument("--out", type=Path, help="store the rows here")
    options = parser.parse_args()
    if options.checkouts:
        os.environ["POSENC_CHECKOUTS"] = str(options.checkouts.resolve())
    torch.set_num_threads(1)
    at_work, rows = busy(), []
    for n in options.lengths:
        for training in (False, True):
            rows += measure(n, options.rounds, training=training)
            print(*rows[-len(OTHERS) :], sep="\n", flush=True)
    if options.out:
        whose = {row["whose"] for row in rows}
        known = {name: version(name) for name in sorted(whose) if name in (*PACKAGES, "torchtune")}
        stored = {
            "date": datetime.now(UTC).date().isoformat(),
            "busy": at_work,
            "versions": {"PyTorch": torch.__version__, **known},
            "sizes": {"batch": BATCH, "n_heads": N_HEADS, "d_head": D_HEAD, "threads": 1},
            "rows": rows,
        }
        options.out.write_text(json.dumps(stored, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
