"""Does order matter, and are positions read?"""

from collections.abc import Iterator

import torch

from posenc.testing.asking import Asked, Seen, difference
from posenc.testing.checks.making import check


@check(
    "the order of tokens matters",
    promise="order",
    page="order-blindness",
    hint="no encoding enters at all, or its door is never called.",
    at_least=3e-4,
)
def order(asked: Asked) -> Iterator[Seen]:
    """Swap the first two tokens, and look at the last one."""
    for length in asked.lengths(3):
        subject = asked.subject()
        x = subject.tokens(1, length)
        swapped = x.clone()
        swapped[:, [0, 1]] = x[:, [1, 0]]
        last = [subject.outputs(one)[:, -1:] for one in (swapped, x)]
        yield Seen(
            difference(*last), f"{length} tokens, the first two swapped; the last one's output"
        )


@check(
    "positions that are handed over are read",
    promise="given_positions",
    page="time-and-space",
    hint="the argument is accepted, and the layer goes on counting 0, 1, 2, ...",
    at_least=3e-4,
)
def read(asked: Asked) -> Iterator[Seen]:
    """Let the same tokens stand farther apart."""
    for length in asked.lengths(2):
        subject = asked.subject()
        x = subject.tokens(2, length)
        wide = [min(t * t, _most(asked)) for t in range(1, length + 1)]
        apart, counted = (
            subject.outputs(x, positions=subject.at(range(length), row))[1:]
            for row in (wide, range(length))
        )
        shown = f"2 rows of {length} tokens, the second at 1, 4, 9, ... instead of 0, 1, 2, ..."
        yield Seen(difference(apart, counted), shown)


@check(
    "positions that count are those it counts itself",
    promise="given_positions",
    page="time-and-space",
    hint="counting starts at 1 in one of the two, or the given ones are counted on top.",
)
def counted(asked: Asked) -> Iterator[Seen]:
    """Hand over 0, 1, 2, ..., which it would count anyway."""
    asked.needs_positions()
    for length in asked.lengths(2):
        subject = asked.subject()
        x = subject.tokens(1, length)
        given = subject.outputs(x, positions=subject.placed(torch.arange(length)[None]))
        yield Seen(difference(given, subject.outputs(x)), f"{length} tokens, at 0, 1, 2, ...")


@check(
    "rows of a batch stand at places of their own",
    promise="given_positions",
    page="time-and-space",
    hint="the places of the first row are used for all: `positions[0]` or `positions[:1]`.",
)
def own(asked: Asked) -> Iterator[Seen]:
    """Let two rows stand at different places, and ask for each alone."""
    asked.needs_positions()
    for length in (n for n in asked.lengths(2) if n + 2 <= (asked.trained or 100)):
        subject = asked.subject()
        x, places = subject.tokens(2, length), subject.at(range(length), [1, *range(3, length + 2)])
        together = subject.outputs(x, positions=places)
        for row in (1, 0):
            alone = subject.outputs(x[row : row + 1], positions=places[row : row + 1])
            shown = f"2 rows of {length} tokens at different places, and number {row + 1} alone"
            yield Seen(difference(together[row : row + 1], alone), shown)


def _most(asked: Asked) -> int:
    return (asked.trained or 1000) - 1
