"""Scaled dot-product attention by the fastest kernel that fits.

PyTorch's fused kernel for CPUs cannot differentiate a bias; with a learned one it falls back to
forming, and keeping, all scores. `blocked_attention` fills that gap: it works through blocks of
query rows that stay in the cache, keeps only the row sums, and forms the scores anew on the way
back (the method of Dao et al. 2022, "FlashAttention", with a gradient for the bias).
"""

import torch
from torch import Tensor
from torch.autograd.function import FunctionCtx, once_differentiable
from torch.nn.functional import dropout as drop
from torch.nn.functional import pad, scaled_dot_product_attention

_ROWS = 128
"""Query rows in a block: 128 rows of 1024 float32 scores take half a megabyte."""

_LONG = 256
"""From this length on, blocks beat the plain formula."""


def in_transform() -> bool:
    """Return whether the code runs under a `torch.func` transform such as `vmap`."""
    return torch._C._functorch.peek_interpreter_stack() is not None


def prefers_blocks(q: Tensor, dropout: float) -> bool:
    """Return whether `blocked_attention` can take these queries and is worth while."""
    plain = in_transform() or torch.compiler.is_compiling() or dropout > 0
    return not plain and q.device.type == "cpu" and q.shape[-2] >= _LONG


def fused_attention(
    q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None, dropout: float, scale: float
) -> Tensor:
    """Return `softmax(scale * q k + mask) v` without keeping the weights where possible.

    `q`, `k` and `v` are (batch, heads, length, width), `mask` is boolean (True: look) or additive
    and broadcasts to (batch, heads, length, length).
    """
    if in_transform():
        return _plain_attention(q, k, v, mask, dropout, scale)
    if mask is not None and mask.requires_grad and prefers_blocks(q, dropout):
        return blocked_attention(q * scale, k, v, mask)
    width = v.shape[-1]
    if q.shape[-1] != width:
        # the fused kernels want one width; zeros change neither scores nor outputs
        widest = max(q.shape[-1], width)
        q, k, v = (pad(a, (0, widest - a.shape[-1])) for a in (q, k, v))
    return scaled_dot_product_attention(q, k, v, mask, dropout, scale=scale)[..., :width]


def blocked_attention(
    q: Tensor, k: Tensor, v: Tensor, bias: Tensor | None = None, offsets: Tensor | None = None
) -> Tensor:
    """Return `softmax(q k + bias) v`, differentiable in everything, in O(L) memory of its own.

    Parameters
    ----------
    q, k, v : (batch, heads, length, width)
        Queries are scaled already.
    bias : optional, broadcasts to (batch, heads, length, length)
    offsets : (batch, heads, length, 2 r + 1), optional
        Further scores of query i, one for each offset j - i clipped to -r..r.
    """
    return _Blocked.apply(q, k, v, bias, offsets)


class _Blocked(torch.autograd.Function):
    """The two passes of `blocked_attention`."""

    @staticmethod
    def forward(
        ctx: FunctionCtx, q: Tensor, k: Tensor, v: Tensor, bias: Tensor | None, c: Tensor | None
    ) -> Tensor:
        batch, heads, length, _ = q.shape
        # the layout that the next reshape wants, so that merging the heads is free
        out = v.new_empty(batch, length, heads, v.shape[-1]).transpose(1, 2)
        log_sum = q.new_empty(batch, heads, length, 1)
        scores = _Scores(q, k, bias, c)
        values = v.contiguous()
        for b, h, rows in scores.blocks():
            p = scores.of(b, h, rows)
            largest = p.amax(-1, keepdim=True)
            total = p.sub_(largest).exp_().sum(-1, keepdim=True)
            out[b, h, rows] = (p @ values[b, h]).div_(total)
            log_sum[b, h, rows] = largest + total.log()
        ctx.save_for_backward(q, k, v, bias, c, out, log_sum)
        return out

    @staticmethod
    @once_differentiable
    def backward(ctx: FunctionCtx, d_out: Tensor) -> tuple[Tensor | None, ...]:
        q, k, v, bias, c, out, log_sum = ctx.saved_tensors
        scores = _Scores(q, k, bias, c)
        values, d_out = v.contiguous(), d_out.contiguous()
        delta = (out * d_out).sum(-1, keepdim=True)
        dq, dk, dv = (torch.zeros(a.shape, dtype=a.dtype) for a in (q, k, v))
        d_bias = torch.zeros_like(bias) if bias is not None and ctx.needs_input_grad[3] else None
        dc = torch.empty_like(c) if c is not None else None
        for b, h, rows in scores.blocks():
            p = scores.of(b, h, rows).sub_(log_sum[b, h, rows]).exp_()
            dv[b, h].addmm_(p.T, d_out[b, h, rows])
            ds = torch.addmm(delta[b, h, rows], d_out[b, h, rows], values[b, h].T, beta=-1)
            ds.mul_(p)
            dq[b, h, rows] = ds @ scores.k[b, h]
            dk[b, h].addmm_(ds.T, scores.q[b, h, rows])
            if d_bias is not None:
                _add_reduced(d_bias, ds, b, h, rows)
            if dc is not None:
                dc[b, h, rows] = scores.gather_offsets(ds, rows)
        return dq, dk, dv, d_bias, dc


