"""Queries and keys that turn, in both pairings."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from peers.compare import Numbers, case
from peers.modules import BATCH, D_HEAD, D_MODEL, LENGTH, N_HEADS, Maps, attended, call, tokens
from posenc.encodings import Rotary

HALF = "Pairs (i, i + d_head / 2)."
IN_TURN = "Pairs (2i, 2i + 1)."
FLOAT32_ANGLES = "The reference computes frequencies and angles in float32."
FAR = 4096
PYTHIA_HEAD = 64
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
WITH_ORIGINAL = "yarn", "llama3", "longrope"
"""Those that transformers tells the length of training by a name of its own."""


@dataclass(frozen=True)
class Schedule:
    """A model's published settings, in transformers' words, and the length of its input."""

    settings: Mapping[str, object]
    trained: int = 4096
    length: int = 4096
    d_head: int = 128
    base: float = 10_000.0
    share: float = 1.0

    @property
    def omega(self) -> NDArray[np.float64]:
        """Frequencies of training, radians per position."""
        turning = int(self.share * self.d_head)
        return self.base ** (-np.arange(0, turning, 2) / turning)


def _searched(n_pairs: int) -> dict[str, list[float]]:
    """Return two lists that rise as published ones do: from 1, and from 1 to 64."""
    rise = np.linspace(0, 1, n_pairs)
    return {"short_factor": (1 + rise / 2).tolist(), "long_factor": (64**rise).tolist()}


_LLAMA = {"low_freq_factor": 1.0, "high_freq_factor": 4.0}
SCHEDULES = {
    "linear": [Schedule({"factor": 4.0}), Schedule({"factor": 8.0})],
    "dynamic": [
        Schedule({"factor": 4.0}),
        Schedule({"factor": 4.0}, length=8192),
        Schedule({"factor": 8.0}, length=32_768),
    ],
    "yarn": [
        Schedule({"factor": 4.0}),
        Schedule({"factor": 8.0}),
        Schedule({"factor": 8.0, "beta_fast": 16.0, "beta_slow": 2.0}, share=0.5),
        Schedule({"factor": 4.0}, trained=32_768, base=1e6),
        Schedule({"factor": 32.0, "truncate": False}, d_head=64, base=150_000.0),
    ],
    "llama3": [
        Schedule({"factor": 4.0, **_LLAMA}),
        Schedule({"factor": 8.0, **_LLAMA}, trained=8192, base=500_000.0),
        Schedule({"factor": 32.0, **_LLAMA}, trained=8192, base=500_000.0, d_head=64),
    ],
    "longrope": [
        Schedule({"factor": 4.0, **_searched(64)}),
        Schedule({"factor": 32.0, **_searched(48)}, length=8192, d_head=96),
        Schedule({"factor": 32.0, **_searched(48)}, length=8192, share=0.75),
    ],
    "proportional": [
        Schedule({"partial_rotary_factor": 0.25}),
        Schedule({"partial_rotary_factor": 0.5}, base=1e6, d_head=256),
    ],
}
"""Sizes of models in use: Llama 3.1 and 3.2, Qwen 2.5, gpt-oss, Phi-3 and Phi-4 among them."""


def rotary(pairing: str, length: int = LENGTH) -> Rotary:
    return Rotary(D_MODEL, N_HEADS, length, pairing=pairing)


def queries_and_keys(numbers: Numbers, length: int = LENGTH) -> tuple[Tensor, Tensor]:
    shape = BATCH, N_HEADS, length, D_HEAD
    return numbers("queries", *shape), numbers("keys", *shape)


def angles(turning: int = D_HEAD) -> Tensor:
    """Return t omega_i, (1, length, turning / 2), computed in float64."""
    omega = 10_000.0 ** (-np.arange(0, turning, 2) / turning)
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


def neox(share: float, numbers: Numbers):
    """Return attention in which so much of every head turns, by posenc and by transformers."""
    from transformers import GPTNeoXConfig
    from transformers.models.gpt_neox import modeling_gpt_neox as m

    config = GPTNeoXConfig(
        hidden_size=D_MODEL,
        num_attention_heads=N_HEADS,
        rope_parameters={
            "rope_type": "default",
            "rope_theta": 10_000.0,
            "partial_rotary_factor": share,
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
    ours = Rotary(D_MODEL, N_HEADS, LENGTH, pairing="half", share=share)
    return attended(ours, maps, x), theirs


def neox_turned(share: float, numbers: Numbers):
    """Return queries and keys of wide heads, of which so much turns by angles from NumPy."""
    from transformers.models.gpt_neox.modeling_gpt_neox import apply_rotary_pos_emb

    d_model = N_HEADS * PYTHIA_HEAD
    q, k = (numbers(name, BATCH, N_HEADS, LENGTH, PYTHIA_HEAD) for name in ("queries", "keys"))
    both = torch.cat((angles(int(share * PYTHIA_HEAD)),) * 2, -1)
    theirs = apply_rotary_pos_emb(q, k, both.cos().to(q.dtype), both.sin().to(q.dtype))
    ours = Rotary(d_model, N_HEADS, LENGTH, pairing="half", share=share)
    return torch.stack(ours.rotate(q, k)), torch.stack(theirs)


for _share in (1.0, 0.5, 0.25):
    case(
        "rotary",
        "transformers",
        "GPTNeoXAttention" + f", partial_rotary_factor {_share}" * (_share < 1),
        note=f"{HALF} {FLOAT32_ANGLES} One map holds q, k and v head by head.",
        precision="float32",
    )(partial(neox, _share))

for _share in (0.5, 0.25):
    case(
        "rotary",
        "transformers",
        f"GPT-NeoX apply_rotary_pos_emb, partial_rotary_factor {_share}, angles handed over",
        note=f"{HALF} Heads of {PYTHIA_HEAD}, as in Pythia. The angles are computed in float64.",
    )(partial(neox_turned, _share))


@case(
    "rotary",
    "transformers",
    "GPTJAttention",
    note=f"{IN_TURN} The reference computes scores and softmax in float32.",
    precision="float32",
)
def gptj_attention(numbers: Numbers):
    from transformers import GPTJConfig
    from transformers.models.gptj.modeling_gptj import GPTJAttention, GPTJRotaryEmbedding

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
    turns = GPTJRotaryEmbedding(config)(x, torch.arange(LENGTH)[None])
    theirs, _ = call(GPTJAttention(config, 0), names, x, position_embeddings=turns)
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
    if kind in WITH_ORIGINAL:
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


def our_schedule(kind: str, one: Schedule) -> Rotary:
    """Return posenc's encoding of the same settings."""
    d_model = one.d_head
    if kind == "proportional":
        keep = one.settings["partial_rotary_factor"]
        return Rotary(d_model, 1, one.length, base=one.base, keep=keep)
    options = {name: value for name, value in one.settings.items() if name != "factor"}
    return Rotary(
        d_model,
        1,
        one.length,
        base=one.base,
        share=one.share,
        scaling=SCALED[kind]["scaling"],
        factor=one.settings["factor"],
        original_length=one.trained,
        scaling_options=options,
    )


