"""Recordings with gaps: some steps of every series are lost, and the rest keep their times or not.

Real sensors skip. What they sent is still there, and the question is what a model is told about
when. With the clock "times" every step that is left stands where it was recorded and the lost ones
are masked. With "indices" the steps that are left are moved together and merely counted.
"""

import numbers
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from posenc import _checks
from posenc_book.data.dataset import Dataset
from posenc_book.data.streams import generator

CLOCKS = ("times", "indices")


def lose_samples(
    data: Dataset, split: str, *, lost: float, clock: str = "times", seed: int = 0
) -> Dataset:
    """Return the series of a split without a random share of their real steps."""
    if isinstance(lost, bool) or not isinstance(lost, numbers.Real) or not 0 <= lost < 1:
        raise ValueError(f"lost must be a share, at least 0 and below 1, got {lost!r}")
    _checks.choice("clock", clock, CLOCKS)
    kept = _kept(data, lost, generator(split, seed))
    place = "their places" if clock == "times" else "only their order"
    said = f"{lost:.0%} of the steps lost at random (seed {seed}), the others keep {place}"
    data = replace(data, provenance=f"{data.provenance}; {said}")
    if clock == "times":
        return replace(data, x=data.x * kept[:, :, None], mask=kept)
    return _closed_up(data, kept)


def _kept(data: Dataset, lost: float, rng: np.random.Generator) -> NDArray[np.bool_]:
    """Return which steps are left, (n, length): the same share of the real steps of each series."""
    real = np.ones(data.x.shape[:2], dtype=bool) if data.mask is None else data.mask
    left = np.maximum(np.round((1 - lost) * real.sum(axis=1)), 1)
    draw = np.where(real, rng.random(real.shape), np.inf)
    rank = draw.argsort(axis=1).argsort(axis=1)
    return real & (rank < left[:, None])


def _closed_up(data: Dataset, kept: NDArray[np.bool_]) -> Dataset:
    """Return the kept steps at the head of each series, in their order."""
    counts = kept.sum(axis=1)
    mask = np.arange(counts.max()) < counts[:, None]
    x = np.zeros((*mask.shape, data.n_channels), dtype=data.x.dtype)
    x[mask] = data.x[kept]
    return replace(data, x=x, mask=None if mask.all() else mask, times=None)
