"""Do pieces with a cache give what the whole gives?"""

from collections.abc import Iterator

import torch

from posenc.testing.adapters.base import Adapter, CannotAsk
from posenc.testing.asking import Asked, Seen, difference
from posenc.testing.checks.batches import serves
from posenc.testing.checks.making import check

HINT = "each new piece is counted from 0 again, or keys are turned twice."


def in_pieces(subject: Adapter, x: torch.Tensor, sizes: list[int]) -> torch.Tensor:
    """Return the outputs of tokens that are handed over a few at a time."""
    cache, outs, at = subject.cache(), [], 0
    for piece in x.split(sizes, dim=1):
        places = torch.arange(at, at := at + piece.shape[1]).expand(piece.shape[:2])
        given = {"positions": subject.placed(places)} if subject.needs_positions else {}
        outs.append(subject.outputs(piece, cache=cache, **given))
    return torch.cat(outs, 1)


@check("one token at a time equals all at once", promise="cached", page="rotary", hint=HINT)
def one_by_one(asked: Asked) -> Iterator[Seen]:
    """Hand over single tokens."""
    for length in asked.lengths(2):
        subject = asked.subject()
        x = subject.tokens(2, length)
        whole = asked.subject().outputs(x)
        number = difference(in_pieces(subject, x, [1] * length), whole)
        yield Seen(number, f"{length} tokens, one at a time")


@check(
    "chunks equal all at once",
    promise="cached",
    page="rotary",
    hint=("the causal mask of a chunk forgets how many tokens are in the cache already."),
)
def chunks(asked: Asked) -> Iterator[Seen]:
    """Hand over pieces of several tokens."""
    for length in asked.lengths(3):
        subject = asked.subject()
        x = subject.tokens(2, length)
        sizes = [length // 2, length - length // 2]
        whole = asked.subject().outputs(x)
        number = difference(in_pieces(subject, x, sizes), whole)
        yield Seen(number, f"{length} tokens, in chunks of {sizes[0]} and {sizes[1]}")


@check(
    "two texts do not share a cache",
    promise="cached",
    page="rotary",
    hint=("the cache is an attribute of the layer or a default argument, so it outlives its text."),
)
def apart(asked: Asked) -> Iterator[Seen]:
    """Read one text with a cache, then another one with a new one."""
    for length in asked.lengths(2):
        subject = asked.subject()
        x, other = (subject.tokens(1, length, seed) for seed in (0, 1))
        in_pieces(subject, other, [1] * length)
        after = in_pieces(subject, x, [1] * length)
        first = in_pieces(asked.subject(), x, [1] * length)
        yield Seen(
            difference(after, first), f"{length} tokens, behind another text with its own cache"
        )


@check(
    "a cache that outgrows the trained length equals all at once",
    promise="beyond",
    page=("beyond-training-length"),
    hint="frequencies change with the length, and keys in the cache keep the old ones.",
)
def outgrown(asked: Asked) -> Iterator[Seen]:
    """Begin within the trained length, and go on beyond it."""
    start, end = min(asked.trained or 16, 300), asked.beyond()
    if asked.promises.beyond == "refused" or not serves(asked, end):
        raise CannotAsk("it refuses longer inputs")
    subject = asked.subject()
    x = subject.tokens(1, end)
    pieces = in_pieces(subject, x, [start, end - start])
    whole = asked.subject().outputs(x)
    yield Seen(difference(pieces, whole), f"{end} tokens, {start} of them and then the rest")