def their_schedule(kind: str, one: Schedule) -> tuple[Tensor, float]:
    """Return transformers' frequencies and attention factor."""
    from transformers import LlamaConfig
    from transformers.modeling_rope_utils import ROPE_INIT_FUNCTIONS

    wanted = {
        "rope_type": kind,
        "rope_theta": one.base,
        "partial_rotary_factor": one.share,
        **one.settings,
    }
    longest = one.trained
    if kind in WITH_ORIGINAL:
        wanted["original_max_position_embeddings"] = one.trained
        longest *= int(one.settings["factor"])
    config = LlamaConfig(
        hidden_size=one.d_head,
        num_attention_heads=1,
        max_position_embeddings=longest,
        rope_parameters=wanted,
    )
    return ROPE_INIT_FUNCTIONS[kind](config, seq_len=one.length)


def schedules(kind: str, numbers: Numbers):
    """Return frequencies as shares of those in training, which shows slow ones as well as fast.

    Behind those of each model stands its attention factor.
    """
    ours, theirs = [], []
    for one in SCHEDULES[kind]:
        made = our_schedule(kind, one)
        omega, factor = their_schedule(kind, one)
        ours += [*(made.omega / one.omega), made.attention_factor]
        theirs += [*(omega.double().numpy() / one.omega), factor]
    return tuple(torch.tensor(values, dtype=numbers.dtype) for values in (ours, theirs))


def _sizes_text(one: Schedule) -> str:
    """Return the sizes of a schedule in words."""
    settings = [
        f"{name} {value:g}" if isinstance(value, float) else f"{name} {value}"
        for name, value in one.settings.items()
        if not isinstance(value, list) and name not in _LLAMA
    ]
    sizes = [f"d_head {one.d_head}", f"base {one.base:g}", f"trained to {one.trained}"]
    more = [f"input of {one.length}"] * (one.length > one.trained)
    return ", ".join([*settings, *sizes, *more, *[f"share {one.share}"] * (one.share < 1)])


for _kind, _models in SCHEDULES.items():
    case(
        "rotary",
        "transformers",
        f"ROPE_INIT_FUNCTIONS, {_kind}",
        note=(
            "Frequencies as shares of those in training, and the attention factor. The reference "
            f"computes in float32. Sizes: {'; '.join(map(_sizes_text, _models))}."
        ),
        precision="float32",
    )(partial(schedules, _kind))
