"""Which kernel serves: scaled dot-product attention by the fastest that fits.

| the term of `bias` | and | kernel |
|---|---|---|
| none, or dense | its gradient is not wanted | PyTorch's fused kernel |
| dense | its gradient is wanted | blocks |
| by offset | its gradient is not wanted, no padding | fused, with a view of a line as its matrix |
| by offset | else | blocks |
| by query and offset | | blocks |
| by product | | fused, as more dimensions of queries and keys |

In a causal layer, with a window or with a mask of pairs, a term by offset, or by query and offset,
counts as dense. That is the table of CPUs. On a GPU, scores by offset, and by query and offset, go
to FlexAttention where PyTorch has it (`flex`); what else the blocks do here goes to the fused
kernel there. All short forms, and blocks, are for at least 256 tokens without dropout, outside of
`torch.compile` and of transforms; everything else is served with the matrix written out. A term of
`mix` that goes by offset is convolved, again for long inputs, and any other is written out.

With sinks, every term of `bias` is written out, and the fused kernel gets one more key; where
scores are capped, the weights are written out.
"""

import math
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext

import torch
from torch import Tensor
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.nn.functional import dropout as drop
from torch.nn.functional import pad, scaled_dot_product_attention

from posenc.attention.fast import blocked_attention, flex_serves, flexible_attention
from posenc.attention.formula import Twice, formula, wants_gradient, written_out
from posenc.attention.masks import merge
from posenc.attention.numerics import (
    exporting,
    in_transform,
    precise,
    without_autocast,
)
from posenc.attention.terms import Term
from posenc.attention.toeplitz import reversed_matrix, spread

__all__ = [
    "attention",
    "choose",
    "convolve",
    "exporting",
    "fused_attention",
    "in_transform",
    "precise",
    "softmax_weights",
    "without_autocast",
]

_LONG = 256
"""From this length on, short forms beat the matrix."""


def choose(
    q: Tensor,
    bias: Term | None,
    seen: Tensor | None,
    *,
    limited: bool,
    dropout: float,
    k: Tensor | None = None,
    softcap: float | None = None,
    sinks: Tensor | None = None,
) -> str:
    """Return the name of the kernel for these queries and what is added to their scores.

    Parameters
    ----------
    q : (batch, heads, queries, width)
    bias : Term, optional
    seen : bool, optional
        Who sees whom, as `masks.who_sees_whom` gives it.
    limited : bool
        Whether that is more than padding.
    dropout : float
        Its rate in this pass.
    k : (batch, heads, keys, width), optional
        By default there is a key for each query.
    softcap, sinks
        As for `attention`.

    Returns
    -------
    {"fused", "blocks", "strided", "joined", "flex", "sinks", "formula"}
    """
    if softcap is not None or sinks is not None:
        return "sinks" if softcap is None else "formula"
    # in this order: to compare a length would tie an exported program to one side of it
    if bias is None or not _long(q) or in_transform() or dropout > 0:
        return "fused"
    if bias.kind == "by_product":
        return "joined"
    if bias.kind == "dense" or limited:
        return "blocks" if _wants_blocks(q, q if k is None else k, bias) else "fused"
    if q.device.type != "cpu":
        return "flex" if flex_serves(q) and not _better_written_out(q, bias) else "fused"
    if bias.kind == "by_offset" and seen is None and not bias.scores().requires_grad:
        return "strided"
    return "blocks"


def _better_written_out(q: Tensor, bias: Term) -> bool:
    """Return whether scores are learned, and their matrix takes an eighth of the GPU at most.

    FlexAttention adds up the gradient of a table one score at a time. With T5's biases for 4,096
    tokens an H200 took two hundred times as long as for attention without position.
    """
    if not (torch.is_grad_enabled() and bias.scores().requires_grad):
        return False
    size = math.prod(q.shape[:3]) * q.shape[-2] * q.element_size()
    return size <= torch.cuda.get_device_properties(q.device).total_memory / 8


def _wants_blocks(q: Tensor, k: Tensor, bias: Term) -> bool:
    """Return whether PyTorch's kernel would be the formula for a matrix, in O(length^2) memory."""
    if q.device.type != "cpu" or q.shape[-2] != k.shape[-2] or not torch.is_grad_enabled():
        return False
    return bias.dense(q, k).requires_grad


