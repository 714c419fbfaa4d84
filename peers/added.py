"""Tables that are added to the tokens."""

import math

import numpy as np
import torch
from torch import Tensor, nn

from peers.compare import Numbers, case
from peers.modules import BATCH, D_MODEL, LENGTH, N_HEADS, call, door, tokens
from peers.references import code
from posenc.encodings import DFT, TAPE, Learnable, LearnableFrequency, SineLinear, Sinusoidal
from posenc.rotation import pairing_permutation

SIZES = D_MODEL, N_HEADS, LENGTH
FAR = 4096
FLOAT32_ANGLES = "The reference computes frequencies and angles in float32."
HALVES = "The reference keeps all sines before all cosines."
OTHER_GRID = (
    "tensor2tensor's grid: its frequencies end at 1 / 10,000 exactly, with d / 2 - 1 in the place "
    "of the d / 2 of Vaswani et al. Both are in use under the same name; given the reference's "
    "frequencies, learnable_frequency agrees."
)


def sinusoidal(x: Tensor) -> Tensor:
    return door(Sinusoidal(D_MODEL, N_HEADS, x.shape[1]), "embed", x)


def in_halves(x: Tensor) -> Tensor:
    """Move the sines in front of the cosines."""
    return x[..., torch.as_tensor(pairing_permutation(D_MODEL))]


@case("sinusoidal", "annotated-transformer", "PositionalEncoding")
def annotated(numbers: Numbers):
    x = tokens(numbers)
    theirs = code("annotated-transformer", "the_annotated_transformer.py")
    return sinusoidal(x), theirs.PositionalEncoding(D_MODEL, 0.0)(x)


@case(
    "sinusoidal",
    "transformers",
    "TimeSeriesSinusoidalPositionalEmbedding",
    note=f"{HALVES} Its table is rounded to float32.",
    precision="float32",
)
def transformers_time_series(numbers: Numbers):
    from transformers.models.time_series_transformer import modeling_time_series_transformer as m

    embedding = m.TimeSeriesSinusoidalPositionalEmbedding(LENGTH, D_MODEL)
    table = embedding.create_weight()
    return in_halves(sinusoidal(tokens(numbers))), in_halves(tokens(numbers)) + table


@case(
    "sinusoidal",
    "transformers",
    "GPT-J create_sinusoidal_positions",
    note=HALVES,
)
def transformers_gptj(numbers: Numbers):
    from transformers.models.gptj.modeling_gptj import create_sinusoidal_positions

    x = tokens(numbers)
    return in_halves(sinusoidal(x)), in_halves(x) + create_sinusoidal_positions(LENGTH, D_MODEL)


@case("sinusoidal", "transformers", "Whisper sinusoids", note=HALVES, explanation=OTHER_GRID)
def transformers_whisper(numbers: Numbers):
    from transformers.models.whisper.modeling_whisper import sinusoids

    x = tokens(numbers)
    return in_halves(sinusoidal(x)), in_halves(x) + sinusoids(LENGTH, D_MODEL)


@case(
    "sinusoidal",
    "x-transformers",
    "ScaledSinusoidalEmbedding",
    note=f"{HALVES} {FLOAT32_ANGLES} Its learned gain is posenc's scale='learned'.",
    precision="float32",
)
def x_transformers_sinusoidal(numbers: Numbers):
    from x_transformers.x_transformers import ScaledSinusoidalEmbedding

    x, gain = tokens(numbers), numbers("gain", 1)
    ours = door(Sinusoidal(*SIZES, scale="learned"), "embed", x, gain=gain[0])
    theirs = call(ScaledSinusoidalEmbedding(D_MODEL), {"scale": gain}, x)
    return in_halves(ours), in_halves(x) + theirs


@case(
    "sinusoidal",
    "OpenNMT-py",
    "PositionalEncoding, SinusoidalInterleaved",
    note=f"The reference multiplies the tokens by sqrt(d) first. {FLOAT32_ANGLES}",
    precision="float32",
)
def opennmt_sinusoidal(numbers: Numbers):
    from onmt.modules.embeddings import PositionalEncoding

    x = tokens(numbers)
    theirs = PositionalEncoding(D_MODEL, "SinusoidalInterleaved")
    return sinusoidal(x * math.sqrt(D_MODEL)), theirs(x)


@case(
    "sinusoidal",
    "mvts_transformer",
    "FixedPositionalEncoding",
    note=f"The reference takes (length, batch, d). {FLOAT32_ANGLES}",
    precision="float32",
)
def mvts_sinusoidal(numbers: Numbers):
    x = tokens(numbers)
    theirs = code("mvts_transformer", "src/models/ts_transformer.py")
    encoding = theirs.FixedPositionalEncoding(D_MODEL, 0.0, LENGTH)
    return sinusoidal(x), encoding(x.transpose(0, 1)).transpose(0, 1)


