"""What all encodings that are added to the tokens have in common: a table and its scale."""

from abc import ABC, abstractmethod

import torch
from torch import Tensor, nn

from posenc import _checks
from posenc.attention import Position
from posenc.attention.kernels import precise

SCALES = ("paper", "unit", "loud", "learned")


class Added(Position, ABC):
    """A table of vectors, one per position, added to the tokens through `embed`.

    Derived classes define `table(length)`, of shape (length, d_model).

    Parameters
    ----------
    d_model, n_heads, max_length : int
        As for `Position`.
    scale : {"paper", "unit", "loud", "learned"}
        "paper" adds the rows as their authors define them, whose norms differ from method to
        method (sqrt(d_model / 2) for sinusoids, 1 for the DFT). "unit" divides each row by its
        Euclidean norm, so that all methods add vectors of norm 1. "loud" gives each row the norm
        of sinusoidal ones, sqrt(d_model / 2). "learned" multiplies the paper's rows by one
        learned gain that starts at 1, and has one parameter more.
    """

    def __init__(
        self, d_model: int, n_heads: int, max_length: int, *, scale: str = "paper"
    ) -> None:
        super().__init__(d_model, n_heads, max_length)
        self.scale = _checks.choice("scale", scale, SCALES)
        self.gain = nn.Parameter(torch.ones(())) if scale == "learned" else None

    @abstractmethod
    def table(self, length: int) -> Tensor:
        """Return the rows for positions 0 to length - 1 in the authors' scale.

        What is computed from positions must be in float32 at least: bfloat16 does not tell 256
        from 257.
        """

    def rows(self, length: int) -> Tensor:
        """Return the rows that are added: (length, d_model), in the chosen scale."""
        table = precise(self.table(length))
        if self.scale in ("unit", "loud"):
            norm = 1 if self.scale == "unit" else (self.d_model / 2) ** 0.5
            return norm * nn.functional.normalize(table, dim=-1)
        return table if self.gain is None else self.gain * table

    def embed(self, x: Tensor) -> Tensor:
        return x + self.rows(x.shape[1]).to(x.dtype)
