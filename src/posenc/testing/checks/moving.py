"""Do only distances count?"""

from collections.abc import Iterator

import torch

from posenc.testing.adapters.base import CannotAsk
from posenc.testing.asking import Asked, Seen, difference
from posenc.testing.checks.making import check

SHIFTS = (1, 7, 100, 1000)
NEAR = 12  # diagonals on each side
LONG = 300  # bfloat16 skips whole numbers from 256 on
ODD = (0, 1, 3, 4, 8)


@check(
    "moving all tokens changes nothing",
    promise="relative",
    page="rotary",
    hint="a place enters by itself somewhere, or angles lose digits at far places.",
)
def moved(asked: Asked) -> Iterator[Seen]:
    """Let all tokens stand some steps later."""
    asked.needs_positions()
    most = _most(asked)
    for shift in (one for one in SHIFTS if one + max(ODD) <= most):
        subject = asked.subject()
        x = subject.tokens(1, len(ODD))
        here, there = (
            subject.outputs(x, positions=subject.at([t + by for t in ODD])) for by in (0, shift)
        )
        yield Seen(difference(there, here), f"{len(ODD)} tokens, all moved by {shift}")


@check(
    "scores depend on the offset only",
    promise="relative",
    page="rotary",
    hint="queries and keys are turned by different places, directions or frequencies.",
)
def offsets(asked: Asked) -> Iterator[Seen]:
    """Look at the weights of one token repeated: each diagonal must be alike, up to its row."""
    long = [LONG] if (asked.trained or LONG) >= LONG else []
    for length in (*asked.lengths(3), *long):
        subject = asked.subject()
        scores = torch.log(subject.weights(subject.constant(1, length)).double())
        own = scores.diagonal(dim1=-2, dim2=-1)[..., None]
        spread = 0.0
        for offset in range(max(2 - length, -NEAR), min(length - 1, NEAR)):
            line = (scores - own).diagonal(offset, dim1=-2, dim2=-1)
            line = line.where(line.isfinite().all(-1, keepdim=True), 0)
            spread = max(spread, float(line.std(-1).max()))
        yield Seen(spread, f"{length} times the same token; scores along each diagonal")


def _most(asked: Asked) -> int:
    """Return the last place that may be asked about."""
    if asked.promises.beyond == "exact" or not asked.trained:
        return 10_000
    if asked.trained <= max(ODD) + 1:
        raise CannotAsk(f"it has {asked.trained} places only")
    return asked.trained - 1
