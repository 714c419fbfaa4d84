"""Scaled dot-product attention by the fastest kernel that fits.

PyTorch's fused kernel for CPUs cannot differentiate a bias; with a learned one it falls back to
forming, and keeping, all scores. `blocked_attention` fills that gap: it works through blocks of
query rows that stay in the cache, keeps only the row sums, and forms the scores anew on the way
back (the method of Dao et al. 2022, "FlashAttention", with a gradient for the bias).

No such kernel can differentiate its own gradient. Where a gradient is to be differentiated again
(`create_graph=True`), it comes from the formula written out, in O(length^2) memory.
"""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext

import torch
from torch import Tensor
from torch.autograd.function import FunctionCtx
from torch.nn.functional import dropout as drop
from torch.nn.functional import pad, scaled_dot_product_attention

_ROWS = 128
"""Query rows in a block: 128 rows of 1024 float32 scores take half a megabyte."""

_LOWEST = -60.0
"""Below this, logarithms of weights do not count."""

# torch of before 2.7 does not tell export from compilation
_is_exporting = getattr(torch.compiler, "is_exporting", torch.compiler.is_compiling)

_LONG = 256
"""From this length on, blocks beat the plain formula."""


def precise(x: Tensor) -> Tensor:
    """Return `x` in float32 if its type holds less: half types carry data, not computations."""
    return x.to(torch.promote_types(x.dtype, torch.float32))


def without_autocast(x: Tensor) -> AbstractContextManager:
    """Return a context in which products on the device of `x` keep the type of their factors."""
    device = x.device.type
    if torch.amp.is_autocast_available(device) and torch.is_autocast_enabled(device):
        return torch.autocast(device, enabled=False)
    return nullcontext()


def in_transform() -> bool:
    """Return whether the code runs under a `torch.func` transform such as `vmap`."""
    return torch._C._functorch.peek_interpreter_stack() is not None


def exporting() -> bool:
    """Return whether `torch.export` traces the code, perhaps for every length at once."""
    return _is_exporting()


def prefers_blocks(q: Tensor, dropout: float) -> bool:
    """Return whether `blocked_attention` can take these queries and is worth while."""
    plain = in_transform() or torch.compiler.is_compiling() or dropout > 0
    return not plain and q.device.type == "cpu" and q.shape[-2] >= _LONG


def prefers_fourier(v: Tensor) -> bool:
    """Return whether `convolve` is worth while for these values."""
    # in this order: to compare a length would tie an exported program to one side of it
    return not torch.compiler.is_compiling() and v.shape[-2] >= _LONG


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
    precise = torch.promote_types(v.dtype, torch.float32)
    wave = torch.fft.rfft(line.flip(-1).to(precise), n)[..., None]
    summed = torch.fft.irfft(wave * torch.fft.rfft(v.to(precise), n, -2), n, -2)
    return summed[..., length - 1 : 2 * length - 1, :].to(v.dtype)


def fused_attention(
    q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None, dropout: float, scale: float
) -> Tensor:
    """Return `softmax(scale * q k + mask) v` without keeping the weights where possible.

    `q`, `k` and `v` are (batch, heads, length, width), queries of any other length, `mask` is
    boolean (True: look) or additive and broadcasts to (batch, heads, queries, keys).
    """
    if in_transform():
        return _plain_attention(q, k, v, mask, dropout, scale)
    square = q.shape[-2] == k.shape[-2]
    if mask is not None and mask.requires_grad and square and prefers_blocks(q, dropout):
        return blocked_attention(precise(q) * scale, k, v, mask)
    width = v.shape[-1]
    if q.shape[-1] != width:
        # the fused kernels want one width; zeros change neither scores nor outputs
        widest = max(q.shape[-1], width)
        q, k, v = (pad(a, (0, widest - a.shape[-1])) for a in (q, k, v))
    if mask is not None and mask.dtype != torch.bool:
        mask = mask.to(q.dtype)

    def kernel(q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None) -> Tensor:
        return scaled_dot_product_attention(q, k, v, mask, dropout, scale=scale)

    def formula(q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None) -> Tensor:
        return _plain_attention(q, k, v, mask, dropout, scale)

    inputs = q, k, v, mask
    # with dropout the formula would draw other zeros than the kernel did; for a learned bias the
    # kernel for CPUs is the formula
    once = dropout > 0 or (q.device.type == "cpu" and mask is not None and mask.requires_grad)
    twice = not once and not torch.compiler.is_compiling() and _wants_gradient(inputs)
    out = _Twice.apply(kernel, formula, *inputs) if twice else kernel(*inputs)
    return out[..., :width]


