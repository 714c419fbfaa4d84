"""What a causal layer remembers of the tokens that it has seen."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

import torch
from torch import Tensor, nn

from posenc.attention.places import Steps

if TYPE_CHECKING:
    from posenc.attention.layer import SelfAttention


class Kept(NamedTuple):
    """Keys and values of tokens, behind the door `rotate`, and where these tokens stand.

    keys, values : (batch, kv heads, length, width)
    padding : (batch, length) bool, or None if all tokens are real
    tokens : (batch, length, d_model), or None if the encoding does not look at them
    """

    keys: Tensor
    values: Tensor
    steps: Steps
    padding: Tensor | None
    tokens: Tensor | None


class Cache:
    """Keys and values of the tokens that a causal layer of self-attention has seen.

    Feed a layer one token, or a few, at a time with the same cache, and the outputs are those of
    the whole sequence. A cache belongs to the first layer that uses it, so that a model with
    several layers has one for each; given to a `posenc.models.LanguageModel`, it holds these.
    New positions go on from the last one unless they are given.

    Examples
    --------
    >>> import torch
    >>> from posenc import attention, encodings
    >>> layer = attention.SelfAttention(16, 2, encodings.make("rotary", 16, 2, 9), causal=True)
    >>> x = torch.randn(1, 9, 16)
    >>> cache = attention.Cache()
    >>> steps = [layer(x[:, [t]], cache=cache) for t in range(9)]
    >>> torch.allclose(torch.cat(steps, 1), layer(x), atol=1e-5)
    True
    """

    def __init__(self) -> None:
        self._layer: SelfAttention | None = None
        self._kept: Kept | None = None
        self._model: nn.Module | None = None
        self._parts: list[Cache] = []

    @property
    def length(self) -> int:
        """Number of tokens that are kept."""
        if self._parts:
            return self._parts[0].length
        return 0 if self._kept is None else self._kept.steps.length

    def check(self, layer: "SelfAttention", x: Tensor) -> None:
        """Raise ValueError unless this is the layer's cache, and of as many series."""
        if self._model is not None or (self._layer is not None and self._layer is not layer):
            raise ValueError("cache must serve one layer only, got that of another; make one each")
        batch = x.shape[0] if self._kept is None else self._kept.keys.shape[0]
        if x.shape[0] != batch:
            raise ValueError(
                f"x must have batch = {batch} rows as the cache has, got {x.shape[0]}; "
                "other series need a new Cache"
            )

    def for_layers(self, model: nn.Module, n_layers: int) -> "list[Cache]":
        """Return the caches of a model's layers, the same ones at every call.

        Raises
        ------
        ValueError
            If this is the cache of a single layer or of another model.
        """
        if self._layer is not None or self._model not in (None, model):
            raise ValueError(
                "cache must serve one model only, got that of a layer or of another model; make "
                "one each"
            )
        if self._model is None:
            self._model, self._parts = model, [Cache() for _ in range(n_layers)]
        return self._parts

    def onward(self, x: Tensor) -> Steps:
        """Return where new tokens (batch, length, d_model) stand if nobody says so."""
        steps = Steps(0, x.device) if self._kept is None else self._kept.steps
        return steps.onward(x.shape[1])

    def joined(self, new: Kept) -> Kept:
        """Return what is kept with new tokens behind it; `keep` stores it."""
        old = self._kept
        if old is None:
            return new
        return Kept(
            torch.cat((old.keys, new.keys), 2),
            torch.cat((old.values, new.values), 2),
            old.steps.joined(new.steps),
            _joined_padding(old, new),
            None if new.tokens is None else torch.cat((old.tokens, new.tokens), 1),
        )

    def keep(self, layer: "SelfAttention", kept: Kept) -> None:
        """Store what a layer has seen."""
        self._layer, self._kept = layer, kept


@contextmanager
def all_or_none(caches: "Sequence[Cache]") -> Iterator[None]:
    """Leave caches as they were where the block raises, so that none is ahead of the others."""
    before = [(one._layer, one._kept) for one in caches]
    try:
        yield
    except BaseException:
        for one, (layer, kept) in zip(caches, before, strict=True):
            one._layer, one._kept = layer, kept
        raise


def _joined_padding(old: Kept, new: Kept) -> Tensor | None:
    """Return the padding of both; tokens without a mask are real."""
    if old.padding is None and new.padding is None:
        return None
    both = [
        one.values.new_ones(one.values.shape[0], one.values.shape[2], dtype=torch.bool)
        if one.padding is None
        else one.padding
        for one in (old, new)
    ]
    return torch.cat(both, 1)
