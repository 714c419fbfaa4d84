"""What is added to scores by distance: nothing, ALiBi's slopes, or rows of a table."""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import torch

from posenc.register import distances as register
from posenc.register.rules import Layer
from posenc.testing.like.fault import Fault, number
from posenc.testing.like.hearing import Pair, Run
from posenc.testing.like.scoring import products, slope, tokens_only, visible
from posenc.testing.like.turning import Array

SAME = 1e-3
MOST_ROWS = (8, 16, 32, 64, 128)
FAR = (16, 20, 32, 64, 128, 256, 512, 1024)


def needed(due: Layer) -> int:
    """Return how many tokens show all that is added."""
    return min(int((due.buckets or {}).get("max", 12)) * 5 // 4 + 8, 600)


def added(pair: Pair, by: float) -> tuple[Array, Array] | None:
    """Return what each head adds at each offset, key's place minus query's, less its own at 0.

    None if that does not hang on the offset alone.
    """
    s, p = tokens_only(pair.heard), products(pair.heard)
    seen = visible(s)
    s = s.masked_fill(~seen, 0)
    if pair.due.softcap:
        cap = pair.due.softcap
        s = cap * torch.atanh((s / cap).clamp(-1 + 1e-12, 1 - 1e-12))
    rest = s - by * p if p is not None and p.shape == s.shape else s
    own = rest.diagonal(dim1=1, dim2=2)[..., None]
    rest = rest - own
    offsets, values = [], []
    size = max(float(rest.masked_fill(~seen, 0).abs().max()), 1e-6)
    for offset in range(1 - s.shape[1], s.shape[1]):
        line, sees = rest.diagonal(offset, 1, 2), seen.diagonal(offset, 1, 2)
        if not sees.any():
            continue
        line = line[:, sees[0]]
        if float((line - line[:, :1]).abs().max()) > SAME * max(size, 1):
            return None
        offsets.append(offset)
        values.append(line.mean(1).numpy())
    return np.array(offsets), np.stack(values, 1)


def faults(run: Run, talks: list[Run]) -> Iterator[Fault]:
    """Yield layers that add something else to their scores than the configuration says."""
    for n, pair in enumerate(run.pairs):
        measured = slope(talks[0].pairs[n], talks[1].pairs[n], pair.due.softcap)
        if measured and measured[1] > SAME:  # which the scale's check tells
            continue
        read = added(pair, measured[0] if measured else 0.0)
        who = f"layer {pair.number}: what is added to its scores"
        if read is None:
            said = f"{who} does not hang on the distance alone; the configuration says it does"
            yield Fault(pair.number, pair.due.door, None, pair.due.door, said)
            continue
        fault = _compared(pair, who, run, *read)
        if fault is not None:
            yield fault


def _compared(pair: Pair, who: str, run: Run, offsets: Array, values: Array) -> Fault | None:
    due, n = pair.due, pair.number
    if (due.slopes or due.buckets) and np.abs(values).max() < SAME:
        field = "slopes" if due.slopes else "buckets"
        said = f"layer {n}: nothing is added to its scores; the configuration says {field}"
        return Fault(n, field, None, getattr(due, field), said)
    if due.slopes:
        return _slopes(due.slopes, n, offsets, values)
    if due.buckets and due.buckets["kind"] == "t5":
        return _buckets(due.buckets, who, n, run, offsets, values)
    if np.abs(values).max() > 10 * SAME:
        said = f"{who} is not zero (up to {np.abs(values).max():.2g}); the configuration adds none"
        return Fault(n, "slopes", float(np.abs(values).max()), None, said)
    return None


def _slopes(due: Mapping[str, Any], n: int, offsets: Array, values: Array) -> Fault | None:
    """Compare ALiBi's slopes: head by head, and then with those of usual mistakes."""
    behind = offsets < 0
    seen = (values[:, behind] / offsets[behind]).mean(1)
    right = np.array(due["values"])
    if len(seen) == len(right) and np.allclose(seen, right, rtol=SAME):
        return None
    heads = np.flatnonzero(~np.isclose(seen, right, rtol=SAME)) if len(seen) == len(right) else [0]
    head = int(heads[0])
    wrong = _wrong_slopes(due, len(seen))
    alike = (words for words, one in wrong if np.allclose(seen, one, rtol=SAME))
    words = next(alike, "")
    shown = f"head {head} loses {number(seen[head])} with each token of distance"
    reason = f", as if {words}" if words else ""
    said = f"layer {n}: {shown}{reason}; the configuration says {number(right[head])}"
    return Fault(n, "slopes", seen.tolist(), right.tolist(), said)


def _wrong_slopes(due: Mapping[str, Any], n_heads: int) -> Iterator[tuple[str, Array]]:
    right = np.array(due["values"])
    yield "their sign were the other one", -right
    yield "heads stood in the opposite order", right[::-1]
    yield (
        "there were no rule for numbers of heads that are no power of two",
        np.array([2.0 ** (-8 * i / n_heads) for i in range(1, n_heads + 1)]),
    )
    for n in sorted({2**i for i in range(1, 8)} | {12, 20, 24, 40, 48}):
        if n != due["n_heads"] and n >= n_heads:
            words = f"they were the first of {n} heads"
            yield words, np.array(register.alibi(n)[:n_heads])
    n = 2 ** int(np.log2(n_heads))
    closest = register.alibi(n) + register.alibi(2 * n)[1::2][: n_heads - n]
    yield "those beyond a power of two were the other half", np.array(closest)
    yield "exponents began at 0", np.array([2.0 ** (-8 * i / n_heads) for i in range(n_heads)])
    for factor in (2.0, 0.5):
        yield f"all slopes were multiplied by {factor:g}", factor * right
    for width in (16, 32, 64, 80, 96, 128):
        yield f"they were divided by sqrt({width}), as products are", right / width**0.5


def _buckets(
    due: Mapping[str, Any], who: str, n: int, run: Run, offsets: Array, values: Array
) -> Fault | None:
    """Compare rows of a table: by its values where it is found, else which distances share one."""
    tables = _tables(run, values, due) or [None]
    if any(_fits(due, offsets, values, one) for one in tables):
        return None
    for words, field, wrong in _wrong_buckets(due):
        if any(_fits(wrong, offsets, values, one) for one in tables):
            said = (
                f"{who} is as if {words}; the configuration says {due['n']} buckets up to "
                f"{due['max']}, {_direction(due)}"
            )
            return Fault(n, f"buckets.{field}", wrong.get(field), due.get(field), said)
    rows = register.rows(due, offsets)
    same = rows[1:] == rows[:-1]
    equal = np.isclose(values[:, 1:], values[:, :-1], atol=SAME).all(0)
    off = np.flatnonzero(same != equal)
    at = int(offsets[off[0] + 1]) if len(off) else int(offsets[0])
    said = f"{who} takes other rows of the table than the configuration says, as at offset {at}"
    return Fault(n, "buckets", None, dict(due), said)


def _direction(due: Mapping[str, Any]) -> str:
    return "both ways" if due["bidirectional"] else "of earlier tokens only"


def _tables(run: Run, values: Array, due: Mapping[str, Any]) -> list[Array | None]:
    """Return the learned tables of the module, (rows, heads) each."""
    shape = due["n"], len(values)
    found = (one for one in run.subject.weights_of() if one.shape == shape)
    return [one.detach().double().numpy() for one in found]


def _fits(due: Mapping[str, Any], offsets: Array, values: Array, table: Array | None) -> bool:
    sign = due.get("sign", 1)
    rows = register.rows(due, sign * offsets)
    if table is not None and rows.max() < len(table):
        start = register.rows(due, np.array([0]))[0]
        wanted = (table[rows] - table[start]).T
        return bool(np.allclose(values, wanted, atol=SAME * max(np.abs(wanted).max(), 1)))
    if table is not None:
        return False
    same = rows[1:] == rows[:-1]
    equal = np.isclose(values[:, 1:], values[:, :-1], atol=1e-6).all(0)
    return bool((same == equal).all())


def _wrong_buckets(due: Mapping[str, Any]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    other = not due["bidirectional"]
    words = "buckets served both directions" if other else "buckets served earlier tokens only"
    yield words, "bidirectional", {**due, "bidirectional": other}
    yield "offsets had the other sign", "sign", {**due, "sign": -1}
    yield f"{words}, and offsets had the other sign", "bidirectional", {
        **due, "bidirectional": other, "sign": -1
    }  # fmt: skip
    for most in FAR:
        if most != due["max"] and most > due["n"] // (4 if due["bidirectional"] else 2):
            yield f"the last bucket began at {most}", "max", {**due, "max": most}
    for rows in MOST_ROWS:
        if rows != due["n"] and rows // 2 < due["max"]:
            yield f"there were {rows} buckets", "n", {**due, "n": rows}
