"""What one would write without this library: an attention layer with one encoding, and a small GPT.

`gpu.py` measures ours beside these. Each layer by hand takes the maps and the numbers of one of
ours, so that a test can hold that both compute the same.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy, gelu, scaled_dot_product_attention

from posenc import frequencies
from posenc.attention import SelfAttention
from posenc.attention.fast.flex import fitting

Kernel = Callable[[Tensor, Tensor, Tensor], Tensor]


def attention(layer: SelfAttention, length: int, *, compiled: bool) -> Callable[[Tensor], Tensor]:
    """Return the forward pass of a layer, written for its encoding and nothing else."""
    kernel = KERNELS[type(layer.position).__name__](layer, length, compiled=compiled)

    def forward(x: Tensor) -> Tensor:
        q, k, v = layer.qkv(x).unflatten(-1, (3, layer.n_heads, -1)).permute(2, 0, 3, 1, 4)
        return layer.out(kernel(q, k, v).transpose(1, 2).flatten(2))

    return forward


def none(layer: SelfAttention, length: int, *, compiled: bool) -> Kernel:
    """Attention as PyTorch has it."""
    del layer, length, compiled
    return scaled_dot_product_attention


def rotary(layer: SelfAttention, length: int, *, compiled: bool) -> Kernel:
    """RoPE with neighbouring dimensions as complex numbers, the form of Llama's own program."""
    del compiled  # compilers leave complex numbers alone
    angles = torch.outer(torch.arange(length), torch.as_tensor(layer.position.omega))
    turns = torch.polar(torch.ones_like(angles), angles).to(
        layer.qkv.weight.device, torch.complex64
    )

    def turn(x: Tensor) -> Tensor:
        pairs = torch.view_as_complex(x.float().unflatten(-1, (-1, 2)))
        return torch.view_as_real(pairs * turns).flatten(-2).to(x.dtype)

    return lambda q, k, v: scaled_dot_product_attention(turn(q), turn(k), v)


def alibi(layer: SelfAttention, length: int, *, compiled: bool, mask: Any = None) -> Kernel:
    """ALiBi by FlexAttention."""
    del length
    slopes, flex = layer.position.slopes, _flex("alibi", compiled=compiled, mask=mask)
    return lambda q, k, v: flex(
        q, k, v, score_mod=lambda score, _, h, i, j: score - slopes[h] * (i - j).abs()
    )


def t5(layer: SelfAttention, length: int, *, compiled: bool, mask: Any = None) -> Kernel:
    """T5's biases by FlexAttention, from a table with the bucket of each offset."""
    values, flex = layer.position.values, _flex("t5", compiled=compiled, mask=mask)
    offset = torch.arange(1 - length, length)
    bucket = layer.position.bucket(offset, causal=bool(layer.causal)).to(values.device)
    return lambda q, k, v: flex(
        q, k, v, score_mod=lambda score, _, h, i, j: score + values[h, bucket[j - i + length - 1]]
    )


