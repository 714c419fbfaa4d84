"""Encodings through two doors that a survey draws and nobody trained, and half of T-PE."""

# ruff: noqa: ARG002 - a door takes its arguments whether it needs them or not

import torch
from torch import Tensor

from posenc.attention import Mix, Places
from posenc.encodings.distance import T5Bias
from posenc.encodings.erpe import ERPE
from posenc.encodings.sinusoidal import TAPE, Sinusoidal
from posenc.encodings.tpe import TPE


class Kernel(TPE):
    """T-PE's kernel of the tokens' similarity without its sinusoid: the control of T-PE."""

    embed_every_layer = False

    # without the option of a size of rows, as it has none to try
    def __init__(self, d_model: int, n_heads: int, max_length: int) -> None:
        super().__init__(d_model, n_heads, max_length)

    def embed(self, x: Tensor, places: Places | None = None) -> Tensor:
        return x


class SinusoidalT5(Sinusoidal):
    """A sinusoid added to the tokens, and T5's bias on the scores."""

    shared = True

    def __init__(
        self, d_model: int, n_heads: int, max_length: int, *, scale: str = "paper"
    ) -> None:
        super().__init__(d_model, n_heads, max_length, scale=scale)
        self.t5 = T5Bias(d_model, n_heads, max_length)

    def bias(self, x: Tensor, q: Tensor, k: Tensor, places: Places) -> Tensor:
        return self.t5.bias(x, q, k, places)

    @torch.no_grad()
    def reset_parameters(self) -> None:
        super().reset_parameters()
        if hasattr(self, "t5"):  # not yet, while the table is made
            self.t5.reset_parameters()


class TAPEandERPE(TAPE):
    """The pair of ConvTran: tAPE added to the tokens, eRPE's scalars on the weights."""

    shared = False

    def __init__(
        self, d_model: int, n_heads: int, max_length: int, *, scale: str = "paper"
    ) -> None:
        super().__init__(d_model, n_heads, max_length, scale=scale)
        self.erpe = ERPE(d_model, n_heads, max_length)

    def mix(self, x: Tensor, places: Places) -> Mix:
        return self.erpe.mix(x, places)

    @torch.no_grad()
    def reset_parameters(self) -> None:
        super().reset_parameters()
        if hasattr(self, "erpe"):
            self.erpe.reset_parameters()
