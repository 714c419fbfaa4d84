"""Daubechies' wavelets, and a signal as the sum of its parts on several scales.

Forty lines instead of a dependency: PyWavelets knows no gradients, and the wrapper of it that does
is not maintained. A test of `peers` compares with both.
"""

from math import comb

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn.functional import conv1d, conv_transpose1d

from posenc import _checks

WAVELETS = {"haar": 1, "db2": 2, "db3": 3, "db4": 4, "db5": 5, "db6": 6, "db7": 7, "db8": 8}
"""Name -> vanishing moments; the filter has twice as many numbers."""


def scaling_filter(wavelet: str) -> NDArray[np.float64]:
    """Return the scaling filter of one of Daubechies' wavelets (Daubechies 1992, chapter 6).

    Its square spectrum is cos(w/2)^(2n) times a polynomial P(sin(w/2)^2) of degree n - 1, and the
    roots inside the unit circle make the filter of minimal phase.

    Parameters
    ----------
    wavelet : {"haar", "db2", ..., "db8"}

    Returns
    -------
    ndarray of shape (2 n,) with sum sqrt(2) and norm 1

    Raises
    ------
    ValueError
        For another name.

    Examples
    --------
    >>> scaling_filter("haar").round(4).tolist()
    [0.7071, 0.7071]
    """
    n = WAVELETS[_checks.choice("wavelet", wavelet, WAVELETS)]
    coefficients = [comb(n - 1 + k, k) for k in range(n)]
    taps = np.array([1.0])
    for y in np.roots(coefficients[::-1]):  # y = sin(w/2)^2 = (2 - z - 1/z) / 4
        pair = np.roots([1, 4 * y - 2, 1])
        taps = np.convolve(taps, [1, -pair[np.argmin(np.abs(pair))]])
    for _ in range(n):
        taps = np.convolve(taps, [1, 1])
    return taps.real / taps.real.sum() * np.sqrt(2)


def parts(signal: Tensor, levels: int, scaling: Tensor) -> Tensor:
    """Return a signal's parts: the approximation, then details from the finest to the coarsest.

    The discrete wavelet transform, with the signal mirrored at its ends, and for each scale its
    inverse of that scale's coefficients alone. The parts sum to the signal.

    Parameters
    ----------
    signal : (batch, length), length at least 1
    levels : int
        Times that the approximation is split, at least 1. A level more than log2(length) splits
        what the mirror shows.
    scaling : (n_taps,)
        From `scaling_filter`, in the signal's type.

    Returns
    -------
    (batch, length, levels + 1)

    Examples
    --------
    >>> haar = torch.as_tensor(scaling_filter("haar"))
    >>> found = parts(torch.tensor([[1.0, 3.0, 5.0, 7.0]]).double(), 1, haar)
    >>> found[0].round(decimals=2).mT.tolist()
    [[2.0, 2.0, 6.0, 6.0], [-1.0, 1.0, -1.0, 1.0]]
    """
    wavelet = scaling.flip(0).clone()
    wavelet[1::2] *= -1
    filters = torch.stack((scaling, wavelet))[:, None]
    rest, details = signal[:, None], []
    for _ in range(levels):
        rest, detail = conv1d(_mirrored(rest, len(scaling)), filters, stride=2).split(1, 1)
        details.append(detail)
    found = rest
    for detail in reversed(details):
        found = found[..., : detail.shape[-1]]  # an odd length was filled up by one
        found = torch.cat((_raised(found, filters[0]), _raised(detail, filters[1])), 1)
    approximation, *coarse_first = found[..., : signal.shape[-1]].unbind(1)
    return torch.stack((approximation, *reversed(coarse_first)), -1)


def _mirrored(x: Tensor, n_taps: int) -> Tensor:
    """Return x (..., length) with its ends mirrored, the end values twice, as often as it takes."""
    n = x.shape[-1]
    index = torch.arange(2 - n_taps, n + n_taps - 1, device=x.device) % (2 * n)
    return x[..., torch.where(index < n, index, 2 * n - 1 - index)]


def _raised(x: Tensor, taps: Tensor) -> Tensor:
    """Return coefficients (batch, parts, n) brought to the next finer grid by a filter."""
    alone = x.flatten(0, 1)[:, None]
    finer = conv_transpose1d(alone, taps[None], stride=2, padding=taps.shape[-1] - 2)
    return finer[:, 0].unflatten(0, x.shape[:2])
