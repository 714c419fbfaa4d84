"""What released models ask of an encoding: several axes, other ends and directions of a head."""

from collections.abc import Callable
from functools import partial
from types import ModuleType

import torch
from torch import Tensor
from torch.nn.functional import interpolate, rms_norm

from peers.biases import future
from peers.compare import Numbers, case
from peers.modules import (
    BATCH,
    D_MODEL,
    LENGTH,
    LONG,
    N_HEADS,
    Maps,
    attended,
    call,
    door,
    tokens,
)
from posenc.attention import Places, Position, SelfAttention
from posenc.encodings import (
    ALiBi,
    AxialRotary,
    DeBERTa,
    Learnable,
    MRoPE,
    Rotary,
    SwinBias,
    T5Bias,
    patch_centres,
    resize_grid,
    shaken,
)

FLOAT32_ANGLES = "The reference computes frequencies and angles in float32."
D_HEAD, ROWS, COLUMNS = 128, 5, 8
WIDTH = N_HEADS * D_HEAD
SIZES = WIDTH, N_HEADS, LENGTH


def queries_and_keys(numbers: Numbers, d_head: int = D_HEAD) -> tuple[Tensor, Tensor]:
    shape = BATCH, N_HEADS, LENGTH, d_head
    return numbers("queries", *shape), numbers("keys", *shape)


def rotated(position: Position, q: Tensor, k: Tensor, places: Places | None = None) -> Tensor:
    """Return queries and keys behind the door `rotate`."""
    return torch.stack(door(position, "rotate", q, k, *[places] * (places is not None)))


# -- M-RoPE ----------------------------------------------------------------------------------------


def of_video() -> Tensor:
    """Return the places of tokens on three axes as models have them, (3, batch, length)."""
    generator = torch.Generator().manual_seed(1)
    return torch.randint(LENGTH, (3, BATCH, LENGTH), generator=generator)


def multimodal(numbers: Numbers, m: ModuleType, embedding: str, config: object, **options: object):
    """Return what a model's own code and `MRoPE` make of queries and keys."""
    q, k = queries_and_keys(numbers)
    tables = getattr(m, embedding)(config)(q, of_video())
    theirs = m.apply_rotary_pos_emb(q, k, *(one.to(q.dtype) for one in tables))
    places = Places.at(of_video().movedim(0, -1), q[:, 0], 3)
    return rotated(MRoPE(*SIZES, **options), q, k, places), torch.stack(theirs)


def text_config(cls: type, base: float, sections: list[int], **rope: object) -> object:
    rope = {"rope_type": "default", "rope_theta": base, "mrope_section": sections} | rope
    heads = {"num_attention_heads": N_HEADS, "num_key_value_heads": N_HEADS, "head_dim": D_HEAD}
    return cls(hidden_size=WIDTH, rope_parameters=rope, **heads)


MROPE_NOTE = f"Places of three axes drawn at random. {FLOAT32_ANGLES}"


@case(
    "mrope",
    "transformers",
    "Qwen2VLRotaryEmbedding, apply_rotary_pos_emb",
    note=MROPE_NOTE,
    precision="float32",
)
def qwen2_vl(numbers: Numbers):
    from transformers import Qwen2VLTextConfig
    from transformers.models.qwen2_vl import modeling_qwen2_vl as m

    config = text_config(Qwen2VLTextConfig, 1e6, [16, 24, 24])
    options = {"base": 1e6, "sections": (16, 24, 24)}
    return multimodal(numbers, m, "Qwen2VLRotaryEmbedding", config, **options)


@case(
    "mrope",
    "transformers",
    "Qwen2VLRotaryEmbedding with rope_type yarn",
    note=MROPE_NOTE,
    precision="float32",
)
def qwen2_vl_yarn(numbers: Numbers):
    from transformers import Qwen2VLTextConfig
    from transformers.models.qwen2_vl import modeling_qwen2_vl as m

    yarn = {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 32_768}
    config = text_config(Qwen2VLTextConfig, 1e6, [16, 24, 24], **yarn)
    options = {"scaling": "yarn", "factor": 4.0, "original_length": 32_768}
    options |= {"base": 1e6, "sections": (16, 24, 24)}
    return multimodal(numbers, m, "Qwen2VLRotaryEmbedding", config, **options)


