"""Biases that depend on the distance between two tokens: T5's buckets and ALiBi's slopes."""

import math
from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from torch import Tensor, nn

from posenc import _checks
from posenc.attention import Places, Position, by_offset
from posenc.attention.numerics import precise
from posenc.attention.score_mods import ScoreMod
from posenc.encodings.resizing import Rows


class T5Bias(Position):
    """One learned scalar per head and bucket of offsets (Raffel et al. 2020, section 2.1).

    Half the buckets serve keys after the query, half the others. In each half, the first half
    holds one distance each, the rest widen in proportion to the distance up to `max_distance`, so
    that the number of buckets grows like its logarithm; all larger distances share the last. T5
    shares the scalars over its layers, and so does a model here.
    In a causal layer all buckets serve keys before the query, as in T5's decoder. Real offsets go
    to the bucket of the nearest whole one.
    T5 does not divide scores by sqrt(d_head), which its initial weights make up for; here they
    are divided, and the bias is added afterwards.

    Parameters
    ----------
    d_model, n_heads, max_length : int
        As for `Position`. Any length is served.
    n_buckets : int
        A multiple of 4, at least 4.
    max_distance : int
        Distance from which on all share a bucket, above `n_buckets / 4`. The whole part of the
        logarithm makes it earlier: with the defaults 91 where both sides are seen, and 113 in a
        causal layer.
    bidirectional : bool, optional
        Whether half of the buckets serve keys after the query, as in T5's encoder; if not, all
        serve those before, and later keys share the query's own, as in its decoder. By default as
        the layer looks: not in a causal one. To be said where a mask, and not the layer, is causal.

    Notes
    -----
    Parameters to learn: `n_buckets * n_heads` for the whole model. They start normal with
    standard deviation d_model**-0.5, as in T5. Cost: O(n_heads L^2) once per forward pass, or
    no such tensor at all where attention goes by offset.

    Raises
    ------
    ValueError
        If a size or option is out of range, or `max_distance` is too small for buckets of one side.

    Examples
    --------
    >>> T5Bias(8, 2, 100).bucket(torch.tensor([-200, -1, 0, 1, 200])).tolist()
    [15, 1, 0, 17, 31]
    """

    shared = True

    def __init__(
        self,
        d_model: int,
        n_heads: int,
        max_length: int,
        *,
        n_buckets: int = 32,
        max_distance: int = 128,
        bidirectional: bool | None = None,
    ) -> None:
        super().__init__(d_model, n_heads, max_length)
        if bidirectional is not None:
            bidirectional = _checks.flag("bidirectional", bidirectional)
        self.bidirectional = bidirectional
        self.n_buckets = _checks.count("n_buckets", n_buckets, minimum=4)
        if n_buckets % 4:
            raise ValueError(f"n_buckets must be a multiple of 4, got {n_buckets}")
        self.max_distance = _checks.count(
            "max_distance", max_distance, minimum=self.n_buckets // 4 + 1
        )
        if bidirectional is False:
            self._check_one_sided()
        self.values = nn.Parameter(torch.empty(n_heads, n_buckets))
        self.reset_parameters()

    @torch.no_grad()
    def reset_parameters(self) -> None:
        """Draw all that is learned anew, as at the start."""
        self.values.normal_().mul_(self.d_model**-0.5)

    def _learned_rows(self) -> Rows:
        return Rows()  # its buckets serve any length

    def check_causal(self) -> None:
        if not self.bidirectional:
            self._check_one_sided()

    def _check_one_sided(self) -> None:
        """Raise ValueError if all buckets cannot serve one side."""
        single = self.n_buckets // 2
        if self.max_distance <= single:
            raise ValueError(
                f"max_distance must be above n_buckets / 2 = {single} in a causal layer or "
                f"with bidirectional=False, got {self.max_distance}"
            )

    @by_offset(reach="max_distance")  # from there on, all offsets of one sign share a bucket
    def bias(self, offset: Tensor, places: Places) -> Tensor:
        # in float32 at least, as the gradient of a bucket sums over many pairs
        causal = places.causal if self.bidirectional is None else not self.bidirectional
        return precise(self.values)[:, self.bucket(offset, causal=causal)]

    def bucket(self, offset: Tensor, *, causal: bool = False) -> Tensor:
        """Return the bucket, 0 to n_buckets - 1, of each offset j - i, real ones rounded.

        If `causal`, all buckets serve keys before the query, and later keys share bucket 0.
        """
        # whole numbers are left alone, as ONNX rounds no integers
        offset = (offset.round() if offset.is_floating_point() else offset).long()
        if causal:
            self._check_one_sided()
            return self._shared_out(-offset.clamp(max=0), self.n_buckets)
        half = self.n_buckets // 2
        return self._shared_out(offset.abs(), half) + half * (offset > 0)

    def _shared_out(self, distance: Tensor, half: int) -> Tensor:
        """Return which of `half` buckets each distance belongs to."""
        single = half // 2
        ratio = (distance.clamp(min=single).double() / single).log()
        growth = ratio / math.log(self.max_distance / single) * (half - single)
        # where the logarithms' ratio is a whole number, rounding must not lose a bucket
        shared = (single + (growth + 1e-9).long()).clamp(max=half - 1)
        return torch.where(distance < single, distance, shared)


