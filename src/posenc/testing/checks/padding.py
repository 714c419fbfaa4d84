"""Do padded tokens change real ones?"""

from collections.abc import Iterator
from functools import lru_cache

import torch

from posenc.testing.adapters.base import Ignored, counted
from posenc.testing.asking import Asked, Seen, difference
from posenc.testing.checks.making import check
from posenc.testing.checks.texts import alone, lay_out

N_PADDED = 2


def padded(asked: Asked, length: int, side: str, *, count: bool) -> float:
    """Return how far padding on one side moves the outputs of the real tokens."""
    subject = asked.subject()
    laid = lay_out(subject, [[length], [length + N_PADDED]], side)
    due = alone(asked.subject(), laid)
    if count:
        laid.given["positions"] = subject.placed(counted(laid.x, laid.given))
    return max(map(difference, laid.texts(subject.outputs(laid.x, **laid.given)), due))


@lru_cache(maxsize=4)
def needs_count(asked: Asked) -> bool:
    """Return whether it must be told where real tokens stand behind padding, and may be told."""
    promised_alone = str(asked.promises.padding).endswith("alone")
    if promised_alone or not asked.subject(awake=False).takes("positions"):
        return False
    return not padded(asked, 2, "left", count=False) <= asked.tolerance


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
    """Pad rows differently; where a mask is not enough, give the places of real tokens, too."""
    count = side == "left" and needs_count(asked)
    note = "with positions that count the real tokens" if count else ""
    for length in (n for n in asked.lengths(2) if n + N_PADDED <= (asked.trained or 100)):
        shown = f"rows of {length} and {length + N_PADDED} tokens, padded on the {side}"
        yield Seen(padded(asked, length, side, count=count), shown, note=note)
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
    left = asked.promises.padding in ("left", "left alone")
    n_real = torch.tensor([4, 3, 2, 4])
    real = torch.arange(size) < n_real[:, None]
    given = {"padding": real.flip(1) if left else real}
    if left and needs_count(asked):
        given["positions"] = subject.placed(counted(x, given))
    out = subject.outputs(x, **given)
    for row in range(size):
        kept = given["padding"][row]
        alone = asked.subject().outputs(x[row : row + 1, kept])
        number = difference(out[row : row + 1, kept], alone)
        yield Seen(
            number, f"{size} rows of {size} tokens, row {row} with {int(n_real[row])} real ones"
        )
