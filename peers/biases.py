"""Terms on the scores that depend on positions alone: T5, ALiBi, TUPE."""

import torch
from torch import Tensor, nn

from peers.compare import Numbers, case
from peers.modules import (
    D_HEAD,
    D_MODEL,
    LENGTH,
    LONG,
    N_HEADS,
    Maps,
    attended,
    call,
    prefixed,
    tokens,
)
from peers.references import code
from posenc.encodings import TUPE, ALiBi, T5Bias
from posenc.models import EncoderLayer

N_BUCKETS, MAX_DISTANCE = 32, 128
BUCKETS = [(32, 128), (32, 64), (16, 40), (8, 20), (64, 300), (4, 9)]
MAX_HEADS = 33
UNSCALED = "The reference does not divide scores by sqrt(d_head): its query map is divided instead."
SEVERAL = "For several numbers of buckets and largest distances, whole numbers."


def t5(numbers: Numbers) -> Tensor:
    return numbers("buckets", N_HEADS, N_BUCKETS)


def buckets(theirs) -> tuple[Tensor, Tensor]:
    """Return both sides' buckets of all offsets, for several sizes."""
    offset = torch.arange(1 - LONG, LONG)
    ours = [
        T5Bias(D_MODEL, N_HEADS, LONG, n_buckets=n, max_distance=far).bucket(offset)
        for n, far in BUCKETS
    ]
    others = [theirs(offset, num_buckets=n, max_distance=far) for n, far in BUCKETS]
    return torch.stack(ours).double(), torch.stack(others).double()


@case("t5", "transformers", "T5Attention._relative_position_bucket", note=SEVERAL)
def t5_buckets(numbers: Numbers):  # noqa: ARG001
    from transformers.models.t5.modeling_t5 import T5Attention

    return buckets(T5Attention._relative_position_bucket)


@case("t5", "TUPE", "relative_position_bucket", note=SEVERAL)
def tupe_buckets(numbers: Numbers):  # noqa: ARG001
    return buckets(tupe_code().relative_position_bucket)


@case("t5", "positional-encoding-benchmark", "get_relative_positions", note=SEVERAL)
def survey_buckets(numbers: Numbers):  # noqa: ARG001
    theirs = code("positional-encoding-benchmark", "src/encodings/positional_encodings.py")

    def first_row_and_column(offset, num_buckets, max_distance):
        length = offset.max() + 1
        table = theirs.get_relative_positions(length, True, num_buckets, max_distance)
        return torch.cat((table[1:, 0].flip(0), table[0]))

    return buckets(first_row_and_column)


@case("t5", "transformers", "T5Attention", note=UNSCALED)
def t5_attention(numbers: Numbers):
    from transformers import T5Config
    from transformers.models.t5.modeling_t5 import T5Attention

    config = T5Config(
        d_model=D_MODEL,
        d_kv=D_HEAD,
        num_heads=N_HEADS,
        dropout_rate=0.0,
        relative_attention_num_buckets=N_BUCKETS,
        relative_attention_max_distance=MAX_DISTANCE,
    )
    x, maps = tokens(numbers, LONG), Maps(numbers, offsets=False)
    parameters = maps.named("q", "k", "v", "o", offsets=False)
    parameters["q.weight"] = maps.q * D_HEAD**-0.5
    parameters["relative_attention_bias.weight"] = t5(numbers).T
    attention = T5Attention(config, has_relative_attention_bias=True)
    theirs = call(attention, parameters, x)[0]
    return attended(T5Bias(D_MODEL, N_HEADS, LONG), maps, x, values=t5(numbers)), theirs


class _Attention(nn.Module):
    """x-transformers' attention and a term on its scores."""

    def __init__(self, relative: nn.Module) -> None:
        super().__init__()
        from x_transformers.x_transformers import Attention

        self.attention = Attention(D_MODEL, dim_head=D_HEAD, heads=N_HEADS)
        self.relative = relative

    def forward(self, x: Tensor) -> Tensor:
        return self.attention(x, rel_pos=self.relative)


def x_transformers_names(maps: Maps) -> dict[str, Tensor]:
    names = [f"attention.to_{name}" for name in ("q", "k", "v", "out")]
    return maps.named(*names, offsets=False)


