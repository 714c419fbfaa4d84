"""Queries and keys beside the configuration: the part that turns, pairs, speed, direction, axes."""

from collections.abc import Iterator

import numpy as np
import torch
from torch import Tensor

from posenc.register import Description
from posenc.register.reading import families
from posenc.register.rules import Layer
from posenc.testing.adapters import CannotAsk
from posenc.testing.like import turning
from posenc.testing.like.fault import Fault, number
from posenc.testing.like.hearing import Pair, Run
from posenc.testing.like.origin import located
from posenc.testing.like.suspects import Suspect, fitted, named, suspects
from posenc.testing.like.turning import Array, Part

CLOSE = 1e-4
"""A share by which frequencies may differ, as float32 rounds them."""
FAINT = 2e-5
"""Radians that nobody can hear over the farthest place."""
GROWN = 1e-3
"""A share by which queries at different places may differ in length."""
GAINS_BEHIND = ("hunyuan_v1_dense", "hunyuan_v1_moe")
"""Families whose norm behind the rotation has learned gains; that of others has none."""


def faults(run: Run, like: Description) -> Iterator[Fault]:
    """Yield what differs, layer by layer."""
    normed = bool(families()[like.family].get("normed_after"))
    for pair in run.pairs:
        if pair.heard.q is None:
            raise CannotAsk(
                "no product of queries and keys was heard; a method `queries_and_keys(x, "
                "positions)` would show them"
            )
        for what, side in (("queries", pair.heard.q), ("keys", pair.heard.k)):
            if side is not None:
                fault = of_side(pair, what, side, run, like, normed=normed)
                if fault is not None:
                    yield fault
                    break
        else:
            yield from _origin(pair)
            yield from _grouping(pair)


def _grouping(pair: Pair) -> Iterator[Fault]:
    """Yield that heads which share a key are not neighbours, as they are in all families."""
    k, n = pair.heard.k, pair.number
    if k is None or len(k) < 2:
        return
    same = torch.isclose(k[:1, 0], k[:, 0], rtol=1e-6).all(-1)  # heads with the first one's key
    first, shared = int(same.long().argmin()), int(same.sum())
    if shared in (1, len(k)) or shared == first:
        return
    due, seen = list(range(shared)), same.nonzero()[:, 0].tolist()
    said = (
        f"layer {n}: query heads {_listed(seen)} share a key head, as if shared heads were tiled "
        f"(repeat); heads {_listed(due)} are due, neighbours (repeat_interleave)"
    )
    yield Fault(n, "heads", seen, due, said)


def _listed(heads: list[int]) -> str:
    return ", ".join(map(str, heads))


def _origin(pair: Pair) -> Iterator[Fault]:
    """Yield that weights have other pairs, or that queries stand ahead of their keys."""
    q, k = (located(side, pair) for side in (pair.heard.q, pair.heard.k))
    due, n = pair.due, pair.number
    if due.door != "rotate" or q is None or k is None:
        return
    if q.pairing != due.pairing:
        said = (
            f"layer {n}: it takes {q.pairing} pairs from the weights; the configuration says that "
            f"weights have {due.pairing} ones"
        )
        yield Fault(n, "pairing", q.pairing, due.pairing, said)
        return
    ahead = np.angle(np.exp(1j * (q.phase - k.phase)))
    if np.abs(ahead).max() > 1e-3:
        places = round(float(ahead[0]), 3) * (due.direction or 1)
        far = "one place" if abs(places) == 1 else f"{number(abs(places))} places"
        one, other = ("queries", "keys") if places > 0 else ("keys", "queries")
        said = f"layer {n}: {one} are turned as if they stood {far} ahead of {other}"
        yield Fault(n, "offset", places, 0, said)


def of_side(
    pair: Pair, what: str, side: Tensor, run: Run, like: Description, *, normed: bool
) -> Fault | None:
    """Return the first thing in which queries or keys differ, None where they are as they must."""
    a, due, n = side.double().numpy(), pair.due, pair.number
    who = f"layer {n}: its {what}"
    if what == "queries" and (fault := _growth(a, due, n, who, run)) is not None:
        return fault
    if what == "queries" and due.query_scaling:
        a = a / turning.growth(a)[:, None]
    moved = turning.moves(a)
    if due.door != "rotate":
        return _turns_at_all(a, n, who) if len(moved) else None
    if not len(moved):
        said = f"{who} do not turn; the configuration says {turning.due_part(due, a.shape[-1])}"
        return Fault(n, "door", "none", "rotate", said)
    allowed = turning.due_parts(due, a.shape[-1])
    part = turning.part_of(a, allowed)
    wanted = part if part in allowed else allowed[0]
    if part is not None and like.family in GAINS_BEHIND:
        said = f"{who} keep their lengths as they turn, as if their norm stood before the rotation"
        return Fault(n, "norm", "before", "behind", f"{said}; in this family it stands behind")
    if part is None and (by := turning.gains(a, wanted)) is not None:
        if not normed:
            said = f"{who} change their lengths as they turn, as if a norm with learned gains stood"
            said += " behind the rotation; the configuration has it before, if at all"
            return Fault(n, "norm", "behind", "before", said)
        a, part = a.copy(), wanted
        for dimensions, gain in zip(wanted.pairs(), by.T, strict=True):
            a[..., dimensions] /= gain
    if part is None:
        return _no_rotation(a, wanted, like.inv_freq(n), n, who, run)
    return _compared(a, part, wanted, pair, who, run, like)


