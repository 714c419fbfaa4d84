"""The one form in which every data set reaches the models."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from posenc_book.data.errors import DataError

MOST_PADDED, MOST_GROWTH = 1 << 26, 100  # values after padding, and how many times the real ones


@dataclass(frozen=True, eq=False)
class Dataset:
    """Labelled series of equal, possibly padded, length.

    Parameters
    ----------
    x : float32 array of shape (n, length, n_channels)
        The series, in the units of their source; 0 at every step that is not real.
    y : int64 array of shape (n,)
        Indices into `classes`.
    classes : tuple of str
        Names of the classes, in the order of the file's header.
    name : str
        Name of the data set.
    provenance : str
        Where the bytes come from, how windows and splits were made; says "synthetic" if so.
    mask : bool array of shape (n, length), optional
        True = real step, False = padding or a step with a missing value; None = every step of every
        series is real.
    groups : int64 array of shape (n,), optional
        The subject, machine or time block of each window; None = independent series. A group must
        never be divided between two parts.
    times : float64 array of shape (n, length), optional
        When each step was; neighbours are about 1 apart, and padded steps go on counting. None =
        nobody knows, and steps are counted.

    Raises
    ------
    ValueError
        If an array has another type or shape than said, or `y` does not index `classes`.

    Examples
    --------
    >>> x = np.zeros((3, 50, 2), np.float32)
    >>> rides = Dataset(x, np.array([0, 1, 1]), ("up", "down"), "rides", "synthetic: zeros")
    >>> rides
    Dataset('rides', n=3, length=50, n_channels=2, n_classes=2)
    >>> len(rides.take([0, 2]))
    2
    """

    x: NDArray[np.float32]
    y: NDArray[np.int64]
    classes: tuple[str, ...]
    name: str
    provenance: str
    mask: NDArray[np.bool_] | None = None
    groups: NDArray[np.int64] | None = None
    times: NDArray[np.float64] | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.x, np.ndarray) or self.x.ndim != 3 or self.x.dtype != np.float32:
            raise ValueError(f"x must be float32 (n, length, n_channels), got {_kind(self.x)}")
        _require("y", self.y, np.int64, self.x.shape[:1])
        if self.mask is not None:
            _require("mask", self.mask, np.bool_, self.x.shape[:2])
        if self.groups is not None:
            _require("groups", self.groups, np.int64, self.x.shape[:1])
        if self.times is not None:
            _require("times", self.times, np.float64, self.x.shape[:2])
        if len(self.y) and not (self.y.min() >= 0 and self.y.max() < len(self.classes)):
            raise ValueError(
                f"y must index the {len(self.classes)} classes, got {np.unique(self.y)}"
            )

    def __len__(self) -> int:
        return len(self.x)

    def __repr__(self) -> str:
        return (
            f"Dataset({self.name!r}, n={len(self)}, length={self.length}, "
            f"n_channels={self.n_channels}, n_classes={self.n_classes})"
        )

    @property
    def length(self) -> int:
        """Steps of a series, padding included."""
        return self.x.shape[1]

    @property
    def n_channels(self) -> int:
        """Numbers in a step."""
        return self.x.shape[2]

    @property
    def n_classes(self) -> int:
        """How many classes there are, also those that no series here has."""
        return len(self.classes)

    def take(self, rows: NDArray | Sequence[int]) -> "Dataset":
        """Return the series numbered `rows`, everything else unchanged.

        Parameters
        ----------
        rows : array or sequence of int
            Numbers of series in the order wanted, or a bool array of shape (n,).

        Returns
        -------
        Dataset

        Raises
        ------
        IndexError
            If there is no series of such a number.
        """
        return replace(
            self,
            x=self.x[rows],
            y=self.y[rows],
            mask=None if self.mask is None else self.mask[rows],
            groups=None if self.groups is None else self.groups[rows],
            times=None if self.times is None else self.times[rows],
        )


def _require(name: str, array: NDArray, dtype: type, shape: tuple[int, ...]) -> None:
    fits = isinstance(array, np.ndarray) and array.dtype == dtype and array.shape == shape
    if not fits:
        raise ValueError(f"{name} must be {np.dtype(dtype)} {shape}, got {_kind(array)}")


def _kind(value: object) -> str:
    if isinstance(value, np.ndarray):
        return f"{value.dtype} {value.shape}"
    return type(value).__name__


def stack(
    series: Sequence[NDArray],
    y: NDArray[np.int64],
    classes: tuple[str, ...],
    name: str,
    provenance: str = "",
    *,
    length: int | None = None,
    times: Sequence[NDArray[np.float64]] = (),
) -> Dataset:
    """Return a Dataset of `series`, arrays (length_i, n_channels), NaN = missing.

    Short series are padded at their end up to `length` (default: the longest series). A step with
    a missing value in any channel counts as not real: its values are 0 and its mask is False.
    `times`, arrays (length_i,), say when each step was.
    """
    length = length or max(len(one) for one in series)
    check_growth(series, length, f"{name}: the longest series")
    x = np.full((len(series), length, series[0].shape[1]), np.nan, dtype=np.float32)
    for row, one in zip(x, series, strict=True):
        row[: len(one)] = one
    mask = np.asarray(~np.isnan(x).any(axis=2))
    x[~mask] = 0
    kept = np.array([longer(one, length) for one in times]) if times else None
    return Dataset(x, y, classes, name, provenance, None if mask.all() else mask, times=kept)


def longer(times: NDArray[np.float64], length: int) -> NDArray[np.float64]:
    """Return times (..., n) that go on counting behind the last one, up to so many steps."""
    more = np.arange(1, length - times.shape[-1] + 1)
    return np.concatenate([times, times[..., -1:] + more], axis=-1)


def check_growth(series: Sequence[NDArray], length: int, which: str) -> None:
    """Raise DataError if padding to the length of the series called `which` takes far too much."""
    n_values, n_real = len(series) * length * series[0].shape[1], sum(one.size for one in series)
    if n_values > MOST_PADDED and n_values > MOST_GROWTH * n_real:
        raise DataError(
            f"{which} has {length:,} steps, and padding all to that length would make "
            f"{n_values:,} values of {n_real:,}"
        )