@case(
    "t5",
    "x-transformers",
    "Attention with RelativePositionBias",
    note="The reference takes the softmax in float32.",
    precision="float32",
)
def x_transformers_t5(numbers: Numbers):
    from x_transformers.x_transformers import RelativePositionBias

    x, maps = tokens(numbers, LONG), Maps(numbers, offsets=False)
    relative = RelativePositionBias(1.0, False, N_BUCKETS, MAX_DISTANCE, N_HEADS)
    parameters = {"relative.relative_attention_bias.weight": t5(numbers).T}
    theirs = call(_Attention(relative), x_transformers_names(maps) | parameters, x)
    return attended(T5Bias(D_MODEL, N_HEADS, LONG), maps, x, values=t5(numbers)), theirs


def slopes(theirs) -> tuple[Tensor, Tensor]:
    """Return both sides' slopes for 1 to 32 heads."""
    counts = range(1, MAX_HEADS)
    ours = torch.cat([ALiBi(n, n, 2).slopes for n in counts])
    return ours, torch.cat([theirs(n).flatten() for n in counts])


@case(
    "alibi",
    "transformers",
    "BLOOM build_alibi_tensor",
    note="Slopes for 1 to 32 heads; the reference computes them in float32.",
    precision="float32",
)
def bloom_slopes(numbers: Numbers):
    from transformers.models.bloom.modeling_bloom import build_alibi_tensor

    return slopes(lambda n: build_alibi_tensor(torch.ones(1, 2), n, numbers.dtype)[:, 0, 1])


@case(
    "alibi",
    "transformers",
    "MPT build_mpt_alibi_tensor",
    note="Slopes for 1 to 32 heads; the reference computes them in float32.",
    precision="float32",
)
def mpt_slopes(numbers: Numbers):
    from transformers.models.mpt.modeling_mpt import build_mpt_alibi_tensor

    # of two positions, the first has the offset -1 from the last
    return slopes(lambda n: -build_mpt_alibi_tensor(n, 2)[..., 0].to(numbers.dtype))


@case("alibi", "x-transformers", "AlibiPositionalBias", note="Slopes for 1 to 32 heads.")
def x_transformers_slopes(numbers: Numbers):  # noqa: ARG001
    from x_transformers.x_transformers import AlibiPositionalBias

    return slopes(lambda n: -AlibiPositionalBias(n)(2, 2)[..., 0, 1])


@case(
    "alibi",
    "x-transformers",
    "Attention with AlibiPositionalBias",
    note="The reference takes the softmax in float32.",
    precision="float32",
)
def x_transformers_alibi(numbers: Numbers):
    from x_transformers.x_transformers import AlibiPositionalBias

    x, maps = tokens(numbers, LONG), Maps(numbers, offsets=False)
    theirs = call(_Attention(AlibiPositionalBias(N_HEADS)), x_transformers_names(maps), x)
    return attended(ALiBi(D_MODEL, N_HEADS, LONG), maps, x), theirs


class _Causal(ALiBi):
    """ALiBi that hides what comes after the query."""

    def bias(self, x: Tensor, q: Tensor, k: Tensor) -> Tensor:
        return super().bias(x, q, k) + future(x.shape[1])


def future(length: int) -> Tensor:
    """Return a term on the scores that hides later keys, (length, length)."""
    return torch.full((length, length), -torch.inf).triu(1)


@case(
    "alibi",
    "transformers",
    "BloomAttention, causal",
    note=(
        "The reference adds slope times the key's index, which for causal attention is the same "
        "but for a constant of each row. It takes the softmax in float32. One map holds q, k and "
        "v head by head."
    ),
    precision="float32",
)
def bloom_attention(numbers: Numbers):
    from transformers import BloomConfig
    from transformers.models.bloom import modeling_bloom as m

    config = BloomConfig(
        hidden_size=D_MODEL, n_head=N_HEADS, hidden_dropout=0.0, attention_dropout=0.0
    )
    x, maps = tokens(numbers), Maps(numbers)
    weight, offset = maps.by_head()
    parameters = {
        "query_key_value.weight": weight,
        "query_key_value.bias": offset,
        "dense.weight": maps.o,
        "dense.bias": maps.bo,
    }
    theirs, _ = call(
        m.BloomAttention(config, 0),
        parameters,
        x,
        residual=torch.zeros_like(x),
        alibi=m.build_alibi_tensor(torch.ones(x.shape[:2]), N_HEADS, numbers.dtype),
        attention_mask=future(LENGTH),
    )
    return attended(_Causal(D_MODEL, N_HEADS, LENGTH), maps, x), theirs


def tupe_code():
    modules = "gelu", "layer_norm", "multihead_attention", "transformer_sentence_encoder_layer"
    files = [f"fairseq/modules/{name}.py" for name in (*modules, "transformer_sentence_encoder")]
    theirs = code("TUPE", "fairseq/utils.py", *files)
    theirs.utils = theirs  # what its files import as fairseq.utils
    return theirs


