"""Does it remember what it should not?"""

from collections.abc import Iterator

from posenc.testing.asking import Asked, Seen, difference
from posenc.testing.checks.batches import serves
from posenc.testing.checks.making import check


@check(
    "the same input gives the same answer after another one",
    promise="stateless",
    page="beyond-training-length",
    hint="a longer input leaves something behind: frequencies, a table, a mask, a cache.",
)
def after_another(asked: Asked) -> Iterator[Seen]:
    """Ask, ask something longer, and ask again."""
    within = min(asked.trained or 24, 24)
    longer = [n for n in sorted({within, asked.beyond()}) if serves(asked, n)]
    for other in longer:
        subject = asked.subject()
        x = subject.tokens(1, max(2, min(other // 2, (asked.trained or 8))))
        first = subject.outputs(x).clone()
        subject.outputs(subject.tokens(1, other, seed=1))
        again = subject.outputs(x)
        yield Seen(
            difference(again, first), f"{x.shape[1]} tokens, before and after {other} others"
        )


@check(
    "the same input twice gives the same answer twice",
    promise="stateless",
    page="asked-again",
    hint="something is drawn at random in evaluation, or a table shrinks at every call.",
)
def twice(asked: Asked) -> Iterator[Seen]:
    """Ask the same thing again."""
    for length in asked.lengths(2):
        subject = asked.subject()
        x = subject.tokens(1, length)
        first = subject.outputs(x).clone()
        yield Seen(difference(subject.outputs(x), first), f"{length} tokens, twice")
