"""Does a window end where it says?"""

from collections.abc import Iterator

from posenc.testing.adapters.base import CannotAsk
from posenc.testing.asking import Asked, Seen
from posenc.testing.checks.making import check

LONGEST = 1024
ROWS = 4
CHANGED = 1e-6  # a share of the output's own size: what nobody sees changes nothing at all


@check(
    "a window ends where it says",
    promise="window",
    page="four-doors",
    hint="`<` and `<=`: a window of w holds the token itself and w - 1 before it.",
)
def ends(asked: Asked) -> Iterator[Seen]:
    """Change one token, and see how far that reaches: n (w - 1) places on, behind n layers."""
    window = asked.promises.window
    if window is None:
        raise CannotAsk("nobody said how wide its window is: say window=128, for one")
    subject = asked.subject()
    n_layers = asked.promises.layers or subject.n_layers
    due = n_layers * (window - 1)
    at, length = due + 2, 2 * due + window + 5
    if length > min(asked.trained or LONGEST, LONGEST):
        raise CannotAsk(
            f"{length} tokens would be needed for a window of {window} in {n_layers} layers; make "
            "a smaller one"
        )
    x = subject.tokens(ROWS, length)
    out = subject.outputs(x)
    change = (subject.outputs(subject.replaced(x, at)) - out).double().abs().amax((0, 2))
    places = (change > CHANGED * out.double().square().mean().sqrt()).nonzero()[:, 0] - at
    before, behind = -int(places.min()), int(places.max())
    wrong = max(abs(behind - due), min(before, abs(before - due)))
    reached = behind if behind != due else before
    note = f"it reaches {reached} places on, where {due} were due" if wrong else ""
    shown = f"{length} tokens, number {at} replaced by another"
    yield Seen(float(wrong), shown, note=note)
