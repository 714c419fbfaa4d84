"""Attention with learned scores of position on a CPU, block by block.

PyTorch's fused kernel for CPUs cannot differentiate what is added to the scores. Here blocks of
queries and keys stay in the cache, only row sums are kept, and the scores are formed anew on the
way back (the method of Dao et al. 2022, "FlashAttention", with a gradient for what was added).

Three things make it fast. Whatever is constant along a row rides on the product of queries and
keys, as one more dimension: the reference of the softmax, padding, and the outermost of clipped
offsets, so that only a band of columns is ever added to. One more dimension of ones sums the rows.
And where the sizes of queries and keys bound the scores well enough, the largest of each row is not
looked for.
"""

from typing import NamedTuple

import torch
from torch import Tensor
from torch.autograd.function import FunctionCtx
from torch.nn.functional import pad

from posenc.attention.formula import differentiable, formula, needs_formula
from posenc.attention.numerics import precise, without_autocast
from posenc.attention.toeplitz import skew, spread, toeplitz

_ROWS, _COLUMNS = 256, 512
"""Queries and keys in a block: 256 x 512 scores in float32 take half a megabyte."""

_LOWEST = -60.0
"""Below this, logarithms of weights do not count."""

_SAFE = 80.0
"""Scores of a row that lie closer together than this need no search for the largest."""


