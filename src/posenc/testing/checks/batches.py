"""Do the rows of a batch leave each other alone?"""

from collections.abc import Iterator

import torch

from posenc.testing.adapters.base import CannotAsk
from posenc.testing.asking import Asked, Seen, difference
from posenc.testing.checks.making import check


@check(
    "batch rows do not see each other",
    promise="rows",
    page="four-doors",
    hint="batch and length are mixed up somewhere, or something is averaged over the batch.",
)
def rows(asked: Asked) -> Iterator[Seen]:
    """Put another row beside one."""
    for length in asked.lengths(2):
        subject = asked.subject()
        x = subject.tokens(2, length)
        together, alone = subject.outputs(x)[:1], asked.subject().outputs(x[:1])
        yield Seen(difference(together, alone), f"2 rows of {length} tokens, and the first alone")


@check(
    "a short row beside a long one is answered as if alone",
    promise="rows",
    page="beyond-training-length",
    hint="the longest row decides something for all, such as the frequencies.",
)
def short_beside_long(asked: Asked) -> Iterator[Seen]:
    """Pad a short row to the length of a long one, within and beyond the trained length."""
    for long in sorted({8, asked.beyond()}):
        subject = asked.subject()
        if long > (asked.trained or long) and not serves(asked, long):
            continue
        x, short = subject.tokens(2, long), 4
        real = torch.ones(2, long, dtype=torch.bool)
        real[0, short:] = False
        try:
            together = subject.outputs(x, padding=real)[:1, :short]
        except ValueError as error:
            raise CannotAsk(f"it refuses padding: {error!s:.80}") from error
        alone = asked.subject().outputs(x[:1, :short])
        yield Seen(difference(together, alone), f"a row of {short} tokens beside one of {long}")


def serves(asked: Asked, length: int) -> bool:
    """Return whether an input of this length is answered at all."""
    subject = asked.subject()
    try:
        subject.outputs(subject.tokens(1, length))
    except Exception:  # refused, in whatever way
        return False
    return True
