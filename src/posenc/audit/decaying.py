"""A DFT encoding that scales its own table at every forward pass."""

import math

import numpy as np
import torch
from torch import Tensor

from posenc import _checks
from posenc.attention import Position


class DecayingDFT(Position):
    """A DFT table that shrinks with every call, as seen in dfstrans/DFStrans at commit 3918f7b.

    Four things differ from the paper's encoding, `posenc.encodings.DFT`. Positions count from 1.
    The columns are cos and sin in turn for the frequencies 2 pi k / d_model, k = 0 to
    d_model / 2 - 1, so that the second column is sin 0 = 0 and the Nyquist column cos(pi t) is
    missing. The factor sqrt(1 / 2) of the first and last *frequency* is given to the first and
    last *time step*. And the scale is multiplied into the table in place in each forward pass,
    training or not, where the paper has it once.

    Parameters
    ----------
    d_model : int
        Positive and even.
    n_heads, max_length : int
        As for `Position`. An input longer than `max_length` is an error.

    Attributes
    ----------
    table : Tensor of shape (max_length, d_model)
        The buffer that changes, here and in a `state_dict`. Its rows start with norm
        sqrt(d_model / 2), the length of d_model / 2 pairs (cos, sin). One factor sqrt(2 / d_model)
        makes that 1, as the paper wants it; n forward passes make it
        sqrt(2 / d_model)**(n - 1). At d_model = 2 that factor is 1 and nothing shrinks.

    Notes
    -----
    Parameters to learn: 0. Cost: O(max_length d_model) per forward pass. It is a Python side
    effect: a stack of seeds keeps one table for each.

    Raises
    ------
    ValueError
        If `d_model` is odd or another size is out of range.
    """

    def __init__(self, d_model: int, n_heads: int, max_length: int) -> None:
        super().__init__(_checks.even("d_model", d_model), n_heads, max_length)
        self.register_buffer("table", _unscaled(self.max_length, d_model))

    def embed(self, x: Tensor) -> Tensor:
        length = x.shape[1]
        self.check_length(length)
        self.table.mul_(math.sqrt(2 / self.d_model))
        self.table[0].mul_(math.sqrt(0.5))
        self.table[-1].mul_(math.sqrt(0.5))
        return x + self.table[:length].to(x.dtype)


def _unscaled(n_positions: int, d_model: int) -> Tensor:
    """Return cos and sin in turn of 2 pi k t / d_model, t = 1..n_positions."""
    phase = np.outer(np.arange(1, n_positions + 1), np.arange(d_model // 2)) % d_model
    angles = 2 * np.pi * phase / d_model
    table = np.stack((np.cos(angles), np.sin(angles)), -1).reshape(n_positions, d_model)
    return torch.as_tensor(table, dtype=torch.get_default_dtype())
