"""An encoding that tells nothing: what a door and its parameters do without any position."""

import torch
from torch import Tensor, nn

from posenc.attention import Position


class Placebo(Position):
    """One learned vector, the same for every token, at the door where tables are added.

    Parameters
    ----------
    d_model, n_heads, max_length : int
        As for `Position`.
    """

    def __init__(self, d_model: int, n_heads: int, max_length: int) -> None:
        super().__init__(d_model, n_heads, max_length)
        self.vector = nn.Parameter(0.02 * torch.randn(d_model))

    def embed(self, x: Tensor) -> Tensor:
        return x + self.vector
