"""Attention layers that decode one token at a time: ours, and those of two other libraries.

A layer is two functions. `once` is what a model does one time for all of its layers, such as angles
or vectors that are added to the tokens; `each` is what every layer does. All have the same width
and heads. Theirs keep the offsets of their linear maps, or their lack, as published.
"""

from collections.abc import Callable
from functools import cache, partial
from typing import NamedTuple

import torch
from torch import Tensor, nn

from posenc import encodings
from posenc.attention import Cache, Places, Position, SelfAttention
from posenc.attention.core import embedded
from posenc.attention.places import Steps

D_MODEL, N_HEADS = 256, 8
D_HEAD = D_MODEL // N_HEADS


class Decoder(NamedTuple):
    """once(x) and each(x, what once returned), both for the next tokens (1, n, d_model)."""

    once: Callable[[Tensor], object]
    each: Callable[[Tensor, object], object]


Start = Callable[[int], Decoder]
"""From the number of tokens that will come, prompt included, to an empty layer."""


def ours(name: str, n_all: int, **options: object) -> Decoder:
    """Return our layer with an encoding, called as `LanguageModel` calls its layers.

    Angles, and scores that depend on positions alone, are part of `once` where layers share an
    encoding: the first layer leaves them to the others.
    """
    position = encodings.make(name, D_MODEL, N_HEADS, n_all, **options)
    layer = SelfAttention(D_MODEL, N_HEADS, position, causal=True).eval()
    cache, shared = Cache(), position.shared

    def once(x: Tensor) -> tuple[Tensor, Places]:
        steps = cache.onward(x)
        places = Places(steps, steps, causal=True, cached=True).for_a_pass()
        tokens = embedded(position, x, places)
        if shared and places.common is not None:
            keys = Steps(cache.length + 1, x.device)
            _leave_to_others(position, tokens, places.with_memory(cache.memory), keys)
        return tokens, places

    def each(x: Tensor, known: tuple[Tensor, Places]) -> Tensor:
        del x
        tokens, places = known
        return layer.attend(tokens, places=places, cache=cache)

    return Decoder(once, each)


def _leave_to_others(position: Position, x: Tensor, places: Places, keys: Steps) -> None:
    """Compute what the first layer of a model with a shared encoding leaves to the others."""
    if isinstance(position, encodings.Rotary):
        message = [] if position.is_closed("deliver") else [1, -1]
        for way in [0, *message]:
            position._turner(places, x[..., :D_HEAD], way)
    if position.position_only:
        term = position.term("bias", places.over(keys, None), x, x, x)
        term.dense(_heads(1), _heads(keys.length))


@cache
def _heads(n: int) -> Tensor:
    """Return queries or keys of as many tokens, for their shape."""
    return torch.zeros(1, N_HEADS, n, D_HEAD)


# -- x-transformers --------------------------------------------------------------------------------


def x_transformers(kind: str, n_all: int) -> Decoder:
    """Return the attention of `x-transformers`, with the cache that it hands back."""
    from x_transformers import x_transformers as m

    relative = {
        "alibi": lambda: m.AlibiPositionalBias(heads=N_HEADS, total_heads=N_HEADS),
        "t5": lambda: m.RelativePositionBias(D_HEAD**0.5, True, heads=N_HEADS),
    }.get(kind, lambda: None)()
    # its models take the fused kernel for all but these
    more = {"use_cope": True, "cope_max_pos": 64} if kind == "cope" else {}
    fused = kind not in ("t5", "cope")
    layer = m.Attention(
        D_MODEL, dim_head=D_HEAD, heads=N_HEADS, causal=True, flash=fused, **more
    ).eval()
    known = _known_to_all(kind, n_all, m)
    kept, length = None, 0

    def once(x: Tensor) -> dict[str, object]:
        nonlocal length
        length += x.shape[1]
        return known(x, length)

    def each(x: Tensor, given: dict[str, object]) -> Tensor:
        nonlocal kept
        given = {"x": x, **given}
        out, kept = layer(**given, rel_pos=relative, cache=kept, return_intermediates=True)
        return out

    return Decoder(once, each)


