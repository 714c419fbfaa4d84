"""What products of queries and keys are multiplied by, and whether scores have a bound."""

import math
from collections.abc import Iterator

import torch
from torch import Tensor

from posenc.register.rules import Layer
from posenc.testing.like.fault import Fault, number
from posenc.testing.like.hearing import Pair, Run
from posenc.testing.like.listening import Heard
from posenc.testing.like.origin import located

SAME = 1e-3
CAPS = (15.0, 20.0, 30.0, 50.0, 100.0)
HIDDEN = -5000.0
"""Scores this far below a row's largest are masked."""


def tokens_only(heard: Heard) -> Tensor:
    """Return scores without the column of a sink, (heads, length, length)."""
    length = heard.scores.shape[1]
    if heard.scores.shape[2] == length:
        return heard.scores
    return heard.scores[:, :, 1:] if sink_is_first(heard) else heard.scores[:, :, :length]


def sink_is_first(heard: Heard) -> bool:
    """Return whether the column that is no token's stands before the others."""
    seen = visible(heard.scores)
    return not bool(seen[0, 0, -1]) and bool(seen[0, 0, 1])


def visible(scores: Tensor) -> Tensor:
    """Return where a query sees a key."""
    return scores > scores.amax(-1, keepdim=True) + HIDDEN


def products(heard: Heard) -> Tensor | None:
    """Return queries times keys, (heads, length, length)."""
    if heard.q is None or heard.k is None:
        return None
    return heard.q @ heard.k.transpose(1, 2)


def slope(one: Pair, other: Pair, cap: float | None = None) -> tuple[float, float] | None:
    """Return what products are multiplied by, and the largest miss of that, as a share.

    From two inputs, so that what is added to scores cancels; within a row, so that what is taken
    from all of it does, too.
    """
    sides = []
    for heard in (one.heard, other.heard):
        p, s = products(heard), tokens_only(heard)
        if p is None or p.shape != s.shape:
            return None
        seen = visible(s)
        s = s.masked_fill(~seen, 0)
        s = cap * torch.atanh((s / cap).clamp(-1 + 1e-12, 1 - 1e-12)) if cap else s
        own = torch.eye(s.shape[1], dtype=torch.bool)
        p, s = (side - side[:, own][..., None] for side in (p, s))
        sides.append((p.masked_fill(~seen, 0), s.masked_fill(~seen, 0)))
    p, s = (sides[0][n] - sides[1][n] for n in (0, 1))
    if not p.any():
        return None
    found = float((p * s).sum() / p.square().sum())
    miss = float((s - found * p).abs().max() / s.abs().max().clamp(min=1e-30))
    return found, miss


def faults(talks: list[Run], still: Run) -> Iterator[Fault]:
    """Yield layers that scale otherwise; `talks` are two runs of random tokens."""
    for one, other, pair in zip(talks[0].pairs, talks[1].pairs, still.pairs, strict=True):
        fault = _of_layer(one, other, pair)
        if fault is not None:
            yield fault


def _of_layer(one: Pair, other: Pair, still: Pair) -> Fault | None:
    due, n = one.due, one.number
    measured = slope(one, other, due.softcap)
    if measured is None:
        return None
    by, miss = measured
    if miss > SAME:
        return _bound(one, other, due, n)
    scale, louder, is_scaled = due.scale or 1.0, gains(still), math.isclose(by, 1, rel_tol=SAME)
    if louder is None:
        total, wanted = (scale, scale) if is_scaled else (by, scale)  # `unheard` says the rest
    elif due.turning < (due.head_dim or 0) and not is_scaled and abs(by / scale - 1) > SAME:
        total, wanted = by, scale  # of dimensions that do not turn, and have no gain
    else:
        total, wanted = by * louder, scale * due.gain**2
    return None if abs(total / wanted - 1) <= SAME else _explained(total, wanted, due, n)


def unheard(talks: list[Run], still: Run) -> list[int]:
    """Return layers of which nobody hears what queries were before they got scale or gain."""
    layers = []
    for one, other, pair in zip(talks[0].pairs, talks[1].pairs, still.pairs, strict=True):
        measured, due = slope(one, other, pair.due.softcap), pair.due
        hidden = measured is None or (math.isclose(measured[0], 1, rel_tol=SAME) and due.scale != 1)
        if gains(pair) is None and (hidden or due.gain != 1):
            layers.append(pair.number)
    return layers


def _bound(one: Pair, other: Pair, due: Layer, n: int) -> Fault | None:
    said = f"layer {n}: its scores are "
    right = (
        f"the configuration says softcap {number(due.softcap)}"
        if due.softcap
        else ("the configuration has no bound")
    )
    plain = slope(one, other)
    if due.softcap and plain is not None and plain[1] < SAME:
        return Fault(n, "softcap", None, due.softcap, f"{said}not bounded; {right}")
    for cap in CAPS:
        found = slope(one, other, cap)
        if found is not None and found[1] < SAME:
            return Fault(n, "softcap", cap, due.softcap, f"{said}bounded by {number(cap)}; {right}")
    said += "no multiple of queries times keys, even up to what is added by distance"
    return Fault(n, "scale", None, due.scale, f"{said}; {right}")


def gains(pair: Pair) -> float | None:
    """Return what queries and keys are multiplied by before they meet, both in one.

    None where nothing that was computed before is found again in them.
    """
    q, k = (located(side, pair) for side in (pair.heard.q, pair.heard.k))
    return q.gain * k.gain if q and k else None


def _explained(total: float, wanted: float, due: Layer, n: int) -> Fault:
    gain, scale, width = due.gain, due.scale or 1.0, due.head_dim or 1
    wrong = {
        "gain": {
            f"the gain {number(gain)} were missing": scale,
            f"the gain {number(gain)} were on one side only": scale * gain,
            f"the gain {number(gain)} were applied twice": scale * gain**4,
        }
        if gain != 1
        else {},
        "scale": {
            f"the scale were 1/sqrt({number(one)})": one**-0.5
            for one in (
                width, due.turning, width - due.turning, width * (due.n_heads or 1), width // 2
            )
            if one
        }
        | {
            "nothing were scaled": 1.0,
            "the scale were applied twice": scale**2,
            f"the scale were 1/{number(width)}": 1 / width,
        },
    }  # fmt: skip
    for field, ways in wrong.items():
        for words, value in ways.items():
            for more, times in (("", 1.0), (", and the gain applied", gain**2)):
                if field == "gain" and more:
                    continue
                if math.isclose(value * times, total, rel_tol=SAME):
                    return _fault(field, words + more * (gain != 1), total, wanted, due, n)
    words = f"queries times keys were multiplied by {number(total)}"
    return _fault("scale", words, total, wanted, due, n)


def _fault(field: str, words: str, total: float, wanted: float, due: Layer, n: int) -> Fault:
    right = f"the scale {number(due.scale or 1)}" + (
        f" and the gain {number(due.gain)}, squared" * (due.gain != 1)
    )
    said = (
        f"layer {n}: its scores are as if {words}; the configuration says {right}, "
        f"which makes {number(wanted)} in all, and {number(total)} came"
    )
    seen = total if field == "scale" else math.sqrt(total / (due.scale or 1.0))
    return Fault(n, field, seen, getattr(due, field), said, abs(total / wanted - 1))
