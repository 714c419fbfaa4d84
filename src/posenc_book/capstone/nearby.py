"""The encoding of the worked example: each head learns how much more it listens to neighbours."""

import torch
from torch import Tensor

from posenc.attention import Position


class Nearby(Position):
    """Each token prefers its neighbours, by a learned amount per head."""

    def __init__(self, d_model: int, n_heads: int, max_length: int) -> None:
        super().__init__(d_model, n_heads, max_length)
        self.strength = torch.nn.Parameter(torch.ones(n_heads, 1, 1))

    def bias(self, x: Tensor, q: Tensor, k: Tensor) -> Tensor:
        t = torch.arange(x.shape[1], device=x.device)
        return -self.strength * (t - t[:, None]).abs()
