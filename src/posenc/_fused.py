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
        Further scores of query i, one for each offset j - i clipped to -r..r. With a length of 1
        they serve all queries, and batch and heads may be 1 too.
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
        queries, keys, values = q.contiguous(), k.contiguous(), v.contiguous()
        terms = _terms(bias, c, length)
        for b, h, rows in _blocks(q):
            p = queries[b, h, rows] @ keys[b, h].T
            for term in terms:
                term.add_to(p, b, h, rows)
            largest = p.amax(-1, keepdim=True)
            total = p.sub_(largest).exp_().sum(-1, keepdim=True)
            out[b, h, rows] = (p @ values[b, h]).div_(total)
            log_sum[b, h, rows] = total.log_().add_(largest)
        ctx.save_for_backward(q, k, v, bias, c, out, log_sum)
        return out

    @staticmethod
    @once_differentiable
    def backward(ctx: FunctionCtx, d_out: Tensor) -> tuple[Tensor | None, ...]:
        q, k, v, bias, c, out, log_sum = ctx.saved_tensors
        queries, keys, values, d_out = (a.contiguous() for a in (q, k, v, d_out))
        delta = (out * d_out).sum(-1, keepdim=True)
        dq, dk, dv = (torch.zeros(a.shape, dtype=a.dtype) for a in (q, k, v))
        terms = _terms(bias, c, q.shape[-2])
        learned = [t for t, need in zip(terms, _needed(ctx, bias, c), strict=True) if need]
        for b, h, rows in _blocks(q):
            p = queries[b, h, rows] @ keys[b, h].T
            for term in terms:
                term.add_to(p, b, h, rows)
            p.sub_(log_sum[b, h, rows]).exp_()
            dv[b, h].addmm_(p.T, d_out[b, h, rows])
            ds = torch.addmm(delta[b, h, rows], d_out[b, h, rows], values[b, h].T, beta=-1)
            ds.mul_(p)
            dq[b, h, rows] = ds @ keys[b, h]
            dk[b, h].addmm_(ds.T, queries[b, h, rows])
            for term in learned:
                term.collect(ds, b, h, rows)
        gradients = {id(t.source): t.gradient() for t in learned}
        return dq, dk, dv, gradients.get(id(bias)), gradients.get(id(c))


def _blocks(q: Tensor) -> list[tuple[int, int, slice]]:
    """Return (batch, head, rows), heads outermost: what is added may be common to the batch."""
    batch, heads, length, _ = q.shape
    return [
        (b, h, slice(start, min(start + _ROWS, length)))
        for h in range(heads)
        for b in range(batch)
        for start in range(0, length, _ROWS)
    ]


def _terms(
    bias: Tensor | None, c: Tensor | None, length: int
) -> list["_Dense | _PerQuery | _PerOffset"]:
    """Return what is added to the scores."""
    terms: list[_Dense | _PerQuery | _PerOffset] = [] if bias is None else [_Dense(bias)]
    if c is not None:
        terms.append(_PerQuery(c, length) if c.shape[-2] > 1 else _PerOffset(c, length))
    return terms


def _needed(ctx: FunctionCtx, bias: Tensor | None, c: Tensor | None) -> list[bool]:
    """Return for each of `_terms` whether its gradient is wanted."""
    wanted = zip((bias, c), ctx.needs_input_grad[3:], strict=True)
    return [need for source, need in wanted if source is not None]


class _Dense:
    """A bias that broadcasts to (batch, heads, length, length)."""

    def __init__(self, source: Tensor) -> None:
        self.source = source
        self.total: Tensor | None = None

    def add_to(self, scores: Tensor, b: int, h: int, rows: slice) -> None:
        """Add the bias of some rows of one head to their scores (n_rows, length)."""
        scores += self.source[self._place(b, h, rows)]

    def collect(self, ds: Tensor, b: int, h: int, rows: slice) -> None:
        """Take the gradient of those scores."""
        if self.total is None:
            self.total = torch.zeros(self.source.shape, dtype=ds.dtype)
        if self.source.shape[-1] == 1:
            ds = ds.sum(-1, keepdim=True)
        if self.source.shape[-2] == 1:
            ds = ds.sum(-2, keepdim=True)
        self.total[self._place(b, h, rows)] += ds

    def gradient(self) -> Tensor | None:
        """Return the gradient of the source."""
        return self.total

    def _place(self, b: int, h: int, rows: slice) -> tuple[int, int, slice]:
        """Return where a block stands in a source that is broadcast."""
        batch, heads, length, _ = self.source.shape
        return b if batch > 1 else 0, h if heads > 1 else 0, rows if length > 1 else slice(0, 1)