class _Scores:
    """The scores of one block of query rows at a time."""

    def __init__(self, q: Tensor, k: Tensor, bias: Tensor | None, c: Tensor | None) -> None:
        self.q, self.k = q.contiguous(), k.contiguous()
        self.length = q.shape[-2]
        self.bias = None if bias is None else bias.expand(*q.shape[:-1], self.length)
        self.c = c
        self.reach = 0 if c is None else c.shape[-1] // 2

    def blocks(self) -> list[tuple[int, int, slice]]:
        """Return (batch, head, rows), heads outermost: a bias may be common to the batch."""
        batch, heads = self.q.shape[:2]
        starts = range(0, self.length, _ROWS)
        return [
            (b, h, slice(start, min(start + _ROWS, self.length)))
            for h in range(heads)
            for b in range(batch)
            for start in starts
        ]

    def of(self, b: int, h: int, rows: slice) -> Tensor:
        """Return the scores (n_rows, length) of some rows of one head, in a tensor of its own."""
        if self.bias is None:
            scores = self.q[b, h, rows] @ self.k[b, h].T
        else:
            scores = torch.addmm(self.bias[b, h, rows], self.q[b, h, rows], self.k[b, h].T)
        if self.c is not None:
            self._add_offsets(scores, self.c[b, h, rows], rows)
        return scores

    def gather_offsets(self, ds: Tensor, rows: slice) -> Tensor:
        """Return the sums of `ds` over the keys that share a clipped offset, (n_rows, 2 r + 1)."""
        left, right, index = self._band(rows)
        sums = ds.new_zeros(ds.shape[0], 2 * self.reach + 1)
        sums.scatter_add_(1, index, ds[:, left:right])
        sums[:, 0] += ds[:, :left].sum(1)
        sums[:, -1] += ds[:, right:].sum(1)
        return sums

    def _add_offsets(self, scores: Tensor, c: Tensor, rows: slice) -> None:
        left, right, index = self._band(rows)
        scores[:, :left] += c[:, :1]
        scores[:, left:right] += c.gather(1, index)
        scores[:, right:] += c[:, -1:]

    def _band(self, rows: slice) -> tuple[int, int, Tensor]:
        """Return the columns between which offsets are not clipped for all rows, and which is whose.

        Left of the first column every offset is clipped to -r, from the second on to +r.
        """
        left = max(rows.start - self.reach, 0)
        right = min(rows.stop + self.reach, self.length)
        offset = torch.arange(left, right) - torch.arange(rows.start, rows.stop)[:, None]
        return left, right, offset.clamp_(-self.reach, self.reach).add_(self.reach)


def _add_reduced(total: Tensor, part: Tensor, b: int, h: int, rows: slice) -> None:
    """Add `part`, of some rows of one head, to the gradient of a tensor that was broadcast."""
    if total.shape[-1] == 1:
        part = part.sum(-1, keepdim=True)
    if total.shape[-2] == 1:
        part, rows = part.sum(-2, keepdim=True), slice(0, 1)
    total[b if total.shape[0] > 1 else 0, h if total.shape[1] > 1 else 0, rows] += part


def _plain_attention(
    q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None, dropout: float, scale: float
) -> Tensor:
    """Return the same, written out: what `torch.func` transforms can batch and differentiate."""
    scores = (q * scale) @ k.transpose(-2, -1)
    if mask is not None and mask.dtype == torch.bool:
        scores = scores.masked_fill(~mask, torch.finfo(scores.dtype).min)
    elif mask is not None:
        scores = scores + mask
    return drop(scores.softmax(-1), dropout) @ v
