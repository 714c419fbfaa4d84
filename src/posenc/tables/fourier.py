"""The table of the DFT encoding: one row per position, one column per real basis function."""

import numpy as np
from numpy.typing import DTypeLike, NDArray

from posenc import _checks
from posenc.tables.blocks import blocks


def dft(
    n_positions: int,
    d_model: int,
    *,
    overflow: str = "error",
    dtype: DTypeLike = np.float64,
) -> NDArray[np.floating]:
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

    Examples
    --------
    >>> rows = dft(8, 8)
    >>> bool(np.allclose(rows @ rows.T, np.eye(8)))
    True
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
    for rows in blocks(n_positions, d_model):
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
    _checks.choice("overflow", overflow, ("error", "alias", "stretch"))
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
