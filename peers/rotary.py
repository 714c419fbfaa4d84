"""Queries and keys that turn, in both pairings."""

from functools import partial

import numpy as np
import torch
from torch import Tensor, nn

from peers.compare import Numbers, case
from peers.modules import BATCH, D_HEAD, D_MODEL, LENGTH, N_HEADS, Maps, attended, call, tokens
from posenc.encodings import Rotary

HALF = "Pairs (i, i + d_head / 2)."
IN_TURN = "Pairs (2i, 2i + 1)."
FLOAT32_ANGLES = "The reference computes frequencies and angles in float32."
FAR = 4096
TRAINED = 10  # tokens of a training sequence, a quarter of LENGTH
LISTS = {
    "short_factor": [1.0, 1.0, 1.1, 1.2],
    "long_factor": [1.0, 1.5, 3.0, 4.0],
}
SCALED = {  # transformers' name, posenc's options
    "linear": {"scaling": "linear", "factor": 4.0},
    "dynamic": {"scaling": "dynamic_ntk", "factor": 2.0, "original_length": TRAINED},
    "yarn": {"scaling": "yarn", "factor": 4.0, "original_length": TRAINED},
    "llama3": {
        "scaling": "llama3",
        "factor": 4.0,
        "original_length": TRAINED,
        "scaling_options": {"low_freq_factor": 1.0, "high_freq_factor": 4.0},
    },
    "longrope": {
        "scaling": "longrope",
        "factor": 4.0,
        "original_length": TRAINED,
        "scaling_options": LISTS,
    },
    "proportional": {"keep": 0.5},
}


def rotary(pairing: str, length: int = LENGTH) -> Rotary:
    return Rotary(D_MODEL, N_HEADS, length, pairing=pairing)


def queries_and_keys(numbers: Numbers, length: int = LENGTH) -> tuple[Tensor, Tensor]:
    shape = BATCH, N_HEADS, length, D_HEAD
    return numbers("queries", *shape), numbers("keys", *shape)


def angles() -> Tensor:
    """Return t omega_i, (1, length, d_head / 2), computed in float64."""
    omega = 10_000.0 ** (-np.arange(0, D_HEAD, 2) / D_HEAD)
    return torch.as_tensor(np.outer(np.arange(LENGTH), omega))[None]


def seen(numbers: Numbers) -> Tensor:
    """Return a mask that hides nothing, without which a decoder's attention is causal."""
    return torch.zeros(BATCH, 1, LENGTH, LENGTH, dtype=numbers.dtype)


def llama(numbers: Numbers, cos: Tensor, sin: Tensor):
    from transformers import LlamaConfig
    from transformers.models.llama.modeling_llama import LlamaAttention

    config = LlamaConfig(
        hidden_size=D_MODEL,
        num_attention_heads=N_HEADS,
        num_key_value_heads=N_HEADS,
        attention_bias=True,
        attn_implementation="sdpa",
    )
    x, maps = tokens(numbers), Maps(numbers)
    theirs, _ = call(
        LlamaAttention(config, 0),
        maps.named("q_proj", "k_proj", "v_proj", "o_proj"),
        x,
        position_embeddings=(cos, sin),
        attention_mask=seen(numbers),
    )
    return attended(rotary("half"), maps, x), theirs


def llama_tables(numbers: Numbers, length: int) -> tuple[Tensor, Tensor]:
    from transformers import LlamaConfig
    from transformers.models.llama.modeling_llama import LlamaRotaryEmbedding

    config = LlamaConfig(hidden_size=D_MODEL, num_attention_heads=N_HEADS)
    like = torch.empty(0, dtype=numbers.dtype)
    return LlamaRotaryEmbedding(config)(like, torch.arange(length)[None])


@case(
    "rotary",
    "transformers",
    "LlamaAttention, angles of LlamaRotaryEmbedding",
    note=f"{HALF} {FLOAT32_ANGLES}",
    precision="float32",
)
def llama_attention(numbers: Numbers):
    return llama(numbers, *llama_tables(numbers, LENGTH))


