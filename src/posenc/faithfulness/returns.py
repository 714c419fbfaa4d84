"""Whether a sinusoidal encoding ever comes back: distances to position 0 and nearest returns."""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from posenc import _checks

_BLOCK_VALUES = 250_000  # sines held at once


class Return(NamedTuple):
    """The position that comes nearest to position 0 again, and its Euclidean distance.

    Examples
    --------
    >>> Return(12, 0.5).position
    12
    """

    position: int
    distance: float


def return_distances(frequencies: ArrayLike, n_positions: int) -> NDArray[np.float64]:
    """Return the distance between the codes of position t and position 0, for every t.

    The codes are sines and cosines of all frequencies, so the distance between any two positions
    t apart is the same: `2 * sqrt(sum_i sin(omega_i * t / 2)**2)`. Where the encoding repeats it
    is 0, up to the rounding of the angles.

    Parameters
    ----------
    frequencies : array of shape (m,)
        Angular frequencies in radians per position.
    n_positions : int
        Positions 0 to `n_positions - 1`, at least 0.

    Returns
    -------
    array of shape (n_positions,), from 0 to at most `2 * sqrt(m)`.

    Raises
    ------
    ValueError
        If `frequencies` is not finite or has not one axis, or `n_positions` is out of range.

    Examples
    --------
    >>> return_distances([np.pi], 3).round(6).tolist()
    [0.0, 2.0, 0.0]
    """
    omega = _checks.finite_array("frequencies", frequencies, ndim=1).astype(np.float64, copy=False)
    t = np.arange(_checks.count("n_positions", n_positions))
    squares = np.empty(t.size)
    step = max(1, _BLOCK_VALUES // max(omega.size, 1))
    for start in range(0, t.size, step):
        sines = np.sin(t[start : start + step, None] * (omega / 2))
        squares[start : start + step] = np.einsum("ti,ti->t", sines, sines)
    return 2 * np.sqrt(squares)


def nearest_return(frequencies: ArrayLike, n_positions: int, *, after: int = 0) -> Return:
    """Return where the encoding comes nearest to that of position 0 again.

    Parameters
    ----------
    frequencies : array of shape (m,)
        Angular frequencies in radians per position.
    n_positions : int
        Positions 0 to `n_positions - 1` are searched.
    after : int
        Only positions above this one count, at least 0. Neighbours are always near: to find a true
        return, pass a position beyond which the encoding has moved away.

    Returns
    -------
    Return(position, distance); of equally near positions the first.

    Raises
    ------
    ValueError
        If `frequencies` is not finite or has not one axis, or no position is left to search.

    Examples
    --------
    >>> nearest_return([np.pi / 2], 10).position
    4
    """
    after = _checks.count("after", after)
    n_positions = _checks.count("n_positions", n_positions)
    if n_positions < after + 2:
        raise ValueError(
            f"n_positions must be at least after + 2 = {after + 2} to leave a position to search, "
            f"got {n_positions}"
        )
    distances = return_distances(frequencies, n_positions)
    position = after + 1 + int(distances[after + 1 :].argmin())
    return Return(position, float(distances[position]))
