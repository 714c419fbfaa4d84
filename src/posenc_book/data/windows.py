"""Cut long recordings into windows that never straddle a border."""

import itertools

import numpy as np
from numpy.typing import ArrayLike, NDArray

from posenc import _checks


def starts(borders: ArrayLike, length: int) -> NDArray[np.int64]:
    """Return the first rows of the disjoint windows of `length` rows within each piece.

    `borders` are the ascending row numbers where pieces begin, and the end of the last one. What
    is left at the end of a piece, shorter than a window, is dropped.
    """
    length = _checks.count("length", length, minimum=1)
    edges = np.asarray(borders, dtype=np.int64)
    pieces = [np.arange(a, b - length + 1, length) for a, b in itertools.pairwise(edges)]
    return np.concatenate([np.zeros(0, dtype=np.int64), *pieces])


def cut(values: NDArray, first: NDArray[np.int64], length: int) -> NDArray:
    """Return the windows values[i : i + length] for every i in `first`: (n, length, ...)."""
    return values[first[:, None] + np.arange(length)]


def borders(*changing: NDArray) -> NDArray[np.int64]:
    """Return the borders of the pieces within which all the given sequences stay constant."""
    n_rows = len(changing[0])
    change = np.zeros(max(n_rows - 1, 0), dtype=bool)
    for one in changing:
        change |= one[1:] != one[:-1]
    return np.concatenate([[0], np.flatnonzero(change) + 1, [n_rows]]).astype(np.int64)


def interior(is_test: NDArray[np.bool_], recording: NDArray | None = None) -> NDArray[np.bool_]:
    """Return `is_test` without the test windows that touch a training window.

    Windows stand in the order of time; only windows of the same `recording` touch.
    """
    apart = np.zeros(len(is_test) - 1, dtype=bool)
    if recording is not None:
        apart = recording[1:] != recording[:-1]
    kept = is_test.copy()
    kept[1:] &= is_test[:-1] | apart
    kept[:-1] &= is_test[1:] | apart
    return kept
