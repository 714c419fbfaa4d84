"""Do only distances count?"""

from collections.abc import Iterator

import torch

from posenc.testing.adapters.base import CannotAsk
from posenc.testing.asking import Asked, Seen, difference
from posenc.testing.checks.making import check

SHIFTS = (1, 7, 100, 1000)
NEAR = 12  # diagonals on each side
LONG = 300  # bfloat16 skips whole numbers from 256 on
ODD = ((0, 1, 3, 4, 8), (0, 2, 3, 7, 8))


@check(
    "moving all tokens changes nothing",
    promise="relative",
    page="rotary",
    hint="a place enters by itself somewhere, such as in values that turn and are not turned back, "
    "or angles lose digits at far places.",
)
def moved(asked: Asked) -> Iterator[Seen]:
    """Let all tokens stand some steps later."""
    asked.needs_positions()
    most = _most(asked)
    for shift in (one for one in SHIFTS if one + ODD[0][-1] <= most):
        subject = asked.subject()
        x, here = subject.tokens(2, len(ODD[0])), subject.at(*ODD)
        there = here + _shifts(shift, here)
        moved = subject.outputs(x, positions=there)
        alone = [subject.outputs(x[[row]], positions=here[[row]]) for row in (0, 1)]
        shown = f"2 rows of {x.shape[1]} tokens, the first moved by {shift}"
        yield Seen(difference(moved, torch.cat(alone)), shown)


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


def _shifts(shift: int, places: torch.Tensor) -> torch.Tensor:
    """Return how far each row moves, (2, 1), or (2, 1, axes) where each axis has its own way."""
    rows = torch.tensor([[shift], [shift // 2 + 1]])
    if places.ndim == 2:
        return rows
    return rows[..., None].div(torch.arange(1, places.shape[-1] + 1), rounding_mode="floor")


def _most(asked: Asked) -> int:
    """Return the last place that may be asked about."""
    if asked.promises.beyond == "exact" or not asked.trained:
        return 10_000
    if asked.trained <= ODD[0][-1] + 1:
        raise CannotAsk(f"it has {asked.trained} places only")
    return asked.trained - 1
