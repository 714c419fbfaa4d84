"""Angular-frequency grids: what makes one sinusoidal encoding differ from another.

Every grid is a float64 array of angular frequencies in radians per position. `tables.encode`
turns any of them into an encoding.
"""

import numpy as np
from numpy.typing import NDArray

from posenc import _checks


def geometric(d_model: int, base: float = 10_000.0) -> NDArray[np.float64]:
    """Return the geometric grid of the Transformer, `base**(-2i / d_model)`.

    The first frequency is 1, a wavelength of 2*pi positions. The last is
    `base**(-(d_model - 2) / d_model)`: close to, but never equal to, `1 / base`.

    Parameters
    ----------
    d_model : int
        Width of the encoding, positive and even.
    base : float
        Ratio that the grid approaches between its first and last frequency, at least 1.

    Returns
    -------
    array of shape (d_model // 2,), radians per position.

    Raises
    ------
    ValueError
        If `d_model` is not a positive even integer or `base` is not a finite number of at least 1.

    Source: Vaswani et al. (2017), section 3.5; Idé et al., Eq. 3 with k = 2i.

    Examples
    --------
    >>> geometric(4, base=100.0).tolist()
    [1.0, 0.1]
    """
    exponents = np.arange(0, _checks.even("d_model", d_model), 2) / d_model
    if _checks.positive("base", base) < 1:
        raise ValueError(
            f"base must be at least 1, as frequencies fall from 1 to nearly 1 / base, got {base!r}"
        )
    return float(base) ** -exponents


def harmonic(d_model: int) -> NDArray[np.float64]:
    """Return the harmonic grid of the discrete Fourier transform, `2*pi*k / d_model`.

    Parameters
    ----------
    d_model : int
        Number of lattice points, positive and even.

    Returns
    -------
    array of shape (d_model // 2 + 1,), radians per position, from 0 to pi.

    Raises
    ------
    ValueError
        If `d_model` is not a positive even integer.

    Source: Idé et al., Eq. 11, with k = 0 and k = d_model / 2 at the two ends.

    Examples
    --------
    >>> harmonic(4).round(4).tolist()
    [0.0, 1.5708, 3.1416]
    """
    d_model = _checks.even("d_model", d_model)
    return 2 * np.pi * np.arange(d_model // 2 + 1) / d_model


def length_scaled(d_model: int, length: int, base: float = 10_000.0) -> NDArray[np.float64]:
    """Return the grid of tAPE: the geometric grid times `d_model / length`.

    Parameters
    ----------
    d_model : int
        Width of the encoding, positive and even.
    length : int
        Number of positions that the attention layer sees, at least 1.
    base : float
        As in `geometric`.

    Returns
    -------
    array of shape (d_model // 2,), radians per position.

    Raises
    ------
    ValueError
        If `d_model` is not a positive even integer, `length` is below 1 or `base` is not a
        finite number of at least 1.

    Source: Foumani et al. (2024), Eq. 13. (The survey of Irani and Metsis prints `k*d/L`.)

    Examples
    --------
    >>> length_scaled(4, 8, base=100.0).tolist()
    [0.5, 0.05]
    """
    length = _checks.count("length", length, minimum=1)
    return geometric(d_model, base) * (d_model / length)
