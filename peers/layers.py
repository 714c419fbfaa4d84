"""Attention itself, layers and whole models, in which encodings are at home."""

import math

import torch
from torch import Tensor, nn

from peers.biases import feed_forward
from peers.compare import Numbers, case
from peers.modules import (
    BATCH,
    D_HEAD,
    D_MODEL,
    LENGTH,
    N_HEADS,
    Maps,
    attended,
    call,
    prefixed,
    tokens,
)
from peers.references import code
from peers.relative import CONVTRAN, convtran_maps
from posenc.encodings import Learnable, NoPosition, Sinusoidal
from posenc.models import EncoderLayer, PatchTransformer, TimeSeriesTransformer

D_FF, N_LAYERS, N_CHANNELS, N_CLASSES, PATCH = 64, 2, 3, 5, 4


def no_position() -> NoPosition:
    return NoPosition(D_MODEL, N_HEADS, LENGTH)


def padded() -> Tensor:
    """Return a mask in which the second series ends early."""
    mask = torch.ones(BATCH, LENGTH, dtype=torch.bool)
    mask[1, LENGTH // 2 :] = False
    return mask


def in_projection(maps: Maps) -> dict[str, Tensor]:
    """Return the maps as `nn.MultiheadAttention` keeps them."""
    own = maps.own()
    return {
        "in_proj_weight": own["qkv.weight"],
        "in_proj_bias": own["qkv.bias"],
        "out_proj.weight": maps.o,
        "out_proj.bias": maps.bo,
    }


@case("none", "PyTorch", "nn.MultiheadAttention")
def multihead(numbers: Numbers):
    x, maps = tokens(numbers), Maps(numbers)
    attention = nn.MultiheadAttention(D_MODEL, N_HEADS, batch_first=True)
    theirs, _ = call(attention, in_projection(maps), x, x, x, need_weights=False)
    return attended(no_position(), maps, x), theirs


@case("none", "PyTorch", "nn.MultiheadAttention, padded", note="At the real tokens.")
def multihead_padded(numbers: Numbers):
    x, maps, mask = tokens(numbers), Maps(numbers), padded()
    attention = nn.MultiheadAttention(D_MODEL, N_HEADS, batch_first=True)
    theirs, _ = call(attention, in_projection(maps), x, x, x, key_padding_mask=~mask)
    return attended(no_position(), maps, x, mask)[mask], theirs[mask]


@case("none", "annotated-transformer", "MultiHeadedAttention")
def annotated(numbers: Numbers):
    x, maps = tokens(numbers), Maps(numbers)
    theirs = code("annotated-transformer", "the_annotated_transformer.py")
    attention = theirs.MultiHeadedAttention(N_HEADS, D_MODEL, 0.0)
    names = maps.named(*(f"linears.{i}" for i in range(4)))
    return attended(no_position(), maps, x), call(attention, names, x, x, x)


@case(
    "none",
    "x-transformers",
    "Attention",
    note="The reference takes the softmax in float32.",
    precision="float32",
)
def x_transformers(numbers: Numbers):
    from x_transformers.x_transformers import Attention

    x, maps = tokens(numbers), Maps(numbers, offsets=False)
    attention = Attention(D_MODEL, dim_head=D_HEAD, heads=N_HEADS)
    names = maps.named("to_q", "to_k", "to_v", "to_out", offsets=False)
    return attended(no_position(), maps, x), call(attention, names, x)


@case("none", "ConvTran", "Attention", note=CONVTRAN)
def convtran(numbers: Numbers):
    x = tokens(numbers)
    maps, parameters = convtran_maps(numbers)
    attention = code("ConvTran", "Models/Attention.py").Attention(D_MODEL, N_HEADS, 0.0)
    ours = attended(no_position(), maps, x)
    return nn.functional.layer_norm(ours, (D_MODEL,)), call(attention, parameters, x)


def layer_weights(numbers: Numbers, index: int = 0) -> tuple[dict[str, Tensor], dict[str, Tensor]]:
    """Return the weights of an `EncoderLayer` and of PyTorch's."""
    prefix = f"layer {index} "
    maps, layer = Maps(numbers, prefix=prefix), feed_forward(numbers, D_FF, prefix)
    names = {
        "expand": "linear1",
        "contract": "linear2",
        "attention_norm": "norm1",
        "feed_forward_norm": "norm2",
    }
    theirs = prefixed("self_attn", in_projection(maps))
    for name, weight in layer.items():
        part, kind = name.split(".")
        theirs[f"{names[part]}.{kind}"] = weight
    return layer | prefixed("attention", maps.own()), theirs


def encoder_layer(numbers: Numbers, norm_first: bool):
    x, (own, other) = tokens(numbers), layer_weights(numbers)
    theirs = nn.TransformerEncoderLayer(
        D_MODEL, N_HEADS, D_FF, 0.0, "gelu", batch_first=True, norm_first=norm_first
    )
    ours = EncoderLayer(no_position(), D_FF, 0.0, 0.0, "layer", norm_first)
    return call(ours.eval(), own, x, None, None), call(theirs.eval(), other, x)


@case("none", "PyTorch", "nn.TransformerEncoderLayer, norm behind")
def norm_behind(numbers: Numbers):
    return encoder_layer(numbers, False)


@case("none", "PyTorch", "nn.TransformerEncoderLayer, norm first")
def norm_first(numbers: Numbers):
    return encoder_layer(numbers, True)


class _Patches(nn.Module):
    """A transformer over patches, of PyTorch's own parts."""

    def __init__(self) -> None:
        super().__init__()
        layer = nn.TransformerEncoderLayer(D_MODEL, N_HEADS, D_FF, 0.0, "gelu", batch_first=True)
        self.patches = nn.Conv1d(N_CHANNELS, D_MODEL, PATCH, PATCH)
        self.encoder = nn.TransformerEncoder(layer, N_LAYERS, enable_nested_tensor=False)
        self.head = nn.Sequential(nn.Linear(D_MODEL, D_FF), nn.GELU(), nn.Linear(D_FF, N_CLASSES))

    def forward(self, x: Tensor) -> Tensor:
        tokens = self.patches(x.transpose(1, 2)).transpose(1, 2)
        return self.head(self.encoder(tokens).mean(1))


@case("none", "PyTorch", "nn.Conv1d, nn.TransformerEncoder, nn.Linear: the patch model")
def patch_model(numbers: Numbers):
    x = numbers("series", BATCH, LENGTH, N_CHANNELS)
    common = {
        "patches.weight": numbers("patches", D_MODEL, N_CHANNELS, PATCH, scale=0.3),
        "patches.bias": numbers("patch offset", D_MODEL),
        "head.0.weight": numbers("head 0", D_FF, D_MODEL, scale=D_MODEL**-0.5),
        "head.0.bias": numbers("head 0 offset", D_FF),
        "head.2.weight": numbers("head 2", N_CLASSES, D_FF, scale=D_FF**-0.5),
        "head.2.bias": numbers("head 2 offset", N_CLASSES),
    }
    own, other = dict(common), dict(common)
    for i in range(N_LAYERS):
        weights = layer_weights(numbers, i)
        own |= prefixed(f"layers.{i}", weights[0])
        other |= prefixed(f"encoder.layers.{i}", weights[1])
    ours = PatchTransformer(
        N_CHANNELS, N_CLASSES, LENGTH, "none", D_MODEL, N_HEADS, N_LAYERS, D_FF, 0.0, patch=PATCH
    )
    return call(ours.eval(), own, x), call(_Patches().eval(), other, x)


def mvts():
    return code("mvts_transformer", "src/models/ts_transformer.py")


def batch_norm_layers(numbers: Numbers, *, training: bool, mask: Tensor | None = None):
    """Return both sides of one layer with batch norm, at the real tokens."""
    x, (own, other) = tokens(numbers), layer_weights(numbers)
    theirs = mvts().TransformerBatchNormEncoderLayer(D_MODEL, N_HEADS, D_FF, 0.0, "gelu")
    ours = EncoderLayer(no_position(), D_FF, 0.0, 0.0, "batch", False)
    hidden = None if mask is None else ~mask
    result = call(ours.train(training), own, x, mask, None)
    # the reference takes (length, batch, d)
    reference = call(
        theirs.train(training), other, x.transpose(0, 1), src_key_padding_mask=hidden
    ).transpose(0, 1)
    return (result, reference) if mask is None else (result[mask], reference[mask])


@case("none", "mvts_transformer", "TransformerBatchNormEncoderLayer, training")
def batch_norm_training(numbers: Numbers):
    return batch_norm_layers(numbers, training=True)


@case(
    "none",
    "mvts_transformer",
    "TransformerBatchNormEncoderLayer, evaluation, padded",
    note="At the real tokens.",
)
def batch_norm_evaluation(numbers: Numbers):
    return batch_norm_layers(numbers, training=False, mask=padded())


@case(
    "none",
    "mvts_transformer",
    "TransformerBatchNormEncoderLayer, training, padded",
    explanation=(
        "The reference counts padded steps in the mean and variance of a batch; posenc leaves "
        "them out."
    ),
)
def batch_norm_padded(numbers: Numbers):
    return batch_norm_layers(numbers, training=True, mask=padded())


class _Zerveas(nn.Module):
    """posenc's model with the GELU that the reference has between tokens and head."""

    def __init__(self, position: str) -> None:
        super().__init__()
        self.model = TimeSeriesTransformer(
            N_CHANNELS,
            N_CLASSES,
            LENGTH,
            position,
            D_MODEL,
            N_HEADS,
            N_LAYERS,
            D_FF,
            0.0,
            pooling="flatten",
        )

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        tokens, mask = self.model.encode(x, mask)
        real = nn.functional.gelu(tokens) * mask[..., None]
        return self.model.head(real.flatten(1))


def _without_causality(layer: nn.Module) -> None:
    """Let a layer of 2021 be called by today's `nn.TransformerEncoder`."""
    forward = layer.forward

    def of_today(x: Tensor, src_mask: Tensor | None, src_key_padding_mask: Tensor, **_) -> Tensor:
        return forward(x, src_mask, src_key_padding_mask)

    layer.forward = of_today


def classifier(numbers: Numbers, encoding: str, name: str, position: type):
    theirs = mvts().TSTransformerEncoderClassiregressor(
        N_CHANNELS, LENGTH, D_MODEL, N_HEADS, N_LAYERS, D_FF, N_CLASSES, 0.0, name
    )
    for layer in theirs.transformer_encoder.layers:
        _without_causality(layer)
    x = numbers("series", BATCH, LENGTH, N_CHANNELS)
    weight = numbers("projection", D_MODEL, N_CHANNELS, scale=0.05)
    offset = numbers("offset", D_MODEL, scale=0.05)
    head = numbers("head", N_CLASSES, D_MODEL * LENGTH, scale=(D_MODEL * LENGTH) ** -0.5)
    head_offset = numbers("head offset", N_CLASSES)
    ours = _Zerveas(encoding)
    norm = ours.model.input_norm
    own = {
        "project.weight": weight * math.sqrt(D_MODEL),
        "project.bias": offset * math.sqrt(D_MODEL),
        # undoes the norm of the input, which the reference has not
        "input_norm.weight": (norm.running_var + norm.eps).sqrt(),
        "input_norm.bias": norm.running_mean,
        "head.weight": head,
        "head.bias": head_offset,
    }
    other = {
        "project_inp.weight": weight,
        "project_inp.bias": offset,
        "output_layer.weight": head,
        "output_layer.bias": head_offset,
    }
    if position is Learnable:
        vectors = numbers("vectors", LENGTH, D_MODEL, scale=0.3)
        own["layers.0.attention.position.vectors"] = vectors
        other["pos_enc.pe"] = vectors[:, None]
    for i in range(N_LAYERS):
        weights = layer_weights(numbers, i)
        own |= prefixed(f"layers.{i}", weights[0])
        other |= prefixed(f"transformer_encoder.layers.{i}", weights[1])
    mask = padded()
    result = call(ours.eval(), prefixed("model", own), x, mask)
    return result, call(theirs.eval(), other, x, mask)


ZERVEAS = (
    "Logits in evaluation, one series padded. The reference multiplies the embedded tokens by "
    "sqrt(d) and has no norm on them, as the weights here make up for, and a GELU between tokens "
    "and head, which is put into posenc's model. Its layers do not know the argument is_causal of "
    "today's nn.TransformerEncoder, which is kept from them."
)


@case(
    "sinusoidal",
    "mvts_transformer",
    "TSTransformerEncoderClassiregressor, fixed",
    note=f"{ZERVEAS} It computes angles in float32.",
    precision="float32",
)
def classifier_fixed(numbers: Numbers):
    return classifier(numbers, "sinusoidal", "fixed", Sinusoidal)


@case(
    "learnable",
    "mvts_transformer",
    "TSTransformerEncoderClassiregressor, learnable",
    note=ZERVEAS,
)
def classifier_learnable(numbers: Numbers):
    return classifier(numbers, "learnable", "learnable", Learnable)
