"""Does a window end where it says?"""

from collections.abc import Iterator

import torch
from torch import Tensor

from posenc.testing.adapters.base import Adapter, CannotAsk
from posenc.testing.asking import Asked, Seen
from posenc.testing.checks.making import check
from posenc.testing.like import hearing
from posenc.testing.like.fault import runs
from posenc.testing.like.scoring import tokens_only, visible

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
    if asked.promises.like is not None:
        heard = _heard(asked, window)
        if heard is not None:
            yield heard
            return
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


def _heard(asked: Asked, window: int) -> Seen | None:
    """Return what the layers see that have a window by the configuration, None if that is unheard.

    Full layers between them hide how far each reaches.
    """
    length = window + min(window, 8) + 1
    if length > min(asked.trained or LONGEST, LONGEST):
        return None
    try:
        run = hearing.with_scores(asked, length)
    except CannotAsk:
        return None
    seen = {
        pair.number: int(visible(tokens_only(pair.heard))[0, -1].sum())
        for pair in run.pairs
        if pair.due.kind == "window"
    }
    wrong = {n: sees for n, sees in seen.items() if sees != window}
    if not seen:
        raise CannotAsk("by the configuration no layer has a window: leave window= out")
    n, sees = next(iter(wrong.items() or seen.items()))
    note = f"layer {n} sees {sees} tokens, where {window} were promised" if wrong else ""
    shown = f"{len(run.places)} tokens, layers {runs(sorted(seen))}"
    return Seen(float(abs(sees - window)), shown, note=note)


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
