"""Argument checks shared by the whole package: every message names argument, value and remedy."""

import difflib
import math
import numbers
import sys
import warnings
from collections.abc import Iterable
from types import FrameType
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

if TYPE_CHECKING:
    from torch import Tensor

Arrays = TypeVar("Arrays", NDArray[Any], "Tensor")

MOST = 2**63 - 1  # the largest whole number that an array can count
MOST_EXACT = 2**53  # up to here float64 holds every whole number
_MOST_EXACT_FLOAT32 = 2**24
_ROUNDINGS = 8  # a step of fewer is not told from its rounding


def count(name: str, value: int, *, minimum: int = 0, maximum: int = MOST) -> int:
    """Return `value` as an int, or raise ValueError unless it is an integer within the bounds."""
    if isinstance(value, bool) or not isinstance(value, numbers.Integral) or value < minimum:
        raise ValueError(f"{name} must be an integer of at least {minimum}, got {value!r}")
    return _held(name, value, maximum)


def _held(name: str, value: int, maximum: int = MOST) -> int:
    """Return `value` as an int, or raise ValueError if no array, or what is asked, has so many."""
    if value > maximum:
        got = "one of more digits" if value > MOST else f"{value:,}"
        raise ValueError(f"{name} must be an integer of at most {maximum:,}, got {got}")
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


def finite_array(name: str, value: ArrayLike, *, ndim: int | None) -> NDArray[Any]:
    """Return `value` as a real array of `ndim` axes, or raise ValueError if it is not finite.

    With `ndim=None` any number of axes will do. Tensors of torch are taken from wherever they are,
    without their gradients.
    """
    array = as_array(name, value)
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


def as_array(name: str, value: ArrayLike) -> NDArray[Any]:
    """Return what holds numbers as an array, or raise ValueError if NumPy cannot take it.

    A tensor of torch may want gradients, be on any device, and have a type that NumPy lacks.
    """
    plain = taken(name, value)
    try:
        return np.asarray(plain)
    except ValueError as error:
        raise ValueError(f"{name} must be an array of numbers, got ragged rows") from error
    except (TypeError, RuntimeError) as error:  # an array of another library
        raise _not_taken(name, value, error) from error


def taken(name: str, value: Any) -> Any:
    """Return `value` with all tensors in it as arrays, or raise ValueError if some is masked."""
    if isinstance(value, list | tuple):
        plain = set(map(type, value)) <= {int, float}
        return value if plain else [taken(name, one) for one in value]
    if isinstance(value, np.ma.MaskedArray):
        raise ValueError(
            f"{name} must not be a masked array, whose mask would get lost: .compressed() leaves "
            "out what is masked, and .filled(number) puts a number in its place"
        )
    torch = sys.modules.get("torch")  # nobody who has not imported it has a tensor
    if torch is None or not isinstance(value, torch.Tensor):
        return value
    try:
        if value.is_floating_point() and value.element_size() < 4:  # bfloat16 and its like
            value = value.float()
        return value.numpy(force=True)
    except (TypeError, RuntimeError) as error:  # sparse, quantized, or in a trace
        raise _not_taken(name, value, error) from error


def _not_taken(name: str, value: object, error: Exception) -> ValueError:
    reason = str(error).partition("\n")[0]
    return ValueError(
        f"{name} must be an array of numbers that NumPy can take, got {type(value).__name__}: "
        f"{reason}"
    )


def positions(name: str, value: ArrayLike, *, ndim: int) -> NDArray[np.float64]:
    """Return positions in float64, or raise ValueError where rounding must have changed them.

    Equal neighbours are warned of where it may have.
    """
    check_whole_type(name, getattr(value, "dtype", None))
    given = finite_array(name, value, ndim=ndim)
    if given.size:
        check_held(name, min(given.min(), 0), max(given.max(), 0))
    exact = given.astype(np.float64, copy=False)
    if exact.ndim and (met := rounded_together(exact[:-1], exact[1:])).any():
        warn_of_equal(name, float(np.abs(exact[1:][met]).max()))
    elif given.ndim and given.dtype == np.float32 and (near := coarse(given[:-1], given[1:])).any():
        warn_of_coarse(name, float(np.abs(given[1:][near]).max()))
    return exact


