"""From one value per offset j - i to the matrix that holds it at every (i, j)."""

import torch
from torch import Tensor

from posenc.attention.numerics import exporting, in_transform


def toeplitz(values: Tensor, n_rows: int | None = None) -> Tensor:
    """Return the matrix whose entry (i, j) is `values[..., j - i + n_rows - 1]`.

    Parameters
    ----------
    values : (..., n_rows + n_columns - 1)
        One value per offset j - i, from 1 - n_rows to n_columns - 1.
    n_rows : int, optional
        By default the matrix is square.
    """
    width = values.shape[-1]
    n_rows = n_rows or (width + 1) // 2
    if exporting():
        return values[..., _columns(n_rows, width, values.device)]
    if in_transform():
        # the gradient of `unfold` cannot be batched
        return skew(values.unsqueeze(-2).expand(*values.shape[:-1], n_rows, width))
    return values.unfold(-1, width - n_rows + 1, 1).flip(-2)


def skew(values: Tensor) -> Tensor:
    """Return the matrix whose entry (i, j) is `values[..., i, j - i + n_rows - 1]`.

    Row i of the input lists the offsets from 1 - n_rows to n_columns - 1. The result is a view:
    read entry after entry, each of its rows starts width - 1 entries after the one before.

    Parameters
    ----------
    values : (..., n_rows, n_rows + n_columns - 1)
    """
    n_rows, width = values.shape[-2:]
    if exporting():
        index = _columns(n_rows, width, values.device)
        return values.gather(-1, index.expand(*values.shape[:-2], *index.shape))
    if width == 1:
        return values
    flat = values.flatten(-2)[..., n_rows - 1 : n_rows - 1 + n_rows * (width - 1)]
    return flat.unflatten(-1, (n_rows, width - 1))[..., : width - n_rows + 1]


def spread(values: Tensor, length: int) -> Tensor:
    """Return values for the offsets 1 - length to length - 1 from those for -r to r.

    Offsets beyond r take the outermost value; values beyond `length` are left out.

    Parameters
    ----------
    values : (..., 2 r + 1)
    length : int
    """
    reach = values.shape[-1] // 2
    if exporting():  # whatever the length
        return values[..., offsets(length, values.device).clamp(-reach, reach) + reach]
    return along(values, 1 - length, 2 * length - 1)


def along(values: Tensor, first: int, n: int) -> Tensor:
    """Return values for n offsets in a row, from the first on, out of those for -r to r.

    Offsets beyond r take the outermost value.

    Parameters
    ----------
    values : (..., 2 r + 1)
    first, n : int

    Returns
    -------
    (..., n)
    """
    reach = values.shape[-1] // 2
    before = min(max(-reach - first, 0), n)
    behind = min(max(first + n - 1 - reach, 0), n)
    start = first + before + reach
    inner = values[..., start : start + n - before - behind]
    if not (before or behind):
        return inner
    left, right = values[..., :1], values[..., -1:]
    parts = (
        left.expand(*values.shape[:-1], before),
        inner,
        right.expand(*values.shape[:-1], behind),
    )
    return torch.cat([part for part in parts if part.shape[-1]], -1)


def reversed_matrix(values: Tensor, length: int) -> Tensor:
    """Return the matrix of values by offset with its rows in reverse, which takes no memory.

    Its entry (i, j) is that of the line at i + j, so that all rows are views of one.

    Parameters
    ----------
    values : (heads or 1, 2 r + 1)
        For the offsets -r to r, further ones clipped.
    length : int

    Returns
    -------
    (1, heads or 1, length, length)
    """
    return spread(values, length).unfold(-1, length, 1)[None]


def offsets(length: int, device: torch.device) -> Tensor:
    """Return the offsets -(L - 1), ..., L - 1 in the order of `toeplitz` and `skew`."""
    return torch.arange(1 - length, length, device=device)


def _columns(n_rows: int, width: int, device: torch.device) -> Tensor:
    """Return j - i + n_rows - 1 at (i, j): slower than a view, but the same for every length.

    Whether a view is contiguous may differ between lengths, and a program for all of them is not
    to ask.
    """
    row = torch.arange(n_rows, device=device)[:, None]
    return torch.arange(width - n_rows + 1, device=device) - row + n_rows - 1
