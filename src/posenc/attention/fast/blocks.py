"""Attention with learned scores of position on a CPU, block by block.

PyTorch's fused kernel for CPUs cannot differentiate what is added to the scores. Here blocks of
queries and keys stay in the cache, only row sums are kept, and the scores are formed anew on the
way back (the method of Dao et al. 2022, "FlashAttention", with a gradient for what was added).

Heads, and as many series as fit, go through a block together, so that few calls do much. Two more
things make it fast. Whatever is constant along a row rides on the product of queries and keys, as
one more dimension: the reference of the softmax, padding, and the outermost of clipped offsets, so
that only a band of columns is ever added to. And where the sizes of queries and keys bound the
scores well enough, the largest of each row is not looked for.

What needs no gradient of a score goes to PyTorch's kernel all the same. For scores of each query by
offset, that is all keys `beyond` the band. For those common to all queries it is everything but the
gradient of the scores themselves (`flash`, `band`).
"""

import math
from itertools import chain
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn.functional import pad

from posenc.attention.fast import flash
from posenc.attention.fast.band import LARGEST, gradient_of_line
from posenc.attention.fast.beyond import Beyond, merged
from posenc.attention.formula import Context, differentiable, needs_formula, written_out
from posenc.attention.numerics import of_raised, precise, without_autocast
from posenc.attention.toeplitz import spread

_ROWS, _COLUMNS = 128, 256
"""Queries and keys in a block, of one head."""

_ROOM = 1 << 19
"""Scores at work at a time, of some heads and series: two megabytes in float32."""

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


class _OfBlocked(Context):
    by_flash: bool