@case(
    "rotary",
    "transformers",
    "LlamaAttention, angles handed over",
    note=f"{HALF} The angles are computed in float64 by NumPy.",
)
def llama_attention_exact(numbers: Numbers):
    both = torch.cat((angles(),) * 2, -1)
    return llama(numbers, both.cos().to(numbers.dtype), both.sin().to(numbers.dtype))


@case(
    "rotary",
    "transformers",
    f"Llama apply_rotary_pos_emb, {FAR} positions",
    precision="float32",
    explanation=(
        "Frequencies and angles in float32: that of position 4,095 is off by some 1e-4 radians, "
        "and so are the turned queries. posenc computes angles in float64 and rounds the table."
    ),
)
def llama_far(numbers: Numbers):
    from transformers.models.llama.modeling_llama import apply_rotary_pos_emb

    q, k = queries_and_keys(numbers, FAR)
    theirs = apply_rotary_pos_emb(q, k, *llama_tables(numbers, FAR))
    return torch.stack(rotary("half", FAR).rotate(q, k)), torch.stack(theirs)


@case(
    "rotary",
    "transformers",
    "GPTNeoXAttention",
    note=f"{HALF} {FLOAT32_ANGLES} One map holds q, k and v head by head.",
    precision="float32",
)
def neox_attention(numbers: Numbers):
    from transformers import GPTNeoXConfig
    from transformers.models.gpt_neox import modeling_gpt_neox as m

    config = GPTNeoXConfig(
        hidden_size=D_MODEL,
        num_attention_heads=N_HEADS,
        rope_parameters={
            "rope_type": "default",
            "rope_theta": 10_000.0,
            "partial_rotary_factor": 1.0,
        },
        attn_implementation="sdpa",
    )
    x, maps = tokens(numbers), Maps(numbers)
    weight, offset = maps.by_head()
    parameters = {
        "query_key_value.weight": weight,
        "query_key_value.bias": offset,
        "dense.weight": maps.o,
        "dense.bias": maps.bo,
    }
    tables = m.GPTNeoXRotaryEmbedding(config)(x, torch.arange(LENGTH)[None])
    attention = m.GPTNeoXAttention(config, 0)
    theirs, _ = call(
        attention, parameters, x, attention_mask=seen(numbers), position_embeddings=tables
    )
    return attended(rotary("half"), maps, x), theirs


@case(
    "rotary",
    "transformers",
    "GPTJAttention",
    note=f"{IN_TURN} The reference computes scores and softmax in float32.",
    precision="float32",
)
def gptj_attention(numbers: Numbers):
    from transformers import GPTJConfig
    from transformers.models.gptj.modeling_gptj import GPTJAttention

    config = GPTJConfig(
        n_embd=D_MODEL,
        n_head=N_HEADS,
        n_positions=LENGTH,
        rotary_dim=D_HEAD,
        attn_pdrop=0.0,
        resid_pdrop=0.0,
    )
    x, maps = tokens(numbers), Maps(numbers, offsets=False)
    names = maps.named("q_proj", "k_proj", "v_proj", "out_proj", offsets=False)
    theirs, _ = call(GPTJAttention(config, 0), names, x, position_ids=torch.arange(LENGTH)[None])
    return attended(rotary("interleaved"), maps, x), theirs


@case(
    "rotary",
    "transformers",
    "GPT-J apply_rotary_pos_emb, angles handed over",
    note=f"{IN_TURN} The angles are computed in float64 by NumPy.",
)
def gptj_exact(numbers: Numbers):
    from transformers.models.gptj.modeling_gptj import apply_rotary_pos_emb

    t = angles()
    sin, cos = t.sin().to(numbers.dtype), t.cos().to(numbers.dtype)
    q, k = queries_and_keys(numbers)
    # the reference takes (batch, length, heads, d_head)
    theirs = [apply_rotary_pos_emb(a.transpose(1, 2), sin, cos).transpose(1, 2) for a in (q, k)]
    return torch.stack(rotary("interleaved").rotate(q, k)), torch.stack(theirs)


