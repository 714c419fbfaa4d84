"""The real discrete Fourier transform as Idé et al. use it, and their Algorithm 1.

Coefficients come in the paper's order: cos 0, cos 1..K, sin 1..K, cos pi, with K = d / 2 - 1.
Transforms run along the last axis with the fast Fourier transform: O(d log d) time, O(d) memory.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from posenc import _checks, tables
from posenc import frequencies as grids

_KERNEL_REACH = 39.0  # standard deviations: beyond them a Gaussian is 0 in float64


def basis(d: int) -> NDArray[np.float64]:
    """Return the d real Fourier functions on a lattice of d points, one per row.

    Parameters
    ----------
    d : int
        Number of lattice points, positive and even.

    Returns
    -------
    array of shape (d, d): row l is phi_l at t = 0 .. d - 1; the matrix is orthogonal.

    Raises
    ------
    ValueError
        If `d` is not a positive even integer.

    Source: Idé et al., the definition between Eq. 11 and Eq. 12.

    Examples
    --------
    >>> bool(np.allclose(basis(6) @ basis(6).T, np.eye(6)))
    True
    """
    return np.ascontiguousarray(tables.dft(_checks.even("d", d), d).T)


def analyse(f: ArrayLike) -> NDArray[np.float64]:
    """Return the real Fourier coefficients of a function on the lattice.

    Parameters
    ----------
    f : array of shape (..., d)
        Values at t = 0 .. d - 1, d positive and even.

    Returns
    -------
    array of shape (..., d): `c_l = sum_t f(t) phi_l(t)`; norms are kept.

    Raises
    ------
    ValueError
        If the last axis is empty or odd, or a value is not finite.

    Source: Idé et al., Eq. 13 and 14.

    Examples
    --------
    >>> analyse([1.0, 1.0, 1.0, 1.0]).round(6).tolist()
    [2.0, 0.0, -0.0, 0.0]
    """
    from scipy import fft  # here and below, so that `import posenc` stays quick

    f = _lattice_values("f", f)
    d = f.shape[-1]
    spectrum = fft.rfft(f, norm="ortho")
    c = np.empty(f.shape)
    c[..., : d // 2 + 1] = spectrum.real
    c[..., d // 2 : -1] = -spectrum.imag[..., 1:-1]
    c[..., 1:-1] *= np.sqrt(2)
    c[..., -1] = spectrum.real[..., -1]
    return c


def synthesise(c: ArrayLike) -> NDArray[np.float64]:
    """Return the function that has the given real Fourier coefficients: `analyse` undone.

    Parameters
    ----------
    c : array of shape (..., d)
        Coefficients in the paper's order, d positive and even.

    Returns
    -------
    array of shape (..., d): `f(t) = sum_l c_l phi_l(t)`.

    Raises
    ------
    ValueError
        If the last axis is empty or odd, or a value is not finite.

    Source: Idé et al., Eq. 10 and 13.

    Examples
    --------
    >>> synthesise(analyse([1.0, 2.0, 0.0, 5.0])).round(6).tolist()
    [1.0, 2.0, 0.0, 5.0]
    """
    from scipy import fft

    c = _lattice_values("c", c)
    d = c.shape[-1]
    spectrum = np.zeros((*c.shape[:-1], d // 2 + 1), np.complex128)
    spectrum.real[..., 1:-1] = c[..., 1 : d // 2] / np.sqrt(2)
    spectrum.imag[..., 1:-1] = -c[..., d // 2 : -1] / np.sqrt(2)
    spectrum.real[..., 0] = c[..., 0]
    spectrum.real[..., -1] = c[..., -1]
    return fft.irfft(spectrum, n=d, norm="ortho")


def frequency_density(frequencies: ArrayLike, d: int, bandwidth: float) -> NDArray[np.float64]:
    """Return how densely an encoding's frequencies lie around each Fourier frequency.

    A Gaussian kernel density estimate, evaluated at `2*pi*k / d` and normalised to sum 1.

    Parameters
    ----------
    frequencies : array of shape (n,)
        Angular frequencies of the encoding in radians per position, n >= 1.
    d : int
        Number of lattice points, positive and even.
    bandwidth : float
        Standard deviation of the kernel in radians per position, above 0.

    Returns
    -------
    array of shape (d // 2 + 1,).

    Raises
    ------
    ValueError
        If an argument is out of range, or the bandwidth is so small that every weight is zero.

    Source: Idé et al., Eq. 15.

    Examples
    --------
    >>> from posenc.frequencies import geometric
    >>> density = frequency_density(geometric(64), 64, 0.1)
    >>> density.shape, round(float(density.sum()), 6)
    ((33,), 1.0)
    """
    omega = _checks.finite_array("frequencies", frequencies, ndim=1)
    if not omega.size:
        raise ValueError("frequencies must hold at least one angular frequency, got none")
    bandwidth = _checks.positive("bandwidth", bandwidth)
    lattice = grids.harmonic(_checks.even("d", d))
    density = np.zeros(lattice.size)
    reach = _KERNEL_REACH * bandwidth
    for w in omega.astype(np.float64, copy=False):
        first = np.searchsorted(lattice, w - reach, side="left")
        last = np.searchsorted(lattice, w + reach, side="right")
        density[first:last] += np.exp(-0.5 * ((lattice[first:last] - w) / bandwidth) ** 2)
    if not density.sum() > 0:
        raise ValueError(
            f"bandwidth must be wide enough for a frequency to reach the lattice, got {bandwidth}"
        )
    return density / density.sum()


def dft_density(d: int) -> NDArray[np.float64]:
    """Return the frequency density of the DFT encoding: flat, half as high at both ends.

    Parameters
    ----------
    d : int
        Number of lattice points, positive and even.

    Returns
    -------
    array of shape (d // 2 + 1,): 1/d, 2/d, ..., 2/d, 1/d, which sums to 1.

    Raises
    ------
    ValueError
        If `d` is not a positive even integer.

    Source: Idé et al., Eq. 22, first form. (The second form gives 3/d at both ends.)

    Examples
    --------
    >>> dft_density(6).round(4).tolist()
    [0.1667, 0.3333, 0.3333, 0.1667]
    """
    density = np.full(_checks.even("d", d) // 2 + 1, 2 / d)
    density[[0, -1]] = 1 / d
    return density


def reconstruct(f: ArrayLike, density: ArrayLike) -> NDArray[np.float64]:
    """Return f with its Fourier coefficients weighted by a density, its norm kept.

    Parameters
    ----------
    f : array of shape (..., d)
        Reference function on the lattice, d positive and even.
    density : array of shape (d // 2 + 1,)
        Weight of each frequency 0 .. d / 2, all at least 0.

    Returns
    -------
    array of shape (..., d), of the same l2 norm as `f` along the last axis.

    Raises
    ------
    ValueError
        If a shape does not fit, a value is not finite or a weight is negative, or the weights
        remove everything that a non-zero `f` holds.

    Source: Idé et al., Algorithm 1, with the normalisation told in section 3.2.

    Examples
    --------
    >>> f = [1.0, 0.0, 0.0, 0.0, 0.0, 0.0]
    >>> bool(np.allclose(reconstruct(f, dft_density(6)), f))
    False
    """
    from scipy import fft

    f = _lattice_values("f", f)
    weights = _checks.finite_array("density", density, ndim=1)
    n_frequencies = f.shape[-1] // 2 + 1
    if weights.shape != (n_frequencies,):
        raise ValueError(f"density must have shape ({n_frequencies},), got {weights.shape}")
    if weights.min() < 0:
        raise ValueError(f"density must not be negative, got {weights.min()}")
    spectrum = fft.rfft(f) * weights
    norm = np.linalg.norm(f, axis=-1, keepdims=True)
    peak = np.abs(spectrum).max(axis=-1, keepdims=True)
    if np.any((peak == 0) & (norm > 0)):
        raise ValueError("density must leave some part of f, got weights that remove all of it")
    spectrum /= np.where(peak > 0, peak, 1.0)  # tiny weights must not underflow in the norm
    result = fft.irfft(spectrum, n=f.shape[-1])
    new_norm = np.linalg.norm(result, axis=-1, keepdims=True)
    return result * np.divide(norm, new_norm, out=np.ones_like(norm), where=new_norm > 0)


def _lattice_values(name: str, value: ArrayLike) -> NDArray[np.float64]:
    """Return `value` as float64 with an even, non-empty last axis, or raise ValueError."""
    values = _checks.finite_array(name, value, ndim=None)
    if values.ndim == 0 or values.shape[-1] == 0 or values.shape[-1] % 2:
        raise ValueError(
            f"{name} must have a positive even number of lattice points on its last axis, "
            f"got shape {values.shape}"
        )
    return values.astype(np.float64, copy=False)