class _PerQuery:
    """Scores per query and clipped offset, (batch, heads, length, 2 r + 1)."""

    def __init__(self, source: Tensor, length: int) -> None:
        self.source = source
        self.length = length
        self.reach = source.shape[-1] // 2
        self.total: Tensor | None = None

    def add_to(self, scores: Tensor, b: int, h: int, rows: slice) -> None:
        """Add the scores of some rows of one head to what is there, (n_rows, length)."""
        left, right, index = self._band(rows)
        c = self.source[b, h, rows]
        scores[:, :left] += c[:, :1]
        scores[:, left:right] += c.gather(1, index)
        scores[:, right:] += c[:, -1:]

    def collect(self, ds: Tensor, b: int, h: int, rows: slice) -> None:
        """Take the gradient of those scores: sum it over the keys that share an offset."""
        if self.total is None:
            self.total = torch.zeros(self.source.shape, dtype=ds.dtype)
        left, right, index = self._band(rows)
        total = self.total[b, h, rows]
        total.scatter_add_(1, index, ds[:, left:right])
        total[:, 0] += ds[:, :left].sum(1)
        total[:, -1] += ds[:, right:].sum(1)

    def gradient(self) -> Tensor | None:
        """Return the gradient of the source."""
        return self.total

    def _band(self, rows: slice) -> tuple[int, int, Tensor]:
        """Return the columns that bound the unclipped offsets, and each one's index between them.

        Left of the first column all offsets are clipped to -r, from the second on to +r.
        """
        left = max(rows.start - self.reach, 0)
        right = min(rows.stop + self.reach, self.length)
        offset = torch.arange(left, right) - torch.arange(rows.start, rows.stop)[:, None]
        return left, right, offset.clamp_(-self.reach, self.reach).add_(self.reach)


class _PerOffset:
    """Scores per clipped offset alone, (batch or 1, heads or 1, 1, 2 r + 1).

    The matrix of one head is constant along its diagonals, so that a few rows of it, made once,
    hold every block as a slice of their columns.
    """

    def __init__(self, source: Tensor, length: int) -> None:
        self.source = source
        self.length = length
        self.rows = min(_ROWS, length)
        self.width = 2 * length - 1
        self.key: tuple[int, int] | None = None
        self.total = torch.zeros(source.shape, dtype=source.dtype)
        self.sums: Tensor | None = None

    def add_to(self, scores: Tensor, b: int, h: int, rows: slice) -> None:
        """Add the scores of some rows of one head to what is there, (n_rows, length)."""
        self._turn_to(b, h)
        scores += self._slice(self.matrix, rows)

    def collect(self, ds: Tensor, b: int, h: int, rows: slice) -> None:
        """Take the gradient of those scores."""
        if self.sums is None:
            self.sums = torch.zeros_like(self.matrix)
        self._slice(self.sums, rows).add_(ds)

    def gradient(self) -> Tensor:
        """Return the gradient of the source."""
        self._close()
        return self.total

    def _slice(self, matrix: Tensor, rows: slice) -> Tensor:
        start = self.length - 1 - rows.start
        return matrix[: rows.stop - rows.start, start : start + self.length]

    def _turn_to(self, b: int, h: int) -> None:
        """Make the matrix of another head, if it is another: (r, c) holds offset c - r."""
        batch, heads = self.source.shape[:2]
        key = b if batch > 1 else 0, h if heads > 1 else 0
        if key == self.key:
            return
        self._close()
        self.key = key
        line = pad(self._resized(self.source[key]), (0, self.rows)).squeeze(0)
        # each row starts one entry later in the repeated line, that is, one column further right
        flat = line.repeat(self.rows)[: self.rows * (len(line) - 1)]
        self.matrix = flat.view(self.rows, -1)

    def _resized(self, c: Tensor) -> Tensor:
        """Return one score per offset from 1 - length to length - 1, the outer ones clipped."""
        missing = (self.width - c.shape[-1]) // 2
        return pad(c, (missing, missing), mode="replicate")

    def _close(self) -> None:
        """Add the sums along the diagonals to the gradient of the head that was at work."""
        if self.sums is None:
            return
        flat = pad(self.sums.flatten(), (0, self.rows))
        line = flat.view(self.rows, -1).sum(0)[: self.width]
        spare = (self.width - self.source.shape[-1]) // 2
        total = self.total[self.key][0]
        if spare <= 0:
            total[-spare : -spare + self.width] += line
        else:
            total += line[spare:-spare]
            total[0] += line[:spare].sum()
            total[-1] += line[-spare:].sum()
        self.sums = None


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
