"""Two encodings whose rows have the norm of the sinusoidal ones, sqrt(d_model / 2)."""

import torch
from torch import Tensor

from posenc.encodings import DFT, Added


class LoudDFT(DFT):
    """The DFT encoding, made larger."""

    def table(self, length: int) -> Tensor:
        return (self.d_model / 2) ** 0.5 * super().table(length)


class LoudOneHot(Added):
    """The one-hot vector of the position, made larger; at most d_model positions."""

    def table(self, length: int) -> Tensor:
        return (self.d_model / 2) ** 0.5 * torch.eye(length, self.d_model)