def _needs_formula(d_out: Tensor) -> bool:
    """Return whether a gradient is to have a graph, or to be computed for many `d_out` at once."""
    batched = in_transform() or torch._C._functorch.is_legacy_batchedtensor(d_out)
    return batched or torch.is_grad_enabled()


def _wants_gradient(inputs: Sequence[Tensor | None]) -> bool:
    return torch.is_grad_enabled() and any(a is not None and a.requires_grad for a in inputs)


class _Twice(torch.autograd.Function):
    """A kernel, and the formula that it computes for gradients that are differentiated again."""

    @staticmethod
    def forward(
        ctx: FunctionCtx, kernel: Callable, formula: Callable, *inputs: Tensor | None
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
    def backward(ctx: FunctionCtx, d_out: Tensor) -> tuple[Tensor | None, ...]:
        needed = ctx.needs_input_grad[2:]
        # the kernel's graph serves once, so that its memory is free before the next pass
        inner, ctx.inner = ctx.inner, None
        if _needs_formula(d_out):
            gradients = _gradients(ctx.formula, ctx.saved_tensors, needed, d_out)
        elif inner is None:
            gradients = _gradients(ctx.kernel, ctx.saved_tensors, needed, d_out)
        else:
            gradients = _gradients_of(inner[1], inner[0], needed, d_out)
        return None, None, *gradients


def _gradients(
    formula: Callable, inputs: Sequence[Tensor | None], needed: Sequence[bool], d_out: Tensor
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
    wanted = [a for a, need in zip(inputs, needed, strict=True) if need]
    # kernels leave a bias aside if there is nothing to add it to
    found = torch.autograd.grad(
        out, wanted, d_out.to(out.dtype), create_graph=graph, allow_unused=True
    )
    found = iter(found)
    return tuple(next(found) if need else None for need in needed)


def blocked_attention(
    q: Tensor, k: Tensor, v: Tensor, bias: Tensor | None = None, offsets: Tensor | None = None
) -> Tensor:
    """Return `softmax(q k + bias) v`, differentiable in everything, in O(L) memory of its own.

    Everything is computed in float32 at least and comes back in the type of `v`.

    Parameters
    ----------
    q, k, v : (batch, heads, length, width)
        Queries are scaled already.
    bias : optional, broadcasts to (batch, heads, length, length)
    offsets : (batch, heads, length, 2 r + 1), optional
        Further scores of query i, one for each offset j - i clipped to -r..r. With (1, heads or 1,
        1, 2 r + 1) they serve all queries.
    """
    inputs = (None if a is None else precise(a) for a in (q, k, v, bias, offsets))
    with without_autocast(q):
        return _Blocked.apply(*inputs).to(v.dtype)


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
        queries, outputs, logs = (_cut(a) for a in (q.contiguous(), out, log_sum))
        keys, values = (_heads(a) for a in (k, v))
        terms = _terms(bias, c, length)
        low = any(term.is_low for term in terms)
        room = q.new_empty(min(_ROWS, length), length)
        for b, h, n, rows in _blocks(q):
            p = torch.mm(queries[b][h][n], keys[b][h].T, out=room[: rows.stop - rows.start])
            for term in terms:
                term.add_to(p, b, h, rows)
            largest = p.amax(-1, keepdim=True)
            total = _exp(p.sub_(largest), low).sum(-1, keepdim=True)
            torch.div(p @ values[b][h], total, out=outputs[b][h][n])
            torch.add(total.log_(), largest, out=logs[b][h][n])
        ctx.save_for_backward(q, k, v, bias, c, out, log_sum)
        return out

    @staticmethod
    def backward(ctx: FunctionCtx, d_out: Tensor) -> tuple[Tensor | None, ...]:
        with without_autocast(d_out):
            if _needs_formula(d_out):
                return _gradients(
                    _plain_scores_attention, ctx.saved_tensors[:5], ctx.needs_input_grad, d_out
                )
            return _Blocked.gradients(ctx, d_out)

    @staticmethod
    def gradients(ctx: FunctionCtx, d_out: Tensor) -> tuple[Tensor | None, ...]:
        """Return the gradients of all inputs, from scores that are formed anew."""
        q, k, v, bias, c, out, log_sum = ctx.saved_tensors
        delta = (out * d_out).sum(-1, keepdim=True)
        # one more column makes the products subtract the row sums' logarithms, and delta
        queries, queries_1, d_rows, d_rows_1 = (
            _cut(a.contiguous())
            for a in (q, torch.cat((q, -log_sum), -1), d_out, torch.cat((d_out, -delta), -1))
        )
        keys, keys_1, values_1 = (_heads(a) for a in (k, _with_ones(k), _with_ones(v)))
        dq, dk, dv = (torch.zeros(a.shape, dtype=a.dtype) for a in (q, k, v))
        terms = _terms(bias, c, q.shape[-2])
        learned = [t for t, need in zip(terms, _needed(ctx, bias, c), strict=True) if need]
        low = any(term.is_low for term in terms)
        rooms = q.new_empty(2, min(_ROWS, q.shape[-2]), q.shape[-2])
        dq_rows, dk_heads, dv_heads = _cut(dq), _heads(dk), _heads(dv)
        for b, h, n, rows in _blocks(q):
            p, ds = rooms[:, : rows.stop - rows.start]
            torch.mm(queries_1[b][h][n], keys_1[b][h].T, out=p)
            for term in terms:
                term.add_to(p, b, h, rows)
            _exp(p, low)
            dv_heads[b][h].addmm_(p.T, d_rows[b][h][n])
            torch.mm(d_rows_1[b][h][n], values_1[b][h].T, out=ds).mul_(p)
            torch.mm(ds, keys[b][h], out=dq_rows[b][h][n])
            dk_heads[b][h].addmm_(ds.T, queries[b][h][n])
            for term in learned:
                term.collect(ds, b, h, rows)
        gradients = {id(t.source): t.gradient() for t in learned}
        return dq, dk, dv, gradients.get(id(bias)), gradients.get(id(c))


def _blocks(q: Tensor) -> list[tuple[int, int, int, slice]]:
    """Return (batch, head, block, rows), batch innermost: a bias may be common to the batch."""
    batch, heads, length, _ = q.shape
    return [
        (b, h, n, slice(start, min(start + _ROWS, length)))
        for h in range(heads)
        for n, start in enumerate(range(0, length, _ROWS))
        for b in range(batch)
    ]


def _heads(x: Tensor) -> list[tuple[Tensor, ...]]:
    """Return (length, width) views by batch and head: cheaper than an index for every block."""
    return [series.unbind() for series in x.contiguous().unbind()]


def _cut(x: Tensor) -> list[list[tuple[Tensor, ...]]]:
    """Return (n_rows, width) views by batch, head and block."""
    return [[head.split(_ROWS) for head in series.unbind()] for series in x.unbind()]


def _with_ones(x: Tensor) -> Tensor:
    """Return `x` with one more column, of ones."""
    return torch.cat((x, torch.ones_like(x[..., :1])), -1)


def _exp(x: Tensor, low: bool) -> Tensor:
    """Return the exponentials of numbers up to 0, in place.

    Where very low numbers are to be expected, they are raised to -60: numbers that are not normal
    in float32 slow everything down tenfold, and exp(-60) = 1e-26 is as good as nothing.
    """
    return (x.clamp_(min=_LOWEST) if low else x).exp_()


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
        self.is_low = True  # it may hold a padding mask, and to look would take as long
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
        self.is_low = False
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
    """Scores per clipped offset alone, (1, heads or 1, 1, 2 r + 1).

    The matrix of one head is constant along its diagonals, so that a few rows of it, made once
    and longer than need be, hold every block as a slice of their columns.
    """

    def __init__(self, source: Tensor, length: int) -> None:
        self.source = source
        self.length = length
        self.is_low = bool(source.min() < _LOWEST / 2)
        self.rows = min(_ROWS, length)
        self.width = 2 * length - 1
        self.head: int | None = None
        self.total = torch.zeros(source.shape, dtype=source.dtype)
        self.sums: Tensor | None = None

    def add_to(self, scores: Tensor, b: int, h: int, rows: slice) -> None:  # noqa: ARG002
        """Add the scores of some rows of one head to what is there, (n_rows, length)."""
        if h != self.head:
            self._close()
            self.head, self.matrix = h, self._matrix(self.source[0, self._index(h)])
        scores += self._slice(self.matrix, rows)

    def collect(self, ds: Tensor, b: int, h: int, rows: slice) -> None:  # noqa: ARG002
        """Take the gradient of those scores."""
        if self.sums is None:
            self.sums = torch.zeros_like(self.matrix)
        self._slice(self.sums, rows).add_(ds)

    def gradient(self) -> Tensor:
        """Return the gradient of the source."""
        self._close()
        return self.total

    def _index(self, h: int) -> int:
        return h if self.source.shape[1] > 1 else 0

    def _close(self) -> None:
        """Bring in the gradient of the head that was at work."""
        if self.sums is not None:
            flat = pad(self.sums.flatten(), (0, self.rows))
            line = flat.view(self.rows, -1).sum(0)[: self.width]
            self._fold(line, self.total[0, self._index(self.head), 0])
        self.sums = None

    def _slice(self, matrix: Tensor, rows: slice) -> Tensor:
        start = self.length - 1 - rows.start
        return matrix[: rows.stop - rows.start, start : start + self.length]

    def _matrix(self, c: Tensor) -> Tensor:
        """Return the matrix whose entry (i, j) holds the offset j - i, counted from 1 - length."""
        missing = (self.width - c.shape[-1]) // 2
        line = pad(pad(c, (missing, missing), mode="replicate"), (0, self.rows)).squeeze(0)
        # each row starts one entry later in the repeated line, that is, one column further right
        return line.repeat(self.rows)[: self.rows * (len(line) - 1)].view(self.rows, -1)

    def _fold(self, line: Tensor, total: Tensor) -> None:
        """Add one sum per offset to the clipped ones."""
        spare = (self.width - len(total)) // 2
        if spare <= 0:
            total[-spare : -spare + self.width] += line
            return
        total += line[spare:-spare]
        total[0] += line[:spare].sum()
        total[-1] += line[-spare:].sum()


def _plain_scores_attention(
    q: Tensor, k: Tensor, v: Tensor, bias: Tensor | None, offsets: Tensor | None
) -> Tensor:
    """Return what `blocked_attention` returns, written out."""
    if offsets is not None:
        reach, step = offsets.shape[-1] // 2, torch.arange(q.shape[-2])
        index = (step - step[:, None]).clamp(-reach, reach) + reach
        if offsets.shape[-2] > 1:
            by_offset = offsets.gather(-1, index.expand(*q.shape[:2], -1, -1))
        else:
            by_offset = offsets[..., 0, :][..., index]
        bias = by_offset if bias is None else bias + by_offset
    return _plain_attention(q, k, v, bias, 0.0, 1.0)


def _plain_attention(
    q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None, dropout: float, scale: float
) -> Tensor:
    """Return the same, written out: what `torch.func` transforms can batch and differentiate."""
    scores = (precise(q) * scale) @ precise(k).transpose(-2, -1)
    if mask is not None and mask.dtype == torch.bool:
        scores = scores.masked_fill(~mask, torch.finfo(scores.dtype).min)
    elif mask is not None:
        scores = scores + mask
    return drop(scores.softmax(-1).to(v.dtype), dropout) @ v
