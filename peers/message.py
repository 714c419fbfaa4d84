"""Values that turn by their place, and sums of them that turn back by the query's."""

import torch
from torch import Tensor, nn

from peers.compare import Numbers, case
from peers.modules import D_HEAD, D_MODEL, LENGTH, N_HEADS, Maps, attended, call, tokens
from peers.references import code
from peers.rotary import FLOAT32_ANGLES, HALF, IN_TURN
from posenc import encodings
from posenc.attention import LatentAttention, LatentSizes, Scoring

SIZES = D_MODEL, N_HEADS, LENGTH
LABML = "annotated_deep_learning_paper_implementations"
WINDOW, RANK, TURNING, GROUPS = 9, 12, 4, 2


@case(
    "rove",
    LABML,
    "RotaryValuePEMultiHeadAttention",
    note=f"RoPER. {HALF} Half of each head turns, and tokens come first. {FLOAT32_ANGLES}",
    precision="float32",
)
def roper(numbers: Numbers):
    folder = "labml_nn/transformers"
    parts = "mha.py", "rope/__init__.py", "rope/value_pe/__init__.py"
    theirs = code(LABML, *(f"{folder}/{part}" for part in parts))
    attention = theirs.RotaryValuePEMultiHeadAttention(N_HEADS, D_MODEL).eval()
    x, maps = tokens(numbers), Maps(numbers)
    first = x.transpose(0, 1)
    names = maps.named("query.linear", "key.linear", "value.linear", "output")
    out = call(attention, names, query=first, key=first, value=first)
    ours = encodings.make("rove", *SIZES, pairing="half", share=0.5)
    return attended(ours, maps, x), out.transpose(0, 1)


@case(
    "rotary",
    "transformers",
    "RoFormerSelfAttention, rotary_value",
    note=f"Values turn and nothing is turned back. {IN_TURN} Its table is rounded to float32.",
    precision="float32",
)
def roformer_values(numbers: Numbers):
    from transformers import RoFormerConfig
    from transformers.models.roformer import modeling_roformer as m

    config = RoFormerConfig(
        hidden_size=D_MODEL,
        num_attention_heads=N_HEADS,
        rotary_value=True,
        attention_probs_dropout_prob=0.0,
    )
    table = m.RoFormerSinusoidalPositionalEmbedding(LENGTH, D_HEAD).create_weight()
    x, maps = tokens(numbers), Maps(numbers)
    named = maps.named("query", "key", "value", "out")
    parameters = {name: one for name, one in named.items() if not name.startswith("out.")}
    theirs = call(m.RoFormerSelfAttention(config), parameters, x, sinusoidal_pos=table[None, None])[
        0
    ]
    maps.o, maps.bo = torch.eye(D_MODEL, dtype=x.dtype), torch.zeros(D_MODEL, dtype=x.dtype)
    return attended(encodings.make("rotary", *SIZES, values=True, back=False), maps, x), theirs


@case(
    "rove",
    "transformers",
    "DeepseekV4Attention, a layer with a window",
    note=f"One row is key and value. {IN_TURN} The last {TURNING} of a head's dimensions turn.",
    precision="float32",
)
def deepseek_v4(numbers: Numbers):
    from transformers import DeepseekV4Config
    from transformers.models.deepseek_v4 import modeling_deepseek_v4 as m

    config = DeepseekV4Config(
        hidden_size=D_MODEL,
        num_attention_heads=N_HEADS,
        head_dim=D_HEAD,
        partial_rotary_factor=TURNING / D_HEAD,
        q_lora_rank=RANK,
        o_groups=GROUPS,
        o_lora_rank=RANK,
        sliding_window=WINDOW,
        num_hidden_layers=1,
        layer_types=["sliding_attention"],
        attn_implementation="eager",
    )
    x, per_group = tokens(numbers), N_HEADS * D_HEAD // GROUPS
    shapes = {
        "q_a_proj.weight": (RANK, D_MODEL),
        "q_a_norm.weight": (RANK,),
        "q_b_proj.weight": (N_HEADS * D_HEAD, RANK),
        "kv_proj.weight": (D_HEAD, D_MODEL),
        "kv_norm.weight": (D_HEAD,),
        "o_a_proj.weight": (GROUPS * RANK, per_group),
        "o_b_proj.weight": (D_MODEL, GROUPS * RANK),
        "sinks": (N_HEADS,),
    }
    named = {name: numbers(name, *shape) for name, shape in shapes.items()}
    t = torch.arange(LENGTH)[None]
    turns = m.DeepseekV4RotaryEmbedding(config)(x, t, layer_type="main")
    near = torch.ones(LENGTH, LENGTH).tril().triu(1 - WINDOW).bool()
    mask = torch.zeros(LENGTH, LENGTH, dtype=x.dtype).masked_fill(~near, -torch.inf)[None, None]
    theirs, _ = call(m.DeepseekV4Attention(config, 0), named, x, {"main": turns}, t, mask)
    return _of_ours(x, named), theirs


def _of_ours(x: Tensor, named: dict[str, Tensor]) -> Tensor:
    """Return what our layer makes of the same weights; heads are joined by one map."""
    sizes = LatentSizes(d_plain=D_HEAD - TURNING, d_position=TURNING, q_rank=RANK)
    position = encodings.make("rove", N_HEADS * TURNING, N_HEADS, LENGTH)
    scoring = Scoring(sinks=True)
    layer = LatentAttention(
        D_MODEL, N_HEADS, position, sizes, causal=True, window=WINDOW, scoring=scoring
    )
    norm = nn.RMSNorm(D_HEAD, eps=1e-6, elementwise_affine=False)
    heads = nn.Unflatten(-1, (N_HEADS, D_HEAD))
    layer.query = nn.Sequential(layer.query, heads, norm, nn.Flatten(-2))
    groups = torch.block_diag(*named["o_a_proj.weight"].unflatten(0, (GROUPS, RANK)))
    return call(
        layer.to(x.dtype).eval(),
        {
            "query_down.weight": named["q_a_proj.weight"],
            "query_norm.weight": named["q_a_norm.weight"],
            "query.0.weight": named["q_b_proj.weight"],
            "key_value_down.weight": named["kv_proj.weight"],
            "key_value_norm.weight": named["kv_norm.weight"],
            "out.weight": named["o_b_proj.weight"] @ groups,
            "sinks": named["sinks"],
        },
        x,
    )
