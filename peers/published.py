"""Re-enactments of the audit beside the programs that they re-enact."""

import torch
from torch import nn

from peers.compare import Numbers, case
from peers.layers import in_projection, no_position
from peers.modules import D_HEAD, D_MODEL, LENGTH, N_HEADS, Maps, attended, call, door
from peers.modules import tokens as random_tokens
from peers.references import code
from peers.relative import CONVTRAN, convtran_maps
from posenc_book.audit import published

SIZES = D_MODEL, N_HEADS, LENGTH
FLOAT32_ANGLES = "The reference computes angles in float32."


def survey():
    return code("positional-encoding-benchmark", "src/encodings/positional_encodings.py")


@case(
    "published.BatchIndexed",
    "positional-encoding-benchmark",
    "FixedPositionalEncoding",
    note=f"Given (batch, length, d), as its model does. {FLOAT32_ANGLES}",
    precision="float32",
)
def batch_indexed(numbers: Numbers):
    x = random_tokens(numbers)
    return door(published.BatchIndexed(*SIZES), "embed", x), survey().FixedPositionalEncoding(
        D_MODEL, 0.0
    )(x)


@case(
    "published.FixedSPE",
    "positional-encoding-benchmark",
    "SineSPE",
    note=FLOAT32_ANGLES,
    precision="float32",
)
def fixed_spe(numbers: Numbers):
    x = random_tokens(numbers)
    return door(published.FixedSPE(*SIZES), "embed", x), x + survey().SineSPE(D_MODEL)(LENGTH)


@case(
    "published.InputOnlyTPE",
    "positional-encoding-benchmark",
    "TemporalPositionalEncoding",
    note=FLOAT32_ANGLES,
    precision="float32",
)
def input_only_tpe(numbers: Numbers):
    x = random_tokens(numbers)
    theirs = survey().TemporalPositionalEncoding(D_MODEL)
    return door(published.InputOnlyTPE(*SIZES), "embed", x), x + theirs(x)


@case("published.TokenConvolution", "positional-encoding-benchmark", "ConvSPE")
def token_convolution(numbers: Numbers):
    x = random_tokens(numbers)
    weight = numbers("weight", D_MODEL, D_MODEL, 3, scale=0.1)
    offset = numbers("offset", D_MODEL)
    own = {"convolution.weight": weight, "convolution.bias": offset}
    ours = door(published.TokenConvolution(*SIZES), "embed", x, **own)
    names = {"conv.weight": weight, "conv.bias": offset}
    return ours, call(survey().ConvSPE(N_HEADS, D_MODEL), names, x)


@case(
    "published.UnmaskedSkew",
    "ConvTran",
    "Attention_Rel_Vec",
    note=CONVTRAN,
)
def unmasked_skew(numbers: Numbers):
    x, vectors = random_tokens(numbers), numbers("vectors", LENGTH, D_HEAD)
    maps, parameters = convtran_maps(numbers)
    attention = code("ConvTran", "Models/Attention.py").Attention_Rel_Vec(*SIZES, 0.0)
    ours = attended(published.UnmaskedSkew(*SIZES), maps, x, vectors=vectors)
    theirs = call(attention, parameters | {"Er": vectors}, x)
    return nn.functional.layer_norm(ours, (D_MODEL,)), theirs


@case(
    "published.DecayingDFT",
    "DFStrans",
    "DFTEncoding, three calls",
    note=f"The reference takes (length, batch, d, sensors). {FLOAT32_ANGLES}",
    precision="float32",
)
def decaying_dft(numbers: Numbers):
    x = random_tokens(numbers)
    ours = published.DecayingDFT(*SIZES)
    theirs = code("DFStrans", "positional_encodings.py").DFTEncoding(D_MODEL)
    calls = [(ours.embed(x), theirs(x.transpose(0, 1)[..., None])) for _ in range(3)]
    mine, reference = zip(*calls, strict=True)
    return torch.stack(mine), torch.stack(reference)[..., 0].transpose(1, 2)


@case(
    "published.AcrossBatch",
    "PyTorch",
    "nn.MultiheadAttention, batch_first=False",
    note="Given (batch, length, d), as the survey's model does.",
)
def across_batch(numbers: Numbers):
    x, maps = random_tokens(numbers), Maps(numbers)
    layer = published.AcrossBatch(D_MODEL, N_HEADS, no_position()).eval()
    theirs, _ = call(nn.MultiheadAttention(D_MODEL, N_HEADS), in_projection(maps), x, x, x)
    return call(layer, maps.own(), x), theirs
