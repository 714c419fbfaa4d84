"""Any torch module: what it takes is read from the signature of its `forward`."""

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import torch
from torch import Tensor, nn

from posenc.testing.adapters.base import Adapter, CannotAsk, UseError

NAMES = {
    "positions": ("positions", "position_ids", "pos", "times", "coordinates"),
    "padding": ("padding", "attention_mask", "mask", "key_padding_mask", "src_key_padding_mask"),
    "documents": ("documents", "document_ids", "segment_ids"),
    "cache": ("cache", "past_key_value", "past_key_values", "layer_past"),
}
"""What arguments of a `forward` are called, for each of the four words."""

SWITCHES = ("use_cache", "output_attentions", "need_weights", "return_dict")
"""Arguments that say how to answer, and nothing of positions."""

WIDTHS = ("d_model", "embed_dim", "hidden_size", "n_embd", "dim", "width")
VOCABULARIES = ("n_tokens", "vocab_size", "vocabulary")
LENGTHS = ("max_length", "max_position_embeddings", "max_len", "block_size")


class ModuleAdapter(Adapter):
    """A module whose first argument is tokens, and whose other arguments have a usual name.

    A mask called `key_padding_mask` is True at padded tokens, as PyTorch has it; one called
    `padding`, `attention_mask` or `mask` is True at real ones. A cache is what `module.new_cache()`
    returns, or else an empty dict that the module fills, if the argument is called `cache`. With
    another name it is None at first, and then what comes back beside the output.
    """

    def __init__(
        self, module: nn.Module, *, width: int | None = None, vocabulary: int | None = None
    ) -> None:
        if width is None and vocabulary is None:
            width, vocabulary = sizes(module)
        self.called = arguments(module.forward)
        super().__init__(
            self._forward,
            width=width,
            vocabulary=vocabulary,
            takes=self.called,
            module=module,
            new_cache=getattr(module, "new_cache", self._empty),
            unknown=unknown(module.forward),
            needs_positions=is_needed(module.forward, self.called.get("positions")),
            trained=_attribute(module, LENGTHS),
        )

    def _forward(self, x: Tensor, **given: Any) -> Any:
        assert self.module is not None
        if "padding" in given and "key_padding" in self.called["padding"]:
            given["padding"] = ~given["padding"]
        past = given.get("cache")
        if not isinstance(past, _Past):
            return self.module(x, **{self.called[word]: value for word, value in given.items()})
        given["cache"] = past.held
        named = {self.called[word]: value for word, value in given.items()}
        if "use_cache" in _parameters(self.module.forward):
            named["use_cache"] = True
        out = self.module(x, **named)
        past.held = _beside(out)
        return out

    def _empty(self) -> Any:
        return {} if self.called.get("cache") == "cache" else _Past()

    def weights(self, x: Tensor, positions: Tensor | None = None) -> Tensor:
        """Ask the module's own method `weights`, if it has one."""
        method = getattr(self.module, "weights", None)
        if not callable(method):
            raise CannotAsk("it has no method `weights(x)` that would show its attention weights")
        named = self.called.get("positions", "positions")
        given = {} if positions is None else {named: self.there(positions)}
        shown: Tensor = method(self.there(x), **given)
        return shown.detach().cpu()

    def turned(self, places: Tensor) -> tuple[Tensor, Tensor]:
        """Ask the module's own method `queries_and_keys`, if it has one."""
        method = getattr(self.module, "queries_and_keys", None)
        if not callable(method):
            raise CannotAsk("it has no method `queries_and_keys(x, positions)` to show them")
        q, k = method(*map(self.there, (self.constant(1, len(places)), self.placed(places[None]))))
        return q[0].transpose(0, 1).detach().cpu(), k[0].transpose(0, 1).detach().cpu()

    def repeated(self) -> Adapter:
        """Ask the module's own method `with_repeated_heads`, if it has one."""
        method = getattr(self.module, "with_repeated_heads", None)
        if not callable(method):
            raise CannotAsk("it has no method `with_repeated_heads()` that would write them out")
        return type(self)(method(), width=self.width, vocabulary=self.vocabulary)


@dataclass
class _Past:
    """What a module gave back to be handed over with the next tokens."""

    held: Any = None


def _beside(out: Any) -> Any:
    """Return the cache that comes back with an output, or raise CannotAsk."""
    if isinstance(out, tuple | list):
        for one in out[1:]:
            if one is not None and not isinstance(one, Tensor):
                return one
    held = getattr(out, "past_key_values", None)
    if held is None:
        raise CannotAsk("it takes a cache and gives none back; an Adapter can say where it is")
    return held