@case(
    "mrope",
    "transformers",
    "Qwen3VLTextRotaryEmbedding, apply_rotary_pos_emb",
    note=f"With arrangement='interleaved'. {MROPE_NOTE}",
    precision="float32",
)
def qwen3_vl(numbers: Numbers):
    from transformers import Qwen3VLTextConfig
    from transformers.models.qwen3_vl import modeling_qwen3_vl as m

    config = text_config(Qwen3VLTextConfig, 5e6, [24, 20, 20])
    options = {"base": 5e6, "sections": (24, 20, 20), "arrangement": "interleaved"}
    return multimodal(numbers, m, "Qwen3VLTextRotaryEmbedding", config, **options)


@case(
    "mrope",
    "transformers",
    "Glm4vTextRotaryEmbedding, apply_rotary_pos_emb",
    note=f"Half of a head turns, in pairs (2i, 2i + 1). {MROPE_NOTE}",
    precision="float32",
)
def glm4v(numbers: Numbers):
    from transformers import Glm4vTextConfig
    from transformers.models.glm4v import modeling_glm4v as m

    config = text_config(Glm4vTextConfig, 1e4, [8, 12, 12], partial_rotary_factor=0.5)
    options = {"share": 0.5, "sections": (8, 12, 12), "pairing": "interleaved"}
    return multimodal(numbers, m, "Glm4vTextRotaryEmbedding", config, **options)


@case(
    "mrope",
    "transformers",
    "Ernie4_5_VLMoeTextRotaryEmbedding, apply_rotary_pos_emb",
    note=(
        "With arrangement='first_slowest', in pairs (2i, 2i + 1). The reference lists sections of "
        f"height, width and time, and turns in float32. {MROPE_NOTE}"
    ),
    precision="float32",
)
def ernie(numbers: Numbers):
    from transformers.models.ernie4_5_vl_moe import modeling_ernie4_5_vl_moe as m
    from transformers.models.ernie4_5_vl_moe.configuration_ernie4_5_vl_moe import (
        Ernie4_5_VLMoeTextConfig,
    )

    config = text_config(Ernie4_5_VLMoeTextConfig, 5e5, [22, 22, 20])
    options = {"sections": (20, 22, 22), "arrangement": "first_slowest"}
    options |= {"base": 5e5, "pairing": "interleaved"}
    return multimodal(numbers, m, "Ernie4_5_VLMoeTextRotaryEmbedding", config, **options)


# -- pictures --------------------------------------------------------------------------------------


@case(
    "axial_rotary",
    "transformers",
    "DINOv3ViTRopePositionEmbedding, apply_rotary_pos_emb",
    note=f"With pairing='half' at patch_centres of 5 rows and 8 columns. {FLOAT32_ANGLES}",
    precision="float32",
)
def dinov3(numbers: Numbers):
    return _dinov3(numbers, training=False)


@case(
    "axial_rotary",
    "transformers",
    "DINOv3ViTRopePositionEmbedding in training",
    note=f"The same, with shift, jitter and rescale drawn by one seed. {FLOAT32_ANGLES}",
    precision="float32",
)
def dinov3_in_training(numbers: Numbers):
    return _dinov3(numbers, training=True)


def _dinov3(numbers: Numbers, *, training: bool):
    from transformers import DINOv3ViTConfig
    from transformers.models.dinov3_vit import modeling_dinov3_vit as m

    moves = {"shift": 0.3, "jitter": 2.0, "rescale": 2.0}
    config = DINOv3ViTConfig(
        hidden_size=WIDTH,
        num_attention_heads=N_HEADS,
        patch_size=4,
        rope_theta=100.0,
        **{f"pos_embed_{name}": value for name, value in moves.items()},
    )
    q, k = queries_and_keys(numbers)
    picture = torch.zeros(1, 3, 4 * ROWS, 4 * COLUMNS, dtype=q.dtype)
    torch.manual_seed(5)
    tables = m.DINOv3ViTRopePositionEmbedding(config).train(training)(picture)
    torch.manual_seed(5)
    centres = patch_centres(ROWS, COLUMNS).float()  # in whose type the reference draws
    places = Places.at(shaken(centres, **moves) if training else centres, q[:, 0], 2)
    position = AxialRotary(*SIZES, pairing="half", fastest=2 * torch.pi)
    return rotated(position, q, k, places), torch.stack(m.apply_rotary_pos_emb(q, k, *tables))


