"""Is every axis of a position read, and as itself?"""

from collections.abc import Iterator

from posenc.testing.adapters.base import CannotAsk
from posenc.testing.asking import Asked, Seen, difference
from posenc.testing.checks.making import check


@check(
    "every axis of a position is read",
    promise="axes",
    page="time-and-space",
    hint="only the first axis is used, or all are added up.",
    at_least=1.0,
)
def each(asked: Asked) -> Iterator[Seen]:
    """Move one token along each axis: every move must change something, and each its own way."""
    n = asked.promises.axes or 1
    if n < 2:
        raise CannotAsk("positions have one axis; say axes=2 if they have two")
    subject = asked.subject()
    x, flat = subject.tokens(2, 4), subject.at(range(4), range(4))
    outs = [subject.outputs(x, positions=flat)[1:]]
    for axis in range(n):
        at = flat.clone()
        at[1, 1, axis] += 5
        outs.append(subject.outputs(x, positions=at)[1:])
    told = all(
        difference(one, other) > asked.tolerance for i, one in enumerate(outs) for other in outs[:i]
    )
    yield Seen(float(told), f"2 rows of 4 tokens, one of the second moved along each of {n} axes")
