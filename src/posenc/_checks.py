"""Argument checks shared by the whole package: every message names argument, value and remedy."""

import math
import numbers

import numpy as np
from numpy.typing import ArrayLike, NDArray


def count(name: str, value: int, *, minimum: int = 0) -> int:
    """Return `value` as an int, or raise ValueError unless it is an integer >= `minimum`."""
    if isinstance(value, bool) or not isinstance(value, numbers.Integral) or value < minimum:
        raise ValueError(f"{name} must be an integer of at least {minimum}, got {value!r}")
    return int(value)


def even(name: str, value: int) -> int:
    """Return `value` as an int, or raise ValueError unless it is a positive even integer."""
    if isinstance(value, bool) or not isinstance(value, numbers.Integral) or value < 1:
        raise ValueError(f"{name} must be a positive even integer, got {value!r}")
    if value % 2:
        below = f"{value - 1} or " if value > 1 else ""
        raise ValueError(
            f"{name} must be a positive even integer (sines and cosines come in pairs), "
            f"got {value!r}; {below}{value + 1} would do"
        )
    return int(value)


def positive(name: str, value: float) -> float:
    """Return `value` as a float, or raise ValueError unless it is a finite number above zero."""
    if not (_is_finite(value) and value > 0):
        raise ValueError(f"{name} must be a finite number above 0, got {value!r}")
    return float(value)


def non_negative(name: str, value: float) -> float:
    """Return `value` as a float, or raise ValueError unless it is a finite number, 0 or more."""
    if not (_is_finite(value) and value >= 0):
        raise ValueError(f"{name} must be a finite number of at least 0, got {value!r}")
    return float(value)


def finite_array(name: str, value: ArrayLike, *, ndim: int | None) -> NDArray:
    """Return `value` as a real array of `ndim` axes, or raise ValueError if it is not finite.

    With `ndim=None` any number of axes will do.
    """
    try:
        array = np.asarray(value)
    except ValueError as error:
        raise ValueError(f"{name} must be an array of numbers, got ragged rows") from error
    if array.dtype.kind not in "iuf":
        raise ValueError(f"{name} must hold real numbers, got dtype {array.dtype}")
    if ndim is not None and array.ndim != ndim:
        raise ValueError(f"{name} must have {ndim} axes, got {array.ndim} (shape {array.shape})")
    bad = np.argwhere(~np.isfinite(array))
    if len(bad):
        where = tuple(int(i) for i in bad[0])
        place = f" at index {where}" if where else ""
        raise ValueError(f"{name} must be finite, got {array[where]}{place}")
    return array


def float_dtype(dtype: object) -> np.dtype:
    """Return `dtype` as a NumPy dtype, or raise ValueError unless it is a real float type."""
    try:
        resolved = np.dtype(dtype)
    except TypeError as error:
        raise ValueError(f"dtype must be a NumPy float type, got {dtype!r}") from error
    if resolved.kind != "f":
        raise ValueError(f"dtype must be a NumPy float type such as float32, got {dtype!r}")
    return resolved


def _is_finite(value: object) -> bool:
    """Return whether `value` is a real number, no bool, that a float can hold."""
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        return False
    try:
        return math.isfinite(value)
    except OverflowError:  # an integer beyond the largest float
        return False