@case(
    "sinusoidal",
    "mvts_transformer",
    f"FixedPositionalEncoding, {FAR} positions",
    precision="float32",
    explanation=(
        "Frequencies and angles in float32: that of position 4,095 is off by some 1e-4 radians, "
        "and so is the table. posenc computes angles in float64 and rounds the table."
    ),
)
def mvts_sinusoidal_far(numbers: Numbers):
    x = numbers("tokens", 1, FAR, D_MODEL)
    theirs = code("mvts_transformer", "src/models/ts_transformer.py")
    encoding = theirs.FixedPositionalEncoding(D_MODEL, 0.0, FAR)
    return sinusoidal(x), encoding(x.transpose(0, 1)).transpose(0, 1)


@case(
    "sinusoidal",
    "ConvTran",
    "AbsolutePositionalEncoding",
    note=FLOAT32_ANGLES,
    precision="float32",
)
def convtran_sinusoidal(numbers: Numbers):
    x = tokens(numbers)
    theirs = code("ConvTran", "Models/AbsolutePositionalEncoding.py")
    return sinusoidal(x), theirs.AbsolutePositionalEncoding(D_MODEL, 0.0, LENGTH)(x)


@case("tape", "ConvTran", "tAPE", note=FLOAT32_ANGLES, precision="float32")
def convtran_tape(numbers: Numbers):
    x = tokens(numbers)
    theirs = code("ConvTran", "Models/AbsolutePositionalEncoding.py")
    return door(TAPE(*SIZES), "embed", x), theirs.tAPE(D_MODEL, 0.0, LENGTH)(x)


@case("tape", "positional-encoding-benchmark", "tAPE", note=FLOAT32_ANGLES, precision="float32")
def survey_tape(numbers: Numbers):
    x = tokens(numbers)
    theirs = code("positional-encoding-benchmark", "src/encodings/positional_encodings.py")
    return door(TAPE(*SIZES), "embed", x), theirs.tAPE(D_MODEL, 0.0, LENGTH)(x)


@case("dft", "NumPy", "numpy.fft.rfft", note="Coefficients of the one-hot position, orthonormal.")
def numpy_dft(numbers: Numbers):
    z = np.fft.rfft(np.eye(D_MODEL), norm="ortho")
    # a real signal's coefficients come in pairs, but for the constant and the fastest
    inner = math.sqrt(2) * z[:, 1:-1]
    columns = z[:, :1].real, inner.real, -inner.imag, z[:, -1:].real
    theirs = torch.as_tensor(np.concatenate(columns, axis=1)).to(numbers.dtype)
    return DFT(D_MODEL, N_HEADS, D_MODEL).rows(D_MODEL), theirs


@case(
    "dft",
    "DFStrans",
    "DFTEncoding",
    precision="float32",
    explanation=(
        "The program is not the paper: positions count from 1, the columns are cos and sin in "
        "turn without the fastest cosine, and the factor of the first and last frequency goes to "
        "the first and last time step; published.DecayingDFT re-enacts it."
    ),
)
def dfstrans_dft(numbers: Numbers):
    x = numbers("tokens", BATCH, D_MODEL, D_MODEL)
    theirs = code("DFStrans", "positional_encodings.py").DFTEncoding(D_MODEL)
    added = theirs(x.transpose(0, 1)[..., None])[..., 0].transpose(0, 1)
    return door(DFT(D_MODEL, N_HEADS, D_MODEL), "embed", x), added


@case(
    "learnable",
    "transformers",
    "BertEmbeddings",
    note="The reference adds a token type, here zero, and ends with a layer norm, applied to both.",
)
def bert_learnable(numbers: Numbers):
    from transformers import BertConfig
    from transformers.models.bert.modeling_bert import BertEmbeddings

    x, vectors = tokens(numbers), numbers("vectors", LENGTH, D_MODEL)
    config = BertConfig(
        vocab_size=2, hidden_size=D_MODEL, max_position_embeddings=LENGTH, hidden_dropout_prob=0.0
    )
    theirs = BertEmbeddings(config)
    parameters = {
        "word_embeddings.weight": torch.zeros(2, D_MODEL),
        "token_type_embeddings.weight": torch.zeros(2, D_MODEL),
        "position_embeddings.weight": vectors,
        "LayerNorm.weight": torch.ones(D_MODEL),
        "LayerNorm.bias": torch.zeros(D_MODEL),
    }
    ours = door(Learnable(*SIZES), "embed", x, vectors=vectors)
    ours = nn.functional.layer_norm(ours, (D_MODEL,), eps=config.layer_norm_eps)
    return ours, call(theirs, parameters, inputs_embeds=x)


@case(
    "learnable",
    "x-transformers",
    "AbsolutePositionalEmbedding",
    note="The reference multiplies its table by d**-0.5.",
)
def x_transformers_learnable(numbers: Numbers):
    from x_transformers.x_transformers import AbsolutePositionalEmbedding

    x, vectors = tokens(numbers), numbers("vectors", LENGTH, D_MODEL)
    theirs = call(AbsolutePositionalEmbedding(D_MODEL, LENGTH), {"emb.weight": vectors}, x)
    return door(Learnable(*SIZES), "embed", x, vectors=vectors * D_MODEL**-0.5), x + theirs