def _known_to_all(kind: str, n_all: int, m: object) -> Callable[[Tensor, int], dict[str, object]]:
    """Return what its models hand to all layers, from new tokens and the length with them."""
    if kind in ("rotary", "xpos"):
        angles = m.RotaryEmbedding(D_HEAD, use_xpos=kind == "xpos")
        return lambda _, length: {"rotary_pos_emb": angles.forward_from_seq_len(length)}
    if kind == "pope":
        polar = m.PolarEmbedding(D_HEAD, N_HEADS)
        return lambda _, length: {"polar_pos_emb": polar(torch.arange(length))}
    added = {
        "sinusoidal": lambda: m.ScaledSinusoidalEmbedding(D_MODEL),
        "learnable": lambda: m.AbsolutePositionalEmbedding(D_MODEL, n_all),
    }
    if kind in added:
        vectors = added[kind]()
        return lambda x, length: {"x": x + vectors(x, offset=length - x.shape[1])}
    return lambda *_: {}


# -- transformers ----------------------------------------------------------------------------------


def llama(n_all: int) -> Decoder:
    """Return the layer of Llama, whose angles its model computes at every call."""
    from transformers import LlamaConfig
    from transformers.models.llama.modeling_llama import LlamaAttention, LlamaRotaryEmbedding

    del n_all
    config = LlamaConfig(
        hidden_size=D_MODEL,
        num_attention_heads=N_HEADS,
        attention_bias=True,
        attn_implementation="sdpa",
    )
    return _rotary(LlamaAttention(config, 0), LlamaRotaryEmbedding(config), "cache")


def neox(n_all: int) -> Decoder:
    """Return the layer of GPT-NeoX, with one map for queries, keys and values."""
    from transformers import GPTNeoXConfig
    from transformers.models.gpt_neox import modeling_gpt_neox as m

    del n_all
    rope = {"rope_type": "default", "rope_theta": 10_000.0, "partial_rotary_factor": 1.0}
    config = GPTNeoXConfig(
        hidden_size=D_MODEL,
        num_attention_heads=N_HEADS,
        rope_parameters=rope,
        attn_implementation="sdpa",
    )
    return _rotary(m.GPTNeoXAttention(config, 0), m.GPTNeoXRotaryEmbedding(config), "layer_past")


def gptj(n_all: int) -> Decoder:
    """Return the layer of GPT-J, which turns neighbouring dimensions, as ours does by default."""
    from transformers import GPTJConfig
    from transformers.models.gptj import modeling_gptj as m

    config = GPTJConfig(n_embd=D_MODEL, n_head=N_HEADS, n_positions=n_all, rotary_dim=D_HEAD)
    return _rotary(m.GPTJAttention(config, 0), m.GPTJRotaryEmbedding(config), "cache")


def gpt2(n_all: int, *, learnable: bool = True) -> Decoder:
    """Return the layer of GPT-2, with its learned vectors or without any position."""
    from transformers import GPT2Config
    from transformers.models.gpt2.modeling_gpt2 import GPT2Attention

    config = GPT2Config(
        n_embd=D_MODEL, n_head=N_HEADS, n_positions=n_all, attn_implementation="sdpa"
    )
    layer, vectors = GPT2Attention(config, layer_idx=0).eval(), nn.Embedding(n_all, D_MODEL)

    def once(x: Tensor, first: int) -> Tensor:
        return x + vectors(_numbered(x, first)) if learnable else x

    return _cached(once, lambda _, added, cache: layer(added, cache=cache))


def xglm(n_all: int) -> Decoder:
    """Return the layer of XGLM with its sinusoidal vectors."""
    from transformers.models.xglm import modeling_xglm as m

    layer = m.XGLMAttention(D_MODEL, N_HEADS, is_decoder=True, layer_idx=0).eval()
    vectors = m.XGLMSinusoidalPositionalEmbedding(n_all, D_MODEL)

    def once(x: Tensor, first: int) -> Tensor:
        return x + vectors(_numbered(x, first), first)

    return _cached(once, lambda _, added, cache: layer(added, cache=cache))


