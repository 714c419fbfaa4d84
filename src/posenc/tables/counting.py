"""Tables that count: the index itself, its digits, its bits, its share of the length."""

import numpy as np
from numpy.typing import DTypeLike, NDArray

from posenc import _checks


def index(
    n_positions: int, d_model: int = 1, *, dtype: DTypeLike = np.float64
) -> NDArray[np.floating]:
    """Return the position itself, 0, 1, 2, ..., repeated in every dimension.

    Parameters
    ----------
    n_positions, d_model : int
        Rows and columns of the table, `n_positions >= 0` and `d_model >= 1`.
    dtype : NumPy float type
        Type of the result.

    Returns
    -------
    array of shape (n_positions, d_model), in positions.

    Raises
    ------
    ValueError
        If a count is negative or no integer, or `dtype` is no float type or too small for the
        last position.

    Examples
    --------
    >>> index(3, 2).tolist()
    [[0.0, 0.0], [1.0, 1.0], [2.0, 2.0]]
    """
    n_positions = _checks.count("n_positions", n_positions)
    d_model = _checks.count("d_model", d_model, minimum=1)
    table = np.empty((n_positions, d_model), _holding(dtype, n_positions - 1))
    table[:] = np.arange(n_positions)[:, None]
    return table


def digits(
    n_positions: int,
    n_digits: int | None = None,
    *,
    base: int = 10,
    dtype: DTypeLike = np.float64,
) -> NDArray[np.floating]:
    """Return the digits of every position, most significant digit first.

    Parameters
    ----------
    n_positions : int
        Rows of the table, at least 0.
    n_digits : int, optional
        Columns of the table; by default as many as the last position needs.
    base : int
        Base of the number system, at least 2.
    dtype : NumPy float type
        Type of the result.

    Returns
    -------
    array of shape (n_positions, n_digits), values 0 to `base - 1`.

    Raises
    ------
    ValueError
        If a count is out of range, `n_digits` digits cannot tell the positions apart, or `dtype`
        is no float type or too small for a digit.

    Examples
    --------
    >>> digits(12, 2, base=10)[[7, 11]].tolist()
    [[0.0, 7.0], [1.0, 1.0]]
    """
    n_positions = _checks.count("n_positions", n_positions)
    base = _checks.count("base", base, minimum=2)
    needed = _digits_needed(n_positions, base)
    n_digits = needed if n_digits is None else _checks.count("n_digits", n_digits, minimum=1)
    if n_digits < needed:
        raise ValueError(
            f"n_digits must be at least {needed} to count {n_positions} positions "
            f"in base {base}, got {n_digits}"
        )
    largest = min(base, n_positions) - 1
    table = np.empty((n_positions, n_digits), _holding(dtype, largest))
    remaining = np.arange(n_positions)
    for column in reversed(range(n_digits)):
        remaining, table[:, column] = np.divmod(remaining, base)
    return table


def binary(
    n_positions: int, n_bits: int | None = None, *, dtype: DTypeLike = np.float64
) -> NDArray[np.floating]:
    """Return the bits of every position, most significant bit first.

    Parameters
    ----------
    n_positions : int
        Rows of the table, at least 0.
    n_bits : int, optional
        Columns of the table; by default as many as the last position needs.
    dtype : NumPy float type
        Type of the result.

    Returns
    -------
    array of shape (n_positions, n_bits), values 0 and 1.

    Raises
    ------
    ValueError
        If a count is out of range, or `n_bits` bits cannot tell the positions apart.

    Examples
    --------
    >>> binary(4, 2).tolist()
    [[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]
    """
    n_positions = _checks.count("n_positions", n_positions)
    needed = _digits_needed(n_positions, 2)
    if n_bits is not None and _checks.count("n_bits", n_bits, minimum=1) < needed:
        raise ValueError(
            f"n_bits must be at least {needed} to count {n_positions} positions, got {n_bits}"
        )
    return digits(n_positions, n_bits, base=2, dtype=dtype)


def normalized(
    n_positions: int, d_model: int = 1, *, dtype: DTypeLike = np.float64
) -> NDArray[np.floating]:
    """Return `position / n_positions`, repeated in every dimension.

    Parameters
    ----------
    n_positions, d_model : int
        Rows and columns of the table, `n_positions >= 0` and `d_model >= 1`.
    dtype : NumPy float type
        Type of the result.

    Returns
    -------
    array of shape (n_positions, d_model); values run from 0 (included) to 1 (excluded, but
    for the rounding to `dtype`).

    Raises
    ------
    ValueError
        If a count is negative or no integer, or `dtype` is no float type.

    Examples
    --------
    >>> normalized(3, 1).tolist()
    [[0.0], [0.3333333333333333], [0.6666666666666666]]
    """
    n_positions = _checks.count("n_positions", n_positions)
    d_model = _checks.count("d_model", d_model, minimum=1)
    table = np.empty((n_positions, d_model), _checks.float_dtype(dtype))
    column = np.arange(n_positions, dtype=np.result_type(table, np.float64))
    column /= max(n_positions, 1)
    table[:] = column[:, None]
    return table


def _digits_needed(n_positions: int, base: int) -> int:
    """Return how many digits the largest position, `n_positions - 1`, has in `base`."""
    largest, n_digits = max(n_positions - 1, 0), 1
    while largest >= base:
        largest //= base
        n_digits += 1
    return n_digits


def _holding(dtype: DTypeLike, largest: int) -> np.dtype:
    """Return `dtype` as a NumPy dtype, or raise ValueError unless it can hold `largest`."""
    resolved = _checks.float_dtype(dtype)
    if largest > float(np.finfo(resolved).max):
        raise ValueError(f"dtype must be able to hold {largest}, got {resolved}; try float32")
    return resolved
