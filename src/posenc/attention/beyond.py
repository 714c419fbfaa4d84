"""The keys beyond a band of offsets, which PyTorch's kernel for CPUs serves.

Where offsets are clipped to -r..r, all keys further away than r on one side gain the same score
from one query. What is common to a row moves the logarithm of its sum and nothing else, so that no
scores of position are needed there, forth or back. What the keys of one side add to the output is
kept, as it gives the gradient of that common score without another look at them.
"""

import torch
from torch import Tensor

from posenc.attention import flash

Where = tuple[slice, slice, slice]
"""Series, heads and queries."""


class Beyond:
    """Attention to the keys left and right of a band, for one block of queries after another.

    Parameters
    ----------
    q, k, v : (batch, heads, length, width)
    ends : two of (batch or 1, heads or 1, length or 1, 1)
        The scores that keys on the left and on the right gain.
    known : (outputs, log_sums), optional
        Those of an earlier pass, (2, batch, heads, length, width) and (2, batch, heads, length, 1).
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
            known = v.new_zeros(2, *v.shape), q.new_full((2, *q.shape[:3], 1), -torch.inf)
        self.outputs, self.log_sums = known

    def attend(self, where: Where, band: tuple[int, int]) -> list[tuple[Tensor, Tensor]]:
        """Return the outputs and log-sums of some queries over the keys of each side with any."""
        parts = []
        for side, keys in self._sides(band):
            k, v = self.k[*where[:2], keys], self.v[*where[:2], keys]
            out, log_sum = flash.attend(self.q[where], k, v)
            log_sum = log_sum + self.ends[side][where]
            self.outputs[side][where], self.log_sums[side][where] = out, log_sum
            parts.append((out, log_sum))
        return parts

    def gradients(
        self, where: Where, band: tuple[int, int], d_out: Tensor, out: Tensor, log_sum: Tensor
    ) -> list[tuple[slice, Tensor, Tensor, Tensor]]:
        """Return of either side its keys and the gradients of the queries, keys and values."""
        found = []
        for side, keys in self._sides(band):
            k, v = self.k[*where[:2], keys], self.v[*where[:2], keys]
            rest = log_sum[where] - self.ends[side][where]
            of_side = flash.gradients(d_out[where], self.q[where], k, v, out[where], rest)
            found.append((keys, *of_side))
        return found

    def of_left_end(self, d_out: Tensor, delta: Tensor, log_sum: Tensor) -> Tensor:
        """Return the gradient of each query's score for the left, (batch, heads, length, 1)."""
        along = (self.outputs[0] * d_out).sum(-1, keepdim=True)
        return (self.log_sums[0] - log_sum).exp_() * (along - delta)

    def _sides(self, band: tuple[int, int]) -> list[tuple[int, slice]]:
        """Return 0 for left and 1 for right with its keys, if it has any."""
        left, right = band
        sides = ((0, slice(0, left)), (1, slice(right, self.k.shape[-2])))
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
