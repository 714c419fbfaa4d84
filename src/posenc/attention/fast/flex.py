"""Attention with scores of position on a GPU, by PyTorch's FlexAttention.

It compiles one program from a function that says what is added to the score of a query and a key,
so that no matrix is written out, forth or back. PyTorch has had it since 2.5, with gradients for
what the function reads since 2.6, and compiles it by Triton. Where one of them is missing,
`serves` says no, and the matrix is written out.
"""

from collections.abc import Callable, Hashable
from functools import cache, partial
from importlib.util import find_spec
from typing import Any

import torch
from torch import Tensor

from posenc.attention.formula import wants_gradient
from posenc.attention.score_mods import ScoreMod, by_offset


def serves(q: Tensor) -> bool:
    """Return whether FlexAttention is there, on a GPU, and takes such queries."""
    known = q.dtype in (torch.float32, torch.float16, torch.bfloat16)
    return q.device.type == "cuda" and known and q.shape[-1] >= 16 and _is_there()


def flexible_attention(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    offsets: Tensor,
    padding: Tensor | None,
    scale: float,
    *,
    compiled: bool = True,
) -> Tensor:
    """Return `softmax(scale * q k + scores by offset) v`, and nobody looks at padding.

    Parameters
    ----------
    q, k, v : (batch, heads, length, width)
    offsets : (batch, heads, length, 2 r + 1), or (1, heads or 1, 1, 2 r + 1)
        Scores for offsets j - i clipped to -r..r, of each query or of all.
    padding : (batch, length) bool, optional
        True marks a real token.
    scale : float
    compiled : bool
        Without, the formula is computed step by step, for tests.
    """
    score = with_padding(by_offset(offsets), padding)
    if not compiled:
        return _kernel(compiled=False)(q, k, v, score_mod=score, scale=scale)
    kernel = partial(_kernel(compiled=True), q, k, v, score_mod=score, scale=scale)
    return fitting(kernel, (q.device, q.dtype, q.shape[-1], wants_gradient((q, k, v, offsets))))


TILES: tuple[dict[str, int] | None, ...] = (
    None,
    {"num_stages": 2},
    {"num_stages": 1, "BLOCK_M": 64, "BLOCK_N": 32},
)
"""Tilings of FlexAttention, from its own choice to one that small shared memories hold.

Its choice counts what queries, keys and values take, and not the scores that a table adds.
"""

_found: dict[Hashable, int] = {}


def fitting(kernel: Callable[..., Tensor], key: Hashable) -> Tensor:
    """Return what a kernel gives with the first tiling that the GPU's shared memory holds.

    It is kept by a key, as each attempt compiles for seconds.
    """
    for number in range(_found.get(key, 0), len(TILES)):
        try:
            out = kernel(kernel_options=TILES[number])
        except Exception as error:
            if number + 1 == len(TILES) or "out of resource" not in str(error):
                raise
        else:
            _found[key] = number
            return out
    raise AssertionError("the last tiling returns or raises")


def with_padding(score_mod: ScoreMod, padding: Tensor | None) -> ScoreMod:
    """Return a function that also keeps everybody from looking at padded tokens."""
    if padding is None:
        return score_mod

    def padded(score: Tensor, b: Tensor, h: Tensor, i: Tensor, j: Tensor) -> Tensor:
        # a finite floor keeps rows without any real token free of NaN
        floor = torch.finfo(score.dtype).min
        return torch.where(padding[b, j], score_mod(score, b, h, i, j), floor)

    return padded


@cache
def _is_there() -> bool:
    # the names of versions compare as versions do
    return torch.__version__ >= "2.6" and find_spec("triton") is not None


@cache
def _kernel(*, compiled: bool) -> Callable[..., Any]:
    # the import brings the compiler along, which takes seconds
    from torch.nn.attention.flex_attention import flex_attention

    if compiled:
        return torch.compile(flex_attention)
    return flex_attention
