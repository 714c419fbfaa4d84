"""xPos: rotary encoding whose products decay with the distance."""

import math

import numpy as np
import torch
from torch import Tensor

from posenc import _checks
from posenc.attention import Places
from posenc.attention.numerics import precise
from posenc.attention.places import Steps, can_look, constants
from posenc.encodings.rotary import Rotary


class XPos(Rotary):
    """Rotary encoding with a decay for each pair of dimensions (Sun et al. 2023, xPos).

    Pair i of a query at s is multiplied by zeta_i**(s / scale_base), that of a key at t by
    zeta_i**(-t / scale_base), so that their product gains zeta_i**((s - t) / scale_base) beside
    RoPE's rotation. With zeta_i = (2 i / d + gamma) / (1 + gamma) below 1, products with earlier
    keys decay, those of the fast pairs first, and scores swing less with the distance.

    The authors' attention is causal. In a layer that looks both ways, products with later keys
    *grow* by the same factors: at `scale_base` steps up to 3.5 times for gamma = 0.4. Positions
    are counted from the middle of `max_length`, which changes no score and keeps factors small.

    Parameters
    ----------
    d_model, n_heads, max_length, base, pairing
        As for `Rotary`. Any real positions are served as far as factors can be held.
    scale_base : float
        Steps over which a product decays by zeta_i, above 0.
    gamma : float
        How mild the fastest pair's decay is, above 0.

    Attributes
    ----------
    log_decay : array of shape (d / 2,)
        log(zeta_i) / scale_base per position, at most 0.

    Raises
    ------
    ValueError
        If a size or option is out of range; in a forward pass, for positions so far from the
        middle of `max_length` that a factor would overflow, some 18,000 steps in float32.

    Notes
    -----
    Parameters to learn: 0. Cost: O(L d_model) per layer and batch row.

    Examples
    --------
    >>> q = torch.ones(1, 1, 2, 4)
    >>> turned, keys = XPos(4, 1, 2, scale_base=1.0).rotate(q, q)
    >>> near, far = (turned @ keys.mT)[0, 0, 1].flip(-1)  # with itself, and one step back
    >>> bool(far < near)
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
        scale_base: float = 512.0,
        gamma: float = 0.4,
    ) -> None:
        super().__init__(d_model, n_heads, max_length, base=base, pairing=pairing)
        self.scale_base = _checks.positive("scale_base", scale_base)
        self.gamma = _checks.positive("gamma", gamma)
        rise = np.arange(0, self.d_head, 2) / self.d_head
        zeta = (rise + self.gamma) / (1 + self.gamma)
        self.log_decay = np.log(zeta) / self.scale_base
        self._middle = (self.max_length - 1) / 2

    def rotate(self, q: Tensor, k: Tensor, places: Places | None = None) -> tuple[Tensor, Tensor]:
        places = places or Places.of(q)
        turned_q, turned_k = super().rotate(precise(q), precise(k), places)
        of_queries = self._factors(places.of_queries, q).to(turned_q.dtype)
        same = places.of_keys is places.of_queries
        of_keys = of_queries if same else self._factors(places.of_keys, k).to(turned_k.dtype)
        turned_q, turned_k = turned_q * of_queries, turned_k / of_keys
        return turned_q.to(q.dtype), turned_k.to(k.dtype)

    def _factors(self, steps: Steps, like: Tensor) -> Tensor:
        """Return zeta**(t / scale_base) for each dimension, (batch or 1, 1, length, d)."""
        if not torch.compiler.is_compiling() and steps.given is None and steps.length == 1:
            return self._factor(steps.first - self._middle, like)
        decay = constants(self._spread(self.log_decay), like)
        from_middle = steps.positions.to(decay.dtype) - self._middle
        if can_look(from_middle) and from_middle.numel():
            self._check_reach(float(from_middle.detach().abs().max()), like.dtype, steps.name)
        return (from_middle[:, None, :, None] * decay).exp()

    def _factor(self, from_middle: float, like: Tensor) -> Tensor:
        """Return the factors of one token, (d,)."""
        self._check_reach(abs(from_middle), like.dtype)
        return constants(np.exp(from_middle * self._spread(self.log_decay)), like)

    def _spread(self, of_pairs: np.ndarray) -> np.ndarray:
        """Return one number a dimension from one a pair."""
        return of_pairs.repeat(2) if self.pairing == "interleaved" else np.tile(of_pairs, 2)

    def _check_reach(self, farthest: float, dtype: torch.dtype, name: str = "positions") -> None:
        """Raise ValueError where the square of a factor would leave the range of the type."""
        steepest = -self.log_decay.min()
        reach = math.log(torch.finfo(dtype).max) / 2 / steepest if steepest else math.inf
        if farthest > reach:
            raise ValueError(
                f"{name} must lie within {int(reach):,} steps of the middle of max_length, "
                f"{self._middle:g}, for the factors of xPos to be held in {dtype}, got one "
                f"{farthest:,.0f} steps away; a larger scale_base decays more slowly"
            )