def grid() -> Tensor:
    """Return rows and columns of the patches, row by row."""
    return torch.cartesian_prod(torch.arange(ROWS), torch.arange(COLUMNS))


@case(
    "axial_rotary",
    "transformers",
    "Qwen2VLVisionRotaryEmbedding, apply_rotary_pos_emb_vision",
    note=f"With pairing='half' and base=10000; the reference turns in float32. {FLOAT32_ANGLES}",
    precision="float32",
)
def qwen2_vl_vision(numbers: Numbers):
    from transformers.models.qwen2_vl import modeling_qwen2_vl as m
    from transformers.models.qwen2_vl.configuration_qwen2_vl import Qwen2VLVisionConfig

    config = Qwen2VLVisionConfig(embed_dim=WIDTH, num_heads=N_HEADS)
    config.num_attention_heads = N_HEADS
    q, k = queries_and_keys(numbers)
    tables = m.Qwen2VLVisionRotaryEmbedding(config)(q, grid())
    packed = [m.apply_rotary_pos_emb_vision(*one, *tables) for one in _rows(q, k)]
    theirs = [torch.stack(part).transpose(1, 2) for part in zip(*packed, strict=True)]
    position = AxialRotary(*SIZES, pairing="half", base=10_000.0)
    return rotated(position, q, k, Places.at(grid(), q[:, 0], 2)), torch.stack(theirs)


def _rows(q: Tensor, k: Tensor) -> list[tuple[Tensor, Tensor]]:
    """Return queries and keys row by row, (length, heads, d_head) each."""
    return list(zip(q.transpose(1, 2).unbind(), k.transpose(1, 2).unbind(), strict=True))


@case(
    "axial_rotary",
    "transformers",
    "Gemma4VisionRotaryEmbedding, apply_multidimensional_rope",
    note=f"With pairing='half_of_parts'. {FLOAT32_ANGLES}",
    precision="float32",
)
def gemma4_vision(numbers: Numbers):
    from transformers import Gemma4VisionConfig
    from transformers.models.gemma4 import modeling_gemma4 as m

    config = Gemma4VisionConfig(
        hidden_size=WIDTH, num_attention_heads=N_HEADS, head_dim=D_HEAD,
        rope_parameters={"rope_type": "axial", "rope_theta": 100.0},
    )  # fmt: skip
    q, k = queries_and_keys(numbers)
    places = grid()[None].expand(BATCH, -1, -1)
    tables = m.Gemma4VisionRotaryEmbedding(config)(q, places)
    theirs = [m.apply_multidimensional_rope(a, *tables, places, unsqueeze_dim=1) for a in (q, k)]
    position = AxialRotary(*SIZES, pairing="half_of_parts")
    return rotated(position, q, k, Places.at(grid(), q[:, 0], 2)), torch.stack(theirs)


# -- dimensions that turn last, or backwards -------------------------------------------------------


@case(
    "rotary",
    "transformers",
    "DeepseekV3Attention",
    note=(
        "Multi-head latent attention: the last dimensions of a head turn, in pairs (2i, 2i + 1) of "
        f"the weights. Scores of both are compared behind the softmax. {FLOAT32_ANGLES}"
    ),
    precision="float32",
)
def deepseek_v3(numbers: Numbers):
    return _latent(numbers, interleave=True)


@case(
    "rotary",
    "transformers",
    "DeepseekV3Attention without rope_interleave",
    note=f"The same in pairs (i, i + d / 2). {FLOAT32_ANGLES}",
    precision="float32",
)
def deepseek_v3_half(numbers: Numbers):
    return _latent(numbers, interleave=False)


