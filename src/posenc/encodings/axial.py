"""Rotary encoding for tokens whose position is several numbers."""

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from posenc import _checks, frequencies
from posenc.attention import Places, Position
from posenc.attention.numerics import precise, without_autocast
from posenc.attention.places import Steps, constants, refuse
from posenc.attention.turning import turn


class AxialRotary(Position):
    """Pairs of dimensions turn with one axis each, or with all axes (Heo et al. 2024, RoPE-ViT).

    Tokens may stand on a grid of sensors and steps, or anywhere in a plane. "axial" deals the pairs
    out to the axes in equal parts, and each part turns as RoPE does with the position on its
    axis. A score then depends on each offset by itself. "mixed" lets every pair turn by the sum
    of its frequencies times the positions on all axes, so that it can look along a diagonal;
    frequencies are learned for each head, from random directions and geometric sizes.

    Positions must be given, (length, n_axes) or (batch, length, n_axes), whole or real numbers.

    Parameters
    ----------
    d_model, n_heads, max_length : int
        As for `Position`; `d_model / n_heads` must be a multiple of `2 * n_axes` for "axial" and
        even for "mixed". Any length is served.
    n_axes : int
        Numbers that make a position, at least 2; `Rotary` is for one.
    axes : {"axial", "mixed"}
    base : float
        Frequencies are `base**(-2i / d)` with d the dimensions of one part, or of the head. The
        authors use 100 for images, whose axes are short.

    Attributes
    ----------
    omega : array of shape (d / 2, n_axes), or nn.Parameter (n_heads, d / 2, n_axes) for "mixed"
        Angular frequencies in radians per position, with d = d_model / n_heads: pair i of a token
        at t, (n_axes,), turns by `omega[..., i, :] @ t`. For "axial" each pair has one that is
        not 0, that of its axis.

    Notes
    -----
    Parameters to learn, in every layer: 0, or `d_model * n_axes / 2` for "mixed". Cost:
    O(L d_model) per layer and batch row.

    Raises
    ------
    ValueError
        If a size or option is out of range; in a forward pass, without given positions.

    Examples
    --------
    >>> from posenc.attention import SelfAttention
    >>> layer = SelfAttention(8, 1, AxialRotary(8, 1, 6))
    >>> grid = torch.cartesian_prod(torch.arange(2), torch.arange(3))  # 2 sensors, 3 steps
    >>> layer(torch.randn(1, 6, 8), positions=grid).shape
    torch.Size([1, 6, 8])
    """

    omega: nn.Parameter | NDArray[np.floating]

    def __init__(
        self,
        d_model: int,
        n_heads: int,
        max_length: int,
        *,
        n_axes: int = 2,
        axes: str = "axial",
        base: float = 100.0,
    ) -> None:
        super().__init__(d_model, n_heads, max_length)
        self.n_axes = _checks.count("n_axes", n_axes, minimum=2)
        self.axes = _checks.choice("axes", axes, ("axial", "mixed"))
        if self.axes == "mixed":
            sizes = frequencies.geometric(_checks.even("d_model / n_heads", self.d_head), base)
            self._sizes = sizes
            self.omega = nn.Parameter(torch.empty(n_heads, len(sizes), n_axes))
            self.reset_parameters()
            return
        if self.d_head % (2 * n_axes):
            raise ValueError(
                f"d_model / n_heads must be a multiple of 2 * n_axes = {2 * n_axes}, "
                f"got {self.d_head}"
            )
        self._part = frequencies.geometric(self.d_head // n_axes, base)
        self.omega = np.kron(np.eye(n_axes), self._part[:, None])

    @torch.no_grad()
    def reset_parameters(self) -> None:
        """Draw all that is learned anew, as at the start; nothing is with "axial"."""
        if isinstance(self.omega, Tensor):
            drawn = torch.empty_like(precise(self.omega)).normal_()
            size = torch.as_tensor(self._sizes).to(drawn)[:, None]
            self.omega.copy_(drawn / drawn.norm(dim=-1, keepdim=True) * size)

    def rotate(self, q: Tensor, k: Tensor, places: Places | None = None) -> tuple[Tensor, Tensor]:
        if places is None or places.of_queries.given is None or places.of_keys.given is None:
            refuse("positions", f"must be given, with n_axes = {self.n_axes} numbers a token", None)
        if self.axes == "mixed":  # each head has frequencies of its own, so shared keys part here
            k = k.repeat_interleave(self.n_heads // k.shape[1], 1)
        return self._turned(q, places.of_queries), self._turned(k, places.of_keys)

    def _turned(self, x: Tensor, steps: Steps) -> Tensor:
        angles = self._angles(steps.positions)
        return turn(x, angles.cos(), angles.sin(), "interleaved")

    def _angles(self, t: Tensor) -> Tensor:
        """Return the angle of each pair: (batch or 1, heads or 1, length, d_head / 2)."""
        if isinstance(self.omega, Tensor):
            omega = self.omega.to(torch.promote_types(t.dtype, precise(self.omega).dtype))
            with without_autocast(t):  # in which a product would round positions
                return t.to(omega.dtype)[:, None] @ omega.mT
        return (t[:, None, :, :, None] * constants(self._part, t)).flatten(-2)
