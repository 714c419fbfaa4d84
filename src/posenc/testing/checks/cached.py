"""Do pieces with a cache give what the whole gives?"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace

import torch
from torch import Tensor

from posenc.testing.adapters.base import CannotAsk
from posenc.testing.asking import LENGTHS, Asked, Seen, difference
from posenc.testing.checks.batches import serves
from posenc.testing.checks.making import check
from posenc.testing.checks.texts import in_pieces

HINT = (
    "keys from the cache are turned twice, or a mask, a window or shared heads are laid out as if "
    "the cache were empty."
)
COUNTED = (
    "each new piece is counted from 0 again: handed their places as well, these tokens are "
    "answered rightly."
)
HEADS = (
    "shared heads go wrong with a cache: written out, one for each query head, they are answered "
    "rightly."
)

FORGOTTEN = "the window is forgotten where one token comes, or laid as if the cache were empty."
LONGEST = 2048
"""Tokens up to which a window is looked past."""


def lengths(asked: Asked, least: int = 2) -> list[int]:
    """Return the lengths to try; those past a window are asked with the window."""
    most = asked.promises.window or max(LENGTHS)
    return [n for n in asked.lengths(least) if n <= most] or [least]


def ask(asked: Asked, sizes: Sequence[int], shown: str) -> Seen:
    """Hand over pieces of these sizes, and look for the reason if that changes anything."""
    subject = asked.subject()
    x = subject.tokens(2, sum(sizes))
    whole = asked.subject().outputs(x)
    number = difference(in_pieces(subject, x, sizes), whole)
    hint = "" if number <= asked.tolerance else reason(asked, sizes, whole)
    return Seen(number, shown, hint=hint)


def reason(asked: Asked, sizes: Sequence[int], whole: Tensor) -> str:
    """Return the hint that one change of the question proves right, or ""."""
    x = asked.subject().tokens(2, sum(sizes))
    at = asked.subject().placed(torch.arange(x.shape[1]).expand(x.shape[:2]))
    changes: dict[str, Callable[[], Tensor]] = {
        COUNTED: lambda: in_pieces(asked.subject(), x, sizes, positions=at),
        HEADS: lambda: in_pieces(asked.subject().repeated(), x, sizes),
    }
    for hint, changed in changes.items():
        with suppress(Exception):  # a change that is refused proves nothing
            if difference(changed(), whole) <= asked.tolerance:
                return hint
    return ""


@check("one token at a time equals all at once", promise="cached", page="rotary", hint=HINT)
def one_by_one(asked: Asked) -> Iterator[Seen]:
    """Hand over single tokens."""
    for length in lengths(asked):
        yield ask(asked, [1] * length, f"{length} tokens, one at a time")
    for window in asked.promises.windows_of_like():
        if window + 3 <= min(asked.trained or LONGEST, LONGEST):
            shown = f"{window + 3} tokens, the last three one at a time, past a window of {window}"
            seen = ask(asked, [window, 1, 1, 1], shown)
            yield replace(seen, hint=seen.hint or FORGOTTEN)


@check(
    "chunks equal all at once",
    promise="cached",
    page="rotary",
    hint=("the causal mask of a chunk forgets how many tokens are in the cache already."),
)
def chunks(asked: Asked) -> Iterator[Seen]:
    """Hand over pieces of several tokens."""
    for length in lengths(asked, 3):
        sizes = [length // 2, length - length // 2]
        yield ask(asked, sizes, f"{length} tokens, in chunks of {sizes[0]} and {sizes[1]}")


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
