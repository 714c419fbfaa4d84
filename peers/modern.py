"""Encodings that came to the library later: of today's language models, of images, of series."""

import math
import sys
from collections.abc import Callable
from importlib import resources
from types import ModuleType, SimpleNamespace

import numpy as np
import pandas as pd
import torch
from torch import Tensor, nn
from torch.nn.functional import normalize, pad

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
    door,
    tokens,
)
from peers.references import code
from posenc import encodings
from posenc.attention import Places, Scoring, SelfAttention
from posenc.encodings import wavelets

SIZES = D_MODEL, N_HEADS, LENGTH
REACH = 7
N_POSITIONS = 16
WINDOW, AROUND = 9, 4
THRESHOLD = 20.0
SEEN = torch.ones(LENGTH, LENGTH, dtype=torch.bool).tril()
IN_FLOAT32 = "The reference computes angles in float32."


def queries_and_keys(numbers: Numbers) -> tuple[Tensor, Tensor]:
    shape = BATCH, N_HEADS, LENGTH, D_HEAD
    return numbers("queries", *shape), numbers("keys", *shape)


def rotated(numbers: Numbers, position: nn.Module, **parameters: Tensor) -> Tensor:
    """Return the scores, not yet divided, of queries and keys behind the door `rotate`."""
    q, k = door(position, "rotate", *queries_and_keys(numbers), **parameters)
    return q @ k.mT


# -- DeBERTa ---------------------------------------------------------------------------------------


def deberta(numbers: Numbers, formula: str):
    from transformers import DebertaConfig
    from transformers.models.deberta.modeling_deberta import DisentangledSelfAttention

    config = DebertaConfig(
        hidden_size=D_MODEL,
        num_attention_heads=N_HEADS,
        relative_attention=True,
        pos_att_type=["c2p", "p2c"],
        max_relative_positions=REACH,
        hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0,
    )
    x, maps = tokens(numbers), Maps(numbers)
    maps.bk = maps.bo = torch.zeros(D_MODEL)  # their keys have no offset, nor is there an output
    maps.o = torch.eye(D_MODEL)
    vectors = numbers("vectors", 2 * REACH, D_MODEL)
    query, key = (numbers(name, D_MODEL, D_MODEL, scale=0.2) for name in ("W_r", "U_r"))
    parameters = {
        "in_proj.weight": maps.by_head()[0],
        "q_bias": maps.bq,
        "v_bias": maps.bv,
        "pos_proj.weight": key,
        "pos_q_proj.weight": query,
        "pos_q_proj.bias": torch.zeros(D_MODEL),
    }
    t = torch.arange(LENGTH)
    theirs, _ = call(
        DisentangledSelfAttention(config),
        parameters,
        x,
        torch.ones(BATCH, 1, LENGTH, LENGTH),
        relative_pos=(t[:, None] - t)[None],
        rel_embeddings=vectors,
    )
    position = encodings.DeBERTa(*SIZES, max_distance=REACH, formula=formula)
    own = {"vectors": vectors, "query.weight": query, "key.weight": key}
    return attended(position, maps, x, **own), theirs


@case(
    "deberta",
    "transformers",
    "DisentangledSelfAttention",
    note="With formula='program'. The reference takes the root of 3 d_head in float32.",
    precision="float32",
)
def deberta_program(numbers: Numbers):
    return deberta(numbers, "program")


@case(
    "deberta",
    "transformers",
    "DisentangledSelfAttention, beside the paper's formula",
    precision="float32",
    explanation=(
        "In the paper's third term the key asks for the offset from the key to the query, in the "
        "program for the one from the query to the key. posenc has both, and the paper's by "
        "default."
    ),
)
def deberta_paper(numbers: Numbers):
    return deberta(numbers, "paper")


# -- Transformer-XL --------------------------------------------------------------------------------


def of_offsets(numbers: Numbers) -> tuple[Tensor, Tensor, Tensor]:
    """Return the map of sinusoids and the two vectors of each head."""
    u, v = (numbers(name, N_HEADS, D_HEAD) for name in "uv")
    return numbers("W_kR", D_MODEL, D_MODEL, scale=D_MODEL**-0.5), u, v