class _Blocked(torch.autograd.Function):
    """The two passes of `blocked_attention`."""

    @staticmethod
    def forward(
        ctx: _OfBlocked,
        q: Tensor,
        k: Tensor,
        v: Tensor,
        bias: Tensor | None,
        offsets: Tensor | None,
        padding: Tensor | None,
    ) -> Tensor:
        ctx.by_flash = bias is None and padding is None and _fits_flash(q, v, offsets)
        known: tuple[Tensor | None, Tensor | None] = None, None
        if ctx.by_flash and offsets is not None:
            out, log_sum = flash.attend_by_offset(q, k, v, offsets[0, :, 0])
        else:
            # on the way forth alone the blocks are quicker, over all keys
            beyond = None
            if any(ctx.needs_input_grad):
                beyond = _beyond(q, k, v, bias, offsets, padding)
            out, log_sum = _Blocked.outputs(q, k, v, bias, offsets, padding, beyond)
            known = known if beyond is None else (beyond.outputs, beyond.log_sums)
        ctx.save_for_backward(q, k, v, bias, offsets, padding, out, log_sum, *known)
        return out

    @staticmethod
    def outputs(
        q: Tensor,
        k: Tensor,
        v: Tensor,
        bias: Tensor | None,
        offsets: Tensor | None,
        padding: Tensor | None,
        beyond: Beyond | None,
    ) -> tuple[Tensor, Tensor]:
        """Return the outputs, and the logarithm of each row's sum, (batch, heads, length, 1).

        What is beyond a band is left to PyTorch's kernel, if that is given.
        """
        batch, heads, length, width = *q.shape[:3], v.shape[-1]
        # the layout that the next reshape wants, so that merging the heads is free
        out = v.new_empty(batch, length, heads, width).transpose(1, 2)
        log_sum = q.new_empty(batch, heads, length, 1)
        reference = _bound(q, k, bias, offsets, padding)
        scores = _Scores(q, k, bias, offsets, padding, reference, band_only=beyond is not None)
        v_all = v.contiguous()
        runs = scores.runs(beyond)
        for group in scores.groups():
            scores.enter(group)
            values = _stack(v_all[group])
            if beyond is not None:
                for run in runs:
                    beyond.attend_far((*group, run))
            for rows in scores.rows():
                top = None if reference is None else reference[*group, rows]
                total, sums, top = scores.start(beyond, rows, top, width)
                for tile in scores.tiles(rows):
                    p = scores.of(rows, tile)
                    if reference is None:
                        known, top = top, torch.maximum(top, p.amax(-1, keepdim=True))
                        less = (known - top).exp_()
                        sums.mul_(less)
                        total.mul_(less)
                        p.sub_(top)
                    _exp(p, low=reference is None and scores.low)
                    sums.baddbmm_(p, values[:, tile.columns])
                    total += p.sum(-1, keepdim=True)
                out[*group, rows] = scores.by_head(sums.div_(total))
                log_sum[*group, rows] = scores.by_head(total.log_().add_(top))
        return out, log_sum

    @staticmethod
    def backward(ctx: _OfBlocked, d_out: Tensor) -> tuple[Tensor | None, ...]:
        with without_autocast(d_out):
            if needs_formula(d_out):
                inputs, needed = ctx.saved_tensors[:6], ctx.needs_input_grad
                return differentiable(written_out, inputs, needed, d_out)
            by = _Blocked.gradients_by_flash if ctx.by_flash else _Blocked.gradients
            return of_raised(lambda d_out: by(ctx, d_out), d_out)

    @staticmethod
    def gradients_by_flash(ctx: Context, d_out: Tensor) -> tuple[Tensor | None, ...]:
        """Return the gradients of all inputs, those of the scores by offset from their band."""
        q, k, v, _, offsets, _, out, log_sum, *_ = ctx.saved_tensors
        known = d_out, q, k, v, out, log_sum, offsets[0, :, 0]
        of_rest = flash.gradients_by_offset(*known)
        if not ctx.needs_input_grad[4]:
            return *of_rest, None, None, None
        return *of_rest, None, gradient_of_line(*known)[None, :, None], None

    @staticmethod
    def gradients(ctx: Context, d_out: Tensor) -> tuple[Tensor | None, ...]:
        """Return the gradients of all inputs, from scores that are formed anew."""
        q, k, v, bias, offsets, padding, out, log_sum, outputs, log_sums = ctx.saved_tensors
        beyond = None
        if outputs is not None:
            beyond = Beyond(q, k, v, _ends(offsets), (outputs, log_sums))
        scores = _Scores(q, k, bias, offsets, padding, log_sum, band_only=beyond is not None)
        learned = scores.learned(*ctx.needs_input_grad[3:5])
        # one more column makes the product subtract delta
        delta = (out * d_out).sum(-1, keepdim=True)
        d_rows = _with(d_out, -delta)
        values = _with(v, 1)
        dq, dk, dv = (torch.zeros(a.shape, dtype=a.dtype) for a in (q, k, v))
        runs, clipped = scores.runs(beyond), scores.clipped
        for group in scores.groups():
            scores.enter(group)
            v_group, d_group = _stack(values[group]), _stack(d_rows[group])
            dk_group, dv_group = (torch.zeros_like(_stack(a[group])) for a in (dk, dv))
            for rows in scores.rows():
                d_block, queries = d_group[:, rows], scores.queries[1][:, rows, : q.shape[-1]]
                d_values = d_block[..., :-1]
                d_queries = dq.new_zeros(queries.shape)
                for tile in scores.tiles(rows):
                    columns = tile.columns
                    p = _exp(scores.of(rows, tile), scores.low)
                    # to add in place would go matrix by matrix, as columns are no whole
                    dv_group[:, columns] += torch.bmm(p.mT, d_values)
                    ds = torch.bmm(d_block, v_group[:, columns].mT, out=scores.second(p)).mul_(p)
                    d_queries.baddbmm_(ds, scores.keys[:, columns, : k.shape[-1]])
                    dk_group[:, columns] += torch.bmm(ds.mT, queries)
                    for term in learned:
                        term.collect(scores.by_head(ds), group, rows, tile)
                dq[*group, rows] = scores.by_head(d_queries)
            dk[group], dv[group] = scores.by_head(dk_group), scores.by_head(dv_group)
            if beyond is None or clipped is None:
                continue
            of_runs = ((r, beyond.far_gradients((*group, r), d_out, out, log_sum)) for r in runs)
            of_blocks = (
                (r, beyond.gradients((*group, r), clipped.band(r), d_out, out, log_sum))
                for r in scores.rows()
            )
            for rows, found in chain(of_runs, of_blocks):
                for keys, of_q, of_k, of_v in found:
                    dq[*group, rows] += of_q
                    dk[*group, keys] += of_k
                    dv[*group, keys] += of_v
        if beyond is not None and isinstance(clipped, _PerQuery) and clipped in learned:
            clipped.collect_left(beyond.of_left_end(d_out, delta, log_sum))
        gradients = {id(t.source): t.gradient() for t in learned}
        return dq, dk, dv, gradients.get(id(bias)), gradients.get(id(offsets)), None


