"""One token at a time with a cache: time of an attention layer, beside two other libraries.

Every layer has the same width and heads, reads a prompt in one go, and then decodes tokens, one a
call, with its own cache; whatever it computes per call (angles, biases) counts. The layers take
turns, call by call, each round in the order of the last one reversed, so that all see the same
state of the machine, and the quickest call of each is compared: other programs can only add to it.
Beside that stands the ratio of the lower quartiles; where the two differ much, the machine was too
busy, and `--rounds` gives it longer.

References are the rotary attention of `transformers` (Llama, GPT-NeoX, their `DynamicCache` and the
fused kernel) and that of `x-transformers`, plain, with rotary angles, with ALiBi and with T5's
biases. They are no dependencies: pip install -c requirements.txt -r peers/requirements.txt. Those
that are absent are left out.

Run `OMP_NUM_THREADS=1 python benchmarks/decoding.py --out report.md`, or with `--quick`.
"""

import argparse
import platform
import statistics
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import torch
from timing import markdown
from torch import Tensor

from posenc import encodings
from posenc.attention import Cache, SelfAttention

D_MODEL, N_HEADS, N_TOKENS = 256, 8, 32
PROMPTS = (64, 512)
COMPARED = {
    "rotary": "transformers Llama",
    "alibi": "x-transformers ALiBi",
    "t5": "x-transformers T5",
}
"""Encoding -> the reference of the same kind; others are compared with the fastest of all."""

Decode = Callable[[Tensor], object]
Start = Callable[[Tensor, int], Decode]
"""From a prompt (1, length, d_model) and all tokens to come to what decodes the next one."""


def posenc(name: str, prompt: Tensor, n_all: int) -> Decode:
    """Return our layer with an encoding."""
    position = encodings.make(name, D_MODEL, N_HEADS, n_all)
    layer = SelfAttention(D_MODEL, N_HEADS, position, causal=True).eval()
    cache = Cache()
    layer(prompt, cache=cache)
    return lambda x: layer(x, cache=cache)


def llama(prompt: Tensor, n_all: int) -> Decode:
    """Return the layer of `transformers`, whose angles its model computes at every call."""
    from transformers import DynamicCache, LlamaConfig
    from transformers.models.llama.modeling_llama import LlamaAttention, LlamaRotaryEmbedding

    config = LlamaConfig(
        hidden_size=D_MODEL,
        num_attention_heads=N_HEADS,
        attention_bias=True,
        attn_implementation="sdpa",
    )
    layer, angles = LlamaAttention(config, 0).eval(), LlamaRotaryEmbedding(config)
    return of_transformers(layer, angles, DynamicCache(), "past_key_values", prompt, n_all)


def neox(prompt: Tensor, n_all: int) -> Decode:
    """Return the other layer of `transformers`, with one map for queries, keys and values."""
    from transformers import DynamicCache, GPTNeoXConfig
    from transformers.models.gpt_neox import modeling_gpt_neox as m

    rope = {"rope_type": "default", "rope_theta": 10_000.0, "partial_rotary_factor": 1.0}
    config = GPTNeoXConfig(
        hidden_size=D_MODEL,
        num_attention_heads=N_HEADS,
        rope_parameters=rope,
        attn_implementation="sdpa",
    )
    layer, angles = m.GPTNeoXAttention(config, 0).eval(), m.GPTNeoXRotaryEmbedding(config)
    return of_transformers(layer, angles, DynamicCache(), "layer_past", prompt, n_all)


def of_transformers(
    layer: torch.nn.Module,
    angles: torch.nn.Module,
    cache: object,
    name: str,
    prompt: Tensor,
    n_all: int,
) -> Decode:
    """Return what decodes with a layer and a cache of `transformers`."""
    del n_all

    def decode(x: Tensor) -> Tensor:
        first = cache.get_seq_length()
        t = torch.arange(first, first + x.shape[1])[None]
        return layer(x, attention_mask=None, position_embeddings=angles(x, t), **{name: cache})[0]

    decode(prompt)
    return decode