def t5(n_all: int) -> Decoder:
    """Return the layer of T5's decoder; those behind the first get its biases handed."""
    from transformers import T5Config
    from transformers.models.t5.modeling_t5 import T5Attention

    del n_all
    config = T5Config(
        d_model=D_MODEL,
        d_kv=D_HEAD,
        num_heads=N_HEADS,
        is_decoder=True,
        attn_implementation="sdpa",
    )
    layer = T5Attention(config, has_relative_attention_bias=True, layer_idx=0).eval()

    def once(x: Tensor, first: int) -> Tensor:
        new = x.shape[1]
        return layer.compute_bias(new, first + new, past_seen_tokens=first)

    return _cached(once, lambda x, bias, cache: layer(x, position_bias=bias, cache=cache))


def mpt(n_all: int) -> Decoder:
    """Return the layer of MPT, whose penalties its model makes for its longest input."""
    from transformers import MptConfig
    from transformers.models.mpt.modeling_mpt import MptAttention, build_mpt_alibi_tensor

    layer = MptAttention(MptConfig(d_model=D_MODEL, n_heads=N_HEADS, max_seq_len=n_all), 0).eval()
    return _cached(
        lambda *_: build_mpt_alibi_tensor(N_HEADS, n_all),
        lambda x, bias, cache: layer(x, bias, cache=cache),
    )


def bloom(n_all: int) -> Decoder:
    """Return the layer of BLOOM, which adds its input to what it returns."""
    from transformers import BloomConfig
    from transformers.models.bloom.modeling_bloom import BloomAttention, build_alibi_tensor

    del n_all
    layer = BloomAttention(BloomConfig(hidden_size=D_MODEL, n_head=N_HEADS), 0).eval()

    def once(x: Tensor, first: int) -> Tensor:
        real = torch.ones(1, first + x.shape[1])
        return build_alibi_tensor(real, N_HEADS, x.dtype)

    return _cached(once, lambda x, bias, cache: layer(x, x, bias, None, layer_past=cache))


def _rotary(layer: nn.Module, angles: nn.Module, name: str) -> Decoder:
    """Return a layer that wants angles and calls its cache by a name of its own."""
    layer.eval()
    return _cached(
        lambda x, first: angles(x, _numbered(x, first)),
        lambda x, turns, cache: layer(
            x, attention_mask=None, position_embeddings=turns, **{name: cache}
        ),
    )


def _cached(once: Callable, each: Callable) -> Decoder:
    """Return once(x, first) and each(x, known, cache) with a cache of transformers'."""
    from transformers import DynamicCache

    cache = DynamicCache()

    def into(x: Tensor, known: object) -> Tensor:
        n_before = cache.get_seq_length()
        out = each(x, known, cache)[0]
        if cache.get_seq_length() == n_before:  # a name that the layer does not know is no error
            raise RuntimeError("the layer keeps nothing in the cache that it was given")
        return out

    return Decoder(lambda x: once(x, cache.get_seq_length()), into)


def _numbered(x: Tensor, first: int) -> Tensor:
    """Return the positions of new tokens, (1, n)."""
    return torch.arange(first, first + x.shape[1])[None]


REFERENCES: dict[str, dict[str, Start]] = {
    "none": {"transformers GPT-2": partial(gpt2, learnable=False)},
    "sinusoidal": {"transformers XGLM": xglm},
    "learnable": {"transformers GPT-2": gpt2},
    "rotary": {
        "transformers Llama": llama,
        "transformers GPT-NeoX": neox,
        "transformers GPT-J": gptj,
    },
    "t5": {"transformers T5": t5},
    "alibi": {"transformers MPT": mpt, "transformers BLOOM": bloom},
    "xpos": {},
    "cope": {},
    "pope": {},
}
"""Encoding -> layers of the same kind. Others have none in the two libraries that decodes."""

for _kind, _starts in REFERENCES.items():
    _starts["x-transformers"] = partial(x_transformers, _kind)

VARIANTS = {"rotary, halves": ("rotary", {"pairing": "half"})}
"""Name -> encoding and options of what is measured beside every encoding."""