def sinusoids(offset: Tensor) -> Tensor:
    """Return all sines, then all cosines, of offsets (n,): (n, d_model)."""
    omega = 10_000.0 ** (-torch.arange(0, D_MODEL, 2, dtype=torch.float64) / D_MODEL)
    angles = offset[:, None].double() * omega
    return torch.cat((angles.sin(), angles.cos()), -1)


@case(
    "transformer_xl",
    "transformers",
    "XLNetRelativeAttention.rel_attn_core",
    note="XLNet took these scores over and looks both ways. The softmax of both is compared.",
)
def xlnet(numbers: Numbers):
    from transformers import XLNetConfig
    from transformers.models.xlnet.modeling_xlnet import XLNetRelativeAttention

    config = XLNetConfig(d_model=D_MODEL, n_head=N_HEADS, d_inner=8, dropout=0.0)
    theirs = XLNetRelativeAttention(config)
    project, u, v = of_offsets(numbers)
    del theirs.r_w_bias, theirs.r_r_bias  # so that gradients reach the numbers
    theirs.r_w_bias, theirs.r_r_bias = u, v
    waves = sinusoids(torch.arange(LENGTH, -LENGTH, -1)).to(numbers.dtype) @ project.mT
    waves = waves.unflatten(-1, (N_HEADS, D_HEAD))[:, None].expand(-1, BATCH, -1, -1)
    q, k = (a.permute(2, 0, 1, 3) for a in queries_and_keys(numbers))
    _, weights = theirs.rel_attn_core(q, k, k, waves, output_attentions=True)
    own = {"project.weight": project, "of_content": u[:, None], "of_offset": v[:, None]}
    scores = rotated(numbers, encodings.TransformerXL(*SIZES), **own)
    return (scores * D_HEAD**-0.5).softmax(-1), weights.permute(2, 3, 0, 1)


@case(
    "transformer_xl",
    "transformer-xl",
    "RelPartialLearnableMultiHeadAttn",
    note=(
        "The authors' layer, causal, behind its residual path and layer norm. It masks its scores "
        "in float32."
    ),
    precision="float32",
)
def transformer_xl(numbers: Numbers):
    layer = code("transformer-xl", "pytorch/mem_transformer.py").RelPartialLearnableMultiHeadAttn
    x, maps = tokens(numbers), Maps(numbers, offsets=False)
    project, u, v = of_offsets(numbers)
    parameters = {
        "qkv_net.weight": torch.cat((maps.q, maps.k, maps.v)),
        "o_net.weight": maps.o,
        "r_net.weight": project,
        "layer_norm.weight": torch.ones(D_MODEL),
        "layer_norm.bias": torch.zeros(D_MODEL),
    }
    r = sinusoids(torch.arange(LENGTH - 1, -1, -1)).to(numbers.dtype)[:, None]
    later = torch.ones(LENGTH, LENGTH, dtype=torch.bool).triu(1)[..., None]
    theirs = call(layer(N_HEADS, D_MODEL, D_HEAD, 0.0), parameters, x.mT.permute(2, 0, 1), r, u, v,
                  attn_mask=later)  # fmt: skip
    own = {"project.weight": project, "of_content": u[:, None], "of_offset": v[:, None]}
    seen = ~later[..., 0][None]
    ours = x + attended(encodings.TransformerXL(*SIZES), maps, x, seen, **own)
    return nn.functional.layer_norm(ours, (D_MODEL,)), theirs.transpose(0, 1)


# -- terms on the scores ---------------------------------------------------------------------------


def bias(position: nn.Module, numbers: Numbers, **parameters: Tensor) -> Tensor:
    """Return what an encoding adds in a causal layer to keys up to the query."""
    q, k = queries_and_keys(numbers)
    x = torch.ones(BATCH, LENGTH, D_MODEL)
    return door(position, "bias", x, q, k, Places.of(x, causal=True), **parameters).tril()