def attention(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    bias: Term | None,
    mix: Term | Callable[[Tensor], Tensor] | None,
    seen: Tensor | None,
    *,
    limited: bool,
    dropout: float,
    scale: float,
    softcap: float | None = None,
    sinks: Tensor | None = None,
) -> Tensor:
    """Return the heads' outputs (batch, heads, queries, width) of all that the doors say.

    Parameters
    ----------
    q, k, v : (batch, heads, queries or keys, width)
    bias, mix : Term, optional
        What is added to the scores and to the weights; from `mix` also a function of the weights.
    seen, limited
        As for `choose`.
    dropout, scale : float
        Rate in this pass, and what the products are multiplied by.
    softcap : float, optional
        What no scaled product may exceed, before a bias is added.
    sinks : (heads,), optional
        Logits in the denominators, whose weight no value gets.
    """
    if callable(mix):
        weights = drop(softmax_weights(q, k, bias, seen, scale, softcap, sinks), dropout)
        return weights @ v + mix(weights)
    kernel = choose(
        q, bias, seen, limited=limited, dropout=dropout, k=k, softcap=softcap, sinks=sinks
    )
    if kernel == "formula":
        heads = drop(softmax_weights(q, k, bias, seen, scale, softcap, sinks), dropout) @ v
    elif sinks is not None:
        heads = _with_sinks(q, k, v, bias, seen, dropout, scale, sinks)
    elif bias is None or kernel == "fused":
        added = None if bias is None else bias.dense(q, k)
        heads = fused_attention(q, k, v, merge(added, seen, q), dropout, scale)
    elif kernel == "blocks":
        heads = _blocks(q, k, v, bias, seen, scale, limited=limited)
    elif kernel == "flex":
        heads = _flexible(q, k, v, bias, seen, scale)
    elif kernel == "strided":
        heads = _strided(q, k, v, bias.scores(), scale)
    else:
        heads = _joined(q, k, v, *bias.factors(), seen, scale)
    # adding to the weights is adding to the output, so the kernel still serves
    return heads if mix is None else heads + _mixed(q, k, v, mix, seen, limited=limited)


def softmax_weights(
    q: Tensor,
    k: Tensor,
    bias: Term | None,
    seen: Tensor | None,
    scale: float,
    softcap: float | None = None,
    sinks: Tensor | None = None,
) -> Tensor:
    """Return the attention weights (batch, heads, queries, keys), formed explicitly."""
    scores = precise(q) @ precise(k).transpose(-2, -1) * scale
    if softcap is not None:
        scores = softcap * (scores / softcap).tanh()
    if bias is not None:
        scores = scores + bias.dense(q, k).to(scores.dtype)
    if seen is not None:
        # a finite floor keeps rows without any real token free of NaN
        scores = scores.masked_fill(~seen, torch.finfo(scores.dtype).min)
    if sinks is None:
        return scores.softmax(-1).to(q.dtype)
    column = sinks.to(scores.dtype)[:, None, None].expand(*scores.shape[:3], 1)
    return torch.cat((scores, column), -1).softmax(-1)[..., :-1].to(q.dtype)


