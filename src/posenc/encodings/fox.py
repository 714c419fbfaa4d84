"""FoX: a distance made of gates, one for each token and head."""

# ruff: noqa: ARG002 - a door takes its arguments whether it needs them or not

import torch
from torch import Tensor
from torch.nn.functional import logsigmoid

from posenc.attention import Places, Position
from posenc.attention.maps import applied
from posenc.attention.numerics import precise
from posenc.encodings.cope import check_between
from posenc.encodings.starts import empty_linear


class FoX(Position):
    """The gates of all tokens from behind the key to the query (Lin et al. 2025).

    Each token has, for every head, a gate f = sigmoid(w x + b) between 0 and 1: what it lets
    through of all that came before it. The score of query i and key j gains the sum of log f over
    the tokens j + 1, ..., i. So a key at the query loses nothing, and an open gate costs nothing
    however long it stays open. If all gates of a head are the same, this is ALiBi with the slope
    -log f.

    CABLE (Veisi et al. 2025) is the same term in other words. Its tokens add -softplus(v x + c),
    which is log sigmoid(-v x - c): give `gate` the weights of its map with a minus. The scores in
    its program (axiomlab/Cable, commit 8bc6b83) are not divided by the square root of d_head.

    The papers' programs are causal. In a layer that looks both ways a later key j loses the
    gates of the tokens i + 1, ..., j (the extension is ours), so that the term of two tokens is
    the same whoever asks. A padded token, whose input is zeros, has its gates open.

    Given positions are refused: a distance here is made of tokens, and no number that is given can
    replace it. So is cross-attention, where a query does not stand among the keys.

    The authors' program (zhixuan-lin/forgetting-transformer, commit 883f260, modeling and kernel)
    and that of flash-linear-attention (commit bc3b101) were read. Their models have parts that
    this is not: normed queries and keys, a gate on the output, tokens that shift.

    Parameters
    ----------
    d_model, n_heads, max_length : int
        As for `Position`. Any length is served.

    Notes
    -----
    Parameters to learn, in every layer: `(d_model + 1) * n_heads`. As in the authors' program, b
    starts at 0 and w at random, so that gates start around a half and reach few tokens back.
    Cost: O(L d_model n_heads) for the gates and O(n_heads L^2) for the sums, per layer and batch
    row. Sums run from the first token, so that in float32 they are rounded to 1e-7 of all that
    was forgotten so far.

    Raises
    ------
    ValueError
        If a size is out of range; in a forward pass, for given positions and in cross-attention.

    Examples
    --------
    >>> position, x = FoX(8, 1, 3), torch.ones(1, 3, 8)
    >>> _ = torch.nn.init.zeros_(position.gate.weight)  # all gates are 1/2
    >>> position.bias(x, x, x).exp()[0, 0]
    tensor([[1.0000, 0.5000, 0.2500],
            [0.5000, 1.0000, 0.5000],
            [0.2500, 0.5000, 1.0000]], grad_fn=<SelectBackward0>)
    """

    keeps_tokens = True
    _looks_at_queries = False

    def __init__(self, d_model: int, n_heads: int, max_length: int) -> None:
        super().__init__(d_model, n_heads, max_length)
        self.gate = empty_linear(self.d_model, self.n_heads, bias=True)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw the gates' weights anew, as at the start, and set their offsets to 0."""
        self.gate.reset_parameters()
        torch.nn.init.zeros_(self.gate.bias)

    def kept(self, x: Tensor) -> Tensor:
        """Return the logarithms of the gates, (batch, length, n_heads): all that is asked later."""
        gates = logsigmoid(applied(self.gate, precise(x)))
        return gates * (x != 0).any(-1, keepdim=True).to(gates.dtype)

    def bias(self, x: Tensor, q: Tensor, k: Tensor, places: Places | None = None) -> Tensor:
        places = places or Places.of(x)
        check_between(places, "FoX", "adds gates of the tokens", "whose gates go by their order")
        gates = places.tokens if places.cached else None  # what `kept` made of them
        sums = (self.kept(x) if gates is None else gates).mT.cumsum(-1)
        own = sums[..., sums.shape[-1] - x.shape[1] :]  # queries are the last ones of the keys
        return -(own[..., None] - sums[..., None, :]).abs()
