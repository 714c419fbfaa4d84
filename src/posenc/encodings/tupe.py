"""Untied positional encoding: position attends to position, content to content."""

# ruff: noqa: ARG002 - a door takes its arguments whether it needs them or not

import math

import torch
from torch import Tensor, nn

from posenc import _checks
from posenc.attention import Places, Position
from posenc.attention.kernels import precise
from posenc.attention.places import Steps


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
    the layer norm in the authors' program gives them. Cost: O(d_model L^2) once per forward pass.
    """

    shared = True
    position_only = True

    def __init__(
        self, d_model: int, n_heads: int, max_length: int, *, cls_reset: bool = False
    ) -> None:
        super().__init__(d_model, n_heads, max_length)
        self.vectors = nn.Parameter(torch.randn(max_length, d_model))
        self.query = nn.Linear(d_model, d_model, bias=False)
        self.key = nn.Linear(d_model, d_model, bias=False)
        for projection in (self.query, self.key):
            nn.init.xavier_uniform_(projection.weight)
        self.theta: nn.Parameter | None = None
        if _checks.flag("cls_reset", cls_reset):
            self.expect_class_token()

    def expect_class_token(self) -> None:
        if self.theta is None:
            self.theta = nn.Parameter(self.vectors.new_zeros(2, self.n_heads, 1, 1))

    def rotate(self, q: Tensor, k: Tensor, places: Places | None = None) -> tuple[Tensor, Tensor]:
        # attention divides by sqrt(d_head); content and position share the variance
        return q * math.sqrt(0.5), k

    def bias(self, x: Tensor, q: Tensor, k: Tensor, places: Places | None = None) -> Tensor:
        places = places or Places.of(x)
        pq = self._heads(self.query, places.of_queries)
        pk = self._heads(self.key, places.of_keys)
        scores = precise(pq) @ precise(pk).transpose(-2, -1) * (2 * self.d_head) ** -0.5
        return scores if self.theta is None else self._reset(scores, places)

    def _heads(self, project: nn.Linear, steps: Steps) -> Tensor:
        """Return projected positions: (heads, length, d_head), or with a batch axis in front."""
        projected = project(self.look_up(self.vectors, steps))
        return projected.unflatten(-1, (self.n_heads, self.d_head)).transpose(-3, -2)

    def _reset(self, scores: Tensor, places: Places) -> Tensor:
        """Return the scores with row 0 set to theta_1 and the rest of column 0 to theta_2."""
        if places.crossed:
            raise ValueError("cls_reset must be False in cross-attention, where no token is first")
        from_cls, to_cls = self.theta.to(scores.dtype).unbind(0)
        n_queries, n_keys = scores.shape[-2:]
        outer = scores.shape[:-2]
        # with tokens in a cache, the first one asks no more
        first = int(n_queries == n_keys)
        rest = to_cls.expand(*outer, n_queries - first, 1)
        body = torch.cat((rest, scores[..., first:, 1:]), -1)
        return torch.cat((from_cls.expand(*outer, first, n_keys), body), -2)