def x_transformers(kind: str, prompt: Tensor, n_all: int) -> Decode:
    """Return the attention of `x-transformers`, with the cache that it hands back."""
    del n_all
    from x_transformers import x_transformers as m

    layer = m.Attention(
        D_MODEL, dim_head=D_MODEL // N_HEADS, heads=N_HEADS, causal=True, flash=kind != "T5"
    ).eval()
    rotary = m.RotaryEmbedding(D_MODEL // N_HEADS)
    relative = {
        "ALiBi": lambda: m.AlibiPositionalBias(heads=N_HEADS, total_heads=N_HEADS),
        "T5": lambda: m.RelativePositionBias((D_MODEL // N_HEADS) ** 0.5, True, heads=N_HEADS),
    }.get(kind, lambda: None)()
    kept = None
    length = 0

    def decode(x: Tensor) -> Tensor:
        nonlocal kept, length
        length += x.shape[1]
        more = {}
        if kind == "rotary":
            more["rotary_pos_emb"] = rotary.forward_from_seq_len(length)
        out, kept = layer(x, rel_pos=relative, cache=kept, return_intermediates=True, **more)
        return out

    decode(prompt)
    return decode


REFERENCES: dict[str, Start] = {
    "transformers Llama": llama,
    "transformers GPT-NeoX": neox,
    **{
        f"x-transformers {k}": partial(x_transformers, k)
        for k in ("plain", "rotary", "ALiBi", "T5")
    },
}


def starts(names: list[str]) -> Iterator[tuple[str, Start]]:
    """Return our layers and the references that are installed."""
    for name in names:
        yield name, partial(posenc, name)
    for name, start in REFERENCES.items():
        try:
            start(torch.zeros(1, 4, D_MODEL), 8)
        except ImportError as missing:
            print(f"{name} is left out: {missing}")
        else:
            yield name, start


@torch.inference_mode()
def measure(names: list[str], prompt: int, rounds: int) -> dict[str, list[float]]:
    """Return the seconds of each call of each layer."""
    layers = dict(starts(names))
    seconds: dict[str, list[float]] = {name: [] for name in layers}
    order = list(layers)
    for round_number in range(rounds + 1):
        generator = torch.Generator().manual_seed(round_number)
        x = torch.randn(1, prompt + N_TOKENS, D_MODEL, generator=generator)
        decode = {name: start(x[:, :prompt], prompt + N_TOKENS) for name, start in layers.items()}
        for t in range(prompt, prompt + N_TOKENS):
            for name in order:
                begin = time.perf_counter()
                decode[name](x[:, t : t + 1])
                if round_number:  # the first is to warm up
                    seconds[name].append(time.perf_counter() - begin)
        order.reverse()
    return seconds


def report(seconds: dict[str, list[float]], prompt: int) -> str:
    """Return a table: the quickest call, and ratios with the reference of the same kind."""
    theirs = [name for name in seconds if name in REFERENCES]
    rows = []
    for name, found in seconds.items():
        best = min(found)
        row = [name, f"{1e6 * best:.0f}", f"{1e6 * quartile(found):.0f}"]
        if name not in REFERENCES and theirs:
            other = COMPARED.get(name)
            other = other if other in theirs else min(theirs, key=lambda one: min(seconds[one]))
            ratio, of_quartiles = (
                best / min(seconds[other]),
                quartile(found) / quartile(seconds[other]),
            )
            row += [other, f"{ratio:.2f}", f"{of_quartiles:.2f}"]
        rows.append(row + [""] * (6 - len(row)))
    head = [f"{prompt} tokens kept", "quickest, µs", "quartile, µs", "compared with", "ratio"]
    head.append("of quartiles")
    return markdown(head, rows)


def quartile(values: list[float]) -> float:
    """Return the lower quartile."""
    return statistics.quantiles(values, n=4)[0]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="fewer rounds, one length")
    parser.add_argument("--rounds", type=int, default=12)
    parser.add_argument("--prompts", type=int, nargs="+", default=PROMPTS)
    known = [n for n in encodings.names("all") if n not in encodings.names("signal")]
    parser.add_argument("--encodings", nargs="+", choices=known, default=known)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    torch.set_num_threads(1)
    rounds, prompts = (2, (64,)) if options.quick else (options.rounds, options.prompts)
    sizes = f"d_model = {D_MODEL}, {N_HEADS} heads, batch of 1"
    parts = [f"{platform.machine()}, 1 thread, torch {torch.__version__}, {sizes}"]
    parts += [report(measure(options.encodings, n, rounds), n) for n in prompts]
    text = "\n\n".join(parts) + "\n"
    print(text)
    if options.out:
        options.out.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
