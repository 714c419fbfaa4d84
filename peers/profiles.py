"""Profiles over distances that tokens mix, and scores that grow with the logarithm of the place."""

import torch
from torch import Tensor, nn

from peers.compare import Numbers, case
from peers.modules import D_HEAD, D_MODEL, LENGTH, N_HEADS, call, prefixed, tokens
from posenc.attention import QueryScaling, Scoring, SelfAttention
from posenc.encodings import DistanceProfiles

N_KV, N_PROFILES, REACH, TAPS, CLIP = 2, 5, 9, 4, 1.5
GROWTH = QueryScaling(beta=0.3, every=7, shift=1, smooth=True)
NOTE = (
    "Queries, keys and values are the reference's, with its short convolutions. Lengths and "
    "logarithms are in float32 there."
)
SWITCHED = (
    f"{NOTE} Gates and sinks, which tokens make there, have weights of zero, so that gates are one "
    "half; the factors of r are multiplied into its map."
)


class _Theirs(nn.Module):
    """Their queries, keys and values in one row, as our layer takes them from its map."""

    def __init__(self, layer: nn.Module, names: tuple[str, ...]) -> None:
        super().__init__()
        parts = (f"{part}_{kind}" for part in "qkv" for kind in ("proj", "sconv"))
        for name in (*(part for part in parts if hasattr(layer, part)), *names):
            setattr(self, name, getattr(layer, name))

    def forward(self, x: Tensor) -> Tensor:
        return torch.cat([self._row(name, x) for name in "qkv"], -1)

    def _row(self, name: str, x: Tensor) -> Tensor:
        row = getattr(self, f"{name}_proj")(x)
        if hasattr(self, convolution := f"{name}_sconv"):
            row = getattr(self, convolution)(row)
        if hasattr(self, bound := f"{name}_norm"):
            row = getattr(self, bound)(row.unflatten(-1, (-1, D_HEAD))).flatten(-2)
        return row


class _Inside(nn.Module):
    """Those of Inkling 2, whose maps hold convolutions and bounds; queries grow in our layer."""

    def __init__(self, layer: nn.Module) -> None:
        super().__init__()
        self.q_proj, self.k_proj, self.v_proj = layer.q_proj, layer.k_proj, layer.v_proj

    def forward(self, x: Tensor) -> Tensor:
        query, bound = self.q_proj.linear(x).unflatten(-1, (-1, D_HEAD)), self.q_proj.norm
        grows = hasattr(bound, "l2_clip")
        query = bound.l2_clip(query * bound.scale) if grows else bound(query)
        rows = (query, *(part(x).transpose(1, 2) for part in (self.k_proj, self.v_proj)))
        return torch.cat([row.flatten(-2) for row in rows], -1)


def weights(numbers: Numbers, layer: nn.Module, zero: tuple[str, ...] = ()) -> dict[str, Tensor]:
    """Return weights for all parameters of their layer, some of them zero."""
    found = {}
    for name, one in layer.named_parameters():
        if name.startswith(zero or ("no such name",)):
            found[name] = torch.zeros(one.shape, dtype=numbers.dtype)
        else:
            found[name] = numbers(name, *one.shape, scale=max(one.shape[-1], 2) ** -0.5)
    return found


