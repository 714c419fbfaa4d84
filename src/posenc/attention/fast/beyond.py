"""The keys beyond a band of offsets, which PyTorch's kernel for CPUs serves.

Where offsets are clipped to -r..r, all keys further away than r on one side gain the same score
from one query. What is common to a row moves the logarithm of its sum and nothing else, so that no
scores of position are needed there, forth or back. What the keys of one side add to the output is
kept, as it gives the gradient of that common score without another look at them.

The kernel is quickest with many queries in a call, and a band moves along with the queries. So
long inputs are cut twice: keys far from a long run of queries are served for all of it at once, and
only those between there and the band for a block at a time.
"""

import torch
from torch import Tensor

from posenc.attention.fast import flash

Where = tuple[slice, slice, slice]
"""Series, heads and queries."""

_RUN = 6
"""Blocks of queries in a long run, at least; somewhat fewer make two of them."""

_NEAR_LEFT, _NEAR_RIGHT, _FAR_LEFT, _FAR_RIGHT = range(4)


class Beyond:
    """Attention to the keys left and right of a band, for one block of queries after another.

    Parameters
    ----------
    q, k, v : (batch, heads, length, width)
    ends : two of (batch or 1, heads or 1, length or 1, 1)
        The scores that keys on the left and on the right gain.
    known : (outputs, log_sums), optional
        Those of an earlier pass, (4, batch, heads, length, width) and (4, batch, heads, length, 1):
        near left, near right, far left and far right.
    """

    def __init__(
        self,
        q: Tensor,
        k: Tensor,
        v: Tensor,
        ends: tuple[Tensor, Tensor],
        known: tuple[Tensor, Tensor] | None = None,
    ) -> None:
        self.q, self.k, self.v = q, k, v
        self.ends = [end.expand(*q.shape[:3], 1) for end in ends]
        if known is None:
            known = v.new_zeros(4, *v.shape), q.new_full((4, *q.shape[:3], 1), -torch.inf)
        self.outputs, self.log_sums = known

    def runs(self, blocks: list[slice], reach: int) -> list[slice]:
        """Cut the queries, given as blocks, into long runs, and learn which keys are far of each.

        A block's keys within `reach` of it are the band. Short inputs are one run, which no key is
        far of.
        """
        n = max(len(blocks) // _RUN, 2 if 4 * len(blocks) > 5 * _RUN else 1)
        starts = [blocks[len(blocks) * i // n].start for i in range(n)]
        length = self.q.shape[-2]
        runs = [slice(*ends) for ends in zip(starts, [*starts[1:], length], strict=True)]
        self.near: dict[int, tuple[int, int]] = {}
        for run in runs:
            near = max(run.start - reach, 0), min(run.stop + reach, length)
            self.near |= {
                block.start: near for block in blocks if run.start <= block.start < run.stop
            }
        return runs

    def attend_far(self, where: Where) -> None:
        """Keep the outputs of a run of queries over the keys that are far of it."""
        for side, keys in self._far(where[2]):
            self._attend(where, side, keys)

    def attend(self, where: Where, band: tuple[int, int]) -> list[tuple[Tensor, Tensor]]:
        """Return the outputs and log-sums of a block of queries over keys beyond its band."""
        for side, keys in self._near(where[2], band):
            self._attend(where, side, keys)
        sides = (*self._near(where[2], band), *self._far(where[2]))
        return [(self.outputs[side][where], self.log_sums[side][where]) for side, _ in sides]

    def far_gradients(
        self, where: Where, d_out: Tensor, out: Tensor, log_sum: Tensor
    ) -> list[tuple[slice, Tensor, Tensor, Tensor]]:
        """Return for either far side of a run what `gradients` returns."""
        found = self._far(where[2])
        return [(keys, *self._gradients(where, s, keys, d_out, out, log_sum)) for s, keys in found]

    def gradients(
        self, where: Where, band: tuple[int, int], d_out: Tensor, out: Tensor, log_sum: Tensor
    ) -> list[tuple[slice, Tensor, Tensor, Tensor]]:
        """Return of either near side its keys and the gradients of queries, keys and values."""
        found = self._near(where[2], band)
        return [(keys, *self._gradients(where, s, keys, d_out, out, log_sum)) for s, keys in found]

    def _attend(self, where: Where, side: int, keys: slice) -> None:
        k, v = self.k[*where[:2], keys], self.v[*where[:2], keys]
        out, log_sum = flash.attend(self.q[where], k, v)
        self.outputs[side][where] = out
        self.log_sums[side][where] = log_sum + self.ends[side % 2][where]

    def _gradients(
        self,
        where: Where,
        side: int,
        keys: slice,
        d_out: Tensor,
        out: Tensor,
        log_sum: Tensor,
    ) -> tuple[Tensor, Tensor, Tensor]:
        k, v = self.k[*where[:2], keys], self.v[*where[:2], keys]
        rest = log_sum[where] - self.ends[side % 2][where]
        return flash.gradients(d_out[where], self.q[where], k, v, out[where], rest)

    def of_left_end(self, d_out: Tensor, delta: Tensor, log_sum: Tensor) -> Tensor:
        """Return the gradient of each query's score for the left, (batch, heads, length, 1)."""
        near, far = (
            (self.log_sums[side] - log_sum).exp_()
            * ((self.outputs[side] * d_out).sum(-1, keepdim=True) - delta)
            for side in (_NEAR_LEFT, _FAR_LEFT)
        )
        return near + far

    def _near(self, rows: slice, band: tuple[int, int]) -> list[tuple[int, slice]]:
        """Return the sides between what is far and the band that have any keys, and these."""
        first, last = self.near[rows.start]
        sides = (_NEAR_LEFT, slice(first, band[0])), (_NEAR_RIGHT, slice(band[1], last))
        return [(side, keys) for side, keys in sides if keys.stop > keys.start]

    def _far(self, rows: slice) -> list[tuple[int, slice]]:
        """Return the far sides of a block or run that have any keys, and these."""
        first, last = self.near[rows.start]
        sides = (_FAR_LEFT, slice(0, first)), (_FAR_RIGHT, slice(last, self.k.shape[-2]))
        return [(side, keys) for side, keys in sides if keys.stop > keys.start]


def merged(parts: list[tuple[Tensor, Tensor]], top: Tensor | None) -> tuple[Tensor, Tensor, Tensor]:
    """Return the sums of weights and of weighted values over several parts of the keys.

    Both less a reference, `top`, which comes third; by default it is the largest log-sum.
    """
    log_sums = torch.stack([log_sum for _, log_sum in parts])
    top = log_sums.amax(0) if top is None else top
    weights = (log_sums - top).exp_()
    sums = [weight * out for weight, (out, _) in zip(weights, parts, strict=True)]
    return weights.sum(0), torch.stack(sums).sum(0), top