def _growth(a: Array, due: Layer, n: int, who: str, run: Run) -> Fault | None:
    """Return that queries grow with their place otherwise than they should."""
    grown, rule = turning.growth(a), due.query_scaling
    wanted = np.ones(len(grown))
    if rule:
        t = np.arange(len(grown)) if rule.get("counted") else run.places.double().numpy()
        wanted = 1 + rule["beta"] * np.log1p(np.floor((t + rule["shift"]) / rule["every"]))
        wanted = wanted / wanted[0]
    off = np.abs(grown / wanted - 1)
    if off.max() < GROWN:
        return None
    if (
        not rule
        and turning.part_of(a / grown[:, None], turning.due_parts(due, a.shape[-1])) is None
    ):
        return None  # something else is wrong with their lengths
    i = int(off.argmax())
    said = (
        f"{who} are {number(grown[i])} times as long at place {int(run.places[i]):,} as at the "
        f"first; the configuration says {number(wanted[i])}"
    )
    return Fault(n, "query_scaling", float(grown[i]), float(wanted[i]), said, float(off.max()))


def _turns_at_all(a: Array, n: int, who: str) -> Fault:
    size = a.shape[-1]
    part = turning.part_of(a, [Part(0, size, "half")])
    seen = str(part) if part else "changing with their place"
    said = f"{who} turn ({seen}); the configuration lets this layer's not turn"
    return Fault(n, "door", "rotate", "none", said)


def _no_rotation(a: Array, due: Part, omega: Array, n: int, who: str, run: Run) -> Fault:
    """Return what stands where pairs should, if one layout's partners have the other's angles."""
    places = run.places.double().numpy()
    for pairing in ("half", "interleaved"):
        if _mixed(a, Part(due.first, due.turning, pairing), places, omega):
            other = {"half": "interleaved", "interleaved": "half"}[pairing]
            said = (
                f"{who} have partners as in {pairing} pairs and angles as in {other} ones; the "
                f"configuration says {due.pairing} for both"
            )
            return Fault(n, "pairing", f"{pairing} and {other}", due.pairing, said)
    said = f"{who} do not turn in pairs of any kind; the configuration says {due}"
    return Fault(n, "pairing", None, due.pairing, said)


def _mixed(a: Array, part: Part, places: Array, omega: Array) -> bool:
    """Return whether partners are these, and angles repeat as in the other layout."""
    width = part.turning
    angles = np.tile(omega, 2) if part.pairing == "interleaved" else np.repeat(omega, 2)
    one, other = part.pairs()
    partner = np.zeros((a.shape[0], width))
    start = a[:, 0]
    partner[:, one - part.first], partner[:, other - part.first] = -start[:, other], start[:, one]
    turned = angles * places[:4, None]
    due = start[:, None, part.first : part.first + width] * np.cos(turned)
    due = due + partner[:, None] * np.sin(turned)
    seen = a[:, :4, part.first : part.first + width]
    return bool(np.abs(seen - due).max() < 1e-3 * np.abs(seen).max())


def _compared(
    a: Array, part: Part, wanted: Part, pair: Pair, who: str, run: Run, like: Description
) -> Fault | None:
    """Return in which of part, pairs, direction and frequencies they differ."""
    due, n, places = pair.due, pair.number, run.places.numpy()
    omega, miss = turning.frequencies(a, places, part)
    last = int(places.max())
    direction = int(np.sign(omega[np.abs(omega).argmax()]))
    if part == wanted and (still := _still_from(omega, last)) and still < _turning_pairs(due):
        part = Part(part.first, 2 * still, part.pairing)
        omega, miss = omega[:still], miss[:still]
    if part != wanted:
        return _other_part(part, wanted, n, who)
    if direction != (due.direction or 1):
        said = f"{who} turn the other way round: by {direction} a place where the configuration "
        return Fault(n, "direction", direction, due.direction, said + f"has {due.direction}")
    uneven = np.flatnonzero(miss > turning.UNEVEN)
    if len(uneven):
        i = int(uneven[0])
        said = (
            f"{who} turn unevenly: pair {i} misses its angle by {miss[i]:.2g} radians at some "
            "places, as where places or angles are rounded"
        )
        return Fault(n, "inv_freq", None, named(due), said, pair=i)
    return _speed(direction * omega, pair, who, last, like)


def _turning_pairs(due: Layer) -> int:
    return due.turning // 2