def _fits_flash(q: Tensor, v: Tensor, offsets: Tensor | None) -> bool:
    """Return whether scores are by offset, for all queries, and PyTorch's kernel may take them.

    It is slow where some of them are very low, and their gradient wants them small.
    """
    return (
        offsets is not None
        and offsets.shape[:1] + offsets.shape[2:3] == (1, 1)
        and flash.serves(q, v)
        and bool(offsets.abs().max() < LARGEST)
    )


def _beyond(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    bias: Tensor | None,
    offsets: Tensor | None,
    padding: Tensor | None,
) -> Beyond | None:
    """Return what serves the keys beyond the band of unclipped offsets, if anything may."""
    if offsets is None or offsets.shape[-2] == 1 or bias is not None or padding is not None:
        return None
    if not flash.serves(q, v):
        return None
    return Beyond(q, k, v, _ends(offsets))


def _ends(offsets: Tensor) -> tuple[Tensor, Tensor]:
    """Return the scores of offsets clipped to -r and to r, (batch, heads, length or 1, 1)."""
    return offsets[..., :1], offsets[..., -1:]


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


_Group = tuple[slice, slice]
"""Series and heads."""


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
        *,
        band_only: bool = False,
    ) -> None:
        self.band_only = band_only
        self.batch, self.heads, self.length, _ = q.shape
        self.dense = None if bias is None else _Dense(bias)
        self.clipped = None if offsets is None else _clipped(offsets, self.length)
        self.terms = [term for term in (self.dense, self.clipped) if term is not None]
        self.low = any(term.is_low for term in self.terms)
        constant = 0.0 if reference is None else -reference
        riding: list[Tensor | float] = [1]
        if padding is not None:
            floor = k.new_zeros(padding.shape).masked_fill_(~padding, torch.finfo(k.dtype).min)
            riding.append(floor[:, None, :, None])
        self.all_keys = _with(k, *riding)
        ones = [1] * (len(riding) - 1)
        self.all_queries = [_with(q, constant, *ones)] * 3
        """Left of the band, in it and right of it."""
        if offsets is not None:
            for part, end in zip((0, 2), _ends(offsets), strict=True):
                self.all_queries[part] = _with(q, end + constant, *ones)
        self.block = min(_ROWS, self.length) * min(_COLUMNS, self.length)
        room = max(_ROOM // self.block, 1)
        self.n_heads = max(n for n in range(1, self.heads + 1) if self.heads % n == 0 and n <= room)
        self.n_series = min(room // self.heads, self.batch) if room > self.heads else 1
        self.rooms = q.new_empty(2, self.n_series * self.n_heads * self.block)

    def learned(self, *needed: bool) -> list["_Dense | _PerQuery | _PerOffset"]:
        """Return those of dense and clipped terms whose gradients are wanted."""
        both = zip((self.dense, self.clipped), needed, strict=True)
        return [term for term, need in both if term is not None and need]

    def groups(self) -> list[_Group]:
        """Return which series and heads are at work together."""
        heads, series = _cut(self.heads, self.n_heads), _cut(self.batch, self.n_series)
        return [(some, each) for each in heads for some in series]

    def enter(self, group: _Group) -> None:
        """Begin the work on some series and heads."""
        self.group = group
        self.keys = _stack(self.all_keys[group])
        self.queries = [_stack(queries[group]) for queries in self.all_queries]

    def start(
        self, beyond: Beyond | None, rows: slice, top: Tensor | None, width: int
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Return sums of weights and of weighted values, and the score they are less.

        They begin with nothing, or with the keys beyond the band.
        """
        if beyond is not None and self.clipped is not None:
            parts = beyond.attend((*self.group, rows), self.clipped.band(rows))
            if parts:
                total, sums, top = (_stack(a) for a in merged(parts, top))
                return total, sums, top
        total = self.keys.new_zeros(len(self.keys), _size(rows), 1)
        top = torch.full_like(total, -torch.inf) if top is None else _stack(top)
        return total, total.new_zeros(len(total), _size(rows), width), top

    def runs(self, beyond: Beyond | None) -> list[slice]:
        """Return the long runs of rows for which keys beyond the band are served at once."""
        if beyond is None or self.clipped is None:
            return []
        return beyond.runs(self.rows(), self.clipped.reach)

    def rows(self) -> list[slice]:
        """Return the rows of each block."""
        edge = 0 if self.clipped is None else self.clipped.edge()
        inner = [slice(r.start + edge, r.stop + edge) for r in _cut(self.length - 2 * edge, _ROWS)]
        outer = slice(0, edge), slice(self.length - edge, self.length)
        return [outer[0], *inner, outer[1]] if edge else inner

    def by_head(self, x: Tensor) -> Tensor:
        """Return (series x heads, ...) as (series, heads, ...)."""
        return x.unflatten(0, (-1, self.n_heads))

    def tiles(self, rows: slice) -> list[_Tile]:
        """Return the columns of a block of rows, a few at a time."""
        left, right = (0, self.length) if self.clipped is None else self.clipped.band(rows)
        found = []
        parts = ((0, left), (left, right), (right, self.length))
        for part, (start, stop) in enumerate(parts):
            if self.band_only and part != 1:
                continue
            n = -(-(stop - start) // _COLUMNS)
            for i in range(n):
                ends = (start + (stop - start) * j // n for j in (i, i + 1))
                found.append(_Tile(slice(*ends), part))
        return found

    def of(self, rows: slice, tile: _Tile) -> Tensor:
        """Return the scores of a tile, (series x heads, rows, columns), in memory used again."""
        rides = tile.part if self.clipped is None else self.clipped.rides(rows, tile)
        queries, keys = self.queries[rides][:, rows], self.keys[:, tile.columns]
        shape = len(keys), _size(rows), _size(tile.columns)
        p = torch.bmm(queries, keys.mT, out=self.rooms[0, : math.prod(shape)].view(shape))
        for term in self.terms:
            if term is self.dense or tile.part == 1:
                term.add_to(self.by_head(p), self.group, rows, tile)
        return p

    def second(self, like: Tensor) -> Tensor:
        """Return memory of the shape of the scores of a tile."""
        return self.rooms[1, : like.numel()].view(like.shape)


def _stack(x: Tensor) -> Tensor:
    """Return (series, heads, length, width) as (series x heads, length, width)."""
    return x.flatten(0, 1)


def _cut(whole: int, part: int) -> list[slice]:
    return [slice(start, min(start + part, whole)) for start in range(0, whole, part)]


def _size(part: slice) -> int:
    return part.stop - part.start


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

    def add_to(self, scores: Tensor, group: _Group, rows: slice, tile: _Tile) -> None:
        """Add the bias to the scores of a tile, (series, heads, rows, columns)."""
        scores += self.source[self._place(group, rows, tile)]

    def collect(self, ds: Tensor, group: _Group, rows: slice, tile: _Tile) -> None:
        """Take the gradient of those scores."""
        if self.total is None:
            self.total = torch.zeros(self.source.shape, dtype=ds.dtype)
        shared = [i for i, size in enumerate(self.source.shape) if size == 1]
        ds = ds.sum(shared, keepdim=True) if shared else ds
        self.total[self._place(group, rows, tile)] += ds

    def gradient(self) -> Tensor | None:
        """Return the gradient of the source."""
        return self.total

    def _place(self, group: _Group, rows: slice, tile: _Tile) -> tuple[slice, ...]:
        """Return where a tile stands in a source that is broadcast."""
        wanted = (*group, rows, tile.columns)
        sizes = zip(wanted, self.source.shape, strict=True)
        return tuple(part if size > 1 else slice(None) for part, size in sizes)


class _Clipped:
    """Scores by offset, those beyond -r..r alike: a band between two constant ends."""

    def __init__(self, source: Tensor, length: int) -> None:
        self.source = source
        self.length = length
        self.reach = min(source.shape[-1] // 2, length)  # no offset is larger
        self.is_low = False
        self.total = torch.zeros(source.shape, dtype=source.dtype)
        self.known: dict[tuple[int, ...], Tensor] = {}

    def band(self, rows: slice) -> tuple[int, int]:
        """Return the columns that bound the unclipped offsets of some rows.

        Left of the first all offsets are clipped to -r, from the second on to r.
        """
        left = max(rows.start - self.reach, 0)
        return left, min(rows.stop + self.reach, self.length)

    def edge(self) -> int:
        """Return how many rows at either end of all are to be a block of their own."""
        return 0

    def rides(self, rows: slice, tile: _Tile) -> int:  # noqa: ARG002
        """Return which end rides on the products of a tile: 0 left, 1 neither, 2 right."""
        return tile.part

    def _closed(self) -> Tensor:
        """Return the gradient of the source, once all but that of the right end is collected.

        What is added to a whole row changes nothing, so that its gradients sum to zero.
        """
        if self.reach < self.length and self.source.shape[-1] // 2 == self.reach:
            self.total[..., -1] = -self.total[..., :-1].sum(-1)
        return self.total


class _PerQuery(_Clipped):
    """One score per query and clipped offset, (batch, heads, length, 2 r + 1)."""

    def add_to(self, scores: Tensor, group: _Group, rows: slice, tile: _Tile) -> None:
        """Add to the scores of a tile in the band."""
        source = self.source[*group, rows]
        if not self._whole(rows, tile):
            scores += source.gather(-1, self._index(scores, rows, tile))
            return
        # the left end rides along already
        left, n = source[..., :1], source.shape[-1]
        _diagonals(scores, n).add_(source - left)
        above = self._triangle(scores, _size(rows), scores.shape[-1] - n)
        scores[..., n:].addcmul_(above, source[..., -1:] - left)

    def collect(self, ds: Tensor, group: _Group, rows: slice, tile: _Tile) -> None:
        """Take the gradient of those scores: sum it over keys that share an offset."""
        total = self.total[*group, rows]
        if self._whole(rows, tile):
            total += _diagonals(ds, total.shape[-1])
            # `tril` takes longer than a product
            above = self._triangle(ds, _size(rows), _size(rows))
            total[..., 0] += (ds[..., : _size(rows)] * (1 - above)).sum(-1)
        elif tile.part == 1:
            total.scatter_add_(-1, self._index(ds, rows, tile), ds)
        elif tile.part == 0:
            total[..., 0] += ds.sum(-1)

    def gradient(self) -> Tensor:
        """Return the gradient of the source."""
        return self._closed()

    def collect_left(self, d_left: Tensor) -> None:
        """Take the gradient of each query's left end, summed over keys beyond the band."""
        self.total[..., :1] += d_left

    def edge(self) -> int:
        fits = _ROWS + 2 * self.reach <= _COLUMNS and self.length > 2 * self.reach
        return self.reach if fits else 0

    def rides(self, rows: slice, tile: _Tile) -> int:
        return 0 if self._whole(rows, tile) else tile.part

    def _whole(self, rows: slice, tile: _Tile) -> bool:
        """Return whether a tile holds the unclipped offsets of all its rows."""
        first, last = rows.start - self.reach, rows.stop + self.reach
        return tile.part == 1 and tile.columns == slice(first, last)

    def _triangle(self, like: Tensor, n_rows: int, n_columns: int) -> Tensor:
        """Return ones on the diagonal and above it, the same for most blocks."""
        place = n_rows, n_columns
        if place not in self.known:
            self.known[place] = like.new_ones(place).triu_()
        return self.known[place]

    def _index(self, like: Tensor, rows: slice, tile: _Tile) -> Tensor:
        """Return which offset belongs to each pair in a tile, the same for most blocks."""
        first = tile.columns.start - rows.start
        place = first, *like.shape[2:]
        if place not in self.known:
            reach = self.source.shape[-1] // 2
            offset = torch.arange(place[2]) - torch.arange(place[1])[:, None]
            self.known[place] = offset.add_(first).clamp_(-reach, reach).add_(reach)
        return self.known[place].expand(like.shape)


def _diagonals(x: Tensor, n: int) -> Tensor:
    """Return a view of n diagonals of (..., rows, rows + n - 1): entry (i, o) is that at i + o."""
    return x.flatten(-2).unfold(-1, n, x.shape[-1] + 1)


class _PerOffset(_Clipped):
    """One score per clipped offset for all queries, (1, heads or 1, 1, 2 r + 1).

    The matrix of one head is constant along its diagonals, so that one band of it, made once and
    longer than need be, holds that of every block as a slice of its columns.
    """

    def __init__(self, source: Tensor, length: int) -> None:
        super().__init__(source, length)
        self.is_low = bool(source.min() < _LOWEST / 2)
        self.rows = min(_ROWS, length)
        self.matrix = self._matrix(source[0, :, 0])
        self.sums: Tensor | None = None

    def add_to(self, scores: Tensor, group: _Group, rows: slice, tile: _Tile) -> None:
        """Add to the scores of a tile in the band."""
        scores += self._slice(self.matrix, group, rows, tile)

    def collect(self, ds: Tensor, group: _Group, rows: slice, tile: _Tile) -> None:
        """Take the gradient of those scores."""
        if tile.part == 0:
            summed = ds.sum((0, 2, 3))
            summed = summed if self.total.shape[1] > 1 else summed.sum()
            self.total[0, self._heads(group), 0, 0] += summed
        if tile.part != 1:
            return
        if self.sums is None:
            self.sums = torch.zeros(self.matrix.shape, dtype=ds.dtype)
        of_tile = self._slice(self.sums, group, rows, tile)
        for one in ds:
            of_tile += one if self.source.shape[1] > 1 else one.sum(0, keepdim=True)

    def gradient(self) -> Tensor:
        """Return the gradient of the source."""
        if self.sums is not None:
            # read in longer rows, what lies on a diagonal comes to lie in a column
            flat = pad(self.sums, (self.rows - 1, 0)).flatten(1)
            lines = pad(flat, (0, self.rows)).unflatten(1, (self.rows, -1)).sum(1)[:, :-1]
            _fold(lines, self.total[0, :, 0])
            self.sums = None
        return self._closed()

    def _heads(self, group: _Group) -> slice:
        return group[1] if self.source.shape[1] > 1 else slice(None)

    def _matrix(self, c: Tensor) -> Tensor:
        """Return the band for each head: the score of the offset j - i - r at (i, j)."""
        lines = spread(c, self.reach + self.rows + 1)
        # each row starts one entry earlier in the repeated line
        rows = lines.repeat(1, self.rows)[:, self.rows :].unflatten(1, (self.rows, -1))
        return rows[..., : 2 * self.reach + self.rows].contiguous()

    def _slice(self, matrix: Tensor, group: _Group, rows: slice, tile: _Tile) -> Tensor:
        """Return the part of a band that belongs to a tile."""
        behind = self.reach - rows.start
        columns = slice(tile.columns.start + behind, tile.columns.stop + behind)
        return matrix[self._heads(group), : _size(rows), columns]


def _fold(lines: Tensor, total: Tensor) -> None:
    """Add one sum per offset to the clipped ones; both have the offset 0 in their middle."""
    spare = (lines.shape[-1] - total.shape[-1]) // 2
    if spare <= 0:
        total[:, -spare : -spare + lines.shape[-1]] += lines
        return
    total += lines[:, spare:-spare]
    total[:, 0] += lines[:, :spare].sum(-1)
    total[:, -1] += lines[:, -spare:].sum(-1)


def _clipped(offsets: Tensor, length: int) -> _PerQuery | _PerOffset:
    """Return what adds scores by offset."""
    return _PerQuery(offsets, length) if offsets.shape[-2] > 1 else _PerOffset(offsets, length)