def kerple(layer: SelfAttention, length: int, *, compiled: bool, mask: Any = None) -> Kernel:
    """KERPLE's logarithm by FlexAttention."""
    del length
    position, flex = layer.position, _flex("kerple", compiled=compiled, mask=mask)

    def kernel(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        scale, rate = position.scale, position.rate

        def score_mod(score: Tensor, b: Tensor, h: Tensor, i: Tensor, j: Tensor) -> Tensor:
            del b
            return score - scale[h] * (rate[h] * (i - j).abs()).log1p()

        return flex(q, k, v, score_mod=score_mod)

    return kernel


def relative(layer: SelfAttention, length: int, *, compiled: bool, mask: Any = None) -> Kernel:
    """Shaw's vectors for keys by FlexAttention, which looks up products with the queries."""
    del length
    table, flex = layer.position.keys, _flex("relative", compiled=compiled, mask=mask)
    reach, scale = table.shape[-2] // 2, layer.scale

    def kernel(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        by_offset = scale * q @ table.mT

        def score_mod(score: Tensor, b: Tensor, h: Tensor, i: Tensor, j: Tensor) -> Tensor:
            return score + by_offset[b, h, i, (j - i).clamp(-reach, reach) + reach]

        return flex(q, k, v, score_mod=score_mod)

    return kernel


KERNELS: dict[str, Callable[..., Kernel]] = {
    "NoPosition": none,
    "Rotary": rotary,
    "ALiBi": alibi,
    "T5Bias": t5,
    "Kerple": kerple,
    "Relative": relative,
}
"""Class of an encoding -> what makes its kernel."""

BY_HAND = "none", "rotary", "alibi", "t5", "kerple", "relative"
"""The same encodings by name."""

BY_FLEX = "alibi", "t5", "kerple", "relative"
"""Those whose kernel is FlexAttention, which has no backward pass on a processor."""


def _flex(name: str, *, compiled: bool, mask: Any = None) -> Callable[..., Tensor]:
    """Return FlexAttention, compiled with the first tiling that the GPU's memory holds."""
    from torch.nn.attention.flex_attention import flex_attention

    if not compiled:
        return partial(flex_attention, block_mask=mask)
    ready = torch.compile(flex_attention)

    def flex(q: Tensor, k: Tensor, v: Tensor, **options: Any) -> Tensor:
        return fitting(partial(ready, q, k, v, block_mask=mask, **options), name)

    return flex


class PlainGPT(nn.Module):
    """A GPT with RoPE as one writes it in an evening: norms first, causal attention, GELU."""

    def __init__(self, n_tokens: int, d_model: int, n_heads: int, n_layers: int, length: int):
        super().__init__()
        self.n_heads = n_heads
        self.tokens = nn.Embedding(n_tokens, d_model)
        self.layers = nn.ModuleList(
            nn.ModuleDict(
                {
                    "norm": nn.LayerNorm(d_model),
                    "qkv": nn.Linear(d_model, 3 * d_model),
                    "out": nn.Linear(d_model, d_model),
                    "norm2": nn.LayerNorm(d_model),
                    "up": nn.Linear(d_model, 4 * d_model),
                    "down": nn.Linear(4 * d_model, d_model),
                }
            )
            for _ in range(n_layers)
        )
        self.norm, self.head = nn.LayerNorm(d_model), nn.Linear(d_model, n_tokens)
        omega = torch.as_tensor(frequencies.geometric(d_model // n_heads), dtype=torch.float32)
        angles = torch.outer(torch.arange(length).float(), omega)
        self.register_buffer("cos", angles.cos())
        self.register_buffer("sin", angles.sin())

    def turn(self, x: Tensor) -> Tensor:
        a, b = x.float().unflatten(-1, (-1, 2)).unbind(-1)
        turned = a * self.cos - b * self.sin, a * self.sin + b * self.cos
        return torch.stack(turned, -1).flatten(-2).to(x.dtype)

    def forward(self, tokens: Tensor) -> Tensor:
        x = self.tokens(tokens)
        for m in self.layers:
            qkv = m["qkv"](m["norm"](x)).unflatten(-1, (3, self.n_heads, -1))
            q, k, v = qkv.permute(2, 0, 3, 1, 4)
            q, k = self.turn(q), self.turn(k)
            heads = scaled_dot_product_attention(q, k, v, is_causal=True)
            x = x + m["out"](heads.transpose(1, 2).flatten(2))
            x = x + m["down"](gelu(m["up"](m["norm2"](x))))
        return self.head(self.norm(x))


def training_step(model: nn.Module, tokens: Tensor) -> Callable[[], None]:
    """Return one step of a plain loop, in bfloat16 by autocast: predict each next token."""
    optimiser = torch.optim.AdamW(model.parameters(), 3e-4, fused=True)
    kind = tokens.device.type

    def step() -> None:
        with torch.autocast(kind, torch.bfloat16):
            logits = model(tokens[:, :-1])
        cross_entropy(logits.float().flatten(0, 1), tokens[:, 1:].flatten()).backward()
        optimiser.step()
        optimiser.zero_grad()

    return step