def unknown(function: Callable[..., Any]) -> tuple[str, ...]:
    """Return the names of a function's other arguments, of which nobody knows what they mean."""
    known = {*SWITCHES, *(name for names in NAMES.values() for name in names)}
    plain = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    named = [name for name, one in _parameters(function).items() if one.kind in plain]
    return tuple(name for name in named[1:] if name not in known)


def arguments(function: Callable[..., Any]) -> dict[str, str]:
    """Return which of the four words a function takes, and what it calls them."""
    names = list(_parameters(function))[1:]
    return {
        word: next(name for name in known if name in names)
        for word, known in NAMES.items()
        if any(name in names for name in known)
    }


def is_needed(function: Callable[..., Any], argument: str | None) -> bool:
    """Return whether an argument has no default."""
    if argument is None:
        return False
    return _parameters(function)[argument].default is inspect.Parameter.empty


def _parameters(function: Callable[..., Any]) -> Mapping[str, inspect.Parameter]:
    """Return the parameters; those of a method are read once, as each question has a new module."""
    if not inspect.ismethod(function):
        return inspect.signature(function).parameters
    known = _of_method(function.__func__)
    return {name: known[name] for name in list(known)[1:]}


@lru_cache(maxsize=64)
def _of_method(function: Callable[..., Any]) -> Mapping[str, inspect.Parameter]:
    return inspect.signature(function).parameters


def sizes(module: nn.Module) -> tuple[int | None, int | None]:
    """Return the width of a module's tokens, or its vocabulary, or raise ValueError."""
    vocabulary = _attribute(module, VOCABULARIES)
    if vocabulary is not None:
        return None, vocabulary
    width = _attribute(module, WIDTHS)
    if width is not None:
        return width, None
    for part in module.modules():
        if isinstance(part, nn.Embedding):
            return None, part.num_embeddings
        if isinstance(part, nn.Linear):
            return part.in_features, None
    raise UseError(
        f"nobody can tell what a token of {type(module).__name__} is: say width=64, if it is a "
        "vector of 64 numbers, or vocabulary=100, if it is an integer below 100"
    )


def _attribute(module: nn.Module, names: tuple[str, ...]) -> int | None:
    found = (getattr(module, name, None) for name in names)
    return next((one for one in found if isinstance(one, int) and one > 0), None)


class MultiheadAdapter(Adapter):
    """`nn.MultiheadAttention`, which sees whom it likes, or with a causal mask."""

    def __init__(self, module: nn.MultiheadAttention, *, causal: bool = False) -> None:
        self.causal, self.attention = causal, module
        super().__init__(self._forward, width=module.embed_dim, takes=["padding"], module=module)

    def _forward(self, x: Tensor, padding: Tensor | None = None) -> Tensor:
        return self._both(x, padding)[0]

    def _both(self, x: Tensor, padding: Tensor | None = None) -> tuple[Tensor, Tensor]:
        x = x if self.attention.batch_first else x.transpose(0, 1)
        hidden = None if padding is None else ~padding
        out, weights = self.attention(
            x,
            x,
            x,
            key_padding_mask=hidden,
            attn_mask=_ahead(x.shape[self.attention.batch_first]) if self.causal else None,
            average_attn_weights=False,
        )
        return (out if self.attention.batch_first else out.transpose(0, 1)), weights

    def weights(self, x: Tensor, positions: Tensor | None = None) -> Tensor:
        """Return what the module itself calls its weights."""
        if positions is not None:
            raise CannotAsk("it takes no positions")
        return self._both(x)[1].detach().cpu()


class EncoderAdapter(Adapter):
    """`nn.TransformerEncoder` or one of its layers, which has no places of its own."""

    def __init__(
        self, module: nn.TransformerEncoder | nn.TransformerEncoderLayer, *, causal: bool = False
    ) -> None:
        first = module.layers[0] if isinstance(module, nn.TransformerEncoder) else module
        attention: Any = first.self_attn
        self.causal, self.first = causal, bool(attention.batch_first)
        super().__init__(self._forward, width=attention.embed_dim, takes=["padding"], module=module)

    def _forward(self, x: Tensor, padding: Tensor | None = None) -> Tensor:
        assert self.module is not None
        x = x if self.first else x.transpose(0, 1)
        mask = _ahead(x.shape[self.first]) if self.causal else None
        hidden = None if padding is None else ~padding
        out: Tensor = self.module(x, mask, src_key_padding_mask=hidden)
        return out if self.first else out.transpose(0, 1)


def _ahead(length: int) -> Tensor:
    """Return a mask that is True where a key lies ahead of its query."""
    return torch.ones(length, length, dtype=torch.bool).triu(1)
