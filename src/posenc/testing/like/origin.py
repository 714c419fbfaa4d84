"""What queries and keys were before they turned, found among all that was computed before."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from posenc.testing.like import turning
from posenc.testing.like.hearing import Pair
from posenc.testing.like.turning import Array, Part


@dataclass(frozen=True)
class Origin:
    """How queries or keys at the first place differ from what they were made of.

    Attributes
    ----------
    gain : float
    pairing : str
        Of the weights, which may not be that in which they turn.
    phase : array of shape (pairs,)
        Radians by which each pair of the first head was turned already.
    """

    gain: float
    pairing: str
    phase: Array


def located(side: Tensor | None, pair: Pair) -> Origin | None:
    """Return where queries or keys come from, None where nothing before has their pairs."""
    if side is None:
        return None
    a = side.double().numpy()
    allowed = turning.due_parts(pair.due, a.shape[-1])
    if pair.due.door != "rotate":
        allowed = [Part(0, a.shape[-1] // 2 * 2, "half")]
    part = turning.part_of(a, allowed)
    if part is None:
        return None
    z = part.complex(a[:, 0])
    pairings = dict.fromkeys((pair.due.pairing or part.pairing, "half", "interleaved"))
    for row in pair.heard.before:
        for pairing in pairings:
            found = _found(z, row.numpy(), pairing)
            if found is not None:
                return found
    return None


def _found(z: NDArray[np.complex128], row: Array, pairing: str) -> Origin | None:
    """Return the origin if pairs as long as these, for all heads, stand in a row."""
    n = z.shape[1]
    if len(row) < 2 * n:
        return None
    windows = np.lib.stride_tricks.sliding_window_view(row, 2 * n)
    half = pairing == "half"
    one, other = (windows[:, :n], windows[:, n:]) if half else (windows[:, ::2], windows[:, 1::2])
    there = one + 1j * other
    size = np.linalg.norm(there, axis=1) + 1e-300
    gains, phase = [], np.zeros(n)
    for number, head in enumerate(z[:4]):
        length = np.linalg.norm(head) + 1e-300
        alike = np.abs(there) @ np.abs(head) / (size * length)
        best = int(alike.argmax())
        if alike[best] < 1 - 1e-9:
            return None
        gains.append(float(length / size[best]))
        if not number:
            phase = np.angle(head * there[best].conj())
    if not np.allclose(gains, gains[0], rtol=1e-4):
        return None
    return Origin(gains[0], pairing, phase)