def kerple(numbers: Numbers, kernel: str):
    layers = code("KERPLE", "megatron/mpu/layers.py")
    scale = numbers("log_scale", N_HEADS, scale=0.3) - 1
    raw = numbers("raw_rate", N_HEADS, scale=0.3)
    named = {"log": layers.ParallelKerpleLog, "power": layers.ParallelKerplePower}
    theirs = named[kernel].__new__(named[kernel])  # its constructor asks for a GPU
    nn.Module.__init__(theirs)
    theirs.eps, theirs.cached_matrix, theirs.cached_seq_len = 1e-2, None, None
    of_log = raw.exp() if kernel == "log" else 2 * raw.sigmoid()
    outer, inner = scale.exp()[:, None, None], of_log[:, None, None]
    theirs.bias_p, theirs.bias_a = (outer, inner) if kernel == "log" else (inner, outer)
    theirs.wei_a = theirs.wei_p = None
    # keys up to the query: for later ones the reference, which is causal, has distance 0
    added = theirs.forward(torch.zeros(1, N_HEADS, LENGTH, LENGTH)).tril()
    own = {"log_scale": scale, "raw_rate": raw}
    return bias(encodings.Kerple(*SIZES, kernel=kernel), numbers, **own)[None], added


KERPLE_NOTE = (
    "What is added to scores. The reference clips its numbers from below, here reached by none."
)


@case("kerple", "KERPLE", "ParallelKerpleLog", note=KERPLE_NOTE)
def kerple_log(numbers: Numbers):
    return kerple(numbers, "log")


@case("kerple", "KERPLE", "ParallelKerplePower", note=KERPLE_NOTE)
def kerple_power(numbers: Numbers):
    return kerple(numbers, "power")


@case(
    "fire",
    "arithmetic",
    "FIRE",
    note=(
        "The module of the paper's appendix as McLeish et al. have it, in evaluation and in "
        "float32. Its last map has an offset, which the softmax does not see, here zero."
    ),
    precision="float32",
)
def fire(numbers: Numbers):
    module = code("arithmetic", "cramming/architectures/embeddings.py").FIRE
    rate, stretch = numbers("rate").abs() + 0.1, numbers("stretch").abs() + 0.5
    hidden, shift = numbers("hidden", 32, 1), numbers("shift", 32)
    output = numbers("output", N_HEADS, 32, scale=32**-0.5)
    parameters = {
        "mlp.0.weight": hidden,
        "mlp.0.bias": shift,
        "mlp.2.weight": output,
        "mlp.2.bias": torch.zeros(N_HEADS),
        "c": rate,
        "init_L": torch.tensor(THRESHOLD),
        "L_multiplier": stretch,
    }
    in_float32 = {name: value.float() for name, value in parameters.items()}
    theirs = call(module(N_HEADS).eval(), in_float32, LENGTH, torch.device("cpu"))
    own = {"rate": rate, "stretch": stretch, "output.weight": output}
    own |= {"hidden.weight": hidden, "hidden.bias": shift}
    ours = bias(encodings.FIRE(*SIZES, threshold=THRESHOLD), numbers, **own)
    return ours, theirs.tril().to(numbers.dtype)


@case(
    "cope",
    "x-transformers",
    "CoPE",
    note="What is added to the scores of a causal layer, for keys up to the query.",
)
def cope(numbers: Numbers):
    from x_transformers.x_transformers import CoPE

    q, k = queries_and_keys(numbers)
    vectors = numbers("vectors", N_POSITIONS, D_HEAD)
    later = torch.ones(LENGTH, LENGTH, dtype=torch.bool).triu(1)
    logits = (q @ k.mT / math.sqrt(D_HEAD)).masked_fill(later, -1e30)
    theirs = call(CoPE(D_HEAD, N_HEADS, N_POSITIONS), {"pos_emb": vectors}, q, logits)
    position = encodings.CoPE(*SIZES, n_positions=N_POSITIONS)
    return bias(position, numbers, vectors=vectors), theirs.tril()


