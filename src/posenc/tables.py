"""NumPy tables of positional encodings: one row per position, one column per dimension.

All angles are computed in float64; `dtype` is the type of the result. No more than a small part
of the rows is ever held in float64, so a float32 table costs little more than itself.
"""

from collections.abc import Iterator

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from posenc import _checks, frequencies

_BLOCK_BYTES = 256 * 1024  # a block of float64 values that stays in a core's own cache


def encode(
    positions: ArrayLike, frequencies: ArrayLike, *, dtype: DTypeLike = np.float64
) -> NDArray:
    """Return sines and cosines of `positions * frequencies`, interleaved.

    Column `2i` holds `sin(t * omega_i)`, column `2i + 1` holds `cos(t * omega_i)`.

    Parameters
    ----------
    positions : array of shape (n,)
        Integers or floats, in positions; they need not be equally spaced.
    frequencies : array of shape (m,)
        Angular frequencies in radians per position.
    dtype : NumPy float type
        Type of the result.

    Returns
    -------
    array of shape (n, 2m).

    Raises
    ------
    ValueError
        If an argument has the wrong number of axes or is not finite, or `dtype` is no float type.

    Source: Vaswani et al. (2017), section 3.5; Idé et al., Eq. 2.
    """
    t = _checks.finite_array("positions", positions, ndim=1).astype(np.float64, copy=False)
    omega = _checks.finite_array("frequencies", frequencies, ndim=1).astype(np.float64, copy=False)
    table = np.empty((t.size, 2 * omega.size), _checks.float_dtype(dtype))
    for rows in _blocks(t.size, omega.size):
        angles = t[rows, None] * omega
        table[rows, 0::2] = np.sin(angles)
        table[rows, 1::2] = np.cos(angles, out=angles)
    return table


def index(n_positions: int, d_model: int = 1, *, dtype: DTypeLike = np.float64) -> NDArray:
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
) -> NDArray:
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
) -> NDArray:
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
    """
    n_positions = _checks.count("n_positions", n_positions)
    needed = _digits_needed(n_positions, 2)
    if n_bits is not None and _checks.count("n_bits", n_bits, minimum=1) < needed:
        raise ValueError(
            f"n_bits must be at least {needed} to count {n_positions} positions, got {n_bits}"
        )
    return digits(n_positions, n_bits, base=2, dtype=dtype)


def normalized(n_positions: int, d_model: int = 1, *, dtype: DTypeLike = np.float64) -> NDArray:
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
    """
    n_positions = _checks.count("n_positions", n_positions)
    d_model = _checks.count("d_model", d_model, minimum=1)
    table = np.empty((n_positions, d_model), _checks.float_dtype(dtype))
    column = np.arange(n_positions, dtype=np.result_type(table, np.float64))
    column /= max(n_positions, 1)
    table[:] = column[:, None]
    return table


def sinusoidal(
    n_positions: int,
    d_model: int,
    base: float = 10_000.0,
    *,
    dtype: DTypeLike = np.float64,
) -> NDArray:
    """Return the sinusoidal table of the Transformer for positions 0 to `n_positions - 1`.

    Parameters
    ----------
    n_positions : int
        Rows of the table, at least 0.
    d_model : int
        Columns of the table, positive and even.
    base : float
        As in `frequencies.geometric`.
    dtype : NumPy float type
        Type of the result.

    Returns
    -------
    array of shape (n_positions, d_model); every row has norm `sqrt(d_model / 2)`.

    Raises
    ------
    ValueError
        If a count, `base` or `dtype` is out of range.

    Source: Vaswani et al. (2017), section 3.5.
    """
    return _regular(n_positions, frequencies.geometric(d_model, base), dtype)


def tape(
    n_positions: int,
    d_model: int,
    base: float = 10_000.0,
    *,
    dtype: DTypeLike = np.float64,
) -> NDArray:
    """Return the tAPE table: sinusoids whose frequencies are scaled by `d_model / n_positions`.

    Parameters
    ----------
    n_positions : int
        Rows of the table and length that scales the frequencies, at least 1.
    d_model : int
        Columns of the table, positive and even.
    base : float
        As in `frequencies.geometric`.
    dtype : NumPy float type
        Type of the result.

    Returns
    -------
    array of shape (n_positions, d_model); every row has norm `sqrt(d_model / 2)`.

    Raises
    ------
    ValueError
        If a count, `base` or `dtype` is out of range.

    Source: Foumani et al. (2024), Eq. 13 and 14.
    """
    n_positions = _checks.count("n_positions", n_positions, minimum=1)
    return _regular(n_positions, frequencies.length_scaled(d_model, n_positions, base), dtype)


