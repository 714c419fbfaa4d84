"""Do documents in one row leave each other alone?"""

from collections.abc import Iterator

from posenc.testing.asking import Asked, Seen, difference
from posenc.testing.checks.making import check
from posenc.testing.checks.texts import alone, lay_out


@check(
    "packed documents equal documents alone",
    promise="packing",
    page="beyond-training-length",
    hint="the mask does not know where a document ends, or places go on counting.",
)
def packed(asked: Asked) -> Iterator[Seen]:
    """Put two documents into each row, and ask for each alone."""
    for length in (n for n in asked.lengths(2) if 2 * n + 1 <= (asked.trained or 100)):
        subject = asked.subject()
        laid = lay_out(subject, [[length, length + 1], [length + 1, length]])
        together = laid.texts(subject.outputs(laid.x, **laid.given))
        for n, due in enumerate(alone(asked.subject(), laid)):
            shown = f"2 rows of two documents, of {length} and {length + 1} tokens; number {n + 1}"
            yield Seen(difference(together[n], due), shown)
