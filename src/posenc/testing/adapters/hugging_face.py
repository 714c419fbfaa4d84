"""Models of Hugging Face's transformers. The package is imported once such a model is there."""

import copy
import importlib
import inspect
import itertools
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn

from posenc.testing.adapters.base import Adapter, CannotAsk, counted

PROBE = "posenc_testing"
"""What the attention that shows queries and keys is registered as."""

NAMES = {"flex": "flex_attention", "flash": "flash_attention_2"}
"""What the package calls the kernels."""


def _usual_scale(part: Any) -> float:
    """Return the scale that a kernel takes if nobody says one, where a head's width is told."""
    width = getattr(part, "head_dim", None)
    scale: float = part.scaling if width is None else width**-0.5
    return scale


FORGOTTEN: dict[str, tuple[tuple[str, ...], Any]] = {
    "the sink": (("sinks",), -1e30),
    "the cap of scores": (("attn_logit_softcapping", "softcap"), None),
    "the scale of its own": (("scaling",), _usual_scale),
}
"""What a kernel may forget: names of attributes, and what stands for none of it."""

CACHES = ("past_key_values", "cache", "past_key_value")
LENGTHS = ("max_position_embeddings", "n_positions", "n_ctx", "max_target_positions", "seq_length")


@dataclass
class _Held:
    """A model's own cache, and which tokens in it are real."""

    past: Any
    padding: list[Tensor] = field(default_factory=list)


