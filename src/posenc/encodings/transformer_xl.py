"""Transformer-XL: four terms of content and offset, at any real times."""

import numpy as np
import torch
from torch import Tensor, nn

from posenc import _checks, frequencies
from posenc.attention import Places, Position
from posenc.attention.maps import matrix
from posenc.attention.numerics import precise
from posenc.attention.places import Steps, constants
from posenc.encodings.starts import empty_linear, reset_projections


class TransformerXL(Position):
    """Scores of content and of projected sinusoids of the offset (Dai et al. 2019, section 3.3).

    The score of query i and key j is

        ((q_i + u) k_j + (q_i + v) W r_{i - j}) / sqrt(d_head)

    with learned u and v per head, a learned map W of the sinusoid r of the offset, which is
    [sin(o omega), cos(o omega)] over the geometric frequencies. The four products are content with
    content, content with offset, and for each of the two a preference of the head's own.

    Nothing is shifted or gathered here. By the addition theorem (q_i + v) W r_{s - t} is the
    product of a vector of the query and [cos(t omega), sin(t omega)], so queries and keys grow by
    `d_model` dimensions at the door `rotate`. The scores are the paper's, and serve any real
    times, caches and cross-attention, with the fused kernel.

    In the authors' program u and v may be shared by all layers; here each layer has its own.

    Parameters
    ----------
    d_model, n_heads, max_length : int
        As for `Position`; `d_model` must be even. Any length is served.
    base : float
        Of the frequencies `base**(-2i / d_model)`, at least 1.

    Attributes
    ----------
    omega : array of shape (d_model / 2,)
        In radians per position.

    Notes
    -----
    Parameters to learn, in every layer: `d_model**2 + 2 * d_model`. Cost: products of queries and
    keys that are `d_head + d_model` wide, O(L^2 n_heads d_model), and O(L n_heads d_model) memory.

    Raises
    ------
    ValueError
        If a size or `base` is out of range, or `d_model` is odd.

    Examples
    --------
    >>> q = torch.randn(1, 2, 5, 4)
    >>> wide_q, wide_k = TransformerXL(8, 2, 5).rotate(q, q)
    >>> wide_q.shape, wide_k.shape
    (torch.Size([1, 2, 5, 12]), torch.Size([1, 2, 5, 12]))
    """

    def __init__(
        self, d_model: int, n_heads: int, max_length: int, *, base: float = 10_000.0
    ) -> None:
        super().__init__(d_model, n_heads, max_length)
        self.omega = frequencies.geometric(_checks.even("d_model", d_model), base)
        self.project = empty_linear(d_model, d_model)
        self.of_content = nn.Parameter(torch.empty(n_heads, 1, self.d_head))
        self.of_offset = nn.Parameter(torch.empty(n_heads, 1, self.d_head))
        self.reset_parameters()

    @torch.no_grad()
    def reset_parameters(self) -> None:
        """Draw all that is learned anew, as at the start."""
        reset_projections(self.project)
        self.of_content.normal_().mul_(0.02)
        self.of_offset.normal_().mul_(0.02)

    def rotate(self, q: Tensor, k: Tensor, places: Places | None = None) -> tuple[Tensor, Tensor]:
        places = places or Places.of(q)
        wide = precise(q)
        waves = self._waves(places.of_queries, wide)
        asked = self._asked(wide + self.of_offset.to(wide.dtype), *waves)
        same = places.of_keys is places.of_queries
        sin, cos = waves if same else self._waves(places.of_keys, wide)
        offered = torch.cat((cos, sin), -1).expand(*k.shape[:2], -1, -1)
        content = wide + self.of_content.to(wide.dtype)
        wide_q, wide_k = torch.cat((content, asked), -1), torch.cat((precise(k), offered), -1)
        return wide_q.to(q.dtype), wide_k.to(k.dtype)

    def _asked(self, q: Tensor, sin: Tensor, cos: Tensor) -> Tensor:
        """Return what a query has for [cos(t omega), sin(t omega)] of a key at t."""
        maps = matrix(self.project, self.d_model, q).unflatten(0, (self.n_heads, self.d_head))
        of_sin, of_cos = (q @ maps).chunk(2, -1)
        return torch.cat((of_sin * sin + of_cos * cos, of_cos * sin - of_sin * cos), -1)

    def _waves(self, steps: Steps, like: Tensor) -> tuple[Tensor, Tensor]:
        """Return sines and cosines of t omega, each (batch or 1, 1, length, d_model / 2)."""
        t = steps.positions[:, None, :, None]
        angles = t * constants(np.asarray(self.omega), t)
        return angles.sin().to(like.dtype), angles.cos().to(like.dtype)