def check_whole_type(name: str, dtype: object) -> None:
    """Raise ValueError for a type of float, NumPy's or torch's, that skips small whole numbers."""
    eps = half_eps(dtype)
    if eps is not None:
        raise ValueError(
            f"{name} must be integers, float32 or float64 from the start, as it is too late to "
            f"convert them where whole numbers above {round(2 / eps)} have been rounded, "
            f"got dtype {dtype}"
        )


def half_eps(dtype: object) -> float | None:
    """Return how finely a float type below float32, NumPy's or torch's, rounds; else None."""
    torch = sys.modules.get("torch")
    if isinstance(dtype, np.dtype) and dtype.kind == "f":
        info = np.finfo(dtype)
    elif torch is not None and isinstance(dtype, torch.dtype) and dtype.is_floating_point:
        info = torch.finfo(dtype)
    else:
        return None
    return float(info.eps) if info.bits < 32 else None


def check_held(name: str, least: float, largest: float) -> None:
    """Raise ValueError if positions lie where float64 skips whole numbers."""
    if least < -MOST_EXACT or largest > MOST_EXACT:
        raise ValueError(
            f"{name} must be at most 2**53 = {MOST_EXACT:,} in size, beyond which whole numbers "
            f"are rounded, got {largest if largest > MOST_EXACT else least}; subtract the first "
            "one from all of them while they are integers, or count in a larger unit"
        )


def rounded_together(one: Arrays, next_one: Arrays) -> Arrays:
    """Return where two positions (arrays or tensors) are equal and rounding may be why.

    Whole numbers up to 2**24 are exact in float32, so that those are equal on purpose.
    """
    whole = (one == one.round()) & (abs(one) <= _MOST_EXACT_FLOAT32)
    return (one == next_one) & ~whole


def coarse(one: Arrays, next_one: Arrays) -> Arrays:
    """Return where two float32 positions (arrays or tensors) differ by a few roundings only.

    Up to 2**24 whole numbers, and so their differences, are exact.
    """
    whole = (one == one.round()) & (next_one == next_one.round())
    whole = whole & (abs(next_one) <= _MOST_EXACT_FLOAT32)
    step = abs(next_one - one)
    return (step > 0) & (step < _ROUNDINGS * 2.0**-23 * abs(next_one)) & ~whole


def warn_of_coarse(name: str, size: float) -> None:
    """Warn that steps between positions of this size are rounded in float32."""
    apart = float(np.spacing(np.float32(size)))
    warn(
        f"{name} are in float32, where numbers of their size are {apart:.3g} apart, so that the "
        "steps between them are rounded: subtract the first one from all of them before they "
        "become float32, or keep them in float64 from the start"
    )


def warn_of_equal(name: str, size: float) -> None:
    """Warn that neighbouring positions of this size are equal, as float32 may have made them."""
    apart = float(np.spacing(np.float32(size)))
    warn(
        f"{name} have equal neighbours, so that these tokens stand at one place. In float32, "
        f"numbers of their size are {apart:.3g} apart: subtract the first one from all of them "
        "before they become float32, or keep them in float64 from the start"
    )


def warn(message: str) -> None:
    """Warn at the line outside of this package from which somebody called it."""
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and _is_ours(frame):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, UserWarning, stacklevel=level)


def _is_ours(frame: FrameType) -> bool:
    """Return whether a frame runs code of this package, or of torch between it and a reader."""
    package = frame.f_globals.get("__name__", "").partition(".")[0]
    return package in ("posenc", "torch")


def float_dtype(dtype: DTypeLike) -> np.dtype[np.floating]:
    """Return `dtype` as a NumPy dtype, or raise ValueError unless it is a real float type."""
    try:
        resolved: np.dtype[Any] = np.dtype(dtype)
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
