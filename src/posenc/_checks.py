"""Argument checks shared by the whole package: every message names argument, value and remedy."""

import difflib
import math
import numbers
from collections.abc import Iterable

import numpy as np
from numpy.typing import ArrayLike, NDArray

MOST = 2**63 - 1  # the largest whole number that an array can count


def count(name: str, value: int, *, minimum: int = 0) -> int:
    """Return `value` as an int, or raise ValueError unless it is an integer >= `minimum`."""
    if isinstance(value, bool) or not isinstance(value, numbers.Integral) or value < minimum:
        raise ValueError(f"{name} must be an integer of at least {minimum}, got {value!r}")
    return _held(name, value)


def _held(name: str, value: int) -> int:
    """Return `value` as an int, or raise ValueError if no array could be so long."""
    if value > MOST:
        raise ValueError(f"{name} must be an integer of at most {MOST:,}, got one of more digits")
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
    return _held(name, value)


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


def divisor(name: str, value: int, of: str, total: int) -> int:
    """Return `value` as an int, or raise ValueError unless it is >= 1 and divides `total`."""
    if total % count(name, value, minimum=1):
        fitting = [n for n in range(1, total + 1) if total % n == 0]
        shown = ", ".join(map(str, fitting[:12])) + (", ..." if len(fitting) > 12 else "")
        raise ValueError(f"{name} must divide {of} = {total}, got {value}; these do: {shown}")
    return int(value)


def flag(name: str, value: bool) -> bool:
    """Return `value` as a bool, or raise ValueError unless it is True or False."""
    if not isinstance(value, bool | np.bool_):
        raise ValueError(f"{name} must be True or False, got {value!r}")
    return bool(value)


def probability(name: str, value: float) -> float:
    """Return `value` as a float, or raise ValueError unless 0 <= value < 1."""
    if isinstance(value, bool) or not isinstance(value, numbers.Real) or not 0 <= value < 1:
        raise ValueError(f"{name} must be a probability, 0 <= {name} < 1, got {value!r}")
    return float(value)


def choice(name: str, value: object, known: Iterable[str]) -> str:
    """Return `value`, or raise ValueError that lists the known names and the nearest."""
    known = list(known)
    if isinstance(value, str) and value in known:
        return value
    nearest = difflib.get_close_matches(str(value), known, n=1)
    hint = f"; did you mean {nearest[0]!r}?" if nearest else ""
    raise ValueError(f"{name} must be one of {', '.join(known)}, got {value!r}{hint}")
