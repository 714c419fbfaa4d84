"""The training, validation and test part of a data set as tensors on the device."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from posenc import _checks
from posenc.encodings import with_window_statistics
from posenc_book import data
from posenc_book.data import Dataset, stars
from posenc_book.data.lost_samples import lose_samples
from posenc_book.data.resamples import halves
from posenc_book.records.settings import Settings


@dataclass(frozen=True, eq=False)
class Part:
    """What the cells of a stack see: the same series for all, or those of each one's resample.

    Parameters
    ----------
    x : Tensor of shape (n_cells or 1, n, length, n_channels)
        With one channel more for the times of the steps, where the set keeps them.
    y : Tensor of shape (n_cells or 1, n)
    mask : Tensor of shape (n_cells or 1, n, length), or None where no step is missing
    """

    x: Tensor
    y: Tensor
    mask: Tensor | None

    def __len__(self) -> int:
        return self.y.shape[1]

    def take(self, rows: Tensor) -> tuple[Tensor, Tensor, Tensor | None]:
        """Return series, labels and mask at `rows`, an index (n_cells, n_rows)."""
        cell = torch.arange(len(self.y), device=rows.device)[:, None]
        mask = None if self.mask is None else self.mask[cell, rows]
        return self.x[cell, rows], self.y[cell, rows], mask

    def only(self, cells: Sequence[int]) -> "Part":
        """Return what some of the cells see."""
        if len(self.y) == 1:
            return self
        return Part(self.x[cells], self.y[cells], None if self.mask is None else self.mask[cells])

    def rows(self, rows: slice) -> tuple[Tensor, Tensor | None]:
        """Return series and mask of some rows, all cells."""
        return self.x[:, rows], None if self.mask is None else self.mask[:, rows]

    def first(self, n: int) -> tuple[Tensor, Tensor | None]:
        """Return the first `n` series and masks of the first cell."""
        return self.x[0, :n], None if self.mask is None else self.mask[0, :n]


@dataclass(frozen=True, eq=False)
class Parts:
    """The three parts of a data set, resident on one device; `load_parts` makes them.

    Parameters
    ----------
    train, validation, test : Part
    length : int
        Steps of a series, padding included.
    n_channels, n_classes : int
    timed : bool
        Whether the last channel of all parts, which is not counted, holds times.
    """

    train: Part
    validation: Part
    test: Part
    length: int
    n_channels: int
    n_classes: int
    timed: bool = False

    def only(self, cells: Sequence[int]) -> "Parts":
        """Return the parts that some of the cells see."""
        some = (part.only(cells) for part in (self.train, self.validation, self.test))
        train, validation, test = some
        return replace(self, train=train, validation=validation, test=test)


def load_parts(settings: Settings, device: torch.device) -> Parts:
    """Return the parts that a cell asks for; the last few stay in memory."""
    options = tuple(sorted(settings.dataset_options.items()))
    return _load(
        settings.dataset,
        options,
        settings.resample,
        settings.split_seed,
        settings.validation,
        settings.max_cases,
        settings.input_statistics,
        settings.input_scaling,
        str(device),
    )


def load_together(cells: Sequence[Settings], device: torch.device) -> Parts:
    """Return the parts of cells that are trained together, one behind the other if they differ."""
    first = load_parts(cells[0], device)
    if all((c.resample, c.split_seed) == (cells[0].resample, cells[0].split_seed) for c in cells):
        return first
    every = [load_parts(cell, device) for cell in cells]
    names = ("train", "validation", "test")
    train, validation, test = (_join([getattr(p, name) for p in every]) for name in names)
    return replace(first, train=train, validation=validation, test=test)


def _join(parts: Sequence[Part]) -> Part:
    if len({part.x.shape for part in parts}) > 1:
        raise ValueError("resamples of different sizes cannot be trained together")
    x, y = (torch.cat([getattr(part, name) for part in parts]) for name in ("x", "y"))
    if all(part.mask is None for part in parts):
        return Part(x, y, None)
    real = torch.ones(parts[0].x.shape[:3], dtype=torch.bool, device=x.device)
    return Part(x, y, torch.cat([real if p.mask is None else p.mask for p in parts]))


@lru_cache(maxsize=8)
def _load(
    name: str,
    options: tuple[tuple[str, object], ...],
    resample: int,
    seed: int,
    validation: float,
    max_cases: int,
    statistics: str,
    scaling: str,
    device: str,
) -> Parts:
    whole, test = _resampled(name, dict(options), resample)
    train, held_out = data.split_validation(some(whole, max_cases, seed), validation, seed)
    test = some(test, max_cases, seed)
    train, held_out, test = scaled((train, held_out, test), scaling)
    tensors = [_to_device(part, device) for part in (train, held_out, test)]
    if statistics:
        tensors = [_with_statistics(part, statistics, name) for part in tensors]
    n_channels = tensors[0].x.shape[-1]
    if timed := train.times is not None:
        pairs = zip(tensors, (train, held_out, test), strict=True)
        tensors = [_with_times(*pair) for pair in pairs]
    first, validated, tested = tensors
    return Parts(first, validated, tested, train.length, n_channels, train.n_classes, timed)


def scaled(parts: tuple[Dataset, ...], how: str = "") -> tuple[Dataset, ...]:
    """Return the parts with values scaled as `Settings.input_scaling` says, by the first of them.

    What stands at masked steps stays 0.
    """
    if how == "series":
        return tuple(data.standardise(part, *_by_series(part)) for part in parts)
    if how == "asinh":
        middle, spread = _quartiles(parts[0])
        whole = (data.standardise(part, middle, spread) for part in parts)
        return tuple(replace(part, x=np.arcsinh(part.x)) for part in whole)
    mean, deviation = data.channel_statistics(parts[0])
    return tuple(data.standardise(part, mean, deviation) for part in parts)


def _by_series(part: Dataset) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return mean and standard deviation of the real steps, (n, 1, n_channels) each."""
    real = np.ones(part.x.shape[:2], bool) if part.mask is None else part.mask
    x = np.ma.masked_array(part.x.astype(np.float64), ~real[..., None].repeat(part.x.shape[2], 2))
    mean, deviation = x.mean(1, keepdims=True).filled(0.0), x.std(1, keepdims=True).filled(1.0)
    return mean, np.where(deviation > 0, deviation, 1.0)


