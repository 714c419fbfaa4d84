"""Attention as the formula says it, which everything falls back to.

It may be batched and differentiated as often as one likes, in O(length^2) memory. The kernels
cannot: where a gradient is to be differentiated again (`create_graph=True`), or computed for many
cotangents at once, it comes from here.
"""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor
from torch.autograd.function import FunctionCtx
from torch.jit._trace import is_tracing
from torch.nn.functional import dropout as drop

from posenc.attention.numerics import batched, in_transform, of_raised, precise
from posenc.attention.toeplitz import skew, spread, toeplitz


def formula(
    q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None, dropout: float, scale: float
) -> Tensor:
    """Return `softmax(scale * q k + mask) v`, written out."""
    scores = (precise(q) * scale) @ precise(k).transpose(-2, -1)
    if mask is not None and mask.dtype == torch.bool:
        # a finite floor keeps rows without any real token free of NaN
        scores = scores.masked_fill(~mask, torch.finfo(scores.dtype).min)
    elif mask is not None:
        scores = scores + mask
    return drop(scores.softmax(-1).to(v.dtype), dropout) @ v


def written_out(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    bias: Tensor | None,
    offsets: Tensor | None,
    padding: Tensor | None,
) -> Tensor:
    """Return what `fast.blocked_attention` returns, by the formula."""
    if offsets is not None:
        lines = spread(offsets, q.shape[-2])
        by_offset = skew(lines) if offsets.shape[-2] > 1 else toeplitz(lines.squeeze(-2))
        bias = by_offset if bias is None else bias + by_offset
    if padding is not None:
        bias = q.new_zeros(1) if bias is None else bias
        bias = bias.masked_fill(~padding[:, None, None], torch.finfo(q.dtype).min)
    return formula(q, k, v, bias, 0.0, 1.0)


def wants_gradient(inputs: Sequence[Tensor | None]) -> bool:
    """Return whether a gradient in any of these may be asked for, other than by a traced graph."""
    if not torch.is_grad_enabled() or is_tracing():  # a graph holds no Python function
        return False
    return any(a is not None and a.requires_grad for a in inputs)


def needs_formula(d_out: Tensor) -> bool:
    """Return whether a gradient is to have a graph, or to be computed for many `d_out` at once."""
    return in_transform() or batched(d_out) or torch.is_grad_enabled()


class Context(FunctionCtx):
    """What `autograd` hands to the two passes, with what torch's own class does not name."""

    needs_input_grad: tuple[bool, ...]
    saved_tensors: tuple[Any, ...]  # tensors, and None where that was saved

    if TYPE_CHECKING:

        def save_for_backward(self, *tensors: Tensor | None) -> None: ...


class _OfTwice(Context):
    inner: tuple[list[Tensor | None], Tensor] | None
    kernel: Callable[..., Tensor]
    formula: Callable[..., Tensor]


class Twice(torch.autograd.Function):
    """A kernel, and the formula that it computes for gradients that are differentiated again."""

    @staticmethod
    def forward(
        ctx: _OfTwice,
        kernel: Callable[..., Tensor],
        formula: Callable[..., Tensor],
        *inputs: Tensor | None,
    ) -> Tensor:
        needed = ctx.needs_input_grad[2:]
        with torch.enable_grad():
            own = [
                a if a is None else a.detach().requires_grad_(need)
                for a, need in zip(inputs, needed, strict=True)
            ]
            out = kernel(*own)
        ctx.save_for_backward(*inputs)
        ctx.inner, ctx.kernel, ctx.formula = (own, out), kernel, formula
        return out.detach()

    @staticmethod
    def backward(ctx: _OfTwice, d_out: Tensor) -> tuple[Tensor | None, ...]:
        needed = ctx.needs_input_grad[2:]
        # the kernel's graph serves once, so that its memory is free before the next pass
        inner, ctx.inner = ctx.inner, None
        if needs_formula(d_out):
            gradients = differentiable(ctx.formula, ctx.saved_tensors, needed, d_out)
        elif inner is None:
            gradients = differentiable(ctx.kernel, ctx.saved_tensors, needed, d_out)
        else:
            own, out = inner
            gradients = of_raised(lambda d_out: _gradients_of(out, own, needed, d_out), d_out)
        return None, None, *gradients


def differentiable(
    formula: Callable[..., Tensor],
    inputs: Sequence[Tensor | None],
    needed: Sequence[bool],
    d_out: Tensor,
) -> tuple[Tensor | None, ...]:
    """Return the gradients of `formula(*inputs)`, with a graph of their own if there is to be one.

    Of each input only what it does by itself counts, even if it was computed from another one.
    """
    graph = torch.is_grad_enabled()
    with torch.enable_grad():
        own = [
            a if a is None or not need else a.view_as(a) if graph else a.detach().requires_grad_()
            for a, need in zip(inputs, needed, strict=True)
        ]
        out = formula(*own)
    return _gradients_of(out, own, needed, d_out, graph=graph)


def _gradients_of(
    out: Tensor,
    inputs: Sequence[Tensor | None],
    needed: Sequence[bool],
    d_out: Tensor,
    *,
    graph: bool = False,
) -> tuple[Tensor | None, ...]:
    """Return the gradient of each input, None for those that need none."""
    wanted = [a for a, need in zip(inputs, needed, strict=True) if a is not None and need]
    # kernels leave a bias aside if there is nothing to add it to
    found = iter(
        torch.autograd.grad(out, wanted, d_out.to(out.dtype), create_graph=graph, allow_unused=True)
    )
    return tuple(next(found) if need else None for need in needed)
