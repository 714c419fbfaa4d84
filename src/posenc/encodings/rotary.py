"""Rotary encoding: queries and keys turn with their position."""

import numpy as np
import torch
from torch import Tensor

from posenc import _checks, frequencies
from posenc.attention import Places, Position
from posenc.attention.numerics import precise
from posenc.attention.places import Steps, constants


class Rotary(Position):
    """Turn pairs of query and key dimensions by t omega_i (Su et al. 2021, RoFormer, Eq. 14-16).

    A score then depends on positions through their difference only. The two pairings in use are
    a permutation of the head's dimensions apart; weights trained with one fail with the other.

    Parameters
    ----------
    d_model, n_heads, max_length : int
        As for `Position`; `d_model / n_heads` must be even. Any length is served, and any real
        positions; angles beyond `max_length` are computed on the spot.
    base : float
        The frequencies are `base**(-2i / d_head)`; above 0.
    pairing : {"interleaved", "half"}
        Pairs are dimensions (2i, 2i + 1), as in the paper, or (i, i + d_head / 2), as in
        GPT-NeoX and LLaMA.

    Notes
    -----
    Parameters to learn: 0. Cost: O(L d_model) per layer and batch row. Tables and turning are in
    float32 at least, also in a module of a half type.

    Raises
    ------
    ValueError
        If a size or option is out of range, or `d_model / n_heads` is odd.

    Examples
    --------
    >>> q = torch.randn(1, 2, 5, 4)
    >>> turned, _ = Rotary(8, 2, 5).rotate(q, q)
    >>> bool(torch.allclose(turned.norm(dim=-1), q.norm(dim=-1)))
    True
    """

    def __init__(
        self,
        d_model: int,
        n_heads: int,
        max_length: int,
        *,
        base: float = 10_000.0,
        pairing: str = "interleaved",
    ) -> None:
        super().__init__(d_model, n_heads, max_length)
        self.pairing = _checks.choice("pairing", pairing, ("interleaved", "half"))
        self.omega = frequencies.geometric(_checks.even("d_model / n_heads", self.d_head), base)
        cos, sin = self._angles(self.max_length)
        self.register_exact("cos", cos, wide=True)
        self.register_exact("sin", sin, wide=True)

    def rotate(self, q: Tensor, k: Tensor, places: Places | None = None) -> tuple[Tensor, Tensor]:
        if places is None:
            of_queries = of_keys = Steps(q.shape[-2], q.device)
        else:
            of_queries, of_keys = places.of_queries, places.of_keys
        turns = self._cos_sin(of_queries)
        others = turns if of_keys is of_queries else self._cos_sin(of_keys)
        return self._turn(q, *turns), self._turn(k, *others)

    def _cos_sin(self, steps: Steps) -> tuple[Tensor, Tensor]:
        """Return cosines and sines of t omega_i, (length, d_head / 2), or with batch and heads."""
        end = steps.first + steps.length
        if steps.given is not None:
            angles = steps.given[:, None, :, None] * constants(self.omega, steps.given)
            return angles.cos(), angles.sin()
        if end <= self.max_length:
            return self.cos[steps.first : end], self.sin[steps.first : end]
        cos, sin = (torch.as_tensor(a).to(self.cos) for a in self._angles(end, steps.first))
        return cos, sin

    def _turn(self, x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
        """Return `x` with each pair (a, b) turned to (a cos - b sin, a sin + b cos)."""
        wide = precise(x)
        cos, sin = cos.to(wide.dtype), sin.to(wide.dtype)
        if self.pairing == "interleaved":
            a, b = wide.unflatten(-1, (-1, 2)).unbind(-1)
            turned = torch.stack((a * cos - b * sin, a * sin + b * cos), -1).flatten(-2)
        else:
            a, b = wide.chunk(2, -1)
            turned = torch.cat((a * cos - b * sin, a * sin + b * cos), -1)
        return turned.to(x.dtype)

    def _angles(self, end: int, first: int = 0) -> tuple[np.ndarray, np.ndarray]:
        """Return cosines and sines of t omega_i, each (end - first, d_head / 2)."""
        angles = np.outer(np.arange(first, end), self.omega)
        return np.cos(angles), np.sin(angles)
