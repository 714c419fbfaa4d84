"""What a query sees: windows, chunks, later tokens, and a sink."""

from collections.abc import Iterator

import torch
from torch import Tensor

from posenc.register.rules import Layer
from posenc.testing.like.fault import Fault, number
from posenc.testing.like.hearing import Run
from posenc.testing.like.scoring import tokens_only, visible

LONGEST = 2048
"""Tokens that may be needed to reach the end of a window."""


def faults(run: Run) -> Iterator[Fault]:
    """Yield layers whose queries see something else than the configuration says."""
    for pair in run.pairs:
        seen = visible(tokens_only(pair.heard))[0]
        due = visible_due(pair.due, len(seen))
        wrong = (seen != due).any(-1)
        if wrong.any():
            yield _explained(pair.number, pair.due, seen, due, int(wrong.nonzero()[0, 0]))


def visible_due(due: Layer, length: int) -> Tensor:
    """Return who sees whom, (queries, keys)."""
    ahead = torch.arange(length)[None] - torch.arange(length)[:, None]
    seen = ahead <= 0 if due.causal else torch.ones_like(ahead, dtype=torch.bool)
    window = due.window or length
    if due.kind == "window":
        reach = window if due.causal else window // 2 + 1  # half of it to each side
        seen &= ahead.abs() < reach
    if due.kind == "chunk":
        chunk = torch.arange(length) // window
        seen &= chunk[:, None] == chunk[None]
    return seen


def described(seen: Tensor) -> str:
    """Return in words what the last query sees, and whether any sees ahead."""
    length = len(seen)
    last = int(seen[-1].sum())
    first = int(seen[length // 2].nonzero()[-1, 0]) - length // 2
    reach = "all before it" if last == length else f"{number(last)} tokens with its own"
    return f"{reach}, and {number(first)} behind it" if first > 0 else reach


def _explained(n: int, due: Layer, seen: Tensor, wanted: Tensor, row: int) -> Fault:
    causal = bool(seen.triu(1).any()) != bool(wanted.triu(1).any())
    field = "causal" if causal else "window" if due.window else "kind"
    here, there = described(seen), described(wanted)
    if not causal and here == there:  # the last row is alike, an earlier one is not
        here, there = (f"{int(one[row].sum())} tokens from place {row}" for one in (seen, wanted))
    window = int(seen[-1].sum()) if field == "window" and not seen[-1].all() else None
    came = not causal if field == "causal" and due.causal else window
    said = f"layer {n}: its last query sees {here}; the configuration says {there}"
    if field == "causal":
        said = f"layer {n}: a query sees {here}; the configuration says {there}"
    return Fault(n, field, came, getattr(due, field), said)


def sinks(run: Run) -> Iterator[Fault]:
    """Yield layers with a sink that is not due, or without one that is."""
    for pair in run.pairs:
        has = pair.heard.has_sink()
        if has != pair.due.sinks:
            here, there = ("a sink" if one else "no sink" for one in (has, pair.due.sinks))
            said = f"layer {pair.number}: its softmax has {here}; the configuration says {there}"
            yield Fault(pair.number, "sinks", has, pair.due.sinks, said)


def sums_to_one(out: Tensor) -> bool:
    """Return whether one token again and again gets one output (length, width).

    So it is where weights sum to one, whatever they are; where a sink takes its share, each place
    has a share of its own.
    """
    return bool((out - out[:1]).abs().max() <= 1e-5 * out.abs().max())