def _latent(numbers: Numbers, *, interleave: bool):
    from transformers import DeepseekV3Config
    from transformers.models.deepseek_v3 import modeling_deepseek_v3 as m

    still, turning, rank, d_value = 16, 8, 8, 8
    d_head = still + turning
    config = DeepseekV3Config(
        hidden_size=D_MODEL, num_attention_heads=N_HEADS, num_key_value_heads=N_HEADS,
        q_lora_rank=None, kv_lora_rank=rank, qk_nope_head_dim=still, qk_rope_head_dim=turning,
        v_head_dim=d_value, rope_interleave=interleave, attn_implementation="eager",
        rope_parameters={"rope_type": "default", "rope_theta": 10_000.0},
    )  # fmt: skip
    x = tokens(numbers)
    rows = {"q": N_HEADS * d_head, "kv_a": rank + turning, "o": D_MODEL}
    maps = {name: numbers(f"W_{name}", n, D_MODEL, scale=D_MODEL**-0.5) for name, n in rows.items()}
    maps["kv_b"] = numbers("W_kv_b", N_HEADS * (still + d_value), rank, scale=rank**-0.5)
    parameters = {
        "q_proj.weight": maps["q"],
        "kv_a_proj_with_mqa.weight": maps["kv_a"],
        "kv_a_layernorm.weight": numbers("norm", rank),
        "kv_b_proj.weight": maps["kv_b"],
        "o_proj.weight": maps["o"],
    }
    tables = m.DeepseekV3RotaryEmbedding(config)(x, torch.arange(LENGTH)[None])
    seen = future(LENGTH)
    attention = m.DeepseekV3Attention(config, 0).eval()
    _, theirs = call(attention, parameters, x, tables, seen[None, None])

    latent, turns = (x @ maps["kv_a"].mT).split([rank, turning], -1)
    latent = rms_norm(latent, (rank,), numbers("norm", rank), config.rms_norm_eps)
    content = (latent @ maps["kv_b"].mT).unflatten(-1, (N_HEADS, still + d_value))[..., :still]
    turns = turns[:, :, None].expand(-1, -1, N_HEADS, -1)  # all heads share what turns
    keys = torch.cat((content, turns), -1).transpose(1, 2)
    queries = (x @ maps["q"].mT).unflatten(-1, (N_HEADS, d_head)).transpose(1, 2)
    pairing = "interleaved" if interleave else "half"
    position = Rotary(
        N_HEADS * d_head, N_HEADS, LENGTH, share=turning / d_head, first=still, pairing=pairing
    )
    q, k = rotated(position, queries, keys)
    return (q @ k.mT * d_head**-0.5 + seen).softmax(-1), theirs


@case(
    "rotary",
    "transformers",
    "NanoChat apply_rotary_pos_emb",
    note=f"With direction=-1, in pairs (i, i + d / 2). {FLOAT32_ANGLES}",
    precision="float32",
)
def nanochat(numbers: Numbers):
    from transformers import NanoChatConfig
    from transformers.models.nanochat import modeling_nanochat as m

    config = NanoChatConfig(hidden_size=WIDTH, num_attention_heads=N_HEADS)
    q, k = queries_and_keys(numbers)
    tables = m.NanoChatRotaryEmbedding(config)(q, torch.arange(LENGTH)[None])
    position = Rotary(*SIZES, direction=-1, pairing="half")
    return rotated(position, q, k), torch.stack(m.apply_rotary_pos_emb(q, k, *tables))


# -- buckets ---------------------------------------------------------------------------------------

BUCKETS = [(32, 128), (32, 64), (16, 40), (8, 20), (64, 300)]
BUCKETS_OF_A_SIDE = [(256, 512), (32, 128), (8, 20), (16, 512), (6, 30)]
FAR = 700


