"""FIRE: a learned function of the distance relative to where the query stands."""

# ruff: noqa: ARG002 - a door takes its arguments whether it needs them or not

import torch
from torch import Tensor, nn

from posenc import _checks
from posenc.attention import Places, Position
from posenc.attention.maps import applied
from posenc.attention.numerics import precise
from posenc.attention.places import can_look
from posenc.attention.score_mods import ScoreMod, by_line
from posenc.encodings.starts import empty_linear

_EPSILON = 1e-6  # as in the authors' listing


class FIRE(Position):
    """A small network of log distance over log position (Li et al. 2024, FIRE).

    The bias of query i and key j is f(psi(i - j) / psi(max(i, L))) with psi(t) = log(1 + |c t|), a
    network f of one hidden layer and one output per head, a learned c, and a learned threshold
    L. In causal attention the argument lies from 0 to 1 however long the input is, so f is
    asked for nothing new beyond the training length: that is the interpolation in the name.
    Up to the threshold scores depend on offsets only, beyond it on the query's place as well.
    In a layer that looks both ways, the argument may exceed 1 for keys far behind the query, and
    both sides are alike, as the authors' listing takes absolute values. Positions may be real
    times; those below 0 are all below the threshold.

    Parameters
    ----------
    d_model, n_heads, max_length : int
        As for `Position`. Any length is served.
    width : int
        Hidden units of f, at least 1.
    threshold : float
        L at the start, in steps, above 0. The authors' 512 suits texts; below it nothing is
        interpolated.

    Attributes
    ----------
    start : float
        The threshold at the start; it is multiplied by what is learned.

    Notes
    -----
    Parameters to learn, in every layer: `2 + 2 * width + width * n_heads`. c starts at 0.1. The
    last map has no offset, unlike the authors', as the softmax would not see it. Cost:
    O(L^2 (width + n_heads)) once per layer, and as much memory while training.

    Raises
    ------
    ValueError
        If a size or option is out of range.

    Examples
    --------
    >>> x = torch.zeros(1, 3, 8)
    >>> FIRE(8, 2, 100).bias(x, x, x).shape
    torch.Size([1, 2, 3, 3])
    """

    position_only = True

    def __init__(
        self,
        d_model: int,
        n_heads: int,
        max_length: int,
        *,
        width: int = 32,
        threshold: float = 512.0,
    ) -> None:
        super().__init__(d_model, n_heads, max_length)
        self.start = _checks.positive("threshold", threshold)
        self.rate = nn.Parameter(torch.empty(()))
        self.stretch = nn.Parameter(torch.empty(()))
        self.hidden = empty_linear(1, _checks.count("width", width, minimum=1), bias=True)
        # without an offset, which would be the same for all keys of a query
        self.output = empty_linear(width, n_heads)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw all that is learned anew, as at the start."""
        nn.init.constant_(self.rate, 0.1)
        nn.init.ones_(self.stretch)
        self.hidden.reset_parameters()
        self.output.reset_parameters()

    def bias(self, x: Tensor, q: Tensor, k: Tensor, places: Places | None = None) -> Tensor:
        places = places or Places.of(x)
        own = places.queries.to(self._threshold.dtype).maximum(self._threshold)
        return self._said(places.offset(), own[:, None, :, None]).squeeze(1).movedim(-1, 1)

    def _score_mod(self, places: Places) -> ScoreMod | None:
        queries, keys = places.of_queries, places.of_keys
        last = queries.first + queries.length - 1
        if not (places.counted and can_look(self.stretch)) or last >= self._threshold:
            return None
        offset = torch.arange(1 - queries.length - queries.first, keys.length - queries.first)
        return by_line(self._said(offset.to(keys.device), self._threshold).mT, queries.length)

    @property
    def _threshold(self) -> Tensor:
        return (precise(self.stretch) * self.start).abs()

    def _said(self, offset: Tensor, own: Tensor) -> Tensor:
        """Return what the network says of offsets of queries at these places, (..., heads)."""
        share = self._log(offset.to(own.dtype)) / (self._log(own) + _EPSILON)
        return applied(self.output, applied(self.hidden, share.unsqueeze(-1)).relu())

    def _log(self, t: Tensor) -> Tensor:
        return (precise(self.rate) * t).abs().log1p()
