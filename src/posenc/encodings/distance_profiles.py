"""Profiles over distances that all heads share, mixed by each token for each head."""

import torch
from torch import Tensor, nn

from posenc import _checks
from posenc.attention import Places, Position, QueryScaling, by_query_and_offset
from posenc.attention.maps import applied
from posenc.attention.numerics import precise
from posenc.encodings.resizing import Rows
from posenc.encodings.starts import empty_linear, reset_projections

_EPSILON = 1e-6  # of a length, as in the program


class DistanceProfiles(Position):
    """A few curves over the distance, which each token mixes for each head (Inkling).

    The score of query i and key j gains the sum over c of r_ic P[c, j - i], less than `reach` steps
    apart, and nothing farther away. P holds `n_profiles` curves that all heads share; r_i = W x_i
    says how much of each the token at i wants in a head. So a head may look one step back for one
    word and fifty back for another, with fewer numbers for each offset than Shaw's vectors have.
    Positions must be whole numbers.

    The models are causal. In a layer that looks both ways, offsets behind the query have columns
    of their own in P (the extension is ours); a causal layer never reads them.

    Parameters
    ----------
    d_model, n_heads, max_length : int
        As for `Position`. Any length is served.
    n_profiles : int
        Curves in P, at least 1; 16 in the models.
    reach : int or None
        Steps from which on keys gain nothing, at least 1; None means `max_length`. The models have
        the size of their window, or 1024 in layers that see everything.
    clip : float or None
        Largest length of r, above 0, to which a longer one is scaled down; 8 in Inkling 2. Its
        program has a learned factor for each entry of r as well, which may be multiplied into W.
    query_scaling : QueryScaling or None
        How r grows with the place of its token. Queries do not grow by it; give the same to the
        layer's `Scoring`, and the whole score grows, as in Inkling 2's layers without a window.
    d_tokens : int or None
        Width of the tokens, where heads are not `d_model / n_heads` of it; None means `d_model`.

    Notes
    -----
    Parameters to learn, in every layer: `n_profiles * (n_heads * d_tokens + 2 * reach - 1)`. P
    starts normal with standard deviation 0.02, as in the program, W at Glorot's uniform
    distribution. Cost: O(n_heads L (L + n_profiles (d_model + reach))) per layer and batch row.

    Sources: Thinking Machines Lab (2026), Inkling and Inkling 2, whose code in transformers was
    read; there this is called relative logits.

    Raises
    ------
    ValueError
        If a size or option is out of range; in a forward pass, for positions that are not whole
        numbers, and tokens of another width.

    Examples
    --------
    >>> position = DistanceProfiles(8, 2, 100, n_profiles=3, reach=20)
    >>> position.profiles.shape, position.amounts.weight.shape
    (torch.Size([3, 39]), torch.Size([6, 8]))
    >>> x, q = torch.randn(1, 30, 8), torch.zeros(1, 2, 30, 4)
    >>> bias = position.bias(x, q, q)  # of the last query, the first ten keys are too far away
    >>> bias.shape, bool((bias[0, :, 29, :10] == 0).all()), bool((bias[0, :, 29, 10:] != 0).all())
    (torch.Size([1, 2, 30, 30]), True, True)
    """

    def __init__(
        self,
        d_model: int,
        n_heads: int,
        max_length: int,
        *,
        n_profiles: int = 16,
        reach: int | None = None,
        clip: float | None = None,
        query_scaling: QueryScaling | None = None,
        d_tokens: int | None = None,
    ) -> None:
        super().__init__(d_model, n_heads, max_length)
        self.n_profiles = _checks.count("n_profiles", n_profiles, minimum=1)
        self._reach = None if reach is None else _checks.count("reach", reach, minimum=1)
        self.clip = None if clip is None else _checks.positive("clip", clip)
        if not isinstance(query_scaling, QueryScaling | None):
            raise ValueError(
                "query_scaling must be a posenc.attention.QueryScaling or None, "
                f"got {query_scaling!r:.80}"
            )
        self.query_scaling = query_scaling
        wide = d_model if d_tokens is None else d_tokens
        self.d_tokens = _checks.count("d_tokens", wide, minimum=1)
        self.profiles = nn.Parameter(torch.empty(n_profiles, 2 * self.reach - 1))
        self.amounts = empty_linear(wide, n_heads * n_profiles)
        self.reset_parameters()

    @torch.no_grad()
    def reset_parameters(self) -> None:
        """Draw all that is learned anew, as at the start."""
        self.profiles.normal_().mul_(0.02)
        reset_projections(self.amounts)

    @property
    def reach(self) -> int:
        """Steps from which on keys gain nothing."""
        return self._reach or self.max_length

    def _learned_rows(self) -> Rows:
        last = self.reach - 1
        return Rows(("profiles",), 1, 2 * last + 1, last, last)

    @by_query_and_offset
    def bias(self, x: Tensor, places: Places) -> Tensor:
        if x.shape[-1] != self.d_tokens:
            raise ValueError(
                f"d_tokens must be the width of the layer's tokens, {x.shape[-1]}, for "
                f"{type(self).__name__}, got {self.d_tokens}"
            )
        wanted = self._wanted(precise(x), places)
        scores = wanted @ self.profiles.to(wanted.dtype)
        return nn.functional.pad(scores, (1, 1))  # what all farther offsets take

    def _wanted(self, x: Tensor, places: Places) -> Tensor:
        """Return how much of each profile tokens want, (batch, heads, queries, n_profiles)."""
        r = applied(self.amounts, x).unflatten(-1, (self.n_heads, self.n_profiles)).transpose(1, 2)
        if self.clip is not None:
            size = torch.linalg.vector_norm(r, dim=-1, keepdim=True)
            r = r * (self.clip / (size + _EPSILON)).clamp(max=1)
        return r if self.query_scaling is None else self.query_scaling.scaled(r, places)
