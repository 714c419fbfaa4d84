"""How scores are made and become weights, apart from what an encoding says of positions."""

from dataclasses import dataclass

import torch
from torch import Tensor

from posenc import _checks
from posenc.attention.numerics import precise
from posenc.attention.places import Places


@dataclass(frozen=True, kw_only=True)
class QueryScaling:
    """Queries that grow with their place t: times `1 + beta ln(1 + floor((t + shift) / every))`.

    Or, if `smooth`, times `1 + beta ln(max(1, (t + shift) / every))`, without steps.

    Parameters
    ----------
    beta : float
        How much; at least 0.
    every : float
        Places of a step, above 0. The first of them leave queries as they are.
    shift : float
        How many places earlier the steps come: 1 for Llama 4 and Inkling 2, 0 for Ministral 3.
    smooth : bool
        Whether growth has no steps and begins at place `every - shift`, as in Inkling 2.

    Raises
    ------
    ValueError
        If a number is out of range.

    Notes
    -----
    Llama 4 grows the queries of its layers without positions so, by where a token stands in the
    cache, padding counted; Ministral 3 those of all layers, by their positions; Inkling 2
    those of its layers without a window. The log-n scaling of the first Qwen (`use_logn_attn`),
    which trained on n tokens, is `QueryScaling(beta=1 / ln(n), every=n, shift=1, smooth=True)`:
    query t + 1 > n grows to ln(t + 1) / ln(n) times its size. Source: Nakanishi (2025),
    Scalable-Softmax, from which Meta took the logarithm.

    Examples
    --------
    >>> QueryScaling(beta=0.1, every=8192).at(torch.tensor([0, 8191, 8192]))
    tensor([1.0000, 1.0000, 1.0693], dtype=torch.float64)
    >>> QueryScaling(beta=0.1, every=8192, smooth=True).at(torch.tensor([0, 8192, 16384]))
    tensor([1.0000, 1.0000, 1.0693], dtype=torch.float64)
    """

    beta: float
    every: float
    shift: float = 0.0
    smooth: bool = False

    def __post_init__(self) -> None:
        _checks.non_negative("beta", self.beta)
        _checks.positive("every", self.every)
        _checks.non_negative("shift", self.shift)
        _checks.flag("smooth", self.smooth)

    def at(self, positions: Tensor) -> Tensor:
        """Return what queries at these positions are multiplied by, in the same shape."""
        kind = torch.float32 if positions.device.type == "mps" else torch.float64
        steps = (positions.to(kind) + self.shift) / self.every
        if self.smooth:
            return 1 + self.beta * steps.clamp(min=1).log()
        return 1 + self.beta * steps.floor().clamp(min=0).log1p()

    def scaled(self, q: Tensor, places: Places) -> Tensor:
        """Return queries (batch, heads, length, width), grown."""
        wide = precise(q)
        return (wide * self.at(places.queries)[:, None, :, None].to(wide.dtype)).to(q.dtype)


@dataclass(frozen=True, kw_only=True)
class Scoring:
    """How an attention scores: what its softmax gets besides queries, keys and an encoding.

    Parameters
    ----------
    scale : float, optional
        What products of queries and keys are multiplied by, above 0; by default
        `1 / sqrt(d_head)`. The gain of an encoding, such as YaRN's, is apart from it.
    softcap : float, optional
        Scaled products s become `softcap * tanh(s / softcap)`, before anything is added to them
        (Gemma 2); above 0.
    sinks : bool
        Whether each head has a learned logit in the denominator of its softmax, to which a query
        may give weight that no token gets (GPT-OSS). Weights then sum to less than one.
    query_scaling : QueryScaling, optional
        How queries grow with their place, behind the door `rotate`.

    Raises
    ------
    ValueError
        If a number is out of range, or one of the others is of another kind.

    Notes
    -----
    Parameters to learn: one a head with `sinks`, which start at 0. Sinks are one more key of one
    more dimension, and PyTorch's fused kernel serves them; what a door adds is then written out as
    a matrix. With `softcap` all weights are written out, in O(length^2) memory.

    Sources: Gemma Team (2024), Gemma 2, section 2; OpenAI (2025), gpt-oss model card, section 2.3;
    Xiao et al. (2023), StreamingLLM, for why a softmax wants a sink.

    Examples
    --------
    >>> from posenc import encodings
    >>> from posenc.attention import SelfAttention
    >>> position = encodings.make("rotary", 16, 2, 9)
    >>> layer = SelfAttention(16, 2, position, causal=True, scoring=Scoring(sinks=True))
    >>> weights = layer.weights(torch.zeros(1, 3, 16))
    >>> weights[0, 0, 2].tolist() # a fourth of the weight goes to the sink
    [0.25, 0.25, 0.25]
    """

    scale: float | None = None
    softcap: float | None = None
    sinks: bool = False
    query_scaling: QueryScaling | None = None

    def __post_init__(self) -> None:
        for name in ("scale", "softcap"):
            if getattr(self, name) is not None:
                _checks.positive(name, getattr(self, name))
        _checks.flag("sinks", self.sinks)
        if not isinstance(self.query_scaling, QueryScaling | None):
            raise ValueError(
                f"query_scaling must be a QueryScaling or None, got {self.query_scaling!r:.80}"
            )

    def check_axes(self, n_axes: int) -> None:
        """Raise ValueError if queries are to grow with a place that is several numbers."""
        if self.query_scaling is not None and n_axes > 1:
            raise ValueError(
                "query_scaling must be None with positions of several numbers a token, got "
                f"{self.query_scaling} and n_axes = {n_axes}"
            )


def check_scoring(scoring: Scoring | None, n_axes: int) -> Scoring:
    """Return the settings, or raise ValueError unless they are some, or None for the usual ones."""
    if not isinstance(scoring, Scoring | None):
        raise ValueError(f"scoring must be a posenc.attention.Scoring or None, got {scoring!r:.80}")
    scoring = scoring or Scoring()
    scoring.check_axes(n_axes)
    return scoring
