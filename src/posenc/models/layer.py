"""One layer of a transformer, which looks both ways or back only."""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, overload

from torch import Tensor, nn

from posenc import _checks
from posenc.attention import Cache, Places, Position, SelfAttention, Term
from posenc.attention.masks import Masks
from posenc.models.norms import NORMS

if TYPE_CHECKING:

    class Layers(nn.ModuleList):
        """Layers in their order; torch's list of modules does not say what it holds."""

        def __iter__(self) -> Iterator["EncoderLayer"]: ...
        @overload
        def __getitem__(self, idx: slice) -> "Layers": ...
        @overload
        def __getitem__(self, idx: int) -> "EncoderLayer": ...
        def __getitem__(self, idx: int | slice) -> "EncoderLayer | Layers": ...

else:
    Layers = nn.ModuleList


ATTENTION_OPTIONS = ("n_kv_heads", "window", "d_head", "scoring")
"""What a model hands on to the attention of its layers, as `SelfAttention` has it."""

AttentionOptions = Mapping[str, Any] | Sequence[Mapping[str, Any]]
"""Such options for all layers, or a list with those of each."""


def attention_for_layers(options: AttentionOptions | None, n_layers: int) -> list[dict[str, Any]]:
    """Return the options of each layer's attention, or raise ValueError unless they are known."""
    if options is None or isinstance(options, Mapping):
        options = [options or {}] * n_layers
    if not isinstance(options, Sequence) or not all(isinstance(one, Mapping) for one in options):
        raise ValueError(
            "attention_options must be a mapping from names to values, a list of them, or None, "
            f"got {options!r:.80}"
        )
    if len(options) != n_layers:
        raise ValueError(
            f"attention_options must be one mapping or a list of n_layers = {n_layers}, "
            f"got {len(options)}"
        )
    for name in (name for one in options for name in one):
        _checks.choice("attention_options", name, ATTENTION_OPTIONS)
    return [dict(one) for one in options]


class EncoderLayer(nn.Module):
    """Self-attention and a feed-forward network, each with a residual path and a norm.

    Parameters
    ----------
    position : Position
        Its sizes are those of the layer.
    d_ff : int
        Width of the feed-forward network.
    dropout, attention_dropout : float
        On both branches and in the network, and on attention weights.
    norm : {"batch", "layer", "none"}
    norm_first : bool
        Whether the norm comes before each branch rather than behind the sum.
    causal : bool
        Whether a token sees itself and earlier ones only, as in a decoder.
    d_model : int, optional
        Width of a token, by default that of `position`. Another one needs a `d_head`.
    attention : mapping, optional
        `n_kv_heads`, `window`, `d_head` and `scoring` of `SelfAttention`.

    Raises
    ------
    ValueError
        If `position` is no encoding, `attention_dropout` no probability, or an option of
        `attention` is out of range.

    Examples
    --------
    >>> import torch
    >>> from posenc import encodings
    >>> layer = EncoderLayer(encodings.make("rotary", 8, 2, 5), 16, 0.0, 0.0, "layer", True)
    >>> layer(torch.randn(2, 5, 8), None, None).shape
    torch.Size([2, 5, 8])
    """

    def __init__(
        self,
        position: Position,
        d_ff: int,
        dropout: float,
        attention_dropout: float,
        norm: str,
        norm_first: bool,
        *,
        causal: bool = False,
        d_model: int | None = None,
        attention: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__()
        d_model = position.d_model if d_model is None else d_model
        self.attention = SelfAttention(
            d_model,
            position.n_heads,
            position,
            attention_dropout,
            causal=causal,
            **(attention or {}),
        )
        self.expand = nn.Linear(d_model, d_ff)
        self.contract = nn.Linear(d_ff, d_model)
        self.attention_norm = NORMS[norm](d_model)
        self.feed_forward_norm = NORMS[norm](d_model)
        self.dropout = nn.Dropout(dropout)
        self.norm_first = norm_first

    def forward(
        self,
        x: Tensor,
        mask: Tensor | None,
        bias: Term | None,
        places: Places | None = None,
        cache: Cache | None = None,
        pairs: Tensor | None = None,
    ) -> Tensor:
        """(batch, length, d_model) to the same; `bias` replaces that of the encoding if given.

        `mask` marks padding, (batch, length), whatever the sizes are, and `pairs` who sees whom.
        """
        masks = Masks(mask, pairs)
        if self.norm_first:
            x = x + self._attend(self.attention_norm(x, mask), masks, bias, places, cache)
            return x + self._feed_forward(self.feed_forward_norm(x, mask))
        x = self.attention_norm(x + self._attend(x, masks, bias, places, cache), mask)
        return self.feed_forward_norm(x + self._feed_forward(x), mask)

    def _attend(
        self,
        x: Tensor,
        masks: Masks,
        bias: Term | None,
        places: Places | None,
        cache: Cache | None,
    ) -> Tensor:
        mask = masks.or_none()
        if places is None:
            return self.dropout(self.attention.attend(x, mask, bias))
        return self.dropout(self.attention.attend(x, mask, bias, places=places, cache=cache))

    def _feed_forward(self, x: Tensor) -> Tensor:
        hidden = self.dropout(nn.functional.gelu(self.expand(x)))
        return self.dropout(self.contract(hidden))
