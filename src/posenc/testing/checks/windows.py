"""Does a window end where it says?"""

from collections.abc import Iterator

from posenc.testing.adapters.base import CannotAsk
from posenc.testing.asking import Asked, Seen
from posenc.testing.checks.making import check


@check(
    "a window ends where it says",
    promise="window",
    page="four-doors",
    hint="`<` and `<=`: a window of w holds the token itself and w - 1 before it.",
)
def ends(asked: Asked) -> Iterator[Seen]:
    """Look at the weights of the last token on both sides of the edge."""
    window = asked.promises.window
    if window is None:
        raise CannotAsk("nobody said how wide its window is: say window=128, for one")
    length = window + 3
    subject = asked.subject()
    last = subject.weights(subject.tokens(1, length))[0, :, -1].amax(0)
    inside, outside = last[length - window :], last[: length - window]
    wrong = float(outside.sum()) if outside.any() else float(inside[0] == 0)
    side = "outside of it" if outside.any() else "at its edge, where some was due"
    yield Seen(wrong, f"{length} tokens, weights of the last", note=f"{side}" if wrong else "")