@case("learnable", "mvts_transformer", "LearnablePositionalEncoding")
def mvts_learnable(numbers: Numbers):
    x, vectors = tokens(numbers), numbers("vectors", LENGTH, D_MODEL)
    theirs = code("mvts_transformer", "src/models/ts_transformer.py")
    encoding = theirs.LearnablePositionalEncoding(D_MODEL, 0.0, LENGTH)
    added = call(encoding, {"pe": vectors[:, None]}, x.transpose(0, 1)).transpose(0, 1)
    return door(Learnable(*SIZES), "embed", x, vectors=vectors), added


@case("learnable", "ConvTran", "LearnablePositionalEncoding")
def convtran_learnable(numbers: Numbers):
    x, vectors = tokens(numbers), numbers("vectors", LENGTH, D_MODEL)
    theirs = code("ConvTran", "Models/AbsolutePositionalEncoding.py")
    encoding = theirs.LearnablePositionalEncoding(D_MODEL, 0.0, LENGTH)
    return door(Learnable(*SIZES), "embed", x, vectors=vectors), call(encoding, {"pe": vectors}, x)


def positions(numbers: Numbers) -> Tensor:
    return torch.arange(LENGTH, dtype=numbers.dtype)


def logarithms(numbers: Numbers) -> Tensor:
    """Return the logarithms of frequencies around 0.05 radians per position."""
    return numbers("log omega", D_MODEL // 2) - 3


@case(
    "learnable_frequency",
    "PyTorch Geometric",
    "tgn.TimeEncoder",
    note="The reference has cosines of any phase: sines are cosines with the phase -pi / 2.",
)
def geometric_frequency(numbers: Numbers):
    from torch_geometric.nn.models.tgn import TimeEncoder

    x, log_omega = tokens(numbers), logarithms(numbers)
    phase = torch.tensor([-math.pi / 2, 0.0]).repeat(D_MODEL // 2)
    weight = log_omega.exp().repeat_interleave(2)[:, None]
    encoder = TimeEncoder(D_MODEL)
    theirs = call(encoder, {"lin.weight": weight, "lin.bias": phase}, positions(numbers))
    return door(LearnableFrequency(*SIZES), "embed", x, log_omega=log_omega), x + theirs


@case(
    "learnable_frequency",
    "rtdl_num_embeddings",
    "PeriodicEmbeddings",
    note=(
        "The reference learns omega / (2 pi), has cosines before sines and a linear map behind, "
        "here the one that puts them in turn."
    ),
)
def rtdl_frequency(numbers: Numbers):
    from rtdl_num_embeddings import PeriodicEmbeddings

    x, log_omega = tokens(numbers), logarithms(numbers)
    encoder = PeriodicEmbeddings(
        1, D_MODEL, n_frequencies=D_MODEL // 2, activation=False, lite=False
    )
    half = torch.eye(D_MODEL // 2)
    in_turn = torch.zeros(1, D_MODEL, D_MODEL)
    in_turn[0, : D_MODEL // 2, 1::2] = in_turn[0, D_MODEL // 2 :, ::2] = half
    parameters = {
        "periodic.weight": log_omega.exp()[None] / (2 * math.pi),
        "linear.weight": in_turn,
        "linear.bias": torch.zeros(1, D_MODEL),
    }
    theirs = call(encoder, parameters, positions(numbers)[:, None])[:, 0]
    return door(LearnableFrequency(*SIZES), "embed", x, log_omega=log_omega), x + theirs


@case(
    "learnable_frequency",
    "transformers",
    "Whisper sinusoids",
    note=f"Given the reference's frequencies. {HALVES}",
)
def whisper_frequency(numbers: Numbers):
    from transformers.models.whisper.modeling_whisper import sinusoids

    x, half = tokens(numbers), D_MODEL // 2
    log_omega = -math.log(10_000) * torch.arange(half) / (half - 1)
    ours = door(LearnableFrequency(*SIZES), "embed", x, log_omega=log_omega)
    return in_halves(ours), in_halves(x) + sinusoids(LENGTH, D_MODEL)


@case("sine_linear", "spacetimeformer", "Time2Vec")
def spacetimeformer_time2vec(numbers: Numbers):
    x, weight, phase = tokens(numbers), numbers("weight", D_MODEL), numbers("phase", D_MODEL)
    encoder = code("spacetimeformer", "spacetimeformer/time2vec.py").Time2Vec(1, D_MODEL)
    parameters = {"embed_weight": weight[None], "embed_bias": phase[None]}
    theirs = call(encoder, parameters, positions(numbers)[None, :, None])
    return door(SineLinear(*SIZES), "embed", x, weight=weight, phase=phase), x + theirs
