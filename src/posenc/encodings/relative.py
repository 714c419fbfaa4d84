"""Relative position representations: a learned vector per clipped offset."""

from functools import partial

import torch
from torch import Tensor, nn

from posenc import _checks
from posenc.attention import Mix, Places, Position, by_query_and_offset
from posenc.attention.numerics import precise
from posenc.attention.terms import clipped_offsets
from posenc.encodings.resizing import Rows


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

    Raises
    ------
    ValueError
        If a size or option is out of range; for positions that are not whole numbers.

    Examples
    --------
    >>> Relative(8, 2, 100, max_distance=16).keys.shape
    torch.Size([1, 33, 4])
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
        if max_distance is not None:
            max_distance = _checks.count("max_distance", max_distance, minimum=1)
        self._max_distance = max_distance
        n_tables = n_heads if _checks.flag("per_head", per_head) else 1
        shape = (n_tables, 2 * self.max_distance + 1, self.d_head)
        self.keys = nn.Parameter(torch.empty(shape))
        self.values = nn.Parameter(torch.empty(shape)) if _checks.flag("values", values) else None
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw all that is learned anew, as at the start."""
        for vectors in (self.keys, self.values):
            for head in () if vectors is None else vectors:
                nn.init.xavier_uniform_(head)

    @property
    def max_distance(self) -> int:
        """Largest distance with a vector of its own."""
        return self._max_distance or max(self.max_length - 1, 1)

    def _learned_rows(self) -> Rows:
        reach = self.max_distance
        return Rows(("keys", "values"), 1, 2 * reach + 1, reach, reach, clipped=True)

    @by_query_and_offset
    def bias(self, q: Tensor) -> Tensor:
        q = precise(q)
        return (q * self.d_head**-0.5) @ self.keys.to(q.dtype).transpose(-2, -1)

    def mix(self, x: Tensor, places: Places | None = None) -> Mix | None:
        if self.values is None:
            return None
        rows = clipped_offsets(places or Places.of(x), self.max_distance, type(self).__name__)
        return partial(self._selected_values, rows=rows, values=self.values)

    def _selected_values(self, weights: Tensor, rows: Tensor, values: Tensor) -> Tensor:
        """Return the sum over j of A_ij b_{clip(j - i)}: (batch, heads, queries, d_head)."""
        index = rows.expand(weights.shape)
        # in float32 at least, as hundreds of weights may share the outermost offset
        summed = precise(weights.new_zeros((*weights.shape[:-1], 2 * self.max_distance + 1)))
        summed = summed.scatter_add(-1, index, precise(weights)).to(weights.dtype)
        return summed @ values.to(weights.dtype)
