"""Do padded tokens change real ones?"""

from collections.abc import Iterator

import torch

from posenc.testing.adapters.base import Ignored, counted
from posenc.testing.asking import Asked, Seen, difference
from posenc.testing.checks.making import check

N_PADDED = 3


def padded(asked: Asked, length: int, side: str, *, count: bool) -> float:
    """Return how far padding on one side moves the outputs of the real tokens."""
    subject = asked.subject()
    x, filler = subject.tokens(1, length), subject.tokens(1, N_PADDED, seed=1)
    real = torch.ones(1, length, dtype=torch.bool)
    mask, both = [~real[:, :1].expand(-1, N_PADDED), real], [filler, x]
    if side == "right":
        mask, both = mask[::-1], both[::-1]
    given = {"padding": torch.cat(mask, 1)}
    if count:
        given["positions"] = subject.placed(counted(x, given))
    out = subject.outputs(torch.cat(both, 1), **given)
    out = out[:, N_PADDED:] if side == "left" else out[:, :length]
    return difference(out, asked.subject().outputs(x))


def needs_mask(asked: Asked) -> None:
    """Raise Ignored if a mask is taken, and to hide a token changes nothing at all."""
    subject = asked.subject()
    x = subject.tokens(1, 4)
    real = torch.ones(1, 4, dtype=torch.bool)
    hidden = real.clone()
    hidden[:, -2] = False
    last = [subject.outputs(x, padding=one)[:, -1:] for one in (hidden, real)]
    if difference(*last) == 0:
        raise Ignored("a padding mask is taken, and to hide a token by it changes nothing at all")


def sides(asked: Asked, side: str) -> Iterator[Seen]:
    """Pad without positions; where that is not enough, give those of the real tokens."""
    for length in (n for n in asked.lengths(2) if n + N_PADDED <= (asked.trained or 100)):
        shown = f"{length} tokens with {N_PADDED} padded ones on the {side}"
        number = padded(asked, length, side, count=False)
        if not number <= asked.tolerance and asked.subject().takes("positions"):
            number = padded(asked, length, side, count=True)
            shown += ", and positions that count the real ones"
        yield Seen(number, shown)
    needs_mask(asked)  # what is right may be so by chance, as behind a causal mask


@check(
    "padding on the left changes nothing",
    promise="padding left",
    page="four-doors",
    hint="padded tokens are seen, or they are counted, so that real ones stand elsewhere.",
)
def left(asked: Asked) -> Iterator[Seen]:
    """Put padded tokens in front."""
    yield from sides(asked, "left")


@check(
    "padding on the right changes nothing",
    promise="padding right",
    page="four-doors",
    hint="the mask is not used, or is added the wrong way round.",
)
def right(asked: Asked) -> Iterator[Seen]:
    """Put padded tokens behind."""
    yield from sides(asked, "right")


@check(
    "a batch as large as it is long is padded like any other",
    promise="padding",
    page="four-doors",
    hint="a mask (batch, length) is taken for one of (queries, keys) where both have one shape.",
)
def square(asked: Asked) -> Iterator[Seen]:
    """Pad rows of a square batch differently, and ask for each alone."""
    size = 4
    subject = asked.subject()
    x = subject.tokens(size, size)
    side = asked.promises.padding
    n_real = torch.tensor([4, 3, 2, 4])
    real = torch.arange(size) < n_real[:, None]
    given = {"padding": real.flip(1) if side == "left" else real}
    if side == "left" and subject.takes("positions"):
        given["positions"] = subject.placed(counted(x, given))
    out = subject.outputs(x, **given)
    for row in range(size):
        kept = given["padding"][row]
        alone = asked.subject().outputs(x[row : row + 1, kept])
        number = difference(out[row : row + 1, kept], alone)
        yield Seen(
            number, f"{size} rows of {size} tokens, row {row} with {int(n_real[row])} real ones"
        )