def blocked_attention(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    bias: Tensor | None = None,
    offsets: Tensor | None = None,
    padding: Tensor | None = None,
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
    padding : (batch, length) bool, optional
        True marks a real token; nobody looks at the others.
    """
    inputs = (None if a is None else precise(a) for a in (q, k, v, bias, offsets))
    with without_autocast(q):
        return _Blocked.apply(*inputs, padding).to(v.dtype)


class _Blocked(torch.autograd.Function):
    """The two passes of `blocked_attention`."""

    @staticmethod
    def forward(
        ctx: FunctionCtx,
        q: Tensor,
        k: Tensor,
        v: Tensor,
        bias: Tensor | None,
        offsets: Tensor | None,
        padding: Tensor | None,
    ) -> Tensor:
        batch, heads, length, width = *q.shape[:3], v.shape[-1]
        # the layout that the next reshape wants, so that merging the heads is free
        out = v.new_empty(batch, length, heads, width).transpose(1, 2)
        reference = _bound(q, k, bias, offsets, padding)
        searching = reference is None
        scores = _Scores(q, k, bias, offsets, padding, reference)
        if searching:
            reference = q.new_empty(batch, heads, length, 1)
        log_sum = q.new_empty(batch, heads, length, 1)
        outputs, logs, largest = (_cut(a) for a in (out, log_sum, reference))
        values = _heads(_with(v, 1))
        room = q.new_empty(min(_ROWS, length), width + 1)
        for b, h, n, rows in _blocks(q):
            sums, top = room[: rows.stop - rows.start].zero_(), largest[b][h][n]
            if searching:
                top.fill_(-torch.inf)
            for tile in scores.tiles(rows):
                p = scores.of(b, h, n, rows, tile)
                if searching:
                    known = top.clone()
                    torch.maximum(top, p.amax(-1, keepdim=True), out=top)
                    sums.mul_(known.sub_(top).exp_())
                    p.sub_(top)
                sums.addmm_(_exp(p, low=searching and scores.low), values[b][h][tile.columns])
            total = sums[:, -1:]
            torch.div(sums[:, :-1], total, out=outputs[b][h][n])
            torch.add(total.log(), top, out=logs[b][h][n])
        ctx.save_for_backward(q, k, v, bias, offsets, padding, out, log_sum)
        return out

    @staticmethod
    def backward(ctx: FunctionCtx, d_out: Tensor) -> tuple[Tensor | None, ...]:
        with without_autocast(d_out):
            if needs_formula(d_out):
                inputs, needed = ctx.saved_tensors[:6], ctx.needs_input_grad
                return differentiable(_written_out, inputs, needed, d_out)
            return _Blocked.gradients(ctx, d_out)

    @staticmethod
    def gradients(ctx: FunctionCtx, d_out: Tensor) -> tuple[Tensor | None, ...]:
        """Return the gradients of all inputs, from scores that are formed anew."""
        q, k, v, bias, offsets, padding, out, log_sum = ctx.saved_tensors
        scores = _Scores(q, k, bias, offsets, padding, log_sum)
        learned = scores.learned(*ctx.needs_input_grad[3:5])
        # one more column makes the product subtract delta
        delta = (out * d_out).sum(-1, keepdim=True)
        d_rows_1, values_1 = _cut(_with(d_out, -delta)), _heads(_with(v, 1))
        width, of_keys = v.shape[-1], k.shape[-1]
        dq, dk, dv = (torch.zeros(a.shape, dtype=a.dtype) for a in (q, k, v))
        dq_rows, dk_heads, dv_heads = _cut(dq), _heads(dk), _heads(dv)
        room = torch.empty_like(scores.room)
        # of the parts left of the band, in it and right of it, with their sums over keys
        parts = q.new_empty(3, min(_ROWS, q.shape[-2]), k.shape[-1] + 1)
        for b, h, n, rows in _blocks(q):
            size = rows.stop - rows.start
            summed, d_rows = parts[:, :size].zero_(), d_rows_1[b][h][n][:, :width]
            queries, keys = scores.queries[1][b][h][n][:, :of_keys], scores.keys[b][h]
            for tile in scores.tiles(rows):
                columns = tile.columns
                p = _exp(scores.of(b, h, n, rows, tile), scores.low)
                dv_heads[b][h][columns].addmm_(p.T, d_rows)
                ds = _shaped(room, p)
                torch.mm(d_rows_1[b][h][n], values_1[b][h][columns].T, out=ds).mul_(p)
                summed[tile.part].addmm_(ds, keys[columns, : of_keys + 1])
                dk_heads[b][h][columns].addmm_(ds.T, queries)
                for term in learned:
                    term.collect(ds, b, h, rows, tile)
            torch.sum(summed[..., :-1], 0, out=dq_rows[b][h][n])
            for term in learned:
                term.collect_ends(summed[0, :, -1], summed[2, :, -1], b, h, rows)
        gradients = {id(t.source): t.gradient() for t in learned}
        return dq, dk, dv, gradients.get(id(bias)), gradients.get(id(offsets)), None


def _written_out(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    bias: Tensor | None,
    offsets: Tensor | None,
    padding: Tensor | None,
) -> Tensor:
    """Return what `blocked_attention` returns, by the formula."""
    if offsets is not None:
        lines = spread(offsets, q.shape[-2])
        by_offset = skew(lines) if offsets.shape[-2] > 1 else toeplitz(lines.squeeze(-2))
        bias = by_offset if bias is None else bias + by_offset
    if padding is not None:
        bias = q.new_zeros(1) if bias is None else bias
        bias = bias.masked_fill(~padding[:, None, None], torch.finfo(q.dtype).min)
    return formula(q, k, v, bias, 0.0, 1.0)


def _bound(
    q: Tensor, k: Tensor, bias: Tensor | None, offsets: Tensor | None, padding: Tensor | None
) -> Tensor | None:
    """Return something near above each row's scores, (batch, heads, length, 1), or None.

    None means that their exponentials might vanish below it, so that the largest must be found.
    """
    if bias is not None or (padding is not None and not padding.any(-1).all()):
        return None
    # Cauchy and Schwarz: no product is larger than that of the lengths
    largest = q.norm(dim=-1, keepdim=True) * k.norm(dim=-1).amax(-1)[..., None, None]
    above, within = largest, 2 * largest
    if offsets is not None:
        high, low = offsets.amax(-1, keepdim=True), offsets.amin(-1, keepdim=True)
        above, within = above + high, within + (high - low)
    # written so that a number that is none counts as too far
    return above if bool((within < _SAFE).all()) else None


class _Tile(NamedTuple):
    """Some columns of a block of rows."""

    columns: slice
    part: int
    """0 left of the band of unclipped offsets, 1 in it, 2 right of it."""


class _Scores:
    """The scores of one block after another, each row less a reference if there is one."""

    def __init__(
        self,
        q: Tensor,
        k: Tensor,
        bias: Tensor | None,
        offsets: Tensor | None,
        padding: Tensor | None,
        reference: Tensor | None,
    ) -> None:
        self.length = q.shape[-2]
        self.dense = None if bias is None else _Dense(bias)
        self.clipped = None if offsets is None else _clipped(offsets, self.length)
        self.low = any(term.is_low for term in self.terms())
        self.room = q.new_empty(min(_ROWS, self.length) * min(_COLUMNS, self.length))
        constant = 0.0 if reference is None else -reference
        riding: list[Tensor | float] = [1]
        if padding is not None:
            floor = k.new_zeros(padding.shape).masked_fill_(~padding, torch.finfo(k.dtype).min)
            riding.append(floor[:, None, :, None])
        self.keys = _heads(_with(k, *riding))
        ones = [1] * (len(riding) - 1)
        band = _cut(_with(q, constant, *ones))
        self.queries = [band, band, band]
        """Left of the band, in it and right of it."""
        if self.clipped is not None:
            for part, end in zip((0, 2), self.clipped.ends(), strict=True):
                self.queries[part] = _cut(_with(q, end + constant, *ones))

    def terms(self) -> list["_Dense | _Clipped"]:
        """Return what is added to the products of queries and keys."""
        return [term for term in (self.dense, self.clipped) if term is not None]

    def learned(self, *needed: bool) -> list["_Dense | _Clipped"]:
        """Return those of dense and clipped terms whose gradients are wanted."""
        both = zip((self.dense, self.clipped), needed, strict=True)
        return [term for term, need in both if term is not None and need]

    def tiles(self, rows: slice) -> list[_Tile]:
        """Return the columns of a block of rows, a few at a time."""
        left, right = (0, self.length) if self.clipped is None else self.clipped.band(rows)
        found = []
        for part, (start, stop) in enumerate(((0, left), (left, right), (right, self.length))):
            n = -(-(stop - start) // _COLUMNS)
            for i in range(n):
                ends = (start + (stop - start) * j // n for j in (i, i + 1))
                found.append(_Tile(slice(*ends), part))
        return found

    def of(self, b: int, h: int, n: int, rows: slice, tile: _Tile) -> Tensor:
        """Return the scores of a tile, in memory that the next one takes."""
        queries, keys = self.queries[tile.part][b][h][n], self.keys[b][h][tile.columns]
        p = self.room[: len(queries) * len(keys)].view(len(queries), len(keys))
        torch.mm(queries, keys.T, out=p)
        if self.clipped is not None and tile.part == 1:
            self.clipped.add_to(p, b, h, rows, tile)
        if self.dense is not None:
            self.dense.add_to(p, b, h, rows, tile)
        return p


def _shaped(room: Tensor, like: Tensor) -> Tensor:
    """Return as much of a room as another matrix takes, in its shape."""
    return room[: like.numel()].view(like.shape)


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


def _with(x: Tensor, *columns: Tensor | float) -> Tensor:
    """Return a copy of `x` with more columns, each a number or (batch, heads, length, 1)."""
    width = x.shape[-1]
    wider = x.new_empty(*x.shape[:-1], width + len(columns))
    wider[..., :width] = x
    for i, column in enumerate(columns, width):
        wider[..., i : i + 1] = column
    return wider


def _exp(x: Tensor, low: bool) -> Tensor:
    """Return the exponentials of numbers up to 0, in place.

    Where very low numbers are to be expected, they are raised to -60: numbers that are not normal
    in float32 slow everything down tenfold, and exp(-60) = 1e-26 is as good as nothing.
    """
    return (x.clamp_(min=_LOWEST) if low else x).exp_()


class _Dense:
    """A bias that broadcasts to (batch, heads, length, length)."""

    def __init__(self, source: Tensor) -> None:
        self.source = source
        self.is_low = True  # it may hold a mask, and to look would take as long
        self.total: Tensor | None = None

    def add_to(self, scores: Tensor, b: int, h: int, rows: slice, tile: _Tile) -> None:
        """Add the bias of one head to the scores of a tile."""
        scores += self.source[self._place(b, h, rows, tile)]

    def collect(self, ds: Tensor, b: int, h: int, rows: slice, tile: _Tile) -> None:
        """Take the gradient of those scores."""
        if self.total is None:
            self.total = torch.zeros(self.source.shape, dtype=ds.dtype)
        if self.source.shape[-1] == 1:
            ds = ds.sum(-1, keepdim=True)
        if self.source.shape[-2] == 1:
            ds = ds.sum(-2, keepdim=True)
        self.total[self._place(b, h, rows, tile)] += ds

    def collect_ends(self, left: Tensor, right: Tensor, b: int, h: int, rows: slice) -> None:
        """Nothing is left to take."""

    def gradient(self) -> Tensor | None:
        """Return the gradient of the source."""
        return self.total

    def _place(self, b: int, h: int, rows: slice, tile: _Tile) -> tuple[int, int, slice, slice]:
        """Return where a tile stands in a source that is broadcast."""
        batch, heads, n_rows, n_columns = self.source.shape
        return (
            b if batch > 1 else 0,
            h if heads > 1 else 0,
            rows if n_rows > 1 else slice(0, 1),
            tile.columns if n_columns > 1 else slice(0, 1),
        )


class _Clipped:
    """Scores by offset, those beyond -r..r alike: a band between two constant ends."""

    def __init__(self, source: Tensor, length: int) -> None:
        self.source = source
        self.length = length
        self.reach = min(source.shape[-1] // 2, length)  # no offset is larger
        self.is_low = False
        self.total = torch.zeros(source.shape, dtype=source.dtype)

    def ends(self) -> tuple[Tensor, Tensor]:
        """Return the scores of offsets clipped to -r and to r, (batch, heads, length or 1, 1)."""
        return self.source[..., :1], self.source[..., -1:]

    def band(self, rows: slice) -> tuple[int, int]:
        """Return the columns that bound the unclipped offsets of some rows.

        Left of the first all offsets are clipped to -r, from the second on to r.
        """
        left = max(rows.start - self.reach, 0)
        return left, min(rows.stop + self.reach, self.length)

    def gradient(self) -> Tensor:
        """Return the gradient of the source."""
        return self.total


class _PerQuery(_Clipped):
    """One score per query and clipped offset, (batch, heads, length, 2 r + 1)."""

    def add_to(self, scores: Tensor, b: int, h: int, rows: slice, tile: _Tile) -> None:
        """Add to the scores of a tile in the band."""
        scores += self.source[b, h, rows].gather(1, self._index(rows, tile))

    def collect(self, ds: Tensor, b: int, h: int, rows: slice, tile: _Tile) -> None:
        """Take the gradient of those scores: sum it over keys that share an offset."""
        if tile.part == 1:
            self.total[b, h, rows].scatter_add_(1, self._index(rows, tile), ds)

    def collect_ends(self, left: Tensor, right: Tensor, b: int, h: int, rows: slice) -> None:
        """Take the sums over the keys left and right of the band, (n_rows,) each."""
        self.total[b, h, rows, 0] += left
        self.total[b, h, rows, -1] += right

    def _index(self, rows: slice, tile: _Tile) -> Tensor:
        """Return which offset belongs to each pair in a tile."""
        reach = self.source.shape[-1] // 2
        columns = torch.arange(tile.columns.start, tile.columns.stop)
        offset = columns - torch.arange(rows.start, rows.stop)[:, None]
        return offset.clamp_(-reach, reach).add_(reach)


class _PerOffset(_Clipped):
    """One score per clipped offset for all queries, (1, heads or 1, 1, 2 r + 1).

    The matrix of one head is constant along its diagonals, so that one band of it, made once and
    longer than need be, holds that of every block as a slice of its columns.
    """

    def __init__(self, source: Tensor, length: int) -> None:
        super().__init__(source, length)
        self.is_low = bool(source.min() < _LOWEST / 2)
        self.rows = min(_ROWS, length)
        self.head: int | None = None
        self.sums: Tensor | None = None

    def add_to(self, scores: Tensor, b: int, h: int, rows: slice, tile: _Tile) -> None:  # noqa: ARG002
        """Add to the scores of a tile in the band."""
        if h != self.head:
            self._close()
            self.head, self.matrix = h, self._matrix(self.source[0, self._index(h), 0])
        scores += self._slice(self.matrix, rows, tile)

    def collect(self, ds: Tensor, b: int, h: int, rows: slice, tile: _Tile) -> None:  # noqa: ARG002
        """Take the gradient of those scores."""
        if tile.part != 1:
            return
        if self.sums is None:
            self.sums = torch.zeros_like(self.matrix)
        self._slice(self.sums, rows, tile).add_(ds)

    def collect_ends(self, left: Tensor, right: Tensor, b: int, h: int, rows: slice) -> None:  # noqa: ARG002
        """Take the sums over the keys left and right of the band, (n_rows,) each."""
        total = self.total[0, self._index(h), 0]
        total[0] += left.sum()
        total[-1] += right.sum()

    def gradient(self) -> Tensor:
        """Return the gradient of the source."""
        self._close()
        return self.total

    def _index(self, h: int) -> int:
        return h if self.source.shape[1] > 1 else 0

    def _matrix(self, c: Tensor) -> Tensor:
        """Return the band: the score of the offset j - i - r at (i, j)."""
        line = spread(c, self.reach + self.rows + 1)
        # each row starts one entry earlier in the repeated line
        rows = line.repeat(self.rows)[self.rows :].view(self.rows, -1)
        return rows[:, : 2 * self.reach + self.rows]

    def _slice(self, matrix: Tensor, rows: slice, tile: _Tile) -> Tensor:
        """Return the part of a band that belongs to a tile."""
        behind = self.reach - rows.start
        columns = slice(tile.columns.start + behind, tile.columns.stop + behind)
        return matrix[: rows.stop - rows.start, columns]

    def _close(self) -> None:
        """Bring in the gradient of the head that was at work."""
        if self.sums is None:
            return
        n_rows = self.rows
        # read in longer rows, what lies on a diagonal comes to lie in a column
        flat = pad(self.sums, (n_rows - 1, 0)).flatten()
        line = pad(flat, (0, n_rows)).view(n_rows, -1).sum(0)[:-1]
        _fold(line, self.total[0, self._index(self.head), 0])
        self.sums = None


def _fold(line: Tensor, total: Tensor) -> None:
    """Add one sum per offset to the clipped ones; both have the offset 0 in their middle."""
    spare = (len(line) - len(total)) // 2
    if spare <= 0:
        total[-spare : -spare + len(line)] += line
        return
    total += line[spare:-spare]
    total[0] += line[:spare].sum()
    total[-1] += line[-spare:].sum()


def _clipped(offsets: Tensor, length: int) -> _Clipped:
    """Return what adds scores by offset."""
    return (_PerQuery if offsets.shape[-2] > 1 else _PerOffset)(offsets, length)
