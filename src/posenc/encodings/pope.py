"""PoPE: how strongly a feature is there, and where, in polar coordinates."""

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import softplus

from posenc import _checks, frequencies
from posenc.attention import Places, Position
from posenc.attention.numerics import precise
from posenc.attention.places import Steps, constants


class PoPE(Position):
    """Magnitudes from content, phases from position (Gopalakrishnan et al. 2025, PoPE).

    In RoPE a pair of dimensions holds an angle of its own, so what a token is shifts where it
    seems to be. PoPE keeps *what* and *where* apart: each of the d dimensions of a head has a
    magnitude softplus(x_c), never below 0, and a phase t omega_c, with as many frequencies as
    dimensions, omega_c = base**(-c / d). The score of query i and key j is

        sum_c softplus(q_ic) softplus(k_jc) cos((i - j) omega_c - delta_c) / sqrt(d)

    with a learned phase delta per head and dimension, the distance back at which the dimension
    matches best, in radians. It stands on the side of the queries here, so that keys which several
    heads share stay shared. The authors clip it to one turn; here it is left alone, as an angle
    means the same in every turn.

    While all phases are 0, a kernel is even in the offset, and a layer that looks both ways cannot
    tell before from after: the phases have to learn it.

    Parameters
    ----------
    d_model, n_heads, max_length : int
        As for `Position`. Any length and any real positions are served.
    base : float
        Of the frequencies, above 0.

    Attributes
    ----------
    omega : array of shape (d_head,)
        In radians per position.

    Notes
    -----
    Parameters to learn, in every layer: `d_model`. The phases start at 0. Cost: products
    of queries and keys that are twice as wide, with the fused kernel.

    Raises
    ------
    ValueError
        If a size or `base` is out of range.

    Examples
    --------
    >>> q = torch.randn(1, 2, 5, 4)
    >>> polar_q, polar_k = PoPE(8, 2, 5).rotate(q, q)
    >>> polar_q.shape
    torch.Size([1, 2, 5, 8])
    """

    def __init__(
        self, d_model: int, n_heads: int, max_length: int, *, base: float = 10_000.0
    ) -> None:
        super().__init__(d_model, n_heads, max_length)
        self.omega = frequencies.geometric(2 * self.d_head, _checks.positive("base", base))
        self.phases = nn.Parameter(torch.empty(n_heads, 1, self.d_head))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Set all that is learned back to 0, where it starts."""
        nn.init.zeros_(self.phases)

    def rotate(self, q: Tensor, k: Tensor, places: Places | None = None) -> tuple[Tensor, Tensor]:
        places = places or Places.of(q)
        phases = precise(self.phases)
        angles = self._angles(places.of_queries)
        same = places.of_keys is places.of_queries
        of_keys = angles if same else self._angles(places.of_keys)
        return self._polar(q, angles - phases.to(angles.dtype)), self._polar(k, of_keys)

    def _angles(self, steps: Steps) -> Tensor:
        """Return t omega, (batch or 1, 1, length, d_head)."""
        t = steps.positions[:, None, :, None]
        return t * constants(np.asarray(self.omega), t)

    def _polar(self, x: Tensor, angles: Tensor) -> Tensor:
        """Return magnitudes at their angles: (batch, heads, length, 2 d_head)."""
        magnitude = softplus(precise(x))
        cos, sin = angles.cos().to(magnitude.dtype), angles.sin().to(magnitude.dtype)
        return torch.cat((magnitude * cos, magnitude * sin), -1).to(x.dtype)
