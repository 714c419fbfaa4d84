"""Are neighbours told apart far from the beginning?"""

from collections.abc import Iterator

import torch

from posenc.testing.adapters.base import CannotAsk
from posenc.testing.asking import Asked, Seen
from posenc.testing.checks.making import check

STEPS = 5


def steps(asked: Asked, start: int) -> torch.Tensor:
    """Return how far each step of the last token, by one place, changes its output."""
    subject = asked.subject()
    places = subject.at(*([start, start + t] for t in range(1, STEPS + 2)))
    x = subject.tokens(1, 2)
    outs = subject.outputs(x.repeat(len(places), *[1] * (x.ndim - 1)), positions=places)[:, -1]
    return (outs[1:] - outs[:-1]).double().norm(dim=-1)


@check(
    "far places keep their neighbours apart",
    promise="longest",
    page="rotary",
    hint="places are held in a type that skips whole numbers there, as bfloat16 does above 256.",
    at_least=1e-6,
)
def neighbours(asked: Asked) -> Iterator[Seen]:
    """Let the second of two tokens move on by a place, at the beginning and far from it."""
    asked.needs_positions()
    longest = asked.promises.longest or (asked.trained or 4096)
    near = float(steps(asked, 0).median())
    if near == 0:
        raise CannotAsk("already at the beginning, a step changes nothing")
    ratios = {}
    for start in sorted({min(at, longest) - STEPS - 2 for at in (300, 1000, 2000, longest)}):
        if start > 0:
            ratios[start] = float(steps(asked, start).min()) / near
    if not ratios:
        raise CannotAsk(f"it has {longest} places only")
    worst = min(ratios, key=lambda one: ratios[one])
    shown = f"two tokens from place {worst}, the second moved on by one place"
    yield Seen(ratios[worst], shown, note="of the change at the beginning")
