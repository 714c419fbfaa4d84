"""Which dimensions make a pair?"""

from collections.abc import Iterator

import torch
from torch import Tensor

from posenc.testing.adapters.base import CannotAsk
from posenc.testing.asking import Asked, Seen
from posenc.testing.checks.making import check

PLACES = 13


def lengths_of_pairs(q: Tensor, layout: str) -> float:
    """Return how much the lengths of pairs change from place to place; 0 if they are pairs."""
    n = q.shape[-1] // 2
    one, other = (q[..., :n], q[..., n:]) if layout == "half" else (q[..., ::2], q[..., 1::2])
    size = q.double().square().mean().sqrt()
    return float((one.square() + other.square()).sqrt().double().std(0).max() / size)


@check(
    "pairs of dimensions are laid out as promised",
    promise="layout",
    page="rotary",
    hint="the two layouts are each correct, and weights of one give nonsense in the other.",
)
def layout(asked: Asked) -> Iterator[Seen]:
    """Watch a query turn, and see which two dimensions keep their length together."""
    q, _ = asked.subject().turned(torch.arange(1, PLACES))
    turning = q.double().std(0).amax(0) > 1e-4 * q.double().std()
    if not turning.any():
        raise CannotAsk("its queries do not turn")
    first, last = (int(i) for i in turning.nonzero()[[0, -1], 0])
    last += (last - first + 1) % 2  # a pair too slow to be seen turning
    q = q[..., first : last + 1]
    found = {one: lengths_of_pairs(q, one) for one in ("half", "interleaved")}
    known = [one for one, number in found.items() if number <= asked.tolerance]
    wanted = asked.promises.layout or (known or ["half"])[0]
    shown = f"one query at places 1 to {PLACES - 1}, dimensions {first} to {last}"
    note = f"recognised: {' and '.join(known) or 'neither half nor interleaved'}"
    yield Seen(found[wanted], shown, note=note)
