"""How a model is made longer: the factor, the block, what to paste into engines, what it costs."""

import json
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from posenc.register import reading, scaling
from posenc.register.reading import ConfigError
from posenc.register.values import Values
from posenc.register.words import printable, reaches

if TYPE_CHECKING:
    from posenc.register import Description
    from posenc.register.rules import Layer

KEPT = ("beta_fast", "beta_slow", "truncate", "mscale", "mscale_all_dim")  # of a YaRN set anew
BYTES = 2  # of a number in bfloat16 or float16


def extend(config: Any, description: "Description", to: int, trained: int | None = None) -> str:
    """Return in plain words how to run a model on `to` tokens; `trained` are those of training.

    Raises
    ------
    ConfigError
        If no layer turns, no length is said, `to` is no longer than it, or a schedule stands there.
    """
    block = yarn(description, to, trained)
    layer = next(one for one in description.layers if _widened(one, to))
    start = block["original_max_position_embeddings"]
    lines = [
        f"{description.family}: {start:,} tokens {_whence(description, start, trained)}.",
        f"Factor {block['factor']:g}. The block for {to:,} tokens:",
        f"  {json.dumps({'rope_parameters': block})}",
        *_pairs(layer, block),
        *_memory(config, description, to),
        *engines(block, to, own_reach(description)),
        *_one_block(description),
    ]
    return printable("\n".join(lines))


def _whence(description: "Description", start: int, trained: int | None) -> str:
    """Return who says from how many tokens a model is made longer."""
    if description.trained_source and start == description.trained:
        return f"of training ({description.trained_source})"
    if trained:
        return "of training (as you say)"
    return (
        "by its configuration; give the length of training by --from where you know a smaller one"
    )


def yarn(description: "Description", to: int, trained: int | None = None) -> dict[str, Any]:
    """Return the block of YaRN that makes a model longer, under transformers' names of today.

    A YaRN that stands there already is set anew, from the length that it starts from.

    Source: Peng et al. 2023, YaRN; `rope_parameters` of Hugging Face's transformers.
    """
    turning = [one for one in description.layers if one.door == "rotate"]
    starts = [s["original_max_position_embeddings"] for one in turning
              if (s := one.scaling) and s.get("original_max_position_embeddings")]  # fmt: skip
    length = trained or (min(starts) if starts else description.made_for)
    if not turning:
        raise ConfigError(f"no layer of {description.family} turns; there is no base to slow down")
    if length is None:
        raise ConfigError("the configuration says no length, and a factor is a share of one")
    if to <= length:
        raise ConfigError(f"to must be more than {length:,}, the length it is made for, got {to:,}")
    own = own_reach(description)
    if own and to <= own:
        raise ConfigError(
            f"its schedule reaches {own:,} tokens already; nothing has to be set anew"
        )
    wide = [one for one in turning if _widened(one, to)]
    if not wide:
        raise ConfigError(
            "the layers that turn see a window alone; no schedule is needed for longer texts"
        )
    kinds = {one.scaling["type"] for one in wide if one.scaling}
    if kinds - {"yarn"}:
        raise ConfigError(
            f"a schedule of the type {min(kinds)!r} stands there already, and a second on top is "
            "not valid: set its own factor anew, best with more training"
        )
    kept = {n: v for n, v in (wide[0].scaling or {}).items() if n in KEPT}
    return kept | {
        "rope_type": "yarn",
        "rope_theta": wide[0].base,
        "factor": round(to / length, 6),
        "original_max_position_embeddings": length,
    }


def own_reach(description: "Description") -> int:
    """Return the tokens that a YaRN of the model's own is made for, 0 without one."""
    return max((reaches(one.scaling) or 0 for one in description.layers if one.scaling), default=0)


def engines(block: Mapping[str, Any], to: int, own: int = 0) -> Iterator[str]:
    """Yield what to paste for transformers, vLLM and llama.cpp, and what to think of before.

    `own` are the tokens that a schedule of the model's own reaches.

    Source: the manuals of transformers, of vLLM ("context extension") and of llama.cpp's server.
    """
    held = json.dumps({"rope_parameters": dict(block)})
    factor, trained = block["factor"], block["original_max_position_embeddings"]
    yield f'transformers: in config.json, {held[1:-1]}, "max_position_embeddings": {to}'
    yield f"vLLM: --hf-overrides '{held}' --max-model-len {to}"
    yield (
        f"llama.cpp: --rope-scaling yarn --rope-scale {factor:g} --yarn-orig-ctx {trained} -c {to}"
    )
    if own:
        yield f"The model has a schedule of its own, up to {own:,} tokens: keep that for these."
        return
    yield (
        "All three set a static schedule: it changes short texts, too. Leave it out where texts "
        f"stay below {trained:,} tokens."
    )


def _one_block(description: "Description") -> Iterator[str]:
    """Yield what to check in a model whose layers have more than one base."""
    bases = {one.base for one in description.layers if one.door == "rotate"}
    if len(bases) > 1:
        yield (
            "Check: its layers have more than one base. The block is for those that see "
            "everything; llama.cpp's line changes all, and others read a block by kind of layer."
        )


def _widened(layer: "Layer", to: int) -> bool:
    """Return whether a layer turns, and sees further than a window that stays as it is."""
    return layer.door == "rotate" and not (
        layer.kind in ("window", "chunk") and (layer.window or 0) < to
    )


def _pairs(layer: "Layer", block: Mapping[str, Any]) -> Iterator[str]:
    """Yield which pairs of a head turn more slowly then."""
    assert layer.base is not None
    assert layer.head_dim is not None
    old = scaling.inv_freq(layer.base, layer.turning, layer.head_dim, None, 1)
    schedule = {"type": "yarn"} | {
        n: v for n, v in block.items() if n not in ("rope_type", "rope_theta")
    }
    new = scaling.inv_freq(layer.base, layer.turning, layer.head_dim, schedule, 1)
    slowed = np.flatnonzero((old > 0) & (new < old * (1 - 1e-12)))
    whole = np.flatnonzero((old > 0) & np.isclose(new * block["factor"], old, rtol=1e-9))
    yield (
        f"Of {len(old)} pairs {len(old) - len(slowed)} stay as they are, "
        f"{len(slowed) - len(whole)} are slowed by less than the factor, and {len(whole)} by all "
        f"of it" + (f" (from pair {whole[0]} on)." if len(whole) else ".")
    )
    yield f"Turned queries and keys are multiplied by {scaling.gain(schedule):.5g}."


def _memory(config: Any, description: "Description", to: int) -> Iterator[str]:
    """Yield the memory of a cache of one sequence, in numbers of two bytes."""
    values = Values(reading.load(config), {})
    rank, turned = values.count("kv_lora_rank"), values.count("qk_rope_head_dim")
    heads = values.count("num_key_value_heads")
    total = 0
    for layer in description.layers:
        width = 2 * (heads or layer.n_heads or 0) * (layer.head_dim or 0)
        width = rank + turned if rank and turned else width
        total += _kept(layer, to) * width * BYTES
    if not total:
        return
    every = " if each head has keys of its own: num_key_value_heads is not said"
    yield (
        f"A cache of {to:,} tokens takes {total / 2**30:,.2f} GiB a sequence, with two bytes a "
        f"number{'' if heads or rank else every}."
    )


def _kept(layer: "Layer", to: int) -> int:
    """Return how many tokens a layer keeps."""
    if layer.kind == "none":
        return 0
    return min(to, layer.window) if layer.kind in ("window", "chunk") and layer.window else to