def fused_attention(
    q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None, dropout: float, scale: float
) -> Tensor:
    """Return `softmax(scale * q k + mask) v` without keeping the weights where possible.

    `q`, `k` and `v` are (batch, heads, length, width), queries of any other length, `mask` is
    boolean (True: look) or additive and broadcasts to (batch, heads, queries, keys).
    """
    if in_transform():
        return formula(q, k, v, mask, dropout, scale)
    width = v.shape[-1]
    if q.shape[-1] == width and not wants_gradient((q, k, v, mask)):
        if mask is not None and mask.dtype not in (torch.bool, q.dtype):
            mask = mask.to(q.dtype)
        with _without_plans(q, k):
            return scaled_dot_product_attention(q, k, v, mask, dropout, scale=scale)
    learned = mask is not None and mask.requires_grad
    on_cpu = q.device.type == "cpu"
    if q.shape[-1] != width and _single(q):
        # for one query, filling up all values costs more than the scores
        return formula(q, k, v, mask, dropout, scale)
    if q.shape[-1] != width:
        # the fused kernels want one width; zeros change neither scores nor outputs
        widest = max(q.shape[-1], width)
        q, k, v = (pad(a, (0, widest - a.shape[-1])) for a in (q, k, v))
    if mask is not None and mask.dtype != torch.bool:
        mask = mask.to(q.dtype)

    def kernel(q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None) -> Tensor:
        return scaled_dot_product_attention(q, k, v, mask, dropout, scale=scale)

    def written_out(q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None) -> Tensor:
        return formula(q, k, v, mask, dropout, scale)

    inputs = q, k, v, mask
    # with dropout the formula would draw other zeros than the kernel did
    once = dropout > 0 or (on_cpu and learned)
    twice = not once and not torch.compiler.is_compiling() and wants_gradient(inputs)
    out = Twice.apply(kernel, written_out, *inputs) if twice else kernel(*inputs)
    return out if out.shape[-1] == width else out[..., :width]


def convolve(line: Tensor, v: Tensor) -> Tensor:
    """Return the sum over j of `line[:, j - i + length - 1] v_j` in O(length log length).

    Parameters
    ----------
    line : (heads or 1, 2 length - 1)
    v : (batch, heads, length, width)
    """
    length = v.shape[-2]
    # what wraps around falls on entries that are not wanted, from 2 length - 1 points on
    n = 1 << (2 * length - 2).bit_length()
    dtype = torch.promote_types(v.dtype, torch.float32)
    wave = torch.fft.rfft(line.flip(-1).to(dtype), n)[..., None]
    summed = torch.fft.irfft(wave * torch.fft.rfft(v.to(dtype), n, -2), n, -2)
    return summed[..., length - 1 : 2 * length - 1, :].to(v.dtype)


def _long(x: Tensor) -> bool:
    return not (torch.compiler.is_compiling() or exporting()) and x.shape[-2] >= _LONG


def _without_plans(q: Tensor, k: Tensor) -> AbstractContextManager[object]:
    """Return a context for keys of a cache, whose number grows from call to call, on a GPU.

    cuDNN plans anew for each number of keys, which takes a hundred times as long as the attention.
    """
    free = torch.compiler.is_compiling() or exporting()
    if q.device.type != "cuda" or free or q.shape[-2] == k.shape[-2]:
        return nullcontext()
    kernels = SDPBackend.FLASH_ATTENTION, SDPBackend.EFFICIENT_ATTENTION, SDPBackend.MATH
    return sdpa_kernel(list(kernels))


def _single(q: Tensor) -> bool:
    """Return whether there is one query, as in decoding, where that may be asked."""
    return not (torch.compiler.is_compiling() or exporting()) and q.shape[-2] == 1


def _blocks(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    bias: Term,
    seen: Tensor | None,
    scale: float,
    *,
    limited: bool,
) -> Tensor:
    """Return attention with a matrix, or with scores by offset, for all queries or for each."""
    q = precise(q) * scale
    if bias.kind == "dense" or limited:
        return blocked_attention(q, k, v, merge(bias.dense(q, k), seen, v))
    values, padding = _by_offset(bias, seen)
    return blocked_attention(q, k, v, None, values, padding)


def _flexible(
    q: Tensor, k: Tensor, v: Tensor, bias: Term, seen: Tensor | None, scale: float
) -> Tensor:
    """Return the same on a GPU."""
    values, padding = _by_offset(bias, seen)

    def kernel(q: Tensor, k: Tensor, v: Tensor, values: Tensor) -> Tensor:
        return flexible_attention(q, k, v, values, padding, scale)

    def by_formula(q: Tensor, k: Tensor, v: Tensor, values: Tensor) -> Tensor:
        return written_out(precise(q) * scale, k, v, None, values, padding)

    inputs = q, k, v, values
    return Twice.apply(kernel, by_formula, *inputs) if wants_gradient(inputs) else kernel(*inputs)


