"""The gradient of learned scores by offset, which PyTorch's kernel for CPUs leaves out.

All other gradients come from that kernel (`flash`). A score that all queries share needs the sum of
its diagonal, so weights and their gradients are formed anew: in the band of unclipped offsets block
by block, on top of each other, so that the diagonals are summed once, at the end; and left of it,
where a number is enough. What is common to a diagonal, the score itself, is multiplied to its sum.
Nothing is needed right of the band, as all gradients of a row sum to zero.

Blocks are small, since what they hold is written and read several times and is to stay in the
cache of a core.
"""

import math

import torch
from torch import Tensor

_ROWS, _COLUMNS = 64, 512
"""Queries and keys in a block, of one head; the band has as many keys as it needs."""

_ROOM = 1 << 18
"""Weights at work at a time, of several heads: up to a megabyte in float32."""

LARGEST = 30.0
"""Scores between this and its negative are served: weights without them must not overflow."""


def gradient_of_line(
    d_out: Tensor, q: Tensor, k: Tensor, v: Tensor, out: Tensor, log_sum: Tensor, line: Tensor
) -> Tensor:
    """Return the gradient of scores for the offsets -r to r, clipped, which all queries share.

    Parameters
    ----------
    d_out, q, k, v, out : (batch, heads, length, width)
        Queries are scaled already.
    log_sum : (batch, heads, length, 1)
    line : (heads or 1, 2 r + 1)
        Numbers below 30 in size.

    Returns
    -------
    (heads or 1, 2 r + 1)
    """
    band = _Band(d_out, q, k, v, out, log_sum, line.shape[-1] // 2)
    by_offset, left = band.sums()
    weight = line.exp()
    found = q.new_zeros(q.shape[1], line.shape[-1])
    spare = (found.shape[-1] - by_offset.shape[-1]) // 2
    found[:, spare : found.shape[-1] - spare] = by_offset
    found[:, 0] += left
    found = found * weight
    if not spare and band.reach < band.length:
        found[:, -1] = -found[:, :-1].sum(-1)
    return found if line.shape[0] > 1 else found.sum(0, keepdim=True)


class _Band:
    """Weights without their scores by offset, times their gradients, in and left of a band."""

    def __init__(
        self,
        d_out: Tensor,
        q: Tensor,
        k: Tensor,
        v: Tensor,
        out: Tensor,
        log_sum: Tensor,
        reach: int,
    ) -> None:
        self.batch, self.heads, self.length, _ = q.shape
        self.reach = min(reach, self.length)  # no offset is larger
        self.rows = min(_ROWS, self.length)
        self.width = self.rows + 2 * self.reach
        self.n_blocks = -(-self.length // self.rows)
        # one more dimension makes the products subtract the log-sum, and delta
        delta = (out * d_out).sum(-1, keepdim=True)
        self.queries, self.d_rows = self._filled(q, -log_sum), self._filled(d_out, -delta)
        self.keys, self.values = self._turned(k), self._turned(v)
        self.n_heads = max(1, min(self.heads, _ROOM // (self.rows * self.width)))
        largest = self.n_heads * self.rows * max(self.width, _COLUMNS)
        self.room = q.new_empty(2, largest)

    def sums(self) -> tuple[Tensor, Tensor]:
        """Return the sum for each offset within reach, (heads, 2 reach + 1), and left, (heads,)."""
        inside = self.queries.new_zeros(self.heads, self.rows, self.width)
        left = inside.new_zeros(self.heads)
        for start in range(0, self.heads, self.n_heads):
            some = slice(start, start + self.n_heads)
            for series in range(self.batch):
                for block in range(self.n_blocks):
                    first = block * self.rows
                    self._enter(series, some, first)
                    near = slice(first, first + self.width)
                    inside[some].addcmul_(self._weights(near), self._their_gradients(near))
                    for at in range(self.reach, first, _COLUMNS):
                        left[some] += self._summed(slice(at, min(at + _COLUMNS, first)))
        n = 2 * self.reach + 1
        # diagonals of a block are columns, read with one entry more a row
        by_offset = inside.flatten(1).unfold(1, n, self.width + 1).sum(1)
        return by_offset, left + inside.tril(-1).sum((1, 2))

    def _enter(self, series: int, heads: slice, first: int) -> None:
        """Begin the work on one block of queries."""
        rows = slice(first, first + self.rows)
        self._queries, self._d_rows = (a[series, heads, rows] for a in (self.queries, self.d_rows))
        self._keys, self._values = (a[series, heads] for a in (self.keys, self.values))

    def _weights(self, columns: slice) -> Tensor:
        return self._product(0, self._queries, self._keys[:, :, columns]).exp_()

    def _their_gradients(self, columns: slice) -> Tensor:
        """Return the gradients of the weights, less delta."""
        return self._product(1, self._d_rows, self._values[:, :, columns])

    def _summed(self, columns: slice) -> Tensor:
        """Return the sum of weights times their gradients, (heads,), without writing these down."""
        outputs = torch.bmm(self._weights(columns), self._values[:, :, columns].mT)
        return outputs.mul_(self._d_rows).sum((1, 2))

    def _product(self, room: int, rows: Tensor, columns: Tensor) -> Tensor:
        """Return a product (heads, rows, columns) in memory that is used again."""
        shape = *rows.shape[:2], columns.shape[-1]
        return torch.bmm(rows, columns, out=self.room[room, : math.prod(shape)].view(shape))

    def _filled(self, x: Tensor, last: Tensor) -> Tensor:
        """Return rows with one more number each, and zeros below them to fill the last block."""
        filled = x.new_zeros(*x.shape[:2], self.n_blocks * self.rows, x.shape[-1] + 1)
        filled[:, :, : self.length, :-1] = x
        filled[:, :, : self.length, -1:] = last
        return filled

    def _turned(self, x: Tensor) -> Tensor:
        """Return columns with a one below each, and zeros on both sides, where no key is."""
        n = (self.n_blocks - 1) * self.rows + self.width
        turned = x.new_zeros(*x.shape[:2], x.shape[-1] + 1, n)
        inner = turned[..., self.reach : self.reach + self.length]
        inner[:, :, :-1] = x.mT
        inner[:, :, -1] = 1
        return turned
