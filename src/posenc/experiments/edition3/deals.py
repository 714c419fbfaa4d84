"""The unused sets dealt in halves, so that validation has enough series to choose by.

Most of them have twenty or thirty series to train on and a thousand to test on, which leaves five
for validation. Half of all series, class by class, makes a training part that can carry a choice.
"""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from posenc.data import resample
from posenc.data.dataset import Dataset


def halves(train: Dataset, test: Dataset, r: int) -> tuple[Dataset, Dataset]:
    """Return deal `r`, from 1: half of the series of each class for either part.

    Of an odd number the test part gets one more. Equal series stay on one side. A set of one
    length is given, as the archives have them, and groups are not heeded.
    """
    if r < 1:
        raise ValueError(f"r must be at least 1, as 0 would be no deal, got {r}")
    both = _pooled(train, test)
    first = np.zeros(len(both), dtype=bool)
    for label in range(both.n_classes):
        rows = np.flatnonzero(both.y == label)
        first[rows[: len(rows) // 2]] = True
    # `resample` deals out anew what it gets, in the sizes and class counts that it gets
    return resample(both.take(first), both.take(~first), r)


def _pooled(train: Dataset, test: Dataset) -> Dataset:
    masks = [_mask(part) for part in (train, test)]
    return replace(
        train,
        x=np.concatenate([train.x, test.x]),
        y=np.concatenate([train.y, test.y]),
        mask=None if train.mask is None and test.mask is None else np.concatenate(masks),
    )


def _mask(part: Dataset) -> NDArray[np.bool_]:
    return np.ones(part.x.shape[:2], dtype=bool) if part.mask is None else part.mask