class HuggingFaceAdapter(Adapter):
    """A model of transformers, from tokens to logits or last hidden states.

    Of an encoder with a decoder, the decoder is asked, behind a fixed output of the encoder.
    Documents are packed as the package packs them: places begin anew, and no mask is given.
    """

    kernel: str | None = None
    blind = False  # to padding

    def __init__(self, model: nn.Module) -> None:
        held: Any = model
        self.config: Any = held.config
        parameters = inspect.signature(model.forward).parameters
        names, anything = list(parameters), "kwargs" in parameters
        self.decoder = "decoder_input_ids" in names
        before = "decoder_" * self.decoder
        self.words = {
            "padding": f"{before}attention_mask",
            "positions": f"{before}position_ids",
            "cache": next((one for one in CACHES if one in names), "none"),
        }
        takes = [word for word, name in self.words.items() if name in names]
        packs = "positions" in takes and not self.decoder and _is_causal(model)
        if anything and "positions" not in takes:
            takes.append("positions")  # a check will say so if they are silently ignored
        sees_ahead = not self.decoder and not _is_causal(model)
        if sees_ahead and "cache" in takes:
            takes.remove("cache")
        text: Any = self.config.get_text_config()
        length = next((getattr(text, one) for one in LENGTHS if hasattr(text, one)), None)
        super().__init__(
            self._forward,
            vocabulary=text.vocab_size,
            takes=[*takes, *["documents"] * packs],
            module=model,
            new_cache=self._new_cache,
            trained=length if isinstance(length, int) and length > 0 else None,
            n_layers=getattr(text, "num_hidden_layers", 1),
        )

    def _new_cache(self) -> _Held:
        transformers = importlib.import_module("transformers")
        cache = transformers.DynamicCache(config=self.config)
        if self.decoder:
            cache = transformers.EncoderDecoderCache(cache, transformers.DynamicCache())
        return _Held(cache)

    def _forward(self, x: Tensor, **given: Any) -> Any:
        if self.kernel in (None, "eager"):
            return self._called(x, **given)
        with heard(self.kernel, uncompiled=x.device.type == "cpu") as calls:
            came = self._called(x, **given)
        if not calls:
            raise CannotAsk("its attention does not go through transformers' AttentionInterface")
        return came

    def _called(
        self,
        x: Tensor,
        positions: Tensor | None = None,
        padding: Tensor | None = None,
        documents: Tensor | None = None,
        cache: _Held | None = None,
        **options: Any,
    ) -> Any:
        blind = padding is None or self.blind
        real = torch.ones_like(x, dtype=torch.bool) if blind or padding is None else padding
        if cache is not None:
            cache.padding.append(real)
            real = torch.cat(cache.padding, 1)
            options |= {self.words["cache"]: cache.past, "use_cache": True}
        elif "cache" in self.taken:
            options["use_cache"] = False
        if documents is not None and any(one is not None for one in (cache, padding, positions)):
            raise CannotAsk("it knows documents by positions that begin anew, and by nothing else")
        if documents is not None:
            positions = counted(x, {"documents": documents})
        elif "padding" in self.taken:
            options[self.words["padding"]] = real.long()
        if positions is not None:
            positions = positions.movedim(-1, 0) if positions.ndim == 3 else positions
            whole = not positions.is_floating_point()
            options[self.words["positions"]] = positions.long() if whole else positions
        return self._on_tokens(x, options)

    def _on_tokens(self, x: Tensor, options: dict[str, Any]) -> Any:
        assert self.module is not None
        if not self.decoder:
            return self.module(input_ids=x, **options)
        output: Any = importlib.import_module("transformers.modeling_outputs").BaseModelOutput
        rng = torch.Generator().manual_seed(11)
        read = torch.randn(1, 4, self.config.hidden_size, generator=rng).to(self.dtype)
        read = output(last_hidden_state=read.expand(len(x), -1, -1))
        return self.module(decoder_input_ids=x, encoder_outputs=read, **options)

    def use_kernel(self, name: str) -> None:
        """Choose one of the package's implementations, for this model alone."""
        assert self.module is not None
        copies: dict[int, Any] = {}
        for part in self.module.modules():  # models may share a configuration, where names stand
            if "config" in vars(part):
                part.config = copy.deepcopy(part.config, copies)
        self.config, self.kernel = self.module.config, NAMES.get(name, name)
        try:
            self.module.set_attn_implementation(self.kernel)  # type: ignore[operator]
        except ImportError as error:
            raise CannotAsk(f"{name} is not installed: not asked") from error
        except (ValueError, AttributeError) as error:
            raise CannotAsk(f"the model does not take {name}: {error!s:.120}") from error

    def windows(self) -> list[int]:
        """Return the window of its configuration."""
        window = getattr(self.config.get_text_config(), "sliding_window", None)
        return [window] if isinstance(window, int) and window > 0 else []

    def parts(self) -> list[tuple[str, Callable[[], None]]]:
        """Return sinks, caps, scale, window and padding mask, as far as the model has them."""
        assert self.module is not None
        inside = [one for one in self.module.modules() if one is not self.module]
        text = self.config.get_text_config()
        found: list[tuple[str, Callable[[], None]]] = [
            (what, partial(_set, inside, names, value))
            for what, (names, value) in FORGOTTEN.items()
            if any(getattr(one, name, None) is not None for one in inside for name in names)
        ]
        if self.windows():
            found.append(("the window", partial(_set, [text], ("sliding_window",), 1 << 30)))
        if "padding" in self.taken:
            found.append(("the padding mask", partial(_set, [self], ("blind",), True)))
        return found

    def _with(self, attention: str) -> None:
        try:
            self.module.set_attn_implementation(attention)  # type: ignore[union-attr, operator]
        except (ValueError, AttributeError, ImportError) as error:
            raise CannotAsk(f"its attention is its own: {error!s:.80}") from error

    def weights(self, x: Tensor, positions: Tensor | None = None) -> Tensor:
        """Ask the model itself, which shows them in its eager form."""
        if positions is not None and "positions" not in self.taken:
            raise CannotAsk("it takes no positions")
        self._with("eager")
        out = self._called(x, positions=positions, output_attentions=True)
        shown = getattr(out, "decoder_attentions" if self.decoder else "attentions", None)
        if not shown or shown[0] is None:
            raise CannotAsk("it does not show its attention weights")
        first: Tensor = shown[0]
        return first.detach().cpu()

    def turned(self, places: Tensor) -> tuple[Tensor, Tensor]:
        """Listen to the first attention, if it goes through the package's interface."""
        seen: list[tuple[Tensor, Tensor]] = []

        def listen(
            module: nn.Module,  # noqa: ARG001
            query: Tensor,
            key: Tensor,
            value: Tensor,
            attention_mask: Tensor | None,  # noqa: ARG001
            **_: Any,
        ) -> tuple[Tensor, None]:
            seen.append((query.detach().cpu(), key.detach().cpu()))
            shape = query.shape[0], query.shape[2], query.shape[1], value.shape[-1]
            return query.new_zeros(shape), None

        utils: Any = importlib.import_module("transformers.masking_utils")
        transformers: Any = importlib.import_module("transformers")
        transformers.AttentionInterface.register(PROBE, listen)
        utils.AttentionMaskInterface.register(PROBE, utils.eager_mask)
        self._with(PROBE)
        x = self.constant(1, len(places))
        self._called(x, positions=places[None] if "positions" in self.taken else None)
        if not seen:
            raise CannotAsk("its attention does not go through transformers' AttentionInterface")
        q, k = seen[0]
        return q[0].transpose(0, 1), k[0].transpose(0, 1)

    def repeated(self) -> Adapter:
        """Write shared heads out in a model with as many heads of keys as of queries."""
        few, many = (
            getattr(self.config, f"num_{kind}_heads", None) for kind in ("key_value", "attention")
        )
        if not few or few == many:
            raise CannotAsk("every head has its own keys and values")
        model: Any = self.module
        config = copy.deepcopy(self.config)
        config.num_key_value_heads = many
        new = type(model)(config)
        state = model.state_dict()
        for name, value in state.items():
            if any(part in name for part in ("k_proj.", "v_proj.")):
                heads = value.unflatten(0, (few, -1)).repeat_interleave(many // few, 0)
                state[name] = heads.flatten(0, 1)
        new.load_state_dict(state)
        return HuggingFaceAdapter(new.eval())


@contextmanager
def heard(kernel: str, *, uncompiled: bool) -> Iterator[list[str]]:
    """Yield a list that grows with each call of an implementation of the package.

    On a processor, where compiling takes minutes, its flex is computed step by step.
    """
    functions: Any = importlib.import_module("transformers.modeling_utils").ALL_ATTENTION_FUNCTIONS
    function, calls = functions[kernel], list[str]()
    own = kernel in getattr(functions, "_local_mapping", ())  # which hides what is registered

    def called(*inputs: Any, **named: Any) -> Any:
        calls.append(kernel)
        return function(*inputs, **named)

    functions[kernel] = called
    slow = uncompiled and kernel == NAMES["flex"]
    try:
        with torch.compiler.set_stance("force_eager") if slow else nullcontext():
            yield calls
    finally:
        del functions[kernel]
        if own:
            functions[kernel] = function


def _set(parts: Sequence[Any], names: tuple[str, ...], value: Any) -> None:
    """Give attributes another value where they are; those that are learned are filled with it."""
    for part, name in itertools.product(parts, names):
        before = getattr(part, name, None)
        if isinstance(before, Tensor):
            before.fill_(value)
        elif before is not None:
            setattr(part, name, value(part) if callable(value) else value)


def _is_causal(model: nn.Module) -> bool:
    names = {type(model).__name__, *(type(part).__name__ for part in model.children())}
    return any(name.endswith(("ForCausalLM", "LMHeadModel")) for name in names) or bool(
        getattr(model.config, "is_decoder", False)
    )


def is_of_transformers(module: object) -> bool:
    """Return whether a module is of transformers, without importing it."""
    return any(one.__module__.startswith("transformers.") for one in type(module).__mro__)
