"""DeBERTa: content and relative position disentangled, each asking the other."""

# ruff: noqa: ARG002 - a door takes its arguments whether it needs them or not

import math

import torch
from torch import Tensor, nn

from posenc import _checks
from posenc.attention import Places, Position
from posenc.attention.maps import applied
from posenc.attention.numerics import precise
from posenc.attention.terms import clipped_offsets
from posenc.attention.toeplitz import along
from posenc.encodings.resizing import Rows
from posenc.encodings.starts import empty_linear, reset_projections


class DeBERTa(Position):
    """Content asks content, content asks offset, and offset asks content (He et al. 2021, Eq. 4).

    The score of query i and key j is

        (q_i k_j + q_i a_{c(i - j)} + k_j b_{c(j - i)}) / sqrt(3 d_head)

    with a = P W_k and b = P W_q, two maps of a table P of one vector for each offset clipped to
    -k, ..., k - 1. The third term is what Shaw's encoding lacks: which offset a key asks for.
    The factor 3 counts the terms, so that scores start with the variance of plain attention.
    In the authors' model all layers share P; here each layer has its own. Their program, and
    Hugging Face's after it, looks the third term up at i - j, where the paper's Eq. 4 has j - i;
    as P serves both terms, that is another model. Positions must be whole numbers.

    Parameters
    ----------
    d_model, n_heads, max_length : int
        As for `Position`. Any length is served, as distances are clipped.
    max_distance : int or None
        k, at least 1: offsets from k on, and beyond -k, share a vector. None means `max_length`;
        the paper uses 512, the length of its inputs.
    formula : {"paper", "program"}
        Where the third term is looked up; with "program" weights of published models serve.
    n_buckets : int, optional
        Rows of P for each side where they are shared, an even number of at least 4, as in the later
        DeBERTa models, which have 256 for distances up to 512: offsets up to `n_buckets / 2` have
        one each, the others share rows that widen in proportion to the distance. k must then be
        above `n_buckets / 2 + 1`, and stays what it is when the table is resized.
    map_bias : bool
        Whether both maps add a vector, as those of the later models do. Where these use the maps of
        the content for positions as well (`share_att_key`), copy weight and bias of its query and
        key maps; a layer norm that they put on P belongs into `vectors`.

    Notes
    -----
    Parameters to learn, in every layer: `2 * k * d_model + 2 * d_model**2`, with `n_buckets` for k
    where it is given, and `2 * d_model` more with `map_bias`. P starts normal with
    standard deviation 0.02, as in the authors' program. Cost: O(n_heads L (L + k d_head)) per
    layer and batch row, as its term is dense.

    Raises
    ------
    ValueError
        If a size or option is out of range; for positions that are not whole numbers.

    Examples
    --------
    >>> DeBERTa(8, 2, 100, max_distance=16).vectors.shape
    torch.Size([32, 8])
    """

    _keeps_width = True

    def __init__(
        self,
        d_model: int,
        n_heads: int,
        max_length: int,
        *,
        max_distance: int | None = None,
        formula: str = "paper",
        n_buckets: int | None = None,
        map_bias: bool = False,
    ) -> None:
        super().__init__(d_model, n_heads, max_length)
        self.formula = _checks.choice("formula", formula, ("paper", "program"))
        if max_distance is not None:
            max_distance = _checks.count("max_distance", max_distance, minimum=1)
        self._max_distance = max_distance
        self.n_buckets = n_buckets
        if n_buckets is not None:
            self._max_distance = self._checked_reach(n_buckets)
        self.vectors = nn.Parameter(torch.empty(2 * self._span, d_model))
        bias = _checks.flag("map_bias", map_bias)
        self.query, self.key = (empty_linear(d_model, d_model, bias=bias) for _ in range(2))
        self.reset_parameters()

    @torch.no_grad()
    def reset_parameters(self) -> None:
        """Draw all that is learned anew, as at the start."""
        self.vectors.normal_().mul_(0.02)
        reset_projections(self.query, self.key)

    @property
    def max_distance(self) -> int:
        """Distance from which on all share a vector."""
        return self._max_distance or self.max_length

    @property
    def _span(self) -> int:
        """Rows of the table for each side."""
        return self.n_buckets or self.max_distance

    def _checked_reach(self, n_buckets: int) -> int:
        """Return the largest distance, or raise ValueError unless buckets can share it out."""
        if _checks.even("n_buckets", n_buckets) < 4:
            raise ValueError(f"n_buckets must be at least 4, got {n_buckets}")
        least = n_buckets // 2 + 2
        if self.max_distance < least:
            raise ValueError(
                f"max_distance must be at least n_buckets / 2 + 2 = {least}, "
                f"got {self.max_distance}"
            )
        return self.max_distance

    def _learned_rows(self) -> Rows:
        span = self._span
        return Rows(("vectors",), 0, 2 * span, span, span, clipped=True)

    def rotate(self, q: Tensor, k: Tensor, places: Places | None = None) -> tuple[Tensor, Tensor]:
        # attention divides by sqrt(d_head), and all three terms by sqrt(3) more
        return q * math.sqrt(1 / 3), k

    def bias(self, x: Tensor, q: Tensor, k: Tensor, places: Places | None = None) -> Tensor:
        places = places or Places.of(x)
        if places.is_step:
            return self._step(precise(q), precise(k), places)
        q, k = precise(q) * self.d_head**-0.5, precise(k) * (3 * self.d_head) ** -0.5
        # key minus query, so that i - j of the paper runs the other way
        offset = clipped_offsets(places, self.max_distance, type(self).__name__)
        rows = self._rows(-1, offset)[offset]
        others = self._rows(1, offset)[offset] if self.formula == "paper" else rows
        asking = q @ self._heads(self.key, q)
        asked = k @ self._heads(self.query, k)
        by_key = asked.gather(-1, _like(others.mT, asked))
        return asking.gather(-1, _like(rows, asking)) + by_key.mT

    def _step(self, q: Tensor, k: Tensor, places: Places) -> Tensor:
        """Return what one query gains, (batch, heads, 1, keys), from tables made once a cache.

        Of all offsets that a key may ask for, only the one to the query matters here.
        """
        n, first = places.of_keys.length, places.of_keys.first - places.of_queries.first
        asking = along(places.once("asking", self._asking), first, n)
        asked = along(places.once("asked", self._asked), first, n).mT
        by_key = (k * asked.to(k.dtype)).sum(-1)
        return q @ asking.to(q.dtype) + by_key.unsqueeze(-2)

    def _asking(self) -> Tensor:
        """Return vectors for content that asks, by offset: (heads, d_head, 2 k + 1)."""
        table = self._heads(self.key, precise(self.vectors)) * self.d_head**-0.5
        return table[..., self._rows(-1, table)]

    def _asked(self) -> Tensor:
        """Return vectors for content that is asked, by offset: (heads, d_head, 2 k + 1)."""
        table = self._heads(self.query, precise(self.vectors)) * (3 * self.d_head) ** -0.5
        rows = self._rows(1 if self.formula == "paper" else -1, table)
        return table[..., rows].mT.contiguous().mT  # a key's vector in one piece

    def _rows(self, sign: int, like: Tensor) -> Tensor:
        """Return the row of the table for the offsets -k, ..., k, or for k, ..., -k."""
        reach, span = self.max_distance, self._span
        offset = sign * torch.arange(-reach, reach + 1, device=like.device)
        if self.n_buckets is not None:
            offset = self.bucket(offset)
        return offset.clamp(-span, span - 1) + span

    def bucket(self, offset: Tensor) -> Tensor:
        """Return the bucket of each whole offset i - j, a signed number, where rows are shared.

        Those beyond -n_buckets, ..., n_buckets - 1 share the outermost row.
        """
        single = self._span // 2
        growth = (offset.abs().clamp(min=single).double() / single).log()
        growth *= (single - 1) / math.log((self.max_distance - 1) / single)
        # where the logarithms' ratio is a whole number, rounding must not add a bucket
        shared = offset.sign() * (single + (growth - 1e-9).ceil().long())
        return torch.where(offset.abs() <= single, offset, shared)

    def _heads(self, project: nn.Linear, like: Tensor) -> Tensor:
        """Return the projected table, (heads, d_head, 2 k)."""
        rows = applied(project, precise(self.vectors))
        return rows.unflatten(-1, (self.n_heads, self.d_head)).permute(1, 2, 0).to(like.dtype)


def _like(rows: Tensor, scores: Tensor) -> Tensor:
    """Return row numbers (batch or 1, 1, n, m) for the batch and heads of scores."""
    return rows.expand(*scores.shape[:2], -1, -1)
