"""Relative position representations: a learned vector per clipped offset."""

# ruff: noqa: ARG002 - a door takes its arguments whether it needs them or not

from functools import partial

import torch
from torch import Tensor, nn

from posenc import _checks
from posenc.attention import Mix, Places, Position
from posenc.attention.kernels import exporting, precise
from posenc.attention.places import is_plain
from posenc.encodings.toeplitz import offsets, skew


class Relative(Position):
    """Learned key (and value) vectors per clipped offset (Shaw et al. 2018, Eq. 3-5).

    The score of query i and key j gains q_i a_{clip(j - i)} / sqrt(d_head), and with `values` the
    output of i gains the sum of A_ij b_{clip(j - i)}; offsets beyond `max_distance` are clipped.
    A survey (Irani and Metsis 2025, section 3.4) indexes by i - j, which renames the rows, and
    does not clip; that is `max_distance=None`. Positions must be whole numbers.

    Parameters
    ----------
    d_model, n_heads, max_length : int
        As for `Position`. Any length is served, as distances are clipped.
    max_distance : int or None
        Largest distance with a vector of its own, at least 1; None means `max_length - 1`. The
        paper uses 16.
    values : bool
        Whether values get vectors too. The paper has both and finds those of the keys to be
        enough; with them the weights have to be formed, so the fused kernel is out.
    per_head : bool
        Whether each head has vectors of its own, as in the paper's experiments. Sharing them among
        heads, the default, is what its section 3.3 describes to save memory.

    Notes
    -----
    Parameters to learn, in every layer: `(2 k + 1) * d_head` with k = `max_distance`, twice that
    with `values`, times `n_heads` with `per_head`. Cost: O(L^2) scores from O(L d_head) memory,
    no (L, L, d_head) tensor; O(L (k + d_head)) per query row in time.
    """

    def __init__(
        self,
        d_model: int,
        n_heads: int,
        max_length: int,
        *,
        max_distance: int | None = 16,
        values: bool = False,
        per_head: bool = False,
    ) -> None:
        super().__init__(d_model, n_heads, max_length)
        if max_distance is None:
            max_distance = max(self.max_length - 1, 1)
        self.max_distance = _checks.count("max_distance", max_distance, minimum=1)
        n_tables = n_heads if _checks.flag("per_head", per_head) else 1
        shape = (n_tables, 2 * self.max_distance + 1, self.d_head)
        self.keys = nn.Parameter(torch.empty(shape))
        self.values = nn.Parameter(torch.empty(shape)) if _checks.flag("values", values) else None
        for vectors in self.parameters():
            for head in vectors:
                nn.init.xavier_uniform_(head)

    def bias(self, x: Tensor, q: Tensor, k: Tensor, places: Places | None = None) -> Tensor:
        scores = self.bias_by_offset(q)
        if is_plain(places):
            return skew(self._spread(scores, q.shape[-2]))
        return scores.gather(-1, self._rows(places).expand(*scores.shape[:3], -1))

    def bias_by_offset(self, q: Tensor) -> Tensor:
        q = precise(q)
        return (q * self.d_head**-0.5) @ self.keys.to(q.dtype).transpose(-2, -1)

    def mix(self, x: Tensor, places: Places | None = None) -> Mix | None:
        if self.values is None:
            return None
        return partial(self._selected_values, rows=self._rows(places or Places.of(x)))

    def _rows(self, places: Places) -> Tensor:
        """Return which vector belongs to each pair: (batch or 1, 1, queries, keys)."""
        for steps in (places.of_queries, places.of_keys):
            steps.whole("Relative has one vector for each whole offset")
        offset = places.offset().long()
        return offset.clamp(-self.max_distance, self.max_distance) + self.max_distance

    def _spread(self, scores: Tensor, length: int) -> Tensor:
        """Return scores for the offsets -(length - 1)..length - 1, the outer ones clipped.

        (..., length, 2 max_distance + 1) to (..., length, 2 length - 1).
        """
        reach = self.max_distance
        if exporting():  # whatever the length
            return scores[..., offsets(length, scores.device).clamp(-reach, reach) + reach]
        if length - 1 <= reach:
            return scores[..., reach - length + 1 : reach + length]
        beyond = (*scores.shape[:-1], length - 1 - reach)
        left, right = scores[..., :1].expand(beyond), scores[..., -1:].expand(beyond)
        return torch.cat((left, scores, right), -1)

    def _selected_values(self, weights: Tensor, rows: Tensor) -> Tensor:
        """Return the sum over j of A_ij b_{clip(j - i)}: (batch, heads, queries, d_head)."""
        index = rows.expand(weights.shape)
        # in float32 at least, as hundreds of weights may share the outermost offset
        summed = precise(weights.new_zeros((*weights.shape[:-1], 2 * self.max_distance + 1)))
        summed = summed.scatter_add(-1, index, precise(weights)).to(weights.dtype)
        return summed @ self.values.to(weights.dtype)