class ALiBi(Position):
    """A penalty that grows linearly with distance, at a fixed slope per head (Press et al. 2022).

    The bias is -m_h |i - j|, and i, j may be real times. The paper is about causal attention, where
    j <= i; in a layer that looks both ways both sides are penalised alike, the usual form for
    encoders. For n heads, a power of 2, the slopes are
    2**(-8 h / n), h = 1..n; for other n they are those of the next smaller power, followed by
    every other one of the next larger, as the authors recommend.
    Some programs add the slope times the index of the key (BLOOM, MPT): in a causal layer that
    differs by a constant of each row, which the softmax does not see.

    Parameters
    ----------
    d_model, n_heads, max_length : int
        As for `Position`. Any length is served.
    bias_max : float
        What stands for the 8 in the slopes, above 0: `alibi_bias_max` of MPT, whose models for
        long stories have 16.
    slopes : sequence of n_heads numbers, optional
        Slopes of your own in place of these, each at least 0; 0 is a head without a penalty.
    heads : sequence of int, optional
        Which heads a layer holds that is one part of several, each on a device of its own: of 8
        heads the later half is `range(4, 8)`. Sizes and slopes are then those of all heads, and
        the encoding is made for these alone, of the same width each.

    Notes
    -----
    Parameters to learn: 0. Cost: O(n_heads L^2) once per forward pass, or
    no such tensor at all where attention goes by offset.

    Raises
    ------
    ValueError
        If a size is not a positive integer or `n_heads` does not divide `d_model`, `bias_max` is
        not above 0, slopes are not one for each head, or a head is none of them.

    Examples
    --------
    >>> x = torch.zeros(1, 3, 8)
    >>> ALiBi(8, 2, 3).bias(x, x, x)[0].tolist()
    [[-0.0, -0.0625, -0.125], [-0.0625, -0.0, -0.0625], [-0.125, -0.0625, -0.0]]
    >>> part = ALiBi(64, 8, 3, heads=range(4, 8))
    >>> part.n_heads, part.d_model, bool((part.slopes == ALiBi(64, 8, 3).slopes[4:]).all())
    (4, 32, True)
    """

    shared = True
    slopes: Tensor

    def __init__(
        self,
        d_model: int,
        n_heads: int,
        max_length: int,
        *,
        bias_max: float = 8.0,
        slopes: ArrayLike | None = None,
        heads: Sequence[int] | None = None,
    ) -> None:
        super().__init__(d_model, n_heads, max_length)
        self.bias_max = _checks.positive("bias_max", bias_max)
        if slopes is None:
            of_heads = np.array(_slopes(n_heads, self.bias_max))
        else:
            of_heads = _own_slopes(slopes, n_heads, self.bias_max)
        if heads is not None:
            of_heads = of_heads[_held(heads, n_heads)]
            self.n_heads, self.d_model = len(of_heads), len(of_heads) * self.d_head
        self.register_exact("slopes", of_heads, wide=True)

    @by_offset
    def bias(self, offset: Tensor) -> Tensor:
        return -self.slopes[:, None] * offset.abs().to(self.slopes.dtype)

    def _score_mod(self, places: Places) -> ScoreMod | None:
        if not places.counted:
            return None
        slopes = self.slopes

        def by_key(score: Tensor, b: Tensor, h: Tensor, i: Tensor, j: Tensor) -> Tensor:  # noqa: ARG001
            return score + slopes[h] * j  # less what is common to a row

        def by_distance(score: Tensor, b: Tensor, h: Tensor, i: Tensor, j: Tensor) -> Tensor:  # noqa: ARG001
            return score - slopes[h] * (j - i).abs()

        return by_key if places.causal else by_distance


def _own_slopes(slopes: ArrayLike, n_heads: int, bias_max: float) -> NDArray[np.float64]:
    """Return slopes that somebody chose, one for each head, or raise ValueError."""
    if bias_max != 8:
        raise ValueError(f"bias_max must be left out where slopes are given, got {bias_max!r}")
    chosen = _checks.finite_array("slopes", slopes, ndim=1).astype(np.float64)
    if len(chosen) != n_heads or (chosen < 0).any():
        raise ValueError(
            f"slopes must be n_heads = {n_heads} numbers of at least 0, got {chosen.tolist()}"
        )
    return chosen


def _held(heads: Sequence[int], n_heads: int) -> list[int]:
    """Return which of all heads a layer holds, or raise ValueError."""
    try:
        held = [_checks.count("heads", one) for one in heads]
    except TypeError:
        raise ValueError(f"heads must be a sequence such as range(4, 8), got {heads!r}") from None
    if not held or max(held) >= n_heads or len({*held}) < len(held):
        raise ValueError(
            f"heads must be some of all n_heads = {n_heads}, from 0 to {n_heads - 1} and each "
            f"once, got {heads!r}"
        )
    return held


def _slopes(n_heads: int, bias_max: float) -> list[float]:
    """Return one slope per head, falling geometrically."""
    power = 1 << (n_heads.bit_length() - 1)
    slopes = [2.0 ** (-bias_max * h / power) for h in range(1, power + 1)]
    if power == n_heads:
        return slopes
    return slopes + _slopes(2 * power, bias_max)[::2][: n_heads - power]
