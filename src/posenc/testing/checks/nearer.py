"""Is a nearer token heard louder?"""

from collections.abc import Iterator

from posenc.testing.adapters.base import Adapter
from posenc.testing.asking import Asked, Seen
from posenc.testing.checks.making import check

ROWS = 8
LONG = 64


def heard(subject: Adapter, length: int, at: int) -> float:
    """Return how loud the last of tokens that are alike hears one: or how far another one moves it.

    Behind several layers a far token comes by more ways than a near one: there, look at weights.
    """
    if subject.n_layers > 1:
        return float(subject.weights(subject.constant(1, length))[0, :, -1, at].mean())
    x = subject.constant(ROWS, length)
    changed = x.clone()
    changed[:, at] = subject.tokens(ROWS, 1)[:, 0]
    moved = subject.outputs(changed)[:, -1] - subject.outputs(x)[:, -1]
    return float(moved.double().norm(dim=-1).mean())


@check(
    "of tokens that are alike, the nearer is heard louder",
    promise="nearer",
    page="relative-and-hybrid",
    hint="the bias grows with distance: a penalty has a minus, `-slope * distance`.",
    at_least=1.02,
)
def louder(asked: Asked) -> Iterator[Seen]:
    """Compare how loud the last token hears its neighbour, and the first."""
    for length in sorted({5, min(LONG, asked.trained or LONG)}):
        subject = asked.subject()
        near, far = (heard(subject, length, at) for at in (length - 2, 0))
        shown = f"{length} tokens that are alike; the last one hears its neighbour, and the first"
        yield Seen(near / max(far, 1e-30), shown, note="times as loud, near and far")