def dft(
    n_positions: int,
    d_model: int,
    *,
    overflow: str = "error",
    dtype: DTypeLike = np.float64,
) -> NDArray:
    """Return the DFT encoding: the real Fourier coefficients of the one-hot position vectors.

    Columns follow the basis of `fourier.basis`: cos 0, cos 1..K, sin 1..K, cos pi, with
    K = d_model / 2 - 1.

    Parameters
    ----------
    n_positions : int
        Rows of the table, at least 0.
    d_model : int
        Columns of the table and points of the lattice, positive and even.
    overflow : {"error", "alias", "stretch"}
        What to do with more positions than dimensions. "error" refuses. "alias" keeps the
        paper's formula, which repeats after `d_model` positions. "stretch" takes the `d_model`
        lowest functions of the lattice with `n_positions` points: rows stay unique, but they
        are neither of norm 1 nor orthogonal; it needs `d_model >= 4`.
    dtype : NumPy float type
        Type of the result.

    Returns
    -------
    array of shape (n_positions, d_model); orthonormal rows while `n_positions <= d_model`.

    Raises
    ------
    ValueError
        If a count, `overflow` or `dtype` is out of range, or `n_positions > d_model` with
        `overflow="error"`.

    Source: Idé et al., Eq. 17 to 21.
    """
    n_positions = _checks.count("n_positions", n_positions)
    d_model = _checks.even("d_model", d_model)
    n_points = _lattice(n_positions, d_model, overflow)
    table = np.empty((n_positions, d_model), _checks.float_dtype(dtype))
    # Reducing k*t modulo the lattice in integers keeps every angle exact.
    angles = 2 * np.pi * np.arange(n_points) / n_points
    scale = np.sqrt(2 / n_points)
    cosines, sines = scale * np.cos(angles), scale * np.sin(angles)
    last_scale = np.sqrt(0.5) if n_points == d_model else 1.0
    k = np.arange(1, d_model // 2)
    for rows in _blocks(n_positions, d_model):
        t = np.arange(rows.start, rows.stop)
        phase = k * t[:, None]
        phase %= n_points
        table[rows, 0] = 1 / np.sqrt(n_points)
        table[rows, 1 : d_model // 2] = cosines[phase]
        table[rows, d_model // 2 : -1] = sines[phase]
        table[rows, -1] = last_scale * cosines[d_model // 2 * t % n_points]
    return table


def _lattice(n_positions: int, d_model: int, overflow: str) -> int:
    """Return the number of lattice points that the DFT table is periodic in."""
    if overflow not in ("error", "alias", "stretch"):
        raise ValueError(f"overflow must be 'error', 'alias' or 'stretch', got {overflow!r}")
    if n_positions <= d_model or overflow == "alias":
        return d_model
    if overflow == "error":
        raise ValueError(
            f"n_positions must be at most d_model = {d_model} for the DFT encoding, got "
            f"{n_positions}: position {d_model} would get the vector of position 0. Use a "
            "larger d_model, overflow='stretch' (unique rows, no longer a basis) or "
            "overflow='alias' (the formula as it stands, repeating)"
        )
    if d_model < 4:
        raise ValueError(
            f"d_model must be at least 4 for overflow='stretch', got {d_model}: "
            "a lone cosine gives position t and n_positions - t the same vector"
        )
    return n_positions


def _regular(n_positions: int, omega: NDArray[np.float64], dtype: DTypeLike) -> NDArray:
    """Return `encode(arange(n_positions), omega)`, fast: a few sines, then rotations of them.

    With z(t) = sin + i cos = i exp(-i omega t), the code of s + t is -i z(s) z(t). So a block of
    rows moves on by a product with one row. Every fourth block starts afresh, from rows that are
    again a regular table: few roundings add up, and few sines are needed.
    """
    n_positions = _checks.count("n_positions", n_positions)
    step = min(max(_BLOCK_BYTES // (32 * omega.size), 16), n_positions // 16)
    if step < 16:
        return encode(np.arange(n_positions), omega, dtype=dtype)
    step = 1 << (step.bit_length() - 1)  # a power of two, so that `step * omega` is exact
    table = np.empty((n_positions, 2 * omega.size), _checks.float_dtype(dtype))
    first = -1j * encode(np.arange(step), omega).view(np.complex128)
    onward = np.repeat(-1j * encode([step], omega).view(np.complex128), step, axis=0)
    starts = _regular(-(-n_positions // (4 * step)), 4 * step * omega, np.float64)
    block = np.empty_like(first)
    for i in range(-(-n_positions // step)):
        if i % 4:
            block *= onward
        else:
            np.multiply(first, starts[i // 4].view(np.complex128), out=block)
        rows = table[i * step : (i + 1) * step]
        rows[:] = block[: len(rows)].view(np.float64)
    return table


def _blocks(n_rows: int, n_columns: int) -> Iterator[slice]:
    """Yield slices that cover `n_rows` rows, each about `_BLOCK_BYTES` of float64 large."""
    step = max(1, _BLOCK_BYTES // (8 * max(n_columns, 1)))
    for start in range(0, n_rows, step):
        yield slice(start, min(start + step, n_rows))


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
