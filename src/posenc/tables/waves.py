"""Tables of sines and cosines over a grid of angular frequencies."""

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from posenc import _checks, frequencies
from posenc.tables.blocks import BLOCK_BYTES, blocks


def encode(
    positions: ArrayLike, frequencies: ArrayLike, *, dtype: DTypeLike = np.float64
) -> NDArray[np.floating]:
    """Return sines and cosines of `positions * frequencies`, interleaved.

    Column `2i` holds `sin(t * omega_i)`, column `2i + 1` holds `cos(t * omega_i)`.

    Parameters
    ----------
    positions : array of shape (n,)
        Integers or floats, in positions; they need not be equally spaced. Neighbours that
        rounding to float32 may have joined are warned of.
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
        If an argument has the wrong number of axes or is not finite, or `dtype` is no float type;
        for positions above 2**53 in size, or of a half type, which have been rounded.

    Source: Vaswani et al. (2017), section 3.5; Idé et al., Eq. 2.

    Examples
    --------
    >>> encode([0, 1], [np.pi / 2]).round(6).tolist()
    [[0.0, 1.0], [1.0, 0.0]]
    """
    t = _checks.positions("positions", positions, ndim=1)
    omega = _checks.finite_array("frequencies", frequencies, ndim=1).astype(np.float64, copy=False)
    table = np.empty((t.size, 2 * omega.size), _checks.float_dtype(dtype))
    for rows in blocks(t.size, omega.size):
        angles = t[rows, None] * omega
        table[rows, 0::2] = np.sin(angles)
        table[rows, 1::2] = np.cos(angles, out=angles)
    return table


def sinusoidal(
    n_positions: int,
    d_model: int,
    base: float = 10_000.0,
    *,
    dtype: DTypeLike = np.float64,
) -> NDArray[np.floating]:
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

    Examples
    --------
    >>> sinusoidal(2, 4, base=100.0).round(4).tolist()
    [[0.0, 1.0, 0.0, 1.0], [0.8415, 0.5403, 0.0998, 0.995]]
    """
    return _regular(n_positions, frequencies.geometric(d_model, base), dtype)


def tape(
    n_positions: int,
    d_model: int,
    base: float = 10_000.0,
    *,
    dtype: DTypeLike = np.float64,
) -> NDArray[np.floating]:
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

    Examples
    --------
    >>> tape(100, 64).shape
    (100, 64)
    """
    n_positions = _checks.count("n_positions", n_positions, minimum=1)
    return _regular(n_positions, frequencies.length_scaled(d_model, n_positions, base), dtype)


def _regular(
    n_positions: int, omega: NDArray[np.float64], dtype: DTypeLike
) -> NDArray[np.floating]:
    """Return `encode(arange(n_positions), omega)`, fast: a few sines, then rotations of them.

    With z(t) = sin + i cos = i exp(-i omega t), the code of s + t is -i z(s) z(t). So a block of
    rows moves on by a product with one row. Every fourth block starts afresh, from rows that are
    again a regular table: few roundings add up, and few sines are needed.
    """
    n_positions = _checks.count("n_positions", n_positions)
    step = min(max(BLOCK_BYTES // (32 * omega.size), 16), n_positions // 16)
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
