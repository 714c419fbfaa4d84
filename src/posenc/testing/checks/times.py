"""May positions be any real numbers?"""

from collections.abc import Iterator

from posenc.testing.asking import Asked, Seen, difference
from posenc.testing.checks.making import check


@check(
    "real times are read, not rounded",
    promise="real_times",
    page="time-and-space",
    hint="times are converted to integers, or only their order is kept.",
    at_least=3e-4,
)
def real(asked: Asked) -> Iterator[Seen]:
    """Move one token by less than a step."""
    for length in asked.lengths(3):
        subject = asked.subject()
        x = subject.tokens(2, length)
        whole = [float(t) for t in range(length)]
        between = [*whole[:-2], whole[-2] + 0.4, whole[-1]]
        moved, still = (
            subject.outputs(x, positions=subject.at(whole, row))[1:] for row in (between, whole)
        )
        shown = f"2 rows of {length} tokens, the second's last but one moved by 0.4"
        yield Seen(difference(moved, still), shown)
