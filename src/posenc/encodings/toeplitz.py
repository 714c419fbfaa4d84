"""From one value per offset j - i to the matrix that holds it at every (i, j)."""

import torch
from torch import Tensor


def toeplitz(values: Tensor) -> Tensor:
    """Return the (..., L, L) matrix whose entry (i, j) is `values[..., j - i + L - 1]`.

    Parameters
    ----------
    values : (..., 2 L - 1)
        One value per offset, from -(L - 1) to L - 1.
    """
    length = (values.shape[-1] + 1) // 2
    return values.unfold(-1, length, 1).flip(-2)


def skew(values: Tensor) -> Tensor:
    """Return the (..., L, L) matrix whose entry (i, j) is `values[..., i, j - i + L - 1]`.

    Row i of the input lists the offsets from -(L - 1) to L - 1. The result is a view: read row
    after row, each row of the result starts 2 L - 2 entries after the one before.

    Parameters
    ----------
    values : (..., L, 2 L - 1)
    """
    length = values.shape[-2]
    if length == 1:
        return values
    step = 2 * length - 2
    flat = values.flatten(-2)[..., length - 1 : length - 1 + length * step]
    return flat.unflatten(-1, (length, step))[..., :length]


def offsets(length: int, device: torch.device) -> Tensor:
    """Return the offsets -(L - 1), ..., L - 1 in the order of `toeplitz` and `skew`."""
    return torch.arange(1 - length, length, device=device)