def compared(
    numbers: Numbers,
    layer: nn.Module,
    named: dict[str, Tensor],
    names: tuple[str, ...],
    scoring: Scoring,
    *,
    window: int | None = None,
    clip: float | None = None,
):
    """Return what our layer and theirs make of tokens; `names` bound queries and keys."""
    x, t = tokens(numbers), torch.arange(LENGTH)
    near = t[:, None] - t < (window or LENGTH)
    mask = torch.zeros(LENGTH, LENGTH, dtype=x.dtype)
    mask = mask.masked_fill(~(near & (t <= t[:, None])), -torch.inf)[None, None]
    inside = "relative_position_bias." if hasattr(layer, "relative_position_bias") else ""
    full = bool(inside) and hasattr(layer.k_proj.sconv, "weight_proj")
    distances = [t[:, None] - t] if inside else []
    theirs, _ = call(layer, named, x, *[x, x] * full, mask, *distances, position_ids=t[None])
    position = DistanceProfiles(
        D_MODEL,
        N_HEADS,
        LENGTH,
        n_profiles=N_PROFILES,
        reach=REACH,
        clip=clip,
        query_scaling=scoring.query_scaling,
    )
    ours = SelfAttention(
        D_MODEL, N_HEADS, position, causal=True, n_kv_heads=N_KV, window=window, scoring=scoring
    ).eval()
    ours.qkv = _Inside(layer) if inside else _Theirs(layer, names)
    factor = named[f"{inside}norm.scale"].flatten()[:, None] if clip else 1
    by_distance = named[f"{inside}proj" if inside else "rel_logits_proj.proj"]
    own = {
        "out.weight": named["o_proj.linear.weight" if inside else "o_proj.weight"]
        * (0.5 if scoring.sinks else 1),
        "out.bias": torch.zeros(D_MODEL, dtype=x.dtype),
        "position.amounts.weight": named[f"{inside}linear.weight" if inside else "r_proj.weight"]
        * factor,
        "position.profiles": nn.functional.pad(by_distance.flip(-1), (0, REACH - 1)),
    }
    if scoring.sinks:
        own["sinks"] = torch.zeros(N_HEADS, dtype=x.dtype)
    kept = {name for name, _ in ours.qkv.named_parameters()}
    own |= prefixed("qkv", {name: one for name, one in named.items() if name in kept})
    return call(ours, own, x), theirs


def text_config(cls: type, kind: str, **more: object) -> object:
    """Return a small configuration of one layer."""
    heads = {"num_attention_heads": N_HEADS, "num_key_value_heads": N_KV, "head_dim": D_HEAD}
    return cls(
        hidden_size=D_MODEL,
        num_hidden_layers=1,
        layer_types=[kind],
        **heads,
        **{f"swa_{name}": value for name, value in heads.items()},
        d_rel=N_PROFILES,
        rel_extent=REACH,
        sliding_window_size=REACH,
        conv_kernel_size=TAPS,
        log_scaling_n_floor=GROWTH.every,
        log_scaling_alpha=GROWTH.beta,
        attn_implementation="eager",
        **more,
    )


def inkling(numbers: Numbers, kind: str):
    from transformers.models.inkling import configuration_inkling, modeling_inkling

    config = text_config(configuration_inkling.InklingTextConfig, kind)
    layer = modeling_inkling.InklingAttention(config, 0).eval()
    full = kind == "hybrid"
    scoring = Scoring(scale=1 / D_HEAD, query_scaling=GROWTH if full else None)
    window = None if full else REACH
    named = weights(numbers, layer)
    return compared(numbers, layer, named, ("q_norm", "k_norm"), scoring, window=window)


def inkling2(numbers: Numbers, kind: str):
    from transformers.models.inkling2 import configuration_inkling2

    bounds = {"qk_l2_clip_threshold": 2.0, "rel_l2_clip_threshold": CLIP}
    config = text_config(configuration_inkling2.Inkling2TextConfig, kind, **bounds)
    full = kind == "hybrid"
    layer = _layer_of_inkling2(full)(config, 0).eval()
    scoring = Scoring(sinks=True, query_scaling=GROWTH if full else None)
    named = weights(numbers, layer, ("o_proj.gate_proj", "sink_proj"))
    window = None if full else REACH
    return compared(numbers, layer, named, (), scoring, window=window, clip=CLIP)


def _layer_of_inkling2(full: bool) -> type[nn.Module]:
    from transformers.models.inkling2 import modeling_inkling2 as m

    return m.Inkling2FullAttention if full else m.Inkling2SlidingAttention


@case(
    "distance_profiles",
    "transformers",
    "InklingAttention, a layer that sees everything",
    note=f"{NOTE} The whole layer, whose scores grow with the place.",
    precision="float32",
)
def inkling_full(numbers: Numbers):
    return inkling(numbers, "hybrid")


@case(
    "distance_profiles",
    "transformers",
    "InklingAttention, a layer with a window",
    note=NOTE,
    precision="float32",
)
def inkling_sliding(numbers: Numbers):
    return inkling(numbers, "hybrid_sliding")


@case(
    "distance_profiles",
    "transformers",
    "Inkling2FullAttention",
    note=SWITCHED,
    precision="float32",
)
def inkling2_full(numbers: Numbers):
    return inkling2(numbers, "hybrid")


@case(
    "distance_profiles",
    "transformers",
    "Inkling2SlidingAttention",
    note=SWITCHED,
    precision="float32",
)
def inkling2_sliding(numbers: Numbers):
    return inkling2(numbers, "hybrid_sliding")
