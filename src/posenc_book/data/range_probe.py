"""range_probe: a task whose answer depends on two events a given number of steps apart.

Channel 0 carries one event A, channel 1 one event B, each a unit pulse in Gaussian noise. In class
"A first", B comes `distance` steps after A; in class "B first", A comes `distance` steps after B.
Positions are counted on a ring (step length - 1 is followed by step 0), and A's position is uniform
in both classes, so is B's. Hence neither event alone says anything about the class, nor does any
order-blind summary of the series: only the relation of the two positions does, at that range.
"""

import numpy as np

from posenc import _checks
from posenc_book.data.dataset import Dataset
from posenc_book.data.streams import generator

CLASSES = ("A first", "B first")


def range_probe(
    split: str,
    *,
    distance: int = 4,
    length: int = 64,
    n: int = 512,
    noise: float = 0.1,
    seed: int = 0,
) -> Dataset:
    """Return series whose class is the order of two events; equal arguments, equal bytes."""
    length = _checks.count("length", length, minimum=3)
    if not 1 <= _checks.count("distance", distance) < length / 2:
        raise ValueError(
            f"distance must be from 1 to less than length / 2 = {length / 2:g}, got {distance!r} "
            f"(on a ring, half the length leads to the same step in both directions)"
        )
    n = _checks.count("n", n, minimum=2)
    noise = noise if noise == 0 else _checks.positive("noise", noise)
    rng = generator(split, seed)
    y = rng.permutation(np.arange(n) % 2)
    a = rng.integers(length, size=n)
    b = (a + np.where(y == 0, distance, -distance)) % length
    x = rng.normal(0, noise, size=(n, length, 2))
    x[np.arange(n), a, 0] += 1
    x[np.arange(n), b, 1] += 1
    provenance = (
        f"synthetic: range_probe(distance={distance}, length={length}, n={n}, noise={noise}, "
        f"seed={seed}), {split} part"
    )
    return Dataset(x.astype(np.float32), y.astype(np.int64), CLASSES, "range_probe", provenance)
