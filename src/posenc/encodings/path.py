"""PaTH: a product of reflections, one for each token on the way from key to query."""

import torch
from torch import Tensor

from posenc.attention import Places, Position
from posenc.attention.maps import applied
from posenc.attention.numerics import precise, without_autocast
from posenc.encodings.cope import check_between
from posenc.encodings.starts import empty_linear, reset_projections


class PaTH(Position):
    """Matrices of all tokens from behind the key to the query (Yang et al. 2025).

    Each token has, for every head, a direction w of length 1 and a strength beta between 0 and 2,
    and with them a matrix H = I - beta w w^T. It leaves all that is at right angles to w alone;
    along w it shrinks, and beyond beta = 1 reflects. The product q_i k_j becomes

        q_i^T H_i H_(i-1) ... H_(j+1) k_j

    so that what a token does to a key depends on the words it has passed, in their order. Where
    RoPE turns a key by the same angle at each step, here each token has a matrix of its own.

    No product is formed. With u = sqrt(beta) w for rows of U, and tril and stril for the part of a
    matrix on and below, and below its diagonal, the scores gain

        -tril(Q U^T) (I + stril(U U^T))^-1 stril(U K^T) / sqrt(d_head)

    which is made for scores that are divided by the square root of d_head, and for queries and keys
    as doors get them: a `Scoring` with another scale, or a cap, makes something else of it.

    The paper is about causal attention. In a layer that looks both ways a later key meets the
    matrices of the tokens i + 1, ..., j (the extension is ours), so that a pair is treated the same
    whoever asks. A padded token, whose input is zeros, has the identity for H.

    Given positions are refused: a way here is made of tokens, and no number that is given can
    replace it. So is cross-attention, where a query does not stand among the keys.

    The program of flash-linear-attention (commit bc3b101: layer, plain function and its test) was
    read. Its layer has parts that this is not: w from a map of rank 32 behind a convolution, normed
    queries and keys, and the gates of `FoX`, if asked for.

    Parameters
    ----------
    d_model, n_heads, max_length : int
        As for `Position`. Any length is served.

    Notes
    -----
    Parameters to learn, in every layer: `d_model * (d_model + n_heads) + n_heads`. Strengths start
    around 1, directions at random. Cost: O(n_heads L^2 (L + d_head)) per layer and batch row, with
    a triangular system in L unknowns for each head; the authors' kernel does it in blocks. With a
    cache, each new token solves that system anew.

    Raises
    ------
    ValueError
        If a size is out of range; in a forward pass, for given positions and in cross-attention.

    Examples
    --------
    >>> position, x = PaTH(4, 1, 3), torch.randn(1, 3, 4)
    >>> q = k = torch.ones(1, 1, 3, 4)
    >>> u = position.kept(x)[0, 2]  # of the last token, which the key before it meets alone
    >>> through = q[0, 0, 2] @ (torch.eye(4) - u.outer(u)) @ k[0, 0, 1] / 2
    >>> bool(torch.allclose(position.bias(x, q, k)[0, 0, 2, 1] + 4 / 2, through))
    True
    """

    keeps_tokens = True

    def __init__(self, d_model: int, n_heads: int, max_length: int) -> None:
        super().__init__(d_model, n_heads, max_length)
        self.direction = empty_linear(self.d_model, self.d_model)
        self.strength = empty_linear(self.d_model, self.n_heads, bias=True)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw all that is learned anew, as at the start."""
        reset_projections(self.direction, self.strength)
        torch.nn.init.zeros_(self.strength.bias)

    def kept(self, x: Tensor) -> Tensor:
        """Return sqrt(beta) w of all heads, (batch, length, d_model): all that is asked later."""
        x = precise(x)
        w = applied(self.direction, x).unflatten(-1, (self.n_heads, -1))
        w = w * (w.square().sum(-1, keepdim=True) + 1e-12).rsqrt()  # smooth where a token is padded
        beta = 2 * applied(self.strength, x).sigmoid()
        return (beta.sqrt()[..., None] * w).flatten(-2)

    def bias(self, x: Tensor, q: Tensor, k: Tensor, places: Places | None = None) -> Tensor:
        places = places or Places.of(x)
        check_between(
            places, "PaTH", "multiplies matrices of the tokens", "whose matrices go by their order"
        )
        rows = places.tokens if places.cached else None  # what `kept` made of them
        u = precise(self.kept(x) if rows is None else rows)
        u = u.unflatten(-1, (self.n_heads, -1)).transpose(1, 2)
        q, k = precise(q), precise(k)
        with without_autocast(q):  # no half type solves a triangular system
            added = _between(q, k, u)
            if not (places.causal or places.cached):
                added = added + _between(k, q, u).mT
        return added * -(self.d_head**-0.5)


def _between(q: Tensor, k: Tensor, u: Tensor) -> Tensor:
    """Return what the tokens on the way take from q k, 0 where the key is not earlier."""
    met = torch.linalg.solve_triangular(
        (u @ u.mT).tril(-1), (u @ k.mT).tril(-1), upper=False, unitriangular=True
    )
    return (q @ u.mT).tril(k.shape[-2] - q.shape[-2]) @ met  # queries are the last of the keys
