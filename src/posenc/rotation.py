"""Shifts as rotations: the matrix that moves an encoding by k positions, and rotary encoding."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from posenc import _checks


def shift_matrix(frequencies: ArrayLike, offset: float) -> NDArray[np.float64]:
    """Return the matrix T with `encode(t + offset) == T @ encode(t)` for every t.

    T is block-diagonal; block i is [[cos, sin], [-sin, cos]] of the angle `omega_i * offset`
    and acts on the pair (sin, cos). T is orthogonal and depends on no position.

    Parameters
    ----------
    frequencies : array of shape (n,)
        Angular frequencies in radians per position.
    offset : float
        Shift in positions; negative shifts go back.

    Returns
    -------
    array of shape (2n, 2n).

    Raises
    ------
    ValueError
        If an argument is not finite or `frequencies` has not exactly one axis.

    Source: Denk (2019), "Linear Relationships in the Transformer's Positional Encoding", Eq. 4-9.

    Examples
    --------
    >>> from posenc.tables import encode
    >>> omega = [1.0, 0.1]
    >>> moved = shift_matrix(omega, 3) @ encode([5], omega)[0]
    >>> bool(np.allclose(moved, encode([8], omega)[0]))
    True
    """
    omega = _checks.finite_array("frequencies", frequencies, ndim=1).astype(np.float64, copy=False)
    angles = omega * float(_checks.positions("offset", offset, ndim=0))
    even = np.arange(0, 2 * angles.size, 2)
    matrix = np.zeros((2 * angles.size, 2 * angles.size))
    matrix[even, even] = matrix[even + 1, even + 1] = np.cos(angles)
    matrix[even, even + 1] = np.sin(angles)
    matrix[even + 1, even] = -matrix[even, even + 1]
    return matrix


def pairing_permutation(d_model: int) -> NDArray[np.intp]:
    """Return the order that turns interleaved pairs into half-split pairs.

    `x[..., pairing_permutation(d)]` moves the first members of all pairs, then the second:
    (x0, x2, x4, ..., x1, x3, x5, ...). `numpy.argsort` of it turns halves into pairs again.

    Parameters
    ----------
    d_model : int
        Number of dimensions, positive and even.

    Returns
    -------
    array of shape (d_model,), a permutation of 0 to d_model - 1.

    Raises
    ------
    ValueError
        If `d_model` is not a positive even integer.

    Examples
    --------
    >>> pairing_permutation(6).tolist()
    [0, 2, 4, 1, 3, 5]
    """
    return np.arange(_checks.even("d_model", d_model)).reshape(-1, 2).T.ravel()


def rotate(
    vectors: ArrayLike,
    positions: ArrayLike,
    frequencies: ArrayLike,
    *,
    pairing: str = "interleaved",
) -> NDArray[np.floating]:
    """Return every vector turned by the angle `position * frequency`, pair by pair.

    Dot products of turned queries and keys depend on the difference of their positions only.

    Parameters
    ----------
    vectors : array of shape (n, 2m)
        Queries or keys, one row per position.
    positions : array of shape (n,)
        Positions of the rows, as for `tables.encode`.
    frequencies : array of shape (m,)
        Angular frequencies in radians per position.
    pairing : {"interleaved", "half"}
        Whether pair i is (2i, 2i + 1) or (i, i + m).

    Returns
    -------
    array of shape (n, 2m), of the same norms.

    Raises
    ------
    ValueError
        If a shape does not fit, a value is not finite or `pairing` is unknown; for positions that
        `tables.encode` refuses.

    Source: Su et al. (2021), RoFormer, Eq. 15 (interleaved); the half-split form is GPT-NeoX's.

    Examples
    --------
    >>> rotate([[1.0, 0.0], [1.0, 0.0]], [0, 1], [np.pi / 2]).round(6).tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    """
    x = _checks.finite_array("vectors", vectors, ndim=2)
    t = _checks.positions("positions", positions, ndim=1)
    omega = _checks.finite_array("frequencies", frequencies, ndim=1).astype(np.float64, copy=False)
    if x.shape != (t.size, 2 * omega.size):
        raise ValueError(
            f"vectors must have shape (len(positions), 2 * len(frequencies)) = "
            f"{(t.size, 2 * omega.size)}, got {x.shape}"
        )
    first, second = _pairs(x, pairing)
    cos, sin = np.cos(np.outer(t, omega)), np.sin(np.outer(t, omega))
    turned = np.empty(x.shape, np.result_type(x, np.float64))
    out_first, out_second = _pairs(turned, pairing)
    out_first[:] = first * cos - second * sin
    out_second[:] = first * sin + second * cos
    return turned


def _pairs(x: NDArray[np.generic], pairing: str) -> tuple[NDArray[np.generic], NDArray[np.generic]]:
    """Return views of the first and second members of all pairs."""
    if _checks.choice("pairing", pairing, ("interleaved", "half")) == "interleaved":
        return x[:, 0::2], x[:, 1::2]
    first, second = np.split(x, 2, axis=1)
    return first, second