def _by_offset(bias: Term, seen: Tensor | None) -> tuple[Tensor, Tensor | None]:
    """Return scores by offset, one axis of queries included, and who is real, (batch, length)."""
    values = bias.scores()
    values = values[None, :, None] if bias.kind == "by_offset" else values
    return values, None if seen is None else seen[:, 0, 0]


def _strided(q: Tensor, k: Tensor, v: Tensor, line: Tensor, scale: float) -> Tensor:
    """Return attention with constant scores by offset, (heads or 1, 2 r + 1)."""
    length = q.shape[-2]
    lowest = line[:, [line.shape[-1] // 2]] - _advantage(q, k, scale) - _nothing(line)
    line = line.masked_fill(line < lowest, torch.finfo(q.dtype).min / 2)
    matrix = reversed_matrix(line.to(q.dtype), length)
    return fused_attention(q.flip(-2), k, v, matrix, 0.0, scale).flip(-2)


@torch.no_grad()
def _advantage(q: Tensor, k: Tensor, scale: float) -> Tensor:
    """Return how far any product may lie above that of a token with itself: (heads, 1)."""
    # keys may be moved together, as the softmax does not see what is common to a row
    k = precise(k - k.mean(-2, keepdim=True))
    q = precise(q)
    largest = q.norm(dim=-1) * k.norm(dim=-1).amax(-1, keepdim=True)
    return (largest - (q * k).sum(-1)).amax((0, 2))[:, None] * scale


def _nothing(x: Tensor) -> float:
    """Return how far below another a score weighs less than rounding, in the precision of `x`.

    To leave such scores out spares numbers that are too small to be normal, which are slow.
    """
    return -2 * math.log(torch.finfo(x.dtype).eps)


def _joined(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    of_queries: Tensor,
    of_keys: Tensor,
    seen: Tensor | None,
    scale: float,
) -> Tensor:
    """Return attention whose scores gain the products of further vectors."""

    def join(x: Tensor, more: Tensor) -> Tensor:
        more = more.expand(*x.shape[:-1], more.shape[-1])
        return torch.cat((x, more.to(x.dtype)), -1)

    q, k = join(q * scale, of_queries), join(k, of_keys)
    return fused_attention(q, k, v, seen, 0.0, 1.0)


def _with_sinks(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    bias: Term | None,
    seen: Tensor | None,
    dropout: float,
    scale: float,
    sinks: Tensor,
) -> Tensor:
    """Return attention with one more key, which scores a number a head and has a value of zeros.

    It has one more dimension, in which queries are `1 / scale` and other keys are zero.
    """
    mask = merge(None if bias is None else bias.dense(q, k), seen, q)
    if mask is not None:  # everybody looks at it, and nothing is added
        mask = mask.expand(*mask.shape[:-1], k.shape[-2])
        mask = pad(mask, (0, 1), value=mask.dtype == torch.bool)
    sink = pad(sinks.to(k.dtype)[:, None, None], (k.shape[-1], 0)).expand(len(k), -1, -1, -1)
    q, k, v = pad(q, (0, 1), value=1 / scale), pad(k, (0, 1)), pad(v, (0, 0, 0, 1))
    return fused_attention(q, torch.cat((k, sink), -2), v, mask, dropout, scale)


def _mixed(
    q: Tensor, k: Tensor, v: Tensor, mix: Term, seen: Tensor | None, *, limited: bool
) -> Tensor:
    """Return what further weights add to the outputs."""
    if mix.kind == "by_offset" and not limited and _long(v):
        return convolve(spread(mix.scores(), v.shape[-2]), v)
    weights = mix.dense(q, k)
    if limited and seen is not None:  # padded values are zeros already
        weights = weights.where(seen, 0)
    return _apply_weights(weights.to(v.dtype), v)


def _apply_weights(weights: Tensor, v: Tensor) -> Tensor:
    """Return `weights @ v`; if the weights are common to the batch, in one product per head."""
    weights = weights.reshape((1,) * (4 - weights.ndim) + weights.shape)
    if weights.shape[0] > 1:
        return weights @ v
    batch, heads, length, width = v.shape
    columns = v.permute(1, 2, 0, 3).reshape(heads, length, batch * width)
    return (weights[0] @ columns).unflatten(-1, (batch, width)).permute(2, 0, 1, 3)
