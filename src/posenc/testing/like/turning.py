"""Which dimensions turn, in which pairs, how fast and which way: read off queries or keys."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from posenc.register.rules import Layer

Array = NDArray[np.float64]
STILL = 1e-5
"""What rounding changes, as a share of a query's size."""
UNEVEN = 2e-2
"""Radians by which a pair may miss the angle that its speed gives it."""


@dataclass(frozen=True)
class Part:
    """The dimensions of a head that turn.

    Attributes
    ----------
    first, turning : int
    pairing : str
    """

    first: int
    turning: int
    pairing: str

    def pairs(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return first and second dimensions of all pairs."""
        n = np.arange(self.turning // 2)
        if self.pairing == "half":
            return self.first + n, self.first + n + self.turning // 2
        return self.first + 2 * n, self.first + 2 * n + 1

    def complex(self, a: Array) -> NDArray[np.complex128]:
        """Return pairs (heads, places, pairs) as complex numbers."""
        one, other = self.pairs()
        turned: NDArray[np.complex128] = a[..., one] + 1j * a[..., other]
        return turned

    def __str__(self) -> str:
        where = f"from dimension {self.first} on " if self.first else ""
        return f"{self.turning} dimensions {where}in {self.pairing} pairs"


def due_part(layer: Layer, width: int) -> Part:
    """Return the part that a configuration lets turn, in heads of this width."""
    turning = min(_span(layer), width)
    first = width - turning if layer.first else 0
    return Part(first, turning, layer.pairing_after or layer.pairing or "half")


def _span(layer: Layer) -> int:
    """Return the dimensions among which pairs lie: all, where a schedule leaves some unturned."""
    proportional = (layer.scaling or {}).get("type") == "proportional"
    return (layer.head_dim or 0) if proportional else layer.turning


def moves(a: Array) -> NDArray[np.int64]:
    """Return the dimensions that change from place to place."""
    size = np.sqrt(np.square(a).mean())
    return np.flatnonzero(np.abs(a - a[:, :1]).max((0, 1)) > STILL * size)


def is_rotation(a: Array, part: Part, tolerance: float = STILL) -> bool:
    """Return whether pairs keep their lengths, and all other dimensions stay."""
    size = np.sqrt(np.square(a).mean())
    length = np.abs(part.complex(a))
    rest = np.delete(a, np.concatenate(part.pairs()), axis=-1)
    worst = [np.abs(one - one[:, :1]).max(initial=0) for one in (length, rest)]
    return bool(max(worst) <= 10 * tolerance * size)


def part_of(a: Array, due: Part) -> Part | None:
    """Return the part that turns: the one that is due if it can be, None where none explains it."""
    for one in parts(a.shape[-1], due):
        if is_rotation(a, one):
            return one
    return None


def parts(width: int, due: Part) -> Iterator[Part]:
    """Yield the part that is due, its dimensions in other pairs, and then other dimensions."""
    other = {"half": "interleaved", "interleaved": "half"}[due.pairing]
    yield due
    yield Part(due.first, due.turning, other)
    sizes = sorted(range(2, width + 1, 2), key=lambda n: (width % n > 0, n))
    for turning in sizes:
        for first in dict.fromkeys((0, width - turning)):
            for pairing in (due.pairing, other):
                yield Part(first, turning, pairing)


def frequencies(a: Array, places: NDArray[np.int64], part: Part) -> tuple[Array, Array]:
    """Return radians a place of each pair, and how far each misses the angles these give.

    From places that double: each angle says which whole turns the next one has made.
    """
    z = part.complex(a)
    angle = np.angle((z * z[:, :1].conj()).sum(0))  # (places, pairs)
    at = places - places[0]
    order = np.argsort(at, kind="stable")
    omega = angle[order[1]] / at[order[1]]
    for n in order[2:]:
        whole = np.round((omega * at[n] - angle[n]) / (2 * np.pi))
        omega = (angle[n] + 2 * np.pi * whole) / at[n]
    miss = np.abs(np.angle(np.exp(1j * (omega * at[:, None] - angle)))).max(0)
    return omega, miss


def ellipses(a: Array, part: Part) -> bool:
    """Return whether pairs go round ellipses, as where each dimension has a gain after turning."""
    one, other = part.pairs()
    if a.shape[1] < 4:
        return False
    for x, y in zip(a[0, :, one], a[0, :, other], strict=True):
        both = np.stack([x * x, y * y], 1)
        axes, *_ = np.linalg.lstsq(both, np.ones(len(x)), rcond=None)
        if np.abs(both @ axes - 1).max() > 1e-4:
            return False
    return True


def growth(a: Array) -> Array:
    """Return how long queries are at each place, as shares of the first; (places,)."""
    length = np.linalg.norm(a, axis=-1).mean(0)
    grown: Array = length / length[0]
    return grown
