"""Learned tables added to the tokens: free rows, free frequencies, and Time2Vec."""

import math

import torch
from torch import Tensor, nn

from posenc import _checks, frequencies
from posenc.attention.numerics import precise
from posenc.encodings.added import Added
from posenc.encodings.resizing import Rows
from posenc.encodings.sinusoidal import waves


class Learnable(Added):
    """One free vector per position (Gehring et al. 2017; Devlin et al. 2019; Zerveas et al. 2021).

    Positions must be whole numbers.

    Parameters
    ----------
    d_model, n_heads, max_length, scale
        As for `Added`. An input longer than `max_length` is an error: no row was learned for it.
    std : float
        Standard deviation of the normal start, above 0; BERT's is 0.02.
    offset : int
        Row of position 0, at least 0. The tables of OPT, BART and RoBERTa begin with 2 rows that
        are no positions, and their weights are loaded with an offset of 2.

    Notes
    -----
    Parameters to learn: `(offset + max_length) * d_model` (and 1 with `scale="learned"`). Cost:
    O(L d_model).

    Raises
    ------
    ValueError
        If a size or option is out of range, or an input is too long; for positions that are not
        whole numbers from 0 to `max_length - 1`.

    Examples
    --------
    >>> Learnable(8, 2, 100).vectors.shape
    torch.Size([100, 8])
    """

    def __init__(
        self,
        d_model: int,
        n_heads: int,
        max_length: int,
        *,
        std: float = 0.02,
        offset: int = 0,
        scale: str = "paper",
    ) -> None:
        super().__init__(d_model, n_heads, max_length, scale=scale)
        self.std = _checks.positive("std", std)
        self.offset = _checks.count("offset", offset, minimum=0)
        self.vectors = nn.Parameter(torch.empty(self.offset + max_length, d_model))
        self.reset_parameters()

    @torch.no_grad()
    def reset_parameters(self) -> None:
        super().reset_parameters()
        self.vectors.normal_().mul_(self.std)

    def _learned_rows(self) -> Rows:
        first = self.offset
        return Rows(
            ("vectors",), 0, first + self.max_length, first, self.max_length - 1, still=first
        )

    def table(self, length: int) -> Tensor:
        self.check_length(length)
        return self.vectors[self.offset : self.offset + length]


class LearnableFrequency(Added):
    """Sines and cosines whose frequencies are learned, started at the geometric grid.

    Row t is `posenc.tables.encode(t, omega)`, for real t too. The logarithm of omega is the
    parameter, so that frequencies stay positive and a step changes slow and fast ones by the same
    ratio (learned frequencies: Xu et al. 2019, "Self-attention with functional time representation
    learning").

    Parameters
    ----------
    d_model, n_heads, max_length, scale
        As for `Added`; `d_model` must be even. Any length is served.
    base : float
        Base of the grid that the frequencies start at, above 0.

    Notes
    -----
    Parameters to learn: `d_model / 2` (and 1 with `scale="learned"`). Cost: O(L d_model).

    Raises
    ------
    ValueError
        If a size, `base` or `scale` is out of range, or `d_model` is odd.

    Examples
    --------
    >>> LearnableFrequency(8, 2, 100).log_omega.shape
    torch.Size([4])
    """

    def __init__(
        self,
        d_model: int,
        n_heads: int,
        max_length: int,
        *,
        base: float = 10_000.0,
        scale: str = "paper",
    ) -> None:
        super().__init__(d_model, n_heads, max_length, scale=scale)
        self._start = frequencies.geometric(d_model, base)
        self.log_omega = nn.Parameter(torch.empty(len(self._start)))
        self.reset_parameters()

    @torch.no_grad()
    def reset_parameters(self) -> None:
        super().reset_parameters()
        self.log_omega.copy_(torch.as_tensor(self._start).log())

    def table(self, length: int) -> Tensor:
        return self.at(_positions(length, precise(self.log_omega)))

    def at(self, positions: Tensor) -> Tensor:
        return waves(positions[..., None] * precise(self.log_omega).exp())


class SineLinear(Added):
    """One linear column and d_model - 1 sines of learned frequency and phase (Time2Vec).

    Column 0 is w_0 t + b_0, column i is sin(w_i t + b_i) (Kazemi et al. 2019, Eq. 1), for real t
    too. At the
    start the linear column runs from 0 to 1 over `max_length` and the sines are those of the
    sinusoidal encoding, without its first column.

    Parameters
    ----------
    d_model, n_heads, max_length, scale
        As for `Added`; `d_model` must be even. Any length is served.
    base : float
        Base of the grid that the frequencies start at, above 0.

    Notes
    -----
    Parameters to learn: `2 * d_model` (and 1 with `scale="learned"`). Cost: O(L d_model).

    Raises
    ------
    ValueError
        If a size, `base` or `scale` is out of range, or `d_model` is odd.

    Examples
    --------
    >>> position = SineLinear(8, 2, 5)
    >>> position.rows(5)[:, 0].tolist()
    [0.0, 0.25, 0.5, 0.75, 1.0]
    """

    def __init__(
        self,
        d_model: int,
        n_heads: int,
        max_length: int,
        *,
        base: float = 10_000.0,
        scale: str = "paper",
    ) -> None:
        super().__init__(d_model, n_heads, max_length, scale=scale)
        self._start = frequencies.geometric(d_model, base)
        self.weight = nn.Parameter(torch.empty(d_model))
        self.phase = nn.Parameter(torch.empty(d_model))
        self.reset_parameters()

    @torch.no_grad()
    def reset_parameters(self) -> None:
        super().reset_parameters()
        weight = torch.as_tensor(self._start).repeat_interleave(2)
        weight[0] = 1 / max(self.max_length - 1, 1)
        self.weight.copy_(weight)
        phase = torch.tensor([0.0, math.pi / 2], dtype=torch.float64)
        self.phase.copy_(phase.repeat(self.d_model // 2))

    def table(self, length: int) -> Tensor:
        return self.at(_positions(length, precise(self.weight)))

    def at(self, positions: Tensor) -> Tensor:
        lines = positions[..., None] * precise(self.weight) + self.phase
        return torch.cat((lines[..., :1], lines[..., 1:].sin()), -1)


def _positions(length: int, like: Tensor) -> Tensor:
    """Return 0, 1, ..., length - 1 in the dtype and on the device of `like`."""
    return torch.arange(length, dtype=like.dtype, device=like.device)