def _quartiles(part: Dataset) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return median and distance of the quartiles of the real steps, by channel."""
    x = part.x.reshape(-1, part.x.shape[2]) if part.mask is None else part.x[part.mask]
    low, middle, high = np.quantile(x.astype(np.float64), (0.25, 0.5, 0.75), axis=0)
    return middle, np.where(high > low, high - low, 1.0)


DEALS = {"official": data.resample, "halves": halves}
"""How a resample deals out the series: in the official sizes, or in halves of each class."""


def _resampled(name: str, options: dict[str, Any], resample: int) -> tuple[Dataset, Dataset]:
    """Return both parts of a resample; steps are lost behind it, as equal series stay together."""
    if name in stars.SURVEYS:  # which have no official parts
        return stars.deal(name, resample, **options)
    deal = options.pop("deal", "official")
    again = DEALS[_checks.choice(f"option deal of {name}", deal, DEALS)]
    losses = options if resample and "lost" in options else {}
    kept = {} if losses else options
    train, test = (data.load(name, split, **kept) for split in data.SPLITS)
    if resample or again is not data.resample:
        train, test = again(train, test, resample)
    if losses:
        train, test = map(partial(lose_samples, **losses), (train, test), data.SPLITS)
    return train, test


def some(part: Dataset, most: int, seed: int) -> Dataset:
    """Return at most `most` series, classes in their proportions, the same for the same seed."""
    if not most or len(part) <= most:
        return part
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(part))
    # every n-th series of the list sorted by class keeps the proportions
    by_class = order[np.argsort(part.y[order], kind="stable")]
    chosen = by_class[np.linspace(0, len(part) - 1, most).round().astype(int)]
    return part.take(np.sort(chosen))


def _to_device(part: Dataset, device: str) -> Part:
    x, y = torch.from_numpy(part.x).to(device), torch.from_numpy(part.y).to(device)
    mask = None if part.mask is None else torch.from_numpy(part.mask).to(device)[None]
    return Part(x[None], y[None], mask)


def _with_times(part: Part, data: Dataset) -> Part:
    """Return the part with the times of its steps as a last channel."""
    assert data.times is not None
    times = torch.from_numpy(data.times).to(part.x)[None, ..., None]
    return replace(part, x=torch.cat((part.x, times), -1))


def _with_statistics(part: Part, statistics: str, name: str) -> Part:
    """Return the part with statistics of windows of its series as further channels."""
    if part.mask is not None:
        raise ValueError(
            f"input_statistics must be empty for {name}, which has missing steps: a window over "
            f"them has no statistics, got {statistics!r}"
        )
    return replace(part, x=with_window_statistics(part.x[0], statistics=statistics)[None])