@case(
    "tupe",
    "TUPE",
    "TransformerSentenceEncoder, one layer",
    note=(
        "With a class token. The reference puts a layer norm on its positions, whose result is "
        "posenc's table, and makes theta_1 and theta_2 from two more positions; its position maps "
        "have offsets, here zero as at its start. It computes the GELU in float32."
    ),
    precision="float32",
)
def tupe(numbers: Numbers):
    d_ff = 2 * D_MODEL
    theirs = tupe_code().TransformerSentenceEncoder(
        padding_idx=0,
        vocab_size=LENGTH + 1,
        num_encoder_layers=1,
        embedding_dim=D_MODEL,
        ffn_embedding_dim=d_ff,
        num_attention_heads=N_HEADS,
        dropout=0.0,
        attention_dropout=0.0,
        activation_dropout=0.0,
        activation_fn="gelu",
        max_seq_len=LENGTH,
    )
    words = numbers("words", LENGTH + 1, D_MODEL)
    points = numbers("positions", LENGTH + 1, D_MODEL)
    to_q, to_k = (numbers(f"U_{name}", D_MODEL, D_MODEL, scale=D_MODEL**-0.5) for name in "QK")
    maps, layer = Maps(numbers), feed_forward(numbers, d_ff)
    zero, one = torch.zeros(D_MODEL), torch.ones(D_MODEL)
    in_proj = maps.own()
    parameters = {
        "embed_tokens.weight": words,
        "pos.weight": points,
        "pos_q_linear.weight": to_q,
        "pos_q_linear.bias": zero,
        "pos_k_linear.weight": to_k,
        "pos_k_linear.bias": zero,
        "pos_ln.weight": one,
        "pos_ln.bias": zero,
        "layers.0.self_attn.in_proj_weight": in_proj["qkv.weight"],
        "layers.0.self_attn.in_proj_bias": in_proj["qkv.bias"],
        "layers.0.self_attn.out_proj.weight": maps.o,
        "layers.0.self_attn.out_proj.bias": maps.bo,
        "layers.0.self_attn_layer_norm.weight": layer["attention_norm.weight"],
        "layers.0.self_attn_layer_norm.bias": layer["attention_norm.bias"],
        "layers.0.fc1.weight": layer["expand.weight"],
        "layers.0.fc1.bias": layer["expand.bias"],
        "layers.0.fc2.weight": layer["contract.weight"],
        "layers.0.fc2.bias": layer["contract.bias"],
        "layers.0.final_layer_norm.weight": layer["feed_forward_norm.weight"],
        "layers.0.final_layer_norm.bias": layer["feed_forward_norm.bias"],
    }
    ids = torch.arange(1, LENGTH + 1).roll(7)[None]
    states, _ = call(theirs.eval(), parameters, ids)

    norm = nn.functional.layer_norm(points, (D_MODEL,))
    position = TUPE(D_MODEL, N_HEADS, LENGTH, cls_reset=True)
    from_cls, to_cls = (theta(norm[i], to_q, to_k) for i in (0, 1))
    own = {
        "vectors": norm[1:],
        "query.weight": to_q,
        "key.weight": to_k,
        "theta": torch.stack((from_cls, to_cls))[..., None, None],
    }
    ours = EncoderLayer(position, d_ff, 0.0, 0.0, "layer", False).eval()
    weights = layer | prefixed("attention", maps.own() | prefixed("position", own))
    return call(ours, weights, words[ids], None, None), states[-1].transpose(0, 1)


def theta(point: Tensor, to_q: Tensor, to_k: Tensor) -> Tensor:
    """Return the score of a position with itself, one per head."""
    q, k = ((to @ point).unflatten(0, (N_HEADS, D_HEAD)) for to in (to_q, to_k))
    return (q * k).sum(-1) * (2 * D_HEAD) ** -0.5


def feed_forward(numbers: Numbers, d_ff: int, prefix: str = "") -> dict[str, Tensor]:
    """Return the weights of an `EncoderLayer` behind its attention."""
    shapes = {
        "expand.weight": (d_ff, D_MODEL),
        "expand.bias": (d_ff,),
        "contract.weight": (D_MODEL, d_ff),
        "contract.bias": (D_MODEL,),
    }
    for norm in ("attention_norm", "feed_forward_norm"):
        shapes |= {f"{norm}.weight": (D_MODEL,), f"{norm}.bias": (D_MODEL,)}
    return {
        name: numbers(prefix + name, *shape, scale=shape[-1] ** -0.5 if len(shape) > 1 else 1.0)
        for name, shape in shapes.items()
    }
