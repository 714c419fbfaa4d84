"""Attention with scores of position on a GPU, by PyTorch's FlexAttention.

It compiles one program from a function that says what is added to the score of a query and a key,
so that no matrix is written out, forth or back. PyTorch has had it since 2.5, with gradients for
what the function reads since 2.6, and compiles it by Triton. Where one of them is missing,
`serves` says no, and the matrix is written out.
"""

from collections.abc import Callable
from functools import cache
from importlib.util import find_spec
from typing import Any

import torch
from torch import Tensor

ScoreMod = Callable[[Tensor, Tensor, Tensor, Tensor, Tensor], Tensor]


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
    score = with_padding(score_mod(offsets), padding)
    return _kernel(compiled)(q, k, v, score_mod=score, scale=scale)


def score_mod(offsets: Tensor, first: int = 0) -> ScoreMod:
    """Return the function that adds to a score the one by offset, for all queries or for each.

    The first query stands at `first`.
    """
    reach = offsets.shape[-1] // 2
    if offsets.shape[-2] == 1:
        line = offsets[0, :, 0]

        def by_offset(score: Tensor, b: Tensor, h: Tensor, i: Tensor, j: Tensor) -> Tensor:  # noqa: ARG001
            head = h if line.shape[0] > 1 else 0
            return score + line[head, (j - i - first).clamp(-reach, reach) + reach]

        return by_offset

    def by_query(score: Tensor, b: Tensor, h: Tensor, i: Tensor, j: Tensor) -> Tensor:
        return score + offsets[b, h, i, (j - i - first).clamp(-reach, reach) + reach]

    return by_query


def by_line(line: Tensor, n_queries: int) -> ScoreMod:
    """Return the function that adds the score of each offset that occurs, in order.

    Parameters
    ----------
    line : (heads or 1, n_queries + n_keys - 1)
        As `toeplitz` takes it, so that nothing has to be clipped.
    n_queries : int
    """
    several = line.shape[0] > 1

    def added(score: Tensor, b: Tensor, h: Tensor, i: Tensor, j: Tensor) -> Tensor:  # noqa: ARG001
        return score + line[h if several else 0, j - i + (n_queries - 1)]

    return added


def by_table(table: Tensor) -> ScoreMod:
    """Return the function that adds what a matrix holds, which broadcasts to the scores."""
    axes = [axis - table.ndim for axis, size in enumerate(table.shape) if size > 1]
    table = table.squeeze()

    def added(score: Tensor, *where: Tensor) -> Tensor:
        return score + table[tuple(where[axis] for axis in axes)]

    return added


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
def _kernel(compiled: bool) -> Callable[..., Any]:
    # the import brings the compiler along, which takes seconds
    from torch.nn.attention.flex_attention import flex_attention

    if compiled:
        return torch.compile(flex_attention)
    return flex_attention
