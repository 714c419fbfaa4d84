"""Does a window end where it says?"""

from collections.abc import Iterator

import torch
from torch import Tensor

from posenc.testing.adapters.base import Adapter, CannotAsk
from posenc.testing.asking import Asked, Seen
from posenc.testing.checks.making import check

LONGEST = 1024
ROWS = 4
# As shares of the output's own size: what nobody sees changes nothing at all, and what many layers
# hand on grows faint, so float64 is asked where a module can be cast.
CHANGED = {torch.float64: 1e-14}
ELSE_CHANGED = 1e-6


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
    out, change = _changed(asked, length, at)
    least = CHANGED.get(out.dtype, ELSE_CHANGED) * out.double().square().mean().sqrt()
    places = (change > least).nonzero()[:, 0] - at
    before, behind = -int(places.min()), int(places.max())
    wrong = max(abs(behind - due), min(before, abs(before - due)))
    if behind < due and n_layers > 1 and out.dtype not in CHANGED:
        raise CannotAsk("what several layers hand on is too faint for its precision")
    reached = behind if behind != due else before
    note = f"it reaches {reached} places on, where {due} were due" if wrong else ""
    shown = f"{length} tokens, number {at} replaced by another"
    yield Seen(float(wrong), shown, note=note)


def _changed(asked: Asked, length: int, at: int) -> tuple[Tensor, Tensor]:
    """Return outputs, and how far another token at a place changes them, (length,)."""
    subject = asked.subject()
    if subject.module is not None:
        try:
            subject.module.to(torch.float64)
            return _compared(subject, length, at, torch.float64)
        except (RuntimeError, TypeError, ValueError):  # it cannot be cast, which `moves` tells
            subject = asked.subject()
    return _compared(subject, length, at, None)


def _compared(
    subject: Adapter, length: int, at: int, dtype: torch.dtype | None
) -> tuple[Tensor, Tensor]:
    x = subject.tokens(ROWS, length)
    x = x.to(dtype) if dtype is not None and x.is_floating_point() else x
    out = subject.outputs(x)
    return out, (subject.outputs(subject.replaced(x, at)) - out).double().abs().amax((0, 2))
