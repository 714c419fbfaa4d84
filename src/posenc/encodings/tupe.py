"""Untied positional encoding: position attends to position, content to content."""

# ruff: noqa: ARG002 - a door takes its arguments whether it needs them or not

import math

import torch
from torch import Tensor, nn

from posenc import _checks
from posenc.attention import Places, Position, by_product
from posenc.attention.places import Steps
from posenc.encodings.resizing import Rows
from posenc.encodings.starts import empty_linear, reset_projections


class TUPE(Position):
    """Scores of content and of position from separate projections (Ke et al. 2021, section 3).

    The score of (i, j) is (q_i k_j + (p_i U_Q)(p_j U_K)) / sqrt(2 d_head), where the learned
    positions p and the projections U_Q, U_K are shared by all layers. With a class token at
    position 0 its row and column of the position part are reset to one learned scalar each, per
    head (`theta`), so that it is tied to no place. A survey (Irani and Metsis 2025, section 3.7)
    prints the same with d for the width; here, as in the authors' text, it is that of a head.
    Positions must be whole numbers.

    Parameters
    ----------
    d_model, n_heads, max_length : int
        As for `Position`. An input longer than `max_length` is an error.
    cls_reset : bool
        Whether the first token is a class token, which cross-attention cannot have. A model that
        adds one switches this on.

    Notes
    -----
    Parameters to learn, for the whole model: `max_length * d_model + 2 * d_model**2`, and
    `2 * n_heads` with `cls_reset`. The positions start standard normal, which is the size that
    the layer norm in the authors' program gives them. Cost: products of
    queries and keys that are twice as wide, O(L d_model) once per forward pass; in decoding, where
    a cache keeps the projected positions, one more product of a query and the keys.

    Raises
    ------
    ValueError
        If a size or option is out of range, or an input is too long; for positions that are not
        whole numbers from 0 to `max_length - 1`; for `cls_reset` in cross-attention.

    Examples
    --------
    >>> TUPE(8, 2, 100).vectors.shape
    torch.Size([100, 8])
    """

    _keeps_width = True

    shared = True

    def __init__(
        self, d_model: int, n_heads: int, max_length: int, *, cls_reset: bool = False
    ) -> None:
        super().__init__(d_model, n_heads, max_length)
        self.vectors = nn.Parameter(torch.empty(max_length, d_model))
        self.query, self.key = empty_linear(d_model, d_model), empty_linear(d_model, d_model)
        self.theta: nn.Parameter | None = None
        if _checks.flag("cls_reset", cls_reset):
            self.expect_class_token()
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw all that is learned anew, as at the start."""
        nn.init.normal_(self.vectors)
        reset_projections(self.query, self.key)
        if self.theta is not None:
            nn.init.zeros_(self.theta)

    def _learned_rows(self) -> Rows:
        return Rows(("vectors",), 0, self.max_length, 0, self.max_length - 1)

    def expect_class_token(self) -> None:
        if self.theta is None:
            self.theta = nn.Parameter(self.vectors.new_zeros(2, self.n_heads, 1, 1))

    def rotate(self, q: Tensor, k: Tensor, places: Places | None = None) -> tuple[Tensor, Tensor]:
        # attention divides by sqrt(d_head); content and position share the variance
        return q * math.sqrt(0.5), k

    @by_product
    def bias(self, places: Places) -> tuple[Tensor, Tensor]:
        pq = self._heads(self.query, places.of_queries) * (2 * self.d_head) ** -0.5
        pk = self._asked(places)
        return (pq, pk) if self.theta is None else self._reset(self.theta, pq, pk, places)

    def _asked(self, places: Places) -> Tensor:
        """Return the projected positions of keys; in decoding from a table made once a cache."""
        keys = places.of_keys
        if not places.is_step:
            return self._heads(self.key, keys)
        end = keys.first + keys.length
        self.check_length(end)
        every = Steps(self.max_length, keys.device)
        return places.once("asked", lambda: self._heads(self.key, every))[..., keys.first : end, :]

    def _heads(self, project: nn.Linear, steps: Steps) -> Tensor:
        """Return projected positions: (heads, length, d_head), or with a batch axis in front."""
        projected = project(self.look_up(self.vectors, steps))
        return projected.unflatten(-1, (self.n_heads, self.d_head)).transpose(-3, -2)

    def _reset(
        self, theta: Tensor, pq: Tensor, pk: Tensor, places: Places
    ) -> tuple[Tensor, Tensor]:
        """Return vectors whose products are theta_1 in row 0 and theta_2 in the rest of column 0.

        Those of the class token are zeros, and two more dimensions hold what is put in their place.
        """
        if places.crossed:
            raise ValueError("cls_reset must be False in cross-attention, where no token is first")
        first = torch.zeros_like(pk[..., :1])
        first[..., 0, :] = 1
        # with tokens in a cache, the first one asks no more
        asks = first if pq.shape[-2] == pk.shape[-2] else torch.zeros_like(pq[..., :1])
        from_cls, to_cls = theta.to(pq.dtype).unbind(0)
        of_queries = torch.cat((pq * (1 - asks), asks * from_cls, (1 - asks) * to_cls), -1)
        return of_queries, torch.cat((pk * (1 - first), torch.ones_like(first), first), -1)