def fox(numbers: Numbers, theirs: Callable[..., Tensor]) -> tuple[Tensor, Tensor]:
    """Return what causal attention with gates puts out, ours and that of a function of theirs.

    The function gets queries, keys and values (batch, heads, length, d_head), and what goes into
    the gates' sigmoid, (batch, length, heads).
    """
    (q, k), x = queries_and_keys(numbers), tokens(numbers)
    v = numbers("values", BATCH, N_HEADS, LENGTH, D_HEAD)
    own = {"gate.weight": numbers("W_f", N_HEADS, D_MODEL, scale=0.2)}
    own["gate.bias"] = numbers("b_f", N_HEADS) + 1
    places = Places.of(x, causal=True)
    added = door(encodings.FoX(*SIZES), "bias", x, q, k, places, **own)
    scores = (q @ k.mT / math.sqrt(D_HEAD) + added).masked_fill(~SEEN, -math.inf)
    return scores.softmax(-1) @ v, theirs(q, k, v, x @ own["gate.weight"].mT + own["gate.bias"])


@case(
    "fox",
    "flash-linear-attention",
    "naive_forgetting_attn",
    note=(
        "The plain function beside which its authors test their kernel; outputs of causal "
        "attention. It computes in float32."
    ),
    precision="float32",
)
def fla_fox(numbers: Numbers):
    naive = code("flash-linear-attention", "fla/ops/forgetting_attn/naive.py")

    def theirs(q: Tensor, k: Tensor, v: Tensor, gates: Tensor) -> Tensor:
        q, k, v = (a.transpose(1, 2) for a in (q, k, v))
        out = naive.naive_forgetting_attn(q, k, v, nn.functional.logsigmoid(gates))
        return out.transpose(1, 2).to(numbers.dtype)

    return fox(numbers, theirs)


def blagpt_fox(q: Tensor, k: Tensor, v: Tensor, gates: Tensor) -> Tensor:
    cls = code("BlaGPT", "bla_gpt/attentions.py").ForgettingAttention
    theirs = cls.__new__(cls)  # its constructor makes maps that are not compared
    nn.Module.__init__(theirs)
    theirs.soft_cap, theirs.mask, theirs.attn_dropout = 0, SEEN[None, None], nn.Identity()
    return theirs._forgetting_attention(q, k, v, gates.sigmoid(), LENGTH)


@case(
    "fox",
    "BlaGPT",
    "ForgettingAttention._forgetting_attention",
    explanation=(
        "The paper multiplies the gates from behind the key up to the query. This program shifts "
        "its sum of logarithms by one token and takes them from the key to before the query, "
        "though its comment has the paper's. With gates one token later it is equal: see the "
        "next comparison."
    ),
)
def blagpt_as_it_stands(numbers: Numbers):
    return fox(numbers, blagpt_fox)


@case(
    "fox",
    "BlaGPT",
    "ForgettingAttention._forgetting_attention, gates one token later",
    note="It adds 1e-10 to each gate before the logarithm, which float64 sees.",
    precision="float32",
)
def blagpt_one_later(numbers: Numbers):
    def later(q: Tensor, k: Tensor, v: Tensor, gates: Tensor) -> Tensor:
        return blagpt_fox(q, k, v, torch.cat((gates[:, 1:], gates[:, :1]), 1))

    return fox(numbers, later)


@case(
    "fox",
    "Cable",
    "CausalSelfAttention",
    note=(
        "The layer of CABLE's authors, with its map in place of the gates' and all signs of it "
        "turned. It does not divide scores by the square root of d_head, so ours does not either."
    ),
)
def cable(numbers: Numbers):
    maps, x = Maps(numbers), tokens(numbers)
    gates = {"weight": numbers("W_f", N_HEADS, D_MODEL, scale=0.2), "bias": numbers("b_f", N_HEADS)}
    own = maps.own() | {f"position.gate.{name}": -value for name, value in gates.items()}
    position, undivided = encodings.FoX(*SIZES), Scoring(scale=1.0)
    ours = SelfAttention(D_MODEL, N_HEADS, position, causal=True, scoring=undivided)
    cls = code("Cable", "src/Cable.py").CausalSelfAttention
    theirs = cls(SimpleNamespace(n_embd=D_MODEL, n_head=N_HEADS, block_size=LENGTH))
    named = {
        "c_attn.weight": own["qkv.weight"],
        "c_attn.bias": own["qkv.bias"],
        "c_proj.weight": maps.o,
        "c_proj.bias": maps.bo,
    } | {f"h_attn.{name}": value for name, value in gates.items()}
    return call(ours, own, x), call(theirs, named, x)


