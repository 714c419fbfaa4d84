"""Which dimensions turn, in which pairs, how fast and which way: read off queries or keys."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

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


def due_parts(layer: Layer, width: int) -> list[Part]:
    """Return the same, and with the pairs of the weights, where these are put in order first."""
    one = due_part(layer, width)
    return list(dict.fromkeys([one, replace(one, pairing=layer.pairing or one.pairing)]))


def part_of(a: Array, due: list[Part]) -> Part | None:
    """Return the part that turns: one that is due if it can be, None where none explains it."""
    for one in (*due, *parts(a.shape[-1], due[0])):
        if is_rotation(a, one):
            return one
    return None


def parts(width: int, due: Part) -> Iterator[Part]:
    """Yield the dimensions of a part in other pairs, and then other dimensions."""
    other = {"half": "interleaved", "interleaved": "half"}[due.pairing]
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


def gains(a: Array, part: Part) -> Array | None:
    """Return what each dimension of each pair is multiplied by after turning, (pairs, 2).

    A pair then goes round an ellipse, the same one in all heads up to its size. None if it does
    not; gains of 1 if it goes round a circle.
    """
    one, other = part.pairs()
    squares = np.stack([np.square(a[..., one]), np.square(a[..., other])], -1)
    changes = (squares - squares[:, :1]).reshape(-1, *squares.shape[2:])  # (places, pairs, 2)
    size = squares.sum(-1).max((0, 1))
    found = np.ones((len(one), 2))
    for i, change in enumerate(changes.transpose(1, 0, 2)):
        if np.abs(change).max() < 10 * STILL * size[i]:
            continue
        weights = np.linalg.svd(change, full_matrices=False)[2][-1]
        weights = weights / weights.sum()
        if weights.min() < 0.01 or np.abs(change @ weights).max() > 10 * STILL * size[i]:
            return None
        found[i] = weights[::-1].sum() / 2 / weights
    return np.sqrt(found)


def growth(a: Array) -> Array:
    """Return how long queries are at each place, as shares of the first; (places,)."""
    length = np.linalg.norm(a, axis=-1).mean(0)
    grown: Array = length / length[0]
    return grown
