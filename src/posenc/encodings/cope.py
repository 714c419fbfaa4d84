"""CoPE: positions that count what a query takes for worth counting."""

import torch
from torch import Tensor, nn

from posenc import _checks
from posenc.attention import Places, Position
from posenc.attention.numerics import precise
from posenc.encodings.resizing import Rows

_WHY = "which makes them itself by counting tokens that matter"


class CoPE(Position):
    """A vector for how many tokens lie between, as the query counts (Golovneva et al. 2024).

    Query i counts token n by a gate g_in = sigmoid(q_i k_n / sqrt(d_head)). The contextual
    position p_ij of key j is the sum of the gates from j to i, both included, so it may count
    words, peaks or anything that queries and keys learn to tell. The score gains q_i e[p_ij]. For
    a fractional p_ij the two neighbouring vectors are interpolated, and from `n_positions - 1` on
    all share the last. As in the authors' program, q_i e is not divided by sqrt(d_head), and heads
    share e.

    The paper is about causal attention. In a layer that looks both ways, half of the vectors
    serve keys up to the query and half those behind it, counted from i to j (the extension is
    ours; T5 parts its buckets so). Padded tokens, whose inputs are zeros, are not counted.

    Given positions are refused: a position here is a count of tokens, and no number that is given
    can replace it. So is cross-attention, where a query does not stand among the keys.

    Parameters
    ----------
    d_model, n_heads, max_length : int
        As for `Position`. Any length is served.
    n_positions : int
        Vectors, an even number of at least 4; counts from the last one on share it.

    Notes
    -----
    Parameters to learn, in every layer: `n_positions * d_head`. They start at zero, as in the
    authors' program, so that nothing is known of order at first. Cost: O(n_heads L^2) per layer
    and batch row, with several matrices of that size: its term is dense.

    Raises
    ------
    ValueError
        If a size or option is out of range; in a forward pass, for given positions and in
        cross-attention.

    Examples
    --------
    >>> x, q = torch.zeros(1, 3, 8), torch.zeros(1, 2, 3, 4)
    >>> CoPE(8, 2, 100).bias(x, q, q).shape
    torch.Size([1, 2, 3, 3])
    """

    keeps_tokens = True

    def __init__(
        self, d_model: int, n_heads: int, max_length: int, *, n_positions: int = 64
    ) -> None:
        super().__init__(d_model, n_heads, max_length)
        self.n_positions = _checks.count("n_positions", n_positions, minimum=4)
        if n_positions % 2:
            raise ValueError(f"n_positions must be even, got {n_positions}")
        self.vectors = nn.Parameter(torch.empty(n_positions, self.d_head))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Set all that is learned back to 0, where it starts."""
        nn.init.zeros_(self.vectors)

    def _learned_rows(self) -> Rows:
        return Rows()  # its positions serve any length

    def kept(self, x: Tensor) -> Tensor:
        return (x != 0).any(-1, keepdim=True)  # all that is asked of tokens

    def bias(self, x: Tensor, q: Tensor, k: Tensor, places: Places | None = None) -> Tensor:
        places = places or Places.of(x)
        check_between(places, "CoPE", "counts tokens", _WHY)
        q, k = precise(q), precise(k)
        tokens = x if places.tokens is None else places.tokens
        gates = (q @ k.mT * self.d_head**-0.5).sigmoid()
        gates = gates * (tokens != 0).any(-1)[:, None, None].to(gates.dtype)
        scores = q @ self.vectors.to(q.dtype).mT
        # queries are the last ones of the keys
        past = gates if places.is_step else gates.tril(gates.shape[-1] - gates.shape[-2])
        before = past.flip(-1).cumsum(-1).flip(-1)
        if places.causal:
            return _between(scores, before)
        behind = gates.triu().cumsum(-1)
        of_past, of_future = scores.chunk(2, -1)
        later = torch.ones(gates.shape[-2:], dtype=torch.bool, device=x.device).triu(1)
        return torch.where(later, _between(of_future, behind), _between(of_past, before))


def _between(scores: Tensor, count: Tensor) -> Tensor:
    """Return the scores at fractional counts, interpolated: (batch, heads, queries, keys)."""
    last = scores.shape[-1] - 1
    count = count.clamp(max=last)
    low = count.detach().floor().clamp(max=last - 1).nan_to_num()  # NaN is no index
    share = count - low
    index = low.long()
    return scores.gather(-1, index) * (1 - share) + scores.gather(-1, index + 1) * share


def check_between(places: Places, name: str, way: str, why: str) -> None:
    """Raise ValueError where a term of the tokens from a key to the query means nothing."""
    if places.crossed:
        raise ValueError(
            f"position must not be {name} in cross-attention, as it {way} from a key to the "
            "query, which does not stand among the keys"
        )
    if not places.counted:
        raise ValueError(f"{places.name} must be None for {name}, {why}, got given ones")
