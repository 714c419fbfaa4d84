"""Series that occur more than once, number for number."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from posenc_book.data.dataset import Dataset


def identities(parts: Sequence[Dataset]) -> list[NDArray[np.int64]]:
    """Return a number (n,) for each series of each part: equal where values and masks are equal."""
    seen: dict[bytes, int] = {}
    return [
        np.array([seen.setdefault(one, len(seen)) for one in _as_bytes(part)], dtype=np.int64)
        for part in parts
    ]


def count(train: Dataset, test: Dataset) -> tuple[int, int, int]:
    """Return how many series repeat an earlier one.

    The three counts are of repetitions inside the training part, of repetitions inside the test
    part, and of test series that also stand in the training part.
    """
    first, second = identities((train, test))
    in_first, in_second = (len(part) - len(np.unique(part)) for part in (first, second))
    return in_first, in_second, int(np.isin(second, first).sum())


def without_shared(train: Dataset, test: Dataset) -> Dataset:
    """Return the test part without the series that also stand in the training part.

    A score on those rewards memory. Series that occur twice in the test part alone are kept.
    """
    first, second = identities((train, test))
    return test.take(np.flatnonzero(~np.isin(second, first)))


def _as_bytes(part: Dataset) -> list[bytes]:
    mask = np.ones(part.x.shape[:2], dtype=bool) if part.mask is None else part.mask
    x = part.x + 0  # 0 and -0 are the same number and different bytes
    return [one.tobytes() + real.tobytes() for one, real in zip(x, mask, strict=True)]
