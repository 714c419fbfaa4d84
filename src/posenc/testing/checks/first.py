"""The first question of all: is there an answer?"""

from collections.abc import Iterator

from posenc.testing.asking import Asked, Seen
from posenc.testing.checks.making import check


@check(
    "it answers, with one output for each token",
    promise="rows",
    page="four-doors",
    hint="batch and length are swapped (batch_first), or a sequence is pooled into one output.",
)
def answers(asked: Asked) -> Iterator[Seen]:
    """Ask for one token and for a few, and look whether the numbers are finite."""
    for length in (1, *asked.lengths(2)[:2]):
        subject = asked.subject()
        out = subject.outputs(subject.tokens(2, length))
        wrong = 0.0 if bool(out.isfinite().all()) else float("nan")
        yield Seen(wrong, f"2 rows of {length} tokens")