@case(
    "t5",
    "transformers",
    "T5Attention._relative_position_bucket, bidirectional False",
    note="For several numbers of buckets and largest distances, whole numbers.",
)
def t5_one_sided(numbers: Numbers):  # noqa: ARG001
    from transformers.models.t5.modeling_t5 import T5Attention

    offset = torch.arange(1 - FAR, FAR)
    ours, theirs = [], []
    for n, far in BUCKETS:
        position = T5Bias(8, 2, FAR, n_buckets=n, max_distance=far)
        ours += [position.bucket(offset, causal=True)]
        sizes = {"num_buckets": n, "max_distance": far, "bidirectional": False}
        theirs += [T5Attention._relative_position_bucket(offset, **sizes)]
    return torch.stack(ours).double(), torch.stack(theirs).double()


@case(
    "t5",
    "transformers",
    "T5Attention of a decoder",
    note=(
        "Causal, so that all buckets serve keys before the query. The reference does not divide "
        "scores by sqrt(d_head): its query map is divided instead."
    ),
)
def t5_decoder(numbers: Numbers):
    from transformers import T5Config
    from transformers.models.t5.modeling_t5 import T5Attention

    config = T5Config(
        d_model=D_MODEL,
        d_kv=D_MODEL // N_HEADS,
        num_heads=N_HEADS,
        dropout_rate=0.0,
        is_decoder=True,
    )
    x, maps = tokens(numbers, LONG), Maps(numbers, offsets=False)
    values = numbers("buckets", N_HEADS, 32)
    parameters = maps.named("q", "k", "v", "o", offsets=False)
    parameters["q.weight"] = maps.q * (D_MODEL // N_HEADS) ** -0.5
    parameters["relative_attention_bias.weight"] = values.T
    attention = T5Attention(config, has_relative_attention_bias=True, layer_idx=0)
    theirs = call(attention, parameters, x, mask=future(LONG)[None, None])[0]
    layer = SelfAttention(D_MODEL, N_HEADS, T5Bias(D_MODEL, N_HEADS, LONG), causal=True).eval()
    return call(layer, maps.own() | {"position.values": values}, x), theirs


@case(
    "deberta",
    "transformers",
    "DebertaV2 make_log_bucket_position",
    note="For several numbers of buckets and largest distances, whole numbers.",
)
def deberta_buckets(numbers: Numbers):  # noqa: ARG001
    from transformers.models.deberta_v2.modeling_deberta_v2 import make_log_bucket_position

    offset = torch.arange(1 - FAR, FAR)
    ours, theirs = [], []
    for n, far in BUCKETS_OF_A_SIDE:
        position = DeBERTa(8, 2, FAR, n_buckets=n, max_distance=far)
        ours += [position.bucket(offset)]
        theirs += [make_log_bucket_position(offset, n, far)]
    return torch.stack(ours).double(), torch.stack(theirs).double()


def deberta_v2(numbers: Numbers, *, shared: bool):
    """Return attention of the later DeBERTa models, by posenc and by transformers."""
    from transformers import DebertaV2Config
    from transformers.models.deberta_v2 import modeling_deberta_v2 as m

    n_buckets, reach = 8, 30
    config = DebertaV2Config(
        hidden_size=D_MODEL, num_attention_heads=N_HEADS, relative_attention=True,
        pos_att_type=["c2p", "p2c"], position_buckets=n_buckets, max_relative_positions=reach,
        share_att_key=shared, hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0,
    )  # fmt: skip
    x, maps = tokens(numbers, LONG), Maps(numbers)
    maps.o, maps.bo = torch.eye(D_MODEL), torch.zeros(D_MODEL)  # the reference's comes later
    vectors = numbers("vectors", 2 * n_buckets, D_MODEL)
    parameters = {}
    for name in "qkv":
        full = {"q": "query", "k": "key", "v": "value"}[name]
        parameters[f"{full}_proj.weight"] = getattr(maps, name)
        parameters[f"{full}_proj.bias"] = getattr(maps, f"b{name}")
    own = {f"{one}.{part}": parameters[f"{one}_proj.{part}"] for one in ("query", "key")
           for part in ("weight", "bias")}  # fmt: skip
    if not shared:
        for one in ("query", "key"):
            own[f"{one}.weight"] = numbers(f"U_{one}", D_MODEL, D_MODEL, scale=0.2)
            own[f"{one}.bias"] = numbers(f"u_{one}", D_MODEL)
        parameters |= {f"pos_{name.replace('.', '_proj.')}": value for name, value in own.items()}
    theirs, _ = call(
        m.DisentangledSelfAttention(config),
        parameters,
        x,
        torch.ones(BATCH, 1, LONG, LONG),
        relative_pos=m.build_relative_position(x, x, n_buckets, reach),
        rel_embeddings=vectors,
    )
    position = DeBERTa(
        D_MODEL,
        N_HEADS,
        LONG,
        max_distance=reach,
        n_buckets=n_buckets,
        map_bias=True,
        formula="program",
    )
    return attended(position, maps, x, vectors=vectors, **own), theirs


for _shared in (False, True):
    case(
        "deberta",
        "transformers",
        "DebertaV2 DisentangledSelfAttention" + ", share_att_key" * _shared,
        note=(
            "With n_buckets, map_bias and formula='program'. The reference takes the root of "
            "3 d_head in float32."
        ),
        precision="float32",
    )(partial(deberta_v2, shared=_shared))


# -- windows of patches ----------------------------------------------------------------------------

WINDOW = 5


def window() -> Tensor:
    """Return rows and columns of a window's patches."""
    return torch.cartesian_prod(torch.arange(WINDOW), torch.arange(WINDOW))


def of_window(position: SwinBias, numbers: Numbers, **parameters: Tensor) -> Tensor:
    """Return what is added to the scores of a window, (1, heads, patches, patches)."""
    x = torch.zeros(1, WINDOW**2, D_MODEL, dtype=numbers.dtype)
    return door(position, "bias", x, x, x, Places.at(window(), x, 2), **parameters)


@case("swin", "transformers", "SwinRelativePositionBias", note="What is added to scores.")
def swin(numbers: Numbers):
    from transformers.models.swin.modeling_swin import SwinRelativePositionBias

    table = numbers("table", N_HEADS, 2 * WINDOW - 1, 2 * WINDOW - 1)
    theirs = SwinRelativePositionBias(N_HEADS, (WINDOW, WINDOW))
    theirs = call(theirs, {"relative_position_bias_table": table.flatten(1).mT})
    position = SwinBias(D_MODEL, N_HEADS, WINDOW**2, window=(WINDOW, WINDOW))
    return of_window(position, numbers, table=table), theirs


@case(
    "swin",
    "transformers",
    "Swinv2SelfAttention, queries of zeros",
    note=(
        "With formula='continuous'. The reference's scores are the bias alone then; the softmax of "
        "both is compared, for a window of 5 and one of pretraining of 3. Its coordinates are in "
        "float32."
    ),
    precision="float32",
)
def swin_v2(numbers: Numbers):
    from transformers import Swinv2Config
    from transformers.models.swinv2.modeling_swinv2 import Swinv2SelfAttention

    own = {
        "hidden.weight": numbers("W", 512, 2),
        "hidden.bias": numbers("b", 512),
        "output.weight": numbers("V", N_HEADS, 512, scale=512**-0.5),
    }
    network = {"0.weight": "hidden.weight", "0.bias": "hidden.bias", "2.weight": "output.weight"}
    zero, maps = torch.zeros(D_MODEL, D_MODEL), Maps(numbers)
    parameters = {
        "logit_scale": torch.zeros(N_HEADS, 1, 1),
        "query.weight": zero, "query.bias": zero[0], "key.weight": maps.k,
        "value.weight": maps.v, "value.bias": maps.bv,
    }  # fmt: skip
    parameters |= {
        f"continuous_position_bias_mlp.{name}": own[ours] for name, ours in network.items()
    }
    x = numbers("patches", 1, WINDOW**2, D_MODEL).detach()
    ours, theirs = [], []
    for trained in (0, 3):
        module = Swinv2SelfAttention(Swinv2Config(), D_MODEL, N_HEADS, WINDOW, [trained, trained])
        _, weights = call(module.eval(), parameters, x, output_attentions=True)
        size = trained or WINDOW
        position = SwinBias(D_MODEL, N_HEADS, WINDOW**2, window=(size, size), formula="continuous")
        ours.append(of_window(position, numbers, **own).softmax(-1))
        theirs.append(weights)
    return torch.cat(ours), torch.cat(theirs)


# -- tables and slopes, and where they begin -------------------------------------------------------

PADDING = 7
"""Padded tokens on the left of the second row."""


def left_padded() -> Tensor:
    """Return which tokens are real, (batch, length)."""
    mask = torch.ones(BATCH, LENGTH, dtype=torch.long)
    mask[1, :PADDING] = 0
    return mask


def counted(mask: Tensor) -> Tensor:
    """Return places that count real tokens, as a user of this library would."""
    return (mask.cumsum(1) - 1).clamp(min=0)


def of_table(numbers: Numbers, table: Tensor, places: Tensor) -> Tensor:
    """Return what a table that begins with two rows more adds to real tokens."""
    x = tokens(numbers)
    position = Learnable(D_MODEL, N_HEADS, LENGTH, offset=2)
    moved = door(position, "embed", x, Places.at(places, x), vectors=table)
    return moved - x


@case(
    "learnable",
    "transformers",
    "OPTLearnedPositionalEmbedding",
    note=(
        "With offset=2, places counted from a mask that pads the second row on its left; real "
        "tokens are compared."
    ),
)
def opt(numbers: Numbers):
    from transformers.models.opt.modeling_opt import OPTLearnedPositionalEmbedding

    mask = left_padded()
    table = numbers("table", LENGTH + 2, D_MODEL)
    theirs = call(OPTLearnedPositionalEmbedding(LENGTH, D_MODEL), {"weight": table}, mask)
    real = mask.bool()
    return of_table(numbers, table, counted(mask))[real], theirs[real]


@case("learnable", "transformers", "BartLearnedPositionalEmbedding", note="With offset=2.")
def bart(numbers: Numbers):
    from transformers.models.bart.modeling_bart import BartLearnedPositionalEmbedding

    table = numbers("table", LENGTH + 2, D_MODEL)
    embedding = BartLearnedPositionalEmbedding(LENGTH, D_MODEL)
    theirs = call(embedding, {"weight": table}, torch.zeros(BATCH, LENGTH))
    places = torch.arange(LENGTH).expand(BATCH, -1)
    return of_table(numbers, table, places), theirs


@case(
    "alibi",
    "transformers",
    "BLOOM build_alibi_tensor, padded on the left",
    note=(
        "Weights of a causal softmax over the biases alone, of real tokens. The reference adds "
        "slope times the place of the key, counted from the mask."
    ),
    precision="float32",
)
def bloom_padded(numbers: Numbers):
    from transformers.models.bloom.modeling_bloom import build_alibi_tensor

    mask = left_padded()
    x = torch.zeros(BATCH, LENGTH, D_MODEL)
    hidden = future(LENGTH) + (mask == 0)[:, None, None].double().mul(-1e30)
    theirs = build_alibi_tensor(mask, N_HEADS, numbers.dtype).unflatten(0, (BATCH, N_HEADS))
    ours = ALiBi(D_MODEL, N_HEADS, LENGTH).bias(x, x, x, Places.at(counted(mask), x))
    real = mask.bool()[:, None].expand(-1, N_HEADS, -1)
    both = [(one + hidden.to(one.dtype)).softmax(-1)[real] for one in (ours, theirs)]
    return both[0], both[1]


@case(
    "alibi",
    "transformers",
    "MPT build_mpt_alibi_tensor, alibi_bias_max 16",
    note="Slopes for 1 to 32 heads with bias_max=16; the reference computes them in float32.",
    precision="float32",
)
def mpt_steep(numbers: Numbers):
    from transformers.models.mpt.modeling_mpt import build_mpt_alibi_tensor

    counts = range(1, 33)
    ours = torch.cat([ALiBi(n, n, 2, bias_max=16.0).slopes for n in counts])
    # of two positions, the first has the offset -1 from the last
    theirs = [-build_mpt_alibi_tensor(n, 2, 16)[..., 0].flatten() for n in counts]
    return ours, torch.cat(theirs).to(numbers.dtype)


# -- tables for pictures of another size -----------------------------------------------------------

OLD, NEW = (6, 6), [(9, 4), (3, 5), (12, 12)]
IN_FLOAT32 = "The reference resamples in float32."


def for_pictures(
    numbers: Numbers, theirs: Callable[[Tensor, tuple[int, int]], Tensor], **options: object
):
    """Return a table with a row for a class token, for pictures of several sizes."""
    table = numbers("table", 1 + OLD[0] * OLD[1], D_MODEL)
    position = Learnable(D_MODEL, N_HEADS, len(table))
    position.load_state_dict({"vectors": table.detach()})
    ours = [resize_grid(position, OLD, size, prefix=1, **options).vectors for size in NEW]
    found = [theirs(table.detach(), size) for size in NEW]
    return torch.cat(ours).detach(), torch.cat(found).detach()


def of_dinov2(embeddings: object, table: Tensor, size: tuple[int, int]) -> Tensor:
    """Return the table that a model's own method makes for pictures of a size."""
    height, width = size
    module = embeddings.to(table.dtype)
    module.position_embeddings.data = table[None]
    seen = torch.zeros(1, 1 + height * width, D_MODEL)
    return module.interpolate_pos_encoding(seen, height, width)[0]


SMALL = {"hidden_size": D_MODEL, "num_attention_heads": N_HEADS, "patch_size": 1, "image_size": 6}


@case(
    "learnable",
    "transformers",
    "Dinov2Embeddings.interpolate_pos_encoding",
    note=f"resize_grid with antialias=False, from 6 x 6 patches to three sizes. {IN_FLOAT32}",
    precision="float32",
)
def dinov2(numbers: Numbers):
    from transformers import Dinov2Config
    from transformers.models.dinov2.modeling_dinov2 import Dinov2Embeddings

    embeddings = Dinov2Embeddings(Dinov2Config(**SMALL))
    return for_pictures(numbers, partial(of_dinov2, embeddings), antialias=False)


@case(
    "learnable",
    "transformers",
    "Dinov2WithRegistersEmbeddings.interpolate_pos_encoding",
    note=f"resize_grid, antialiased, from 6 x 6 patches to three sizes. {IN_FLOAT32}",
    precision="float32",
)
def dinov2_with_registers(numbers: Numbers):
    from transformers import Dinov2WithRegistersConfig
    from transformers.models.dinov2_with_registers import modeling_dinov2_with_registers as m

    embeddings = m.Dinov2WithRegistersEmbeddings(Dinov2WithRegistersConfig(**SMALL))
    return for_pictures(numbers, partial(of_dinov2, embeddings))


@case(
    "learnable",
    "transformers",
    "Siglip2VisionEmbeddings.resize_positional_embeddings",
    note=f"resize_grid with mode='bilinear', the rows of patches. {IN_FLOAT32}",
    precision="float32",
)
def siglip2(numbers: Numbers):
    from transformers.models.siglip2.modeling_siglip2 import Siglip2VisionEmbeddings

    def theirs(table: Tensor, size: tuple[int, int]) -> Tensor:
        image, length = table[1:].unflatten(0, OLD), size[0] * size[1]
        resize = Siglip2VisionEmbeddings.resize_positional_embeddings
        return torch.cat((table[:1], resize(image, torch.tensor([size]), length)[0]))

    return for_pictures(numbers, theirs, mode="bilinear")


@case(
    "learnable",
    "PyTorch",
    "interpolate as DINOv2 calls it",
    note="resize_grid with overshoot=0.1 and antialias=False, as scale factors of 6 x 6 patches.",
)
def dinov2_as_published(numbers: Numbers):
    def theirs(table: Tensor, size: tuple[int, int]) -> Tensor:
        image = table[1:].unflatten(0, OLD).permute(2, 0, 1)[None]
        factors = tuple((n + 0.1) / m for n, m in zip(size, OLD, strict=True))
        found = interpolate(image, scale_factor=factors, mode="bicubic", antialias=False)
        return torch.cat((table[:1], found[0].flatten(1).mT))

    return for_pictures(numbers, theirs, antialias=False, overshoot=0.1)
