"""Are shared heads of keys and values the right ones?"""

from collections.abc import Iterator

from posenc.testing.asking import Asked, Seen, difference
from posenc.testing.checks.making import check


@check(
    "shared heads equal repeated heads",
    promise="shared_heads",
    page="four-doors",
    hint="`repeat` in place of `repeat_interleave` hands each query head another one's keys.",
)
def shared(asked: Asked) -> Iterator[Seen]:
    """Write the shared heads out, one for each query head."""
    for length in asked.lengths(2):
        subject = asked.subject()
        x = subject.tokens(1, length)
        repeated = subject.repeated()
        if subject.device is not None:
            repeated.place_on(subject.device)
        out = repeated.outputs(x)
        yield Seen(
            difference(subject.outputs(x), out), f"{length} tokens, shared heads written out"
        )