@case(
    "rotary",
    "transformers",
    "RoFormerSelfAttention.apply_rotary_position_embeddings",
    note=f"{IN_TURN} Its table is rounded to float32.",
    precision="float32",
)
def roformer(numbers: Numbers):
    from transformers.models.roformer import modeling_roformer as m

    table = m.RoFormerSinusoidalPositionalEmbedding(LENGTH, D_HEAD).create_weight()
    q, k = queries_and_keys(numbers)
    turn = m.RoFormerSelfAttention.apply_rotary_position_embeddings
    theirs = turn(table[None, None], q, k)
    return torch.stack(rotary("interleaved").rotate(q, k)), torch.stack(theirs)


@case(
    "rotary",
    "rotary-embedding-torch",
    "RotaryEmbedding.rotate_queries_or_keys",
    note=f"{IN_TURN} The reference computes frequencies in float32.",
    precision="float32",
)
def rotary_embedding_torch(numbers: Numbers):
    from rotary_embedding_torch import RotaryEmbedding

    theirs = RotaryEmbedding(D_HEAD)
    q, k = queries_and_keys(numbers)
    turned = [theirs.rotate_queries_or_keys(a) for a in (q, k)]
    return torch.stack(rotary("interleaved").rotate(q, k)), torch.stack(turned)


class _Attention(nn.Module):
    """x-transformers' attention, whose angles are handed to it."""

    def __init__(self) -> None:
        super().__init__()
        from x_transformers.x_transformers import Attention, RotaryEmbedding

        self.attention = Attention(D_MODEL, dim_head=D_HEAD, heads=N_HEADS)
        self.rotary = RotaryEmbedding(D_HEAD)

    def forward(self, x: Tensor) -> Tensor:
        angles = self.rotary.forward_from_seq_len(x.shape[1])
        return self.attention(x, rotary_pos_emb=angles)


@case(
    "rotary",
    "x-transformers",
    "Attention with RotaryEmbedding",
    note=f"{IN_TURN} {FLOAT32_ANGLES} It takes the softmax in float32, too.",
    precision="float32",
)
def x_transformers_rotary(numbers: Numbers):
    x, maps = tokens(numbers), Maps(numbers, offsets=False)
    names = [f"attention.to_{name}" for name in ("q", "k", "v", "out")]
    theirs = call(_Attention(), maps.named(*names, offsets=False), x)
    return attended(rotary("interleaved"), maps, x), theirs


def scaled(kind: str, numbers: Numbers):
    """Return queries and keys turned by a scaling of posenc and of transformers."""
    from transformers import LlamaConfig
    from transformers.models.llama import modeling_llama as m

    options = SCALED[kind]
    wanted = {"rope_type": kind, "rope_theta": 10_000.0, **options.get("scaling_options", {})}
    if kind == "proportional":
        wanted["partial_rotary_factor"] = options["keep"]
    else:
        wanted["factor"] = options["factor"]
    if kind in ("yarn", "llama3", "longrope"):
        wanted["original_max_position_embeddings"] = TRAINED
    config = LlamaConfig(
        hidden_size=D_MODEL,
        num_attention_heads=N_HEADS,
        max_position_embeddings=TRAINED if kind == "dynamic" else LENGTH,
        rope_parameters=wanted,
    )
    like = torch.empty(0, dtype=numbers.dtype)
    tables = m.LlamaRotaryEmbedding(config)(like, torch.arange(LENGTH)[None])
    q, k = queries_and_keys(numbers)
    ours = Rotary(D_MODEL, N_HEADS, LENGTH, pairing="half", **options)
    return torch.stack(ours.rotate(q, k)), torch.stack(m.apply_rotary_pos_emb(q, k, *tables))


for _kind in SCALED:
    case(
        "rotary",
        "transformers",
        f"LlamaRotaryEmbedding, rope_type {_kind}",
        note=f"{HALF} {FLOAT32_ANGLES}",
        precision="float32",
    )(partial(scaled, _kind))
