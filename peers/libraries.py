"""Libraries that one might take instead, torchtune, timm and positional-encodings, beside ours.

x-transformers, rotary-embedding-torch and transformers stand in the files of their families.
`has.py` says what each of the six has.
"""

from functools import partial

import torch
from torch import Tensor

from peers.compare import Numbers, case
from peers.modules import BATCH, D_HEAD, D_MODEL, LENGTH, N_HEADS, call
from peers.references import code
from peers.rotary import HALF, IN_TURN, SCALED, queries_and_keys
from peers.today import COLUMNS, NEW, OLD, ROWS, WINDOW, for_pictures, grid, of_window, rotated
from peers.today import D_HEAD as WIDE_HEAD
from peers.today import SIZES as WIDE
from peers.today import queries_and_keys as wide
from posenc import frequencies, tables
from posenc.attention import Places
from posenc.encodings import AxialRotary, Rotary, SwinBias, T5Bias

IN_FLOAT32 = "The reference computes angles in float32."
SIZES = D_MODEL, N_HEADS, LENGTH
LARGE = 10_000.0

# -- torchtune -------------------------------------------------------------------------------------


def turned(theirs: object, numbers: Numbers, **options: object) -> tuple[Tensor, Tensor]:
    """Return queries and keys that posenc turned, and a module that takes (b, s, n_h, h_d)."""
    q, k = queries_and_keys(numbers)
    found = [theirs(a.transpose(1, 2)).transpose(1, 2) for a in (q, k)]
    return torch.stack(Rotary(*SIZES, **options).rotate(q, k)), torch.stack(found)


@case(
    "rotary",
    "torchtune",
    "RotaryPositionalEmbeddings",
    note=f"{IN_TURN} The reference turns in float32.",
    precision="float32",
)
def tune(numbers: Numbers):
    module = code("torchtune", "torchtune/modules/position_embeddings.py")
    return turned(module.RotaryPositionalEmbeddings(D_HEAD), numbers)


@case(
    "rotary",
    "torchtune",
    "Phi3RotaryPositionalEmbeddings",
    note=f"{HALF} {IN_FLOAT32}",
    precision="float32",
)
def tune_half(numbers: Numbers):
    module = code("torchtune", "torchtune/models/phi3/_position_embeddings.py")
    return turned(module.Phi3RotaryPositionalEmbeddings(D_HEAD), numbers, pairing="half")


@case(
    "rotary",
    "torchtune",
    "Llama3ScaledRoPE",
    note=f"{IN_TURN} The reference turns in float32.",
    precision="float32",
)
def tune_llama3(numbers: Numbers):
    options = SCALED["llama3"]
    module = code("torchtune", "torchtune/models/llama3_1/_position_embeddings.py")
    theirs = module.Llama3ScaledRoPE(
        D_HEAD,
        scale_factor=options["factor"],
        old_context_len=options["original_length"],
        **options["scaling_options"],
    )
    return turned(theirs, numbers, **options)


