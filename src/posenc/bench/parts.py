"""The training, validation and test part of a data set as tensors on the device."""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import torch
from torch import Tensor

from posenc import data
from posenc.bench.settings import Settings
from posenc.data import Dataset


@dataclass(frozen=True, eq=False)
class Part:
    """Series (n, length, n_channels), labels (n,) and, where steps are missing, a mask."""

    x: Tensor
    y: Tensor
    mask: Tensor | None

    def __len__(self) -> int:
        return len(self.y)

    def take(self, rows: Tensor) -> tuple[Tensor, Tensor, Tensor | None]:
        """Return series, labels and mask at `rows`, an index of any shape."""
        return self.x[rows], self.y[rows], None if self.mask is None else self.mask[rows]


@dataclass(frozen=True, eq=False)
class Parts:
    """The three parts, resident on one device."""

    train: Part
    validation: Part
    test: Part
    length: int
    n_channels: int
    n_classes: int


def load(settings: Settings, device: torch.device) -> Parts:
    """Return the parts that `settings` asks for; the last data set stays in memory."""
    options = tuple(sorted(settings.dataset_options.items()))
    return _load(
        settings.dataset,
        options,
        settings.split_seed,
        settings.validation,
        settings.max_cases,
        str(device),
    )


@lru_cache(maxsize=1)
def _load(
    name: str,
    options: tuple[tuple[str, object], ...],
    seed: int,
    validation: float,
    max_cases: int,
    device: str,
) -> Parts:
    whole = data.load(name, "train", **dict(options))
    train, held_out = data.split_validation(_some(whole, max_cases, seed), validation, seed)
    test = _some(data.load(name, "test", **dict(options)), max_cases, seed)
    mean, deviation = data.channel_statistics(train)
    train, held_out, test = (
        data.standardise(part, mean, deviation) for part in (train, held_out, test)
    )
    tensors = (_to_device(part, device) for part in (train, held_out, test))
    return Parts(*tensors, train.length, train.n_channels, train.n_classes)


def _some(part: Dataset, most: int, seed: int) -> Dataset:
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
    mask = None if part.mask is None else torch.from_numpy(part.mask).to(device)
    return Part(torch.from_numpy(part.x).to(device), torch.from_numpy(part.y).to(device), mask)
