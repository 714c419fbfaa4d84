"""A layer of posenc with the weights of one of transformers', made from what the register reads."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor, nn

from posenc.attention import LatentAttention, LatentSizes, SelfAttention
from posenc.register import Layer
from posenc.register.making import make, scoring

NORMS = (("q_norm", "k_norm"), ("q_layernorm", "k_layernorm"), ("query_layernorm", "key_layernorm"))
NORMED_BEHIND = ("HunYuan", "NanoChat")  # these classes norm what is turned already
BESIDES = ("gate_proj", "g_proj", "q_gate_proj", "dt_proj", "lambda_q1")


class NotBuilt(Exception):
    """What a class does besides, which no layer of posenc does."""


class WithNorms(SelfAttention):
    """Self-attention whose queries, keys and values pass through other people's norms."""

    before: dict[str, Callable[[Tensor], Tensor]]
    behind: dict[str, Callable[[Tensor], Tensor]]

    def _in_heads(self, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        found = dict(zip("qkv", super()._in_heads(x), strict=True))
        q, k, v = (
            self.before[name](one) if name in self.before else one for name, one in found.items()
        )
        return q, k, v

    def _turned(self, q: Tensor, k: Tensor, places: Any) -> tuple[Tensor, Tensor]:
        found = dict(zip("qk", super()._turned(q, k, places), strict=True))
        q, k = (
            self.behind[name](one) if name in self.behind else one for name, one in found.items()
        )
        return q, k


def build(theirs: nn.Module, layer: Layer) -> SelfAttention:
    """Return our layer with the weights of their attention, or raise NotBuilt."""
    for name in BESIDES:
        if getattr(theirs, name, None) is not None:
            raise NotBuilt(f"{type(theirs).__name__} has {name}")
    if layer.door not in ("rotate", "none"):
        raise NotBuilt(f"the door {layer.door!r}")
    if layer.compressed:
        raise NotBuilt("keys that stand for several tokens")
    if hasattr(theirs, "o_a_proj"):
        return _shared_row(theirs, layer)
    if hasattr(theirs, "kv_b_proj"):
        return _latent(theirs, layer)
    return _plain(theirs, layer)


def _plain(theirs: nn.Module, layer: Layer) -> SelfAttention:
    d_head = layer.head_dim
    (q, k, v), out = _maps(theirs, d_head)
    n_heads, n_kv = (len(one[0]) // d_head for one in (q, k))
    if len(v[0]) != len(k[0]):
        raise NotBuilt("values of another width than keys")
    if len(out.weight) != q[0].shape[1]:
        raise NotBuilt("outputs of another width than inputs")
    ours = WithNorms(
        q[0].shape[1],
        n_heads,
        make(type(theirs).__name__, replace(layer, n_heads=n_heads)),
        causal=True,
        n_kv_heads=n_kv,
        d_head=d_head,
        window=layer.window if layer.kind == "window" else None,
        scoring=scoring(layer),
    )
    ours.before, ours.behind = _norms(theirs, n_heads, n_kv, d_head)
    with torch.no_grad():
        ours.qkv.weight.copy_(torch.cat([weight for weight, _ in (q, k, v)]))
        ours.qkv.bias.copy_(torch.cat([_offset(*one) for one in (q, k, v)]))
        ours.out.weight.copy_(out.weight)
        ours.out.bias.copy_(_offset(out.weight, out.bias))
    if hasattr(theirs, "attn_sub_norm"):
        ours.out = nn.Sequential(theirs.attn_sub_norm, ours.out)
    return _with_sinks(ours, theirs)


def _latent(theirs: nn.Module, layer: Layer) -> LatentAttention:
    if getattr(theirs, "indexer", None) is not None:
        raise NotBuilt("an indexer that chooses keys")
    sizes = LatentSizes(
        kv_rank=theirs.kv_lora_rank,
        d_plain=theirs.qk_nope_head_dim,
        d_position=theirs.qk_rope_head_dim,
        d_value=theirs.v_head_dim,
        q_rank=theirs.q_lora_rank,
    )
    n_heads = len(theirs.kv_b_proj.weight) // (sizes.d_plain + sizes.d_value)
    alone = replace(layer, n_heads=n_heads, head_dim=sizes.d_position, first=0)
    ours = LatentAttention(
        theirs.kv_a_proj_with_mqa.in_features,
        n_heads,
        make(type(theirs).__name__, alone),
        sizes,
        causal=True,
        scoring=scoring(layer),
    )
    names = {
        "key_value_down": "kv_a_proj_with_mqa",
        "key_value_norm": "kv_a_layernorm",
        "key_value": "kv_b_proj",
        "out": "o_proj",
        "query": "q_proj" if sizes.q_rank is None else "q_b_proj",
    }
    if sizes.q_rank is not None:
        names |= {"query_down": "q_a_proj", "query_norm": "q_a_layernorm"}
    for own, other in names.items():
        source = getattr(theirs, other)
        if getattr(source, "bias", None) is not None:
            raise NotBuilt(f"{other} has an offset")
        with torch.no_grad():
            getattr(ours, own).weight.copy_(source.weight)
    for own in ("key_value_norm", "query_norm")[: 1 if sizes.q_rank is None else 2]:
        getattr(ours, own).eps = getattr(theirs, names[own]).variance_epsilon
    return _with_sinks(ours, theirs)


def _shared_row(theirs: nn.Module, layer: Layer) -> LatentAttention:
    """Return DeepSeek-V4's: one row is key and value, and heads are joined in groups."""
    still = layer.head_dim - layer.turning
    sizes = LatentSizes(
        d_plain=still, d_position=layer.turning, q_rank=theirs.q_a_proj.out_features
    )
    ours = LatentAttention(
        theirs.q_a_proj.in_features,
        layer.n_heads,
        make(type(theirs).__name__, replace(layer, head_dim=layer.turning, first=0)),
        sizes,
        causal=True,
        window=layer.window,
        scoring=scoring(layer),
    )
    names = {
        "query_down": "q_a_proj",
        "query_norm": "q_a_norm",
        "query": "q_b_proj",
        "key_value_down": "kv_proj",
        "key_value_norm": "kv_norm",
    }
    groups = theirs.o_a_proj
    joined = torch.block_diag(*groups.weight.view(groups.n_groups, -1, groups.in_features))
    with torch.no_grad():
        for own, other in names.items():
            getattr(ours, own).weight.copy_(getattr(theirs, other).weight)
        ours.out.weight.copy_(theirs.o_b_proj.weight @ joined)
    for own in ("key_value_norm", "query_norm"):
        getattr(ours, own).eps = getattr(theirs, names[own]).variance_epsilon
    norm = nn.RMSNorm(sizes.d_score, eps=theirs.q_b_norm.eps, elementwise_affine=False)
    heads = nn.Unflatten(-1, (layer.n_heads, sizes.d_score))
    ours.query = nn.Sequential(ours.query, heads, norm, nn.Flatten(-2))
    return _with_sinks(ours, theirs)


def _with_sinks(ours: SelfAttention, theirs: nn.Module) -> SelfAttention:
    if ours.sinks is not None:
        with torch.no_grad():
            ours.sinks.copy_(theirs.sinks)
    return ours.eval()


def _maps(theirs: nn.Module, d_head: int) -> tuple[list[tuple[Tensor, Tensor | None]], nn.Linear]:
    """Return weight and offset of the maps of queries, keys and values, and the map of outputs."""
    names = [name for name in ("o_proj", "out_proj", "dense", "Wo") if hasattr(theirs, name)]
    if not names:
        raise NotBuilt(f"the maps of {type(theirs).__name__}")
    out = getattr(theirs, names[0])
    if hasattr(theirs, "q_proj"):
        wrapped = theirs.q_proj, theirs.k_proj, theirs.v_proj
        maps = [getattr(one, "linear", one) for one in wrapped]
        out = getattr(out, "linear", out)
        if len(maps[0].weight) != out.in_features:
            raise NotBuilt("a gate within q_proj")
        return [(one.weight, one.bias) for one in maps], out
    if type(theirs).__name__.startswith("CodeGen"):  # in four groups, values before keys
        q, v, k = theirs.qkv_proj.weight.unflatten(0, (4, 3, -1)).unbind(1)
        return [(one.flatten(0, 1), None) for one in (q, k, v)], out
    if hasattr(theirs, "qkv_proj"):
        both = theirs.qkv_proj
        n_q = out.in_features
        rows = [n_q, *[(len(both.weight) - n_q) // 2] * 2]
        offsets = [None] * 3 if both.bias is None else both.bias.split(rows)
        return list(zip(both.weight.split(rows), offsets, strict=True)), out
    if hasattr(theirs, "query_key_value"):  # head by head
        both = theirs.query_key_value
        if both.bias is None:
            raise NotBuilt("queries of several heads beside one key")
        parts = both.weight.unflatten(0, (-1, 3, d_head)).unbind(1)
        offsets = both.bias.unflatten(0, (-1, 3, d_head)).unbind(1)
        return [(w.flatten(0, 1), b.flatten()) for w, b in zip(parts, offsets, strict=True)], out
    raise NotBuilt(f"the maps of {type(theirs).__name__}")


def _offset(weight: Tensor, offset: Tensor | None) -> Tensor:
    return weight.new_zeros(len(weight)) if offset is None else offset


def _norms(theirs: nn.Module, n_heads: int, n_kv: int, d_head: int):
    """Return their norms by what they norm, for (batch, heads, length, d_head)."""
    found: dict[str, Callable[[Tensor], Tensor]] = {}
    for names in NORMS:
        for part, name in zip("qk", names, strict=True):
            if (norm := getattr(theirs, name, None)) is not None:
                found[part] = _of_heads(norm, n_heads if part == "q" else n_kv, d_head)
    if (norm := getattr(theirs, "v_norm", None)) is not None:
        found["v"] = _of_heads(norm, n_kv, d_head)
    if (norm := getattr(theirs, "qk_norm", None)) is not None:
        found |= {part: _of_heads(norm, n, d_head) for part, n in (("q", n_heads), ("k", n_kv))}
    late = type(theirs).__name__.startswith(NORMED_BEHIND)
    return ({}, found) if late else (found, {})


def _of_heads(norm: nn.Module, n_heads: int, d_head: int) -> Callable[[Tensor], Tensor]:
    weight = getattr(norm, "weight", None)
    flat = isinstance(weight, Tensor) and weight.shape == (n_heads * d_head,) and n_heads > 1

    def normed(x: Tensor) -> Tensor:
        if "PerHead" in type(norm).__name__:
            return norm(x)
        tokens = x.transpose(1, 2)
        tokens = norm(tokens.flatten(2)).view_as(tokens) if flat else norm(tokens)
        return tokens.transpose(1, 2)

    return normed