@case(
    "path",
    "flash-linear-attention",
    "naive_path_attn",
    note=(
        "The plain function beside which its authors test their kernel, in chunks of 16 tokens, "
        "with all its gates open; outputs of causal attention. It computes in float32."
    ),
    precision="float32",
)
def path(numbers: Numbers):
    (q, k), x = queries_and_keys(numbers), tokens(numbers)
    v = numbers("values", BATCH, N_HEADS, LENGTH, D_HEAD)
    own = {
        "direction.weight": numbers("W_w", D_MODEL, D_MODEL, scale=0.2),
        "strength.weight": numbers("W_b", N_HEADS, D_MODEL, scale=0.2),
        "strength.bias": numbers("b_b", N_HEADS),
    }
    places = Places.of(x, causal=True)
    added = door(encodings.PaTH(*SIZES), "bias", x, q, k, places, **own)
    scores = (q @ k.mT / math.sqrt(D_HEAD) + added).masked_fill(~SEEN, -math.inf)
    w = normalize((x @ own["direction.weight"].mT).unflatten(-1, (N_HEADS, D_HEAD)), dim=-1)
    beta = 2 * (x @ own["strength.weight"].mT + own["strength.bias"]).sigmoid()
    naive = code("flash-linear-attention", "fla/ops/path_attn/naive.py").naive_path_attn
    q, k, v_first = (a.transpose(1, 2) for a in (q, k, v))
    theirs = naive(q, k, v_first, w, beta, torch.zeros_like(beta), D_HEAD**-0.5, chunk_size=16)
    return scores.softmax(-1) @ v, theirs.transpose(1, 2).to(numbers.dtype)


# -- queries and keys that turn --------------------------------------------------------------------


@case(
    "xpos",
    "x-transformers",
    "RotaryEmbedding with use_xpos",
    note=f"Products of queries and keys. {IN_FLOAT32}",
    precision="float32",
)
def x_transformers_xpos(numbers: Numbers):
    from x_transformers.x_transformers import RotaryEmbedding, apply_rotary_pos_emb

    q, k = queries_and_keys(numbers)
    angles, scale = RotaryEmbedding(D_HEAD, use_xpos=True, scale_base=32).forward_from_seq_len(
        LENGTH
    )
    turned, keys = (apply_rotary_pos_emb(a, angles, s) for a, s in ((q, scale), (k, 1 / scale)))
    return rotated(numbers, encodings.XPos(*SIZES, scale_base=32.0)), turned @ keys.mT


@case(
    "xpos",
    "torchscale",
    "XPOS",
    note=f"The authors' module; products of queries and keys. {IN_FLOAT32}",
    precision="float32",
)
def torchscale_xpos(numbers: Numbers):
    module = code("torchscale", "torchscale/component/xpos_relative_position.py").XPOS(D_HEAD, 32)
    q, k = (a.flatten(0, 1) for a in queries_and_keys(numbers))
    scores = (module(q) @ module(k, downscale=True).mT).unflatten(0, (BATCH, N_HEADS))
    return rotated(numbers, encodings.XPos(*SIZES, scale_base=32.0)), scores


@case(
    "pope",
    "x-transformers",
    "PolarEmbedding",
    note=f"Products of queries and keys, phases within one turn below 0. {IN_FLOAT32}",
    precision="float32",
)
def pope(numbers: Numbers):
    from x_transformers.x_transformers import PolarEmbedding, apply_polar_pos_emb

    q, k = queries_and_keys(numbers)
    phases = -2 * math.pi * numbers("phases", N_HEADS, 1, D_HEAD).sigmoid()
    theirs = PolarEmbedding(D_HEAD, N_HEADS)
    angles, bias = call(theirs, {"learned_bias": phases}, torch.arange(LENGTH))
    turned, keys = apply_polar_pos_emb(q, angles), apply_polar_pos_emb(k, angles + bias)
    return rotated(numbers, encodings.PoPE(*SIZES), phases=phases), turned @ keys.mT