def _still_from(omega: Array, last: int) -> int:
    """Return the number of the first pair from which on none turns; 0 if the last one does."""
    turn = np.flatnonzero(np.abs(omega) * last > 1e-6)
    return int(turn[-1]) + 1 if len(turn) and turn[-1] + 1 < len(omega) else 0


def _other_part(part: Part, wanted: Part, n: int, who: str) -> Fault:
    field = next(
        name
        for name in ("turning", "first", "pairing")
        if getattr(part, name) != getattr(wanted, name)
    )
    seen, due = getattr(part, field), getattr(wanted, field)
    return Fault(n, field, seen, due, f"{who} turn {part}; the configuration says {wanted}")


def differing(omega: Array, due: Array, last: int) -> Array:
    """Return how far frequencies are off, as shares, 0 where nobody can hear it; (pairs,)."""
    off = np.abs(omega - due)
    share: Array = off / np.maximum(np.abs(due), 1e-12)
    share[(off * last <= FAINT) | (share <= CLOSE)] = 0
    return np.minimum(share, 1e6)


def _speed(omega: Array, pair: Pair, who: str, last: int, like: Description) -> Fault | None:
    due, n = pair.due, pair.number
    wanted = like.inv_freq(n, last + 1)
    omega = omega[: len(wanted)]
    off = differing(omega, wanted, last)
    if not off.any():
        return None
    i = int(np.flatnonzero(off)[0])
    others = [one for one in like.layers if one.base != due.base]
    for one in suspects(due, others, last + 1):
        if len(one.omega) == len(omega) and not differing(omega, one.omega, last).any():
            return _explained(one, due, n, who, i, float(off.max()))
    if (one_more := fitted(due, omega)) is not None:
        return _explained(one_more, due, n, who, i, float(off.max()))
    said = (
        f"{who}' pair {i} turns by {omega[i]:.4g} radians a place, which no usual mistake "
        f"explains; {wanted[i]:.4g} is due, from {named(due)}"
    )
    return Fault(n, "inv_freq", float(omega[i]), float(wanted[i]), said, float(off.max()), i)


def _explained(one: Suspect, due: Layer, n: int, who: str, i: int, off: float) -> Fault:
    right = due.base if one.field == "base" else (due.scaling or {}).get(one.field)
    if one.field == "turning":
        right = due.turning
    said = f"{who}' pair {i} turns as if {one.words}; the configuration says {_right(one, due)}"
    return Fault(n, one.field, one.seen, right, said, off, i)


def _right(one: Suspect, due: Layer) -> str:
    scaling = due.scaling or {}
    if one.field == "base" and not scaling and isinstance(one.seen, float):
        return number(due.base or 0)
    if isinstance(scaling.get(one.field), int | float) and one.field not in ("truncate",):
        return number(scaling[one.field])
    return named(due) if one.field not in scaling else str(scaling[one.field])


def axes(runs: list[Run]) -> Iterator[Fault]:
    """Yield layers whose pairs follow other axes; a run for each axis that moves alone."""
    names = ("time", "height", "width")
    for number_, pair in enumerate(runs[0].pairs):
        if not pair.due.sections or pair.heard.q is None:
            continue
        seen = torch.stack([_follows(run, number_) for run in runs])  # (axes, pairs)
        due = np.zeros(seen.shape[1], dtype=int)
        for axis, pairs in enumerate(pair.due.sections.values()):
            due[list(pairs)] = axis
        chosen = seen.double().argmax(0).numpy()
        quiet = seen.amax(0).numpy() < 1e-6
        wrong = np.flatnonzero((chosen != due) & ~quiet)
        both = np.flatnonzero((seen > 1e-4 * seen.amax(0)).sum(0).numpy() > 1)
        if len(both):
            i = int(both[0])
            said = f"layer {pair.number}: pair {i} follows several axes; due is {names[due[i]]}"
            yield Fault(pair.number, "sections", None, names[due[i]], said, pair=i)
        elif len(wrong):
            i = int(wrong[0])
            counts = [int((chosen == axis).sum()) for axis in range(len(names))]
            right = [int((due == axis).sum()) for axis in range(len(names))]
            said = (
                f"layer {pair.number}: pair {i} follows {names[chosen[i]]}; the configuration says "
                f"{names[due[i]]} ({', '.join(names)} have {right} pairs there, and {counts} here)"
            )
            yield Fault(
                pair.number, "sections", names[int(chosen[i])], names[int(due[i])], said, pair=i
            )


def _follows(run: Run, number_: int) -> Tensor:
    """Return how fast each pair turns along the axis that moves, (pairs,)."""
    pair = run.pairs[number_]
    assert pair.heard.q is not None
    a = pair.heard.q.double().numpy()
    part = turning.due_part(pair.due, a.shape[-1])
    omega, _ = turning.frequencies(a, run.places.numpy(), part)
    return torch.tensor(np.abs(omega))