@case(
    "axial_rotary",
    "torchtune",
    "VisionRotaryPositionalEmbeddings",
    note=(
        "Columns first, counted from 1, with base=10000; its row for a class token is left out. "
        "Its `dim` is that of a head. The reference turns in float32."
    ),
    precision="float32",
)
def tune_pictures(numbers: Numbers):
    module = code("torchtune", "torchtune/modules/position_embeddings.py")
    side = 5
    q, k = (a[:, :, : side**2] for a in wide(numbers))
    theirs = module.VisionRotaryPositionalEmbeddings(1, side, WIDE_HEAD)
    ended = (torch.nn.functional.pad(a, (0, 0, 0, 1)).transpose(1, 2) for a in (q, k))
    found = [theirs(a)[:, :-1].transpose(1, 2) for a in ended]
    t = torch.arange(side**2)
    places = Places.at(torch.stack((t % side, t // side), -1) + 1, q[:, 0], 2)
    return rotated(AxialRotary(*WIDE, base=LARGE), q, k, places), torch.stack(found)


@case("t5", "torchtune", "T5EncoderRelativePositionBias", note="What is added to scores.")
def tune_t5(numbers: Numbers):
    weight = numbers("buckets", N_HEADS, 32)
    module = code("torchtune", "torchtune/models/t5/_encoder.py")
    theirs = module.T5EncoderRelativePositionBias(32, 128, N_HEADS, LENGTH)
    found = call(theirs, {"embedding.weight": weight.mT})[0]
    offset = torch.arange(LENGTH) - torch.arange(LENGTH)[:, None]
    return weight[:, T5Bias(*SIZES).bucket(offset)], found


# -- timm ------------------------------------------------------------------------------------------


@case(
    "axial_rotary",
    "timm",
    "RotaryEmbeddingCat, apply_rot_embed_cat",
    note=f"With in_pixels=False and base=10000. {IN_FLOAT32}",
    precision="float32",
)
def timm_axial(numbers: Numbers):
    from timm.layers import RotaryEmbeddingCat, apply_rot_embed_cat

    q, k = wide(numbers)
    table = RotaryEmbeddingCat(WIDE_HEAD, in_pixels=False).get_embed([ROWS, COLUMNS])
    theirs = torch.stack([apply_rot_embed_cat(a, table) for a in (q, k)])
    places = Places.at(grid(), q[:, 0], 2)
    return rotated(AxialRotary(*WIDE, base=LARGE), q, k, places), theirs


@case(
    "axial_rotary",
    "timm",
    "RotaryEmbeddingDinoV3, apply_rot_embed_cat",
    note=f"With pairing='half' and patch_centres. {IN_FLOAT32}",
    precision="float32",
)
def timm_dinov3(numbers: Numbers):
    from timm.layers import RotaryEmbeddingDinoV3, apply_rot_embed_cat

    from posenc.encodings import patch_centres

    q, k = wide(numbers)
    theirs = RotaryEmbeddingDinoV3(WIDE_HEAD, temperature=100.0, rotate_half=True)
    table = theirs.get_embed([ROWS, COLUMNS])
    found = torch.stack([apply_rot_embed_cat(a, table, half=True) for a in (q, k)])
    position = AxialRotary(*WIDE, pairing="half", fastest=2 * torch.pi)
    places = Places.at(patch_centres(ROWS, COLUMNS), q[:, 0], 2)
    return rotated(position, q, k, places), found


@case("swin", "timm", "RelPosBias", note="What is added to scores.")
def timm_swin(numbers: Numbers):
    from timm.layers import RelPosBias

    table = numbers("table", N_HEADS, 2 * WINDOW - 1, 2 * WINDOW - 1)
    theirs = RelPosBias((WINDOW, WINDOW), N_HEADS)
    scores = torch.zeros(1, N_HEADS, WINDOW**2, WINDOW**2, dtype=numbers.dtype)
    found = call(theirs, {"relative_position_bias_table": table.flatten(1).mT}, scores)
    position = SwinBias(D_MODEL, N_HEADS, WINDOW**2, window=(WINDOW, WINDOW))
    return of_window(position, numbers, table=table), found


@case(
    "learnable",
    "timm",
    "resample_abs_pos_embed",
    note=f"resize_grid from 6 x 6 patches to {len(NEW)} sizes. The reference resamples in float32.",
    precision="float32",
)
def timm_resized(numbers: Numbers):
    from timm.layers import resample_abs_pos_embed

    def theirs(table: Tensor, size: tuple[int, int]) -> Tensor:
        return resample_abs_pos_embed(table[None], list(size), list(OLD))[0]

    return for_pictures(numbers, theirs)


# -- tables for pictures and films -----------------------------------------------------------------


def sums(shape: tuple[int, ...], width: int, numbers: Numbers) -> Tensor:
    """Return a sinusoid of each axis of a grid, one beside the other, (*shape, axes * width)."""
    omega = frequencies.geometric(width)
    parts = [torch.as_tensor(tables.encode(range(n), omega), dtype=numbers.dtype) for n in shape]
    every = torch.meshgrid(*map(torch.arange, shape), indexing="ij")
    return torch.cat([part[axis] for part, axis in zip(parts, every, strict=True)], -1)


@case(
    "sinusoidal",
    "timm",
    "build_sincos2d_pos_embed",
    note=f"Each axis beside the other, its sines before its cosines. {IN_FLOAT32}",
    precision="float32",
)
def timm_sums(numbers: Numbers):
    from timm.layers import build_sincos2d_pos_embed

    theirs = build_sincos2d_pos_embed([ROWS, COLUMNS], D_MODEL, interleave_sin_cos=True)
    ours = sums((ROWS, COLUMNS), D_MODEL // 2, numbers).flatten(0, 1)
    pairs = ours.unflatten(-1, (2, -1, 2))  # axes, frequencies, sine and cosine
    return pairs.transpose(-1, -2).flatten(1), theirs.to(numbers.dtype)


def encoded(shape: tuple[int, ...], numbers: Numbers) -> tuple[Tensor, Tensor]:
    """Return a sinusoid of each axis, by posenc and by positional-encodings."""
    from positional_encodings import torch_encodings as m

    width = 8 * len(shape)
    theirs = getattr(m, f"PositionalEncoding{len(shape)}D")(width)
    like = torch.zeros(BATCH, *shape, width, dtype=numbers.dtype)
    return sums(shape, 8, numbers).expand_as(like), theirs(like)


for _shape in ((LENGTH,), (ROWS, COLUMNS), (3, ROWS, COLUMNS)):
    case(
        "sinusoidal",
        "positional-encodings",
        f"PositionalEncoding{len(_shape)}D",
        note=f"{'Each axis beside the others. ' * (len(_shape) > 1)}{IN_FLOAT32}",
        precision="float32",
    )(partial(encoded, _shape))