FEW = 2
"""Frequencies that FoPE keeps at a base of 100 and 40 tokens, of four."""


def fope(numbers: Numbers) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Return queries and keys that both sides turned, the reference's in the order of ours."""
    program = code("Fourier-Position-Embedding", "olmo/model.py")
    theirs = program.FourierEmbedding(fope_config(), {})
    drawn = [
        torch.eye(FEW, dtype=numbers.dtype) + numbers(name, N_HEADS, FEW, FEW, scale=0.1)
        for name in ("of_cos", "of_sin")
    ]
    q, k = queries_and_keys(numbers)
    parameters = dict(zip(("cos_coef", "sin_coef"), drawn, strict=True))
    position = encodings.FoPE(*SIZES, base=100.0, learn=True)
    ours = door(position, "rotate", q, k, of_cos=drawn[0], of_sin=drawn[1])
    halves = (torch.cat((a[..., ::2], a[..., 1::2]), -1) for a in (q, k))
    turned = (call(theirs, parameters, a, LENGTH) for a in halves)
    return *ours, *(torch.stack(a.chunk(2, -1), -1).flatten(-2) for a in turned)


def fope_config() -> SimpleNamespace:
    """Return what the class reads, as the authors' configurations and its defaults have it.

    But for the sizes, and for coefficients that are normalised, as in the paper.
    """
    sizes = {"d_model": D_MODEL, "n_heads": N_HEADS, "max_sequence_length": LENGTH}
    off = (
        "rope_no_pos rope_no_repetition rope_full_precision rope_learnable rope_include_neg_freq "
        "rope_clamp_upper_freq rope_clamp_to_linear fourier_learnable len_extra"
    )
    on = (
        "rope_clamp_floor_freq rope_clamp_floor_to_zero fourier fourier_separate_basis "
        "fourier_separate_head fourier_norm fourier_ignore_zero"
    )
    return SimpleNamespace(
        **sizes,
        **dict.fromkeys(off.split(), False),
        **dict.fromkeys(on.split(), True),
        rope_theta=100.0,
        rope_init_distribution="exponential",
        rope_init_upper_freq=1.0,
        rope_init_floor_freq=0.0,
        rope_floor_freq_ratio=1.0,
        rope_zero_freq_ratio=-1.0,
        rope_clamp_to_linear_mode="ceil",
        fourier_dim=0,
        fourier_init="eye_xavier_norm",
        fourier_init_norm_gain=0.3,
        init_device="cpu",
    )


@case(
    "fope",
    "Fourier-Position-Embedding",
    "FourierEmbedding, the pairs that turn",
    note=(
        "The authors' class, with columns of coefficients that sum to 1, as in the paper; its "
        "default leaves them as drawn. Products of queries and keys. Angles are in float32. "
        "It gives series to half of a head's pairs at most, here all that are kept."
    ),
    precision="float32",
)
def fope_pairs(numbers: Numbers):
    q, k, other_q, other_k = (a[..., : 2 * FEW] for a in fope(numbers))
    return q @ k.mT, other_q @ other_k.mT


@case(
    "fope",
    "Fourier-Position-Embedding",
    "FourierEmbedding, all pairs",
    precision="float32",
    explanation=(
        "Pairs of frequency 0 have the factors cos 0 = 1 and sin 0 = 0 in the paper and in posenc. "
        "The program fills up both with ones, which turns these pairs by 45 degrees at every "
        "position and doubles their products."
    ),
)
def fope_all(numbers: Numbers):
    q, k, other_q, other_k = fope(numbers)
    return q @ k.mT, other_q @ other_k.mT


COLUMNS, ROWS = 8, 5


