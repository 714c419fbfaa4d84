"""Temporal positional encoding: sinusoids in every layer and a kernel of token similarity."""

# ruff: noqa: ARG002 - a door takes its arguments whether it needs them or not

import torch
from torch import Tensor, nn

from posenc import _checks
from posenc.attention import Places
from posenc.attention.numerics import precise, without_autocast
from posenc.encodings.sinusoidal import Sinusoidal


class TPE(Sinusoidal):
    """Sinusoids added in every layer and a similarity term on the scores (Zhang et al. 2024).

    The geometric part is the sinusoidal encoding, added to the input of every layer because its
    trace fades with depth. The semantic part is a function of the tokens that the layer sees,
    added to the scores: S(i, j) = exp(-|x_i - x_j|^2 / (2 sigma^2)), in the form that a survey
    gives it (Irani and Metsis 2025, section 3.9). The survey also prints PE(i) + S(i, j), a vector
    plus a scalar, which has no meaning as it stands; its text, "adjusts attention scores", is what
    is done here.

    Parameters
    ----------
    d_model, n_heads, max_length, base, scale
        As for `Sinusoidal`. Any length is served.
    sigma : float or None
        Width of the kernel in the units of the tokens, above 0. None means sqrt(d_model), the
        size of a token with entries of variance 1, as neither source fixes it.
    similarity : bool
        Whether the semantic part is used.
    learn_sigma : bool
        Whether the width is learned.

    Notes
    -----
    Parameters to learn, in every layer: 0, or 1 with `learn_sigma`, and 1 more with
    `scale="learned"`. Cost: O(L^2 d_model) per layer and batch row. Distances are computed in
    float32 at least, as squares of half-precision tokens overflow.

    Raises
    ------
    ValueError
        If a size or option is out of range, or `d_model` is odd.

    Examples
    --------
    >>> x = torch.zeros(1, 3, 8)
    >>> TPE(8, 2, 3).bias(x, x, x).shape
    torch.Size([1, 1, 3, 3])
    """

    embed_every_layer = True
    keeps_tokens = True
    shared = False
    _looks_at_queries = False

    def __init__(
        self,
        d_model: int,
        n_heads: int,
        max_length: int,
        *,
        base: float = 10_000.0,
        scale: str = "paper",
        sigma: float | None = None,
        similarity: bool = True,
        learn_sigma: bool = False,
    ) -> None:
        super().__init__(d_model, n_heads, max_length, base=base, scale=scale)
        self.similarity = _checks.flag("similarity", similarity)
        self.sigma = self.d_model**0.5 if sigma is None else _checks.positive("sigma", sigma)
        width = torch.empty(())
        if _checks.flag("learn_sigma", learn_sigma):
            self.log_sigma = nn.Parameter(width)
        else:
            self.register_buffer("log_sigma", width)
        self.reset_parameters()

    @torch.no_grad()
    def reset_parameters(self) -> None:
        super().reset_parameters()
        self.log_sigma.fill_(self.sigma).log_()

    def bias(self, x: Tensor, q: Tensor, k: Tensor, places: Places | None = None) -> Tensor | None:
        if not self.similarity:
            return None
        places = places or Places.of(x)
        keys = None if places.tokens is None or places.tokens is x else precise(places.tokens)
        distance = _squared_distances(precise(x), keys, causal=places.causal)
        return (distance * (-0.5 * (-2 * precise(self.log_sigma)).exp())).exp().unsqueeze(1)


def _squared_distances(x: Tensor, keys: Tensor | None = None, *, causal: bool = False) -> Tensor:
    """Return |x_i - y_j|^2 of all pairs of tokens x and keys y, or x: (batch, queries, keys)."""
    # |a - b|^2 = |a|^2 + |b|^2 - 2 a b, from tokens centred for the sake of rounding; the centre is
    # free, and where it must not hang on later tokens it is the first
    all_keys = x if keys is None else keys
    centre = all_keys[:, :1] if causal else _mean_of_real(all_keys)
    x = x - centre
    y = x if keys is None else keys - centre
    square = x.square().sum(-1)
    square_y = square if keys is None else y.square().sum(-1)
    with without_autocast(x):
        product = x @ y.transpose(1, 2)
    return (square[:, :, None] + square_y[:, None, :] - 2 * product).clamp(min=0)


def _mean_of_real(x: Tensor) -> Tensor:
    """Return the mean of the tokens that are not padded, as those are zeros: (batch, 1, width)."""
    n_real = (x != 0).any(-1).sum(1).clamp(min=1)
    return (x.sum(1) / n_real[:, None])[:, None]