def on_a_grid(numbers: Numbers, position: nn.Module, turns: Tensor, **parameters: Tensor):
    """Return queries and keys turned by both sides; the reference's places are columns first."""
    q, k = queries_and_keys(numbers)
    t = torch.arange(LENGTH)
    places = Places.at(torch.stack((t % COLUMNS, t // COLUMNS), -1), q[:, 0], 2)
    theirs = code("rope-vit", "models/vit_rope.py").apply_rotary_emb(q, k, turns)
    ours = door(position, "rotate", q, k, places, **parameters)
    return torch.stack(ours), torch.stack(theirs)


@case(
    "axial_rotary",
    "rope-vit",
    "compute_axial_cis, apply_rotary_emb",
    note="The authors' functions, a grid of 5 rows and 8 columns, in float32 throughout.",
    precision="float32",
)
def axial(numbers: Numbers):
    turns = code("rope-vit", "models/vit_rope.py").compute_axial_cis(D_HEAD, COLUMNS, ROWS)
    return on_a_grid(numbers, encodings.AxialRotary(*SIZES), turns.to(torch.complex64))


@case(
    "axial_rotary",
    "rope-vit",
    "compute_mixed_cis, apply_rotary_emb",
    note="The authors' functions for axes='mixed', the same grid, in float32 throughout.",
    precision="float32",
)
def mixed(numbers: Numbers):
    vit = code("rope-vit", "models/vit_rope.py")
    omega = numbers("omega", N_HEADS, D_HEAD // 2, 2)
    freqs = omega.float().flatten(0, 1).T[:, None]
    turns = vit.compute_mixed_cis(freqs, *vit.init_t_xy(COLUMNS, ROWS), N_HEADS)[0]
    position = encodings.AxialRotary(*SIZES, axes="mixed")
    return on_a_grid(numbers, position, turns, omega=omega)


# -- made from the signal --------------------------------------------------------------------------


def pytorch_wavelets() -> ModuleType:
    """Return the package, which asks setuptools for a module that setuptools has no more."""
    if "pkg_resources" not in sys.modules:
        gone = ModuleType("pkg_resources")
        gone.resource_stream = lambda package, path: (resources.files(package) / path).open("rb")
        sys.modules["pkg_resources"] = gone
    import pytorch_wavelets

    return pytorch_wavelets


def dywpe(numbers: Numbers, wavelet: str, length: int):
    program = code("DyWPE", "src/core/dywpe_optimized.py")
    program.DWT = pytorch_wavelets()
    x, levels = tokens(numbers, length), 3

    def drawn(name: str, *shape: int) -> Tensor:
        return numbers(name, *shape, scale=D_MODEL**-0.5)

    channel, shift = drawn("channel", 1, D_MODEL), drawn("shift", 1)
    scales = drawn("scales", levels + 1, D_MODEL)
    gate, value = drawn("W_g", D_MODEL, D_MODEL), drawn("W_v", D_MODEL, D_MODEL)
    of_gate, of_value = drawn("b_g", D_MODEL), drawn("b_v", D_MODEL)
    parameters = {
        "channel_proj.weight": channel,
        "channel_proj.bias": shift,
        "scale_embeddings": scales,
        "gate_proj.weight": torch.cat((gate, value)),
        "gate_proj.bias": torch.cat((of_gate, of_value)),
    }
    theirs = call(program.DyWPEOptimized(D_MODEL, D_MODEL, levels, wavelet), parameters, x)
    own = {
        "channel.weight": channel,
        "channel.bias": shift,
        "scales": scales,
        "gate.weight": gate,
        "gate.bias": of_gate,
        "value.weight": value,
        "value.bias": of_value,
    }
    position = encodings.DyWPE(D_MODEL, N_HEADS, length, levels=levels, wavelet=wavelet)
    return door(position, "embed", x, **own), x + theirs


DYWPE_NOTE = (
    "The authors' faster module, its input the tokens. Their plain one hands all scales to the "
    "approximation at once, where it wants the first, and stops at most lengths. Outputs only."
)


@case("dywpe", "DyWPE", "DyWPEOptimized, db4", note=DYWPE_NOTE)
def dywpe_db4(numbers: Numbers):
    return tuple(side.detach() for side in dywpe(numbers, "db4", LENGTH))


@case("dywpe", "DyWPE", "DyWPEOptimized, Haar, an odd length", note=DYWPE_NOTE)
def dywpe_haar(numbers: Numbers):
    return tuple(side.detach() for side in dywpe(numbers, "haar", 37))


@case(
    "dywpe",
    "DyWPE",
    "DyWPEOptimized, db4, the gradient by the tokens",
    explanation=(
        "The transform of pytorch_wavelets 1.3.0, which the program uses, has a gradient of its "
        "own that is wrong near both ends: it leaves out what the mirrored values owe to the "
        "series. posenc's gradient agrees with differences of the output, as its tests show."
    ),
)
def dywpe_gradient(numbers: Numbers):
    sides = dywpe(numbers, "db4", LENGTH)
    direction = numbers("upstream", *sides[0].shape).detach()
    return tuple(
        torch.autograd.grad(side, tokens(numbers), direction, retain_graph=True)[0]
        for side in sides
    )


@case(
    "dywpe",
    "PyWavelets",
    "wavedec, waverec",
    note="The parts of a signal of odd length, each scale brought back alone.",
)
def pywavelets(numbers: Numbers):
    import pywt

    signal, levels = numbers("signal", BATCH, 37).detach(), 3
    ours = wavelets.parts(
        signal, levels, torch.as_tensor(wavelets.scaling_filter("db4")).to(signal)
    )
    found = pywt.wavedec(signal.numpy(), "db4", mode="symmetric", level=levels)
    alone = [
        [c if i == kept else np.zeros_like(c) for i, c in enumerate(found)]
        for kept in (0, *range(levels, 0, -1))
    ]
    theirs = [pywt.waverec(one, "db4", mode="symmetric")[:, :37] for one in alone]
    return ours, torch.as_tensor(np.stack(theirs, -1))


@case(
    "window_statistics",
    "NumPy",
    "mean, std and polyfit of sliding windows",
    note="Whole windows only; those at the ends are cut in posenc.",
)
def numpy_windows(numbers: Numbers):
    x, project = tokens(numbers), numbers("project", D_MODEL, 3 * D_MODEL, scale=0.1)
    position = encodings.WindowStatistics(*SIZES, window=WINDOW)
    ours = door(position, "embed", x, **{"project.weight": project}) - x
    windows = np.lib.stride_tricks.sliding_window_view(x.detach().numpy(), WINDOW, axis=1)
    flat = windows.reshape(-1, WINDOW).T
    slope = np.polyfit(np.arange(WINDOW), flat, 1)[0].reshape(windows.shape[:-1])
    found = np.concatenate((windows.mean(-1), windows.std(-1), slope), -1)
    theirs = torch.as_tensor(found).to(numbers.dtype) @ project.detach().mT
    return pad(ours, (0, 0, -AROUND, -AROUND)).detach(), theirs


@case(
    "window_statistics",
    "pandas",
    "DataFrame.rolling and DataFrame.diff",
    note="The first row stands before the series as often as a window needs it. pandas reckons in "
    "float64; its standard deviations are raised to 0.001 where they are less, as ours are.",
)
def pandas_windows(numbers: Numbers):
    position = encodings.WindowStatistics(*SIZES, window=WINDOW, statistics="winstat_lag")
    x, project = tokens(numbers), numbers("project", *position.project.weight.shape, scale=0.1)
    ours = door(position, "embed", x, **{"project.weight": project}) - x
    found = np.stack([rolled(row, position.lags) for row in x.detach().double().numpy()])
    return ours.detach(), torch.as_tensor(found).to(numbers.dtype) @ project.detach().mT


def rolled(series: np.ndarray, lags: tuple[int, ...]) -> np.ndarray:
    """Return mean, max, min and std of the last steps and differences to earlier ones."""
    before = max(WINDOW - 1, *lags)
    frame = pd.DataFrame(np.concatenate((np.repeat(series[:1], before, 0), series)))
    windows = frame.rolling(WINDOW)
    parts = [windows.mean(), windows.max(), windows.min(), windows.std().clip(lower=1e-3)]
    parts += [frame.diff(lag) for lag in lags]
    return pd.concat(parts, axis=1).to_numpy()[before:]
