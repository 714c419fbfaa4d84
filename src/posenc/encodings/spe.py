"""Stochastic positional encoding: random codes whose covariance is a relative kernel."""

import math
from abc import ABC, abstractmethod

import numpy as np
import torch
from torch import Tensor, nn

from posenc import _checks
from posenc.attention import Places, Position
from posenc.attention.numerics import exporting, precise, without_autocast
from posenc.attention.places import Steps, can_look, is_plain, refuse
from posenc.attention.toeplitz import toeplitz

_FURTHEST = 16  # times as many steps as tokens: how far given positions may lie that need a table


class StochasticPosition(Position, ABC):
    """Queries and keys meet through sampled codes (Liutkus et al. 2021).

    For every head and dimension d, codes qbar_d(m, r) and kbar_d(n, r) are drawn for R
    realisations such that their covariance is a kernel P_d(m, n) of m - n. Then
    q_m -> sum_d q_md qbar_d(m, :) / sqrt(R), and likewise k, which makes R-dimensional queries
    and keys whose product tends to sum_d q_md P_d(m, n) k_nd as R grows.

    Codes are computed in float32 at least; only where they meet queries and keys are they rounded
    to their type. New noise is drawn in every forward pass while training, from torch's generator,
    once for the whole batch. In evaluation the noise is fixed by `seed`, the same on every device,
    so that outputs repeat, and a longer input's noise begins with that of a shorter one, so that
    padding changes nothing; drawing it breaks the graph of `torch.compile` in evaluation, not in
    training. `torch.vmap` over training passes needs `randomness="different"` (or "same"). A cache
    serves in evaluation only, as keys of an earlier pass would have met other noise.

    Parameters
    ----------
    d_model, n_heads, max_length : int
        As for `Position`. Any length is served.
    n_realisations : int
        R, at least 1.
    gated : bool
        Whether a learned gate per head and dimension blends the kernel with a constant:
        P_d -> g_d + (1 - g_d) P_d, so that a dimension may ignore position.
    seed : int
        Of the noise in evaluation.

    Raises
    ------
    ValueError
        If a size or option is out of range; for a cache while training.

    Examples
    --------
    >>> from posenc.encodings import make
    >>> q, k = make("sine_spe", 8, 2, 20, n_realisations=16).codes(20)
    >>> q.shape
    torch.Size([2, 4, 20, 16])
    """

    def __init__(
        self,
        d_model: int,
        n_heads: int,
        max_length: int,
        *,
        n_realisations: int = 64,
        gated: bool = False,
        seed: int = 0,
    ) -> None:
        super().__init__(d_model, n_heads, max_length)
        self.n_realisations = _checks.count("n_realisations", n_realisations, minimum=1)
        self.seed = _checks.count("seed", seed)
        gate = torch.zeros(n_heads, self.d_head)
        self.gate = nn.Parameter(gate) if _checks.flag("gated", gated) else None

    def reset_parameters(self) -> None:
        """Draw all that is learned anew, as at the start."""
        if self.gate is not None:
            nn.init.zeros_(self.gate)

    @abstractmethod
    def ungated_kernel(self, length: int) -> Tensor:
        """Return the kernel P before the gate: (heads, d_head, length, length)."""

    @abstractmethod
    def ungated_codes(self, length: int) -> tuple[Tensor, Tensor]:
        """Return codes before the gate, each (heads, d_head, length, realisations)."""

    def kernel(self, length: int) -> Tensor:
        """Return what the codes' covariance tends to: (heads, d_head, length, length)."""
        kernel = self.ungated_kernel(length)
        if self.gate is None:
            return kernel
        gate = self.gate.sigmoid()[:, :, None, None]
        return gate + (1 - gate) * kernel

    def ungated_codes_at(self, places: Places) -> tuple[Tensor, Tensor]:
        """Return codes before the gate where queries and keys stand.

        (heads, d_head, length, realisations), or with a batch axis in front. Here they are looked
        up among those of whole positions from 0 on.
        """
        who = f"{type(self).__name__} draws noise for each, from 0 on"
        steps = places.of_queries, places.of_keys
        rows = [one.whole(who, lowest=0) for one in steps]
        end = max(one.end(self.max_length) for one in steps)
        for one in steps:
            self._check_end(one, max(each.length for each in steps))
        codes = self.ungated_codes(end)
        q, k = (code[:, :, row].movedim(2, 0) for code, row in zip(codes, rows, strict=True))
        return q, k

    def _check_end(self, steps: Steps, n_tokens: int) -> None:
        """Raise ValueError if far positions would want noise for many more steps than there are."""
        if steps.given is None or not can_look(steps.given):
            return
        end, limit = steps.end(self.max_length), _FURTHEST * max(self.max_length, n_tokens)
        if end > limit:
            who = f"{type(self).__name__} draws noise for every step up to the last"
            wanted = f"must be below {_FURTHEST} times max_length or the tokens, {limit}, as {who}"
            refuse(steps.name, wanted, end - 1)

    def codes(self, length: int) -> tuple[Tensor, Tensor]:
        """Return the codes of queries and keys, each (heads, d_head, length, realisations)."""
        return self._gated(*self.ungated_codes(length))

    def _gated(self, q: Tensor, k: Tensor) -> tuple[Tensor, Tensor]:
        if self.gate is None:
            return q, k
        gate = self.gate.sigmoid()[:, :, None, None]
        shape = (self.n_heads, self.d_head, 1, self.n_realisations)
        constant = gate.sqrt() * self.noise(*shape, stream=1)
        keep = (1 - gate).sqrt()
        return constant + keep * q, constant + keep * k

    def rotate(self, q: Tensor, k: Tensor, places: Places | None = None) -> tuple[Tensor, Tensor]:
        if places is None or is_plain(places):
            codes_q, codes_k = self.codes(q.shape[-2])
        else:
            codes_q, codes_k = self._codes_at(places)
        # keys that heads share meet the codes of each
        k = k.repeat_interleave(self.n_heads // k.shape[1], 1) if k.shape[1] < self.n_heads else k
        return self._meet(q, codes_q), self._meet(k, codes_k)

    def _codes_at(self, places: Places) -> tuple[Tensor, Tensor]:
        if places.cached and self.training:
            raise ValueError(
                f"cache must be None while training {type(self).__name__}, which draws new noise "
                "in every forward pass; eval() fixes it"
            )
        return self._gated(*self.ungated_codes_at(places))

    def noise(self, *shape: int, stream: int = 0, time_axis: int = 0) -> Tensor:
        """Return standard normal noise: new while training, fixed by `seed` in evaluation.

        Different streams are independent of one another in evaluation too. There, a shape that is
        longer along `time_axis` begins with the noise of a shorter one.
        """
        like = precise(next(self.parameters()))
        if self.training:
            return torch.randn(shape, dtype=like.dtype, device=like.device)
        # drawn with time as the slowest axis, so that the end of a series comes last
        steps_first = (shape[time_axis], *shape[:time_axis], *shape[time_axis + 1 :])
        return _fixed_noise(steps_first, self.seed, stream).to(like).movedim(0, time_axis)

    def _meet(self, x: Tensor, codes: Tensor) -> Tensor:
        """(batch, heads, length, d_head) with codes to (batch, heads, length, realisations)."""
        if codes.ndim == 5:
            met = x.unsqueeze(-2) @ codes.transpose(2, 3).to(x.dtype)
            return met.squeeze(-2) * self.n_realisations**-0.5
        # one product of (batch, d_head) and (d_head, R) per head and position
        met = x.permute(1, 2, 0, 3) @ codes.transpose(1, 2).to(x.dtype)
        return met.permute(2, 0, 1, 3) * self.n_realisations**-0.5


class SineSPE(StochasticPosition):
    """Kernels that are sums of K cosines of the offset (Liutkus et al. 2021, sineSPE).

    P_d(m, n) = sum_k gain_dk^2 cos(2 pi f_dk (m - n) + theta_dk), with frequencies f in (0, 1/2),
    gains and phases learned per head and dimension; m and n may be real. The frequencies start
    log-uniform between 1 / (2 max_length) and 1/4, the gains with squares that sum to 1, the phases
    at 0.

    Parameters
    ----------
    d_model, n_heads, max_length, n_realisations, gated, seed
        As for `StochasticPosition`.
    n_sines : int
        K, at least 1.

    Notes
    -----
    Parameters to learn, in every layer: `3 * n_sines * d_model`, and `d_model` with `gated`. One
    encoding may serve all layers of a model, with `share_position=True`; in training each layer
    still draws noise of its own, in evaluation the one draw of `seed` serves all. Cost:
    O(L d_model R) per layer and batch row, in time; codes take O(L d_model R) memory once per
    layer.

    Raises
    ------
    ValueError
        If a size or option is out of range; for a cache while training.

    Examples
    --------
    >>> SineSPE(8, 2, 20, n_realisations=16).kernel(20).shape
    torch.Size([2, 4, 20, 20])
    """

    def __init__(
        self,
        d_model: int,
        n_heads: int,
        max_length: int,
        *,
        n_sines: int = 5,
        n_realisations: int = 64,
        gated: bool = False,
        seed: int = 0,
    ) -> None:
        super().__init__(
            d_model, n_heads, max_length, n_realisations=n_realisations, gated=gated, seed=seed
        )
        self.n_sines = _checks.count("n_sines", n_sines, minimum=1)
        shape = (n_heads, self.d_head, self.n_sines)
        self.frequency_logits = nn.Parameter(torch.empty(shape))
        self.gains = nn.Parameter(torch.empty(shape))
        self.phases = nn.Parameter(torch.empty(shape))
        self.reset_parameters()

    @torch.no_grad()
    def reset_parameters(self) -> None:
        super().reset_parameters()
        low, high = math.log(1 / (2 * max(self.max_length, 3))), math.log(1 / 4)
        start = torch.empty_like(precise(self.frequency_logits)).uniform_(low, high).exp()
        self.frequency_logits.copy_((2 * start).logit())
        nn.init.constant_(self.gains, self.n_sines**-0.5)
        nn.init.zeros_(self.phases)

    @property
    def omega(self) -> Tensor:
        """Angular frequencies 2 pi f in (0, pi): (heads, d_head, n_sines)."""
        return math.pi * precise(self.frequency_logits).sigmoid()

    def ungated_kernel(self, length: int) -> Tensor:
        t = self._positions(length)
        lag = (t[:, None] - t)[..., None]
        omega, phase = self.omega[:, :, None, None], self.phases[:, :, None, None]
        return (self.gains.square()[:, :, None, None] * (omega * lag + phase).cos()).sum(-1)

    def ungated_codes(self, length: int) -> tuple[Tensor, Tensor]:
        angles = self._angles(self._positions(length))
        return self._waves(angles, angles)

    def ungated_codes_at(self, places: Places) -> tuple[Tensor, Tensor]:
        of_queries, of_keys = places.of_queries, places.of_keys
        angles = self._angles(_in_heads(of_queries))
        others = angles if of_keys is of_queries else self._angles(_in_heads(of_keys))
        return self._waves(angles, others)

    def _angles(self, positions: Tensor) -> Tensor:
        """Return t omega for positions (..., length): (..., heads, d_head, length, n_sines)."""
        return positions[..., None] * self.omega[:, :, None, :]

    def _waves(self, angles_q: Tensor, angles_k: Tensor) -> tuple[Tensor, Tensor]:
        """Return the codes of queries and keys from the angles of their positions."""
        noise = self.noise(self.n_heads, self.d_head, 2 * self.n_sines, self.n_realisations)
        gains = self.gains.repeat(1, 1, 2)[..., None]
        shifted = angles_q + self.phases[:, :, None, :]
        q, k = (torch.cat((a.cos(), a.sin()), -1).to(noise.dtype) for a in (shifted, angles_k))
        with without_autocast(noise):
            return q @ (gains * noise), k @ (gains * noise)

    def _positions(self, length: int) -> Tensor:
        """Return 0, 1, ..., length - 1 as numbers that angles may be computed from."""
        like = precise(self.gains)
        return torch.arange(length, dtype=like.dtype, device=like.device)


def _in_heads(steps: Steps) -> Tensor:
    """Return positions as (length,), or with axes for batch, heads and dimensions in front."""
    positions = steps.positions
    return positions[0] if steps.given is None else positions[:, None, None]


class ConvSPE(StochasticPosition):
    """Kernels that two learned filters span (Liutkus et al. 2021, convSPE).

    White noise z is filtered by phi_Q for the queries and phi_K for the keys, of length P:
    qbar(m) = sum_p phi_Q(p) z(m - p), so P_d(m, n) = sum_p phi_Q(p) phi_K(p - (m - n)), zero for
    |m - n| >= P. Positions must be whole numbers from 0 on; under `torch.compile` and `torch.func`
    transforms they must lie below `max_length`, too, and neither is checked there. The noise is
    convolved, never the tokens. Both filters start constant with norm 1, where the kernel is the
    triangle 1 - |m - n| / P. "Conv" is short for convolutional, "SPE" for stochastic positional
    encoding; a survey (Irani and Metsis 2025, Table 1) calls it "convolutional sinusoidal", though
    it has no sinusoids, and prints the same formula in 3.8.

    Parameters
    ----------
    d_model, n_heads, max_length, n_realisations, gated, seed
        As for `StochasticPosition`.
    kernel_size : int
        P, at least 1.

    Notes
    -----
    Parameters to learn, in every layer: `2 * kernel_size * d_model`, and `d_model` with `gated`.
    Cost: O(L d_model R) per layer and batch row, and O(L d_model R P) once per layer, in time;
    codes take O(L d_model R) memory once per layer.

    Raises
    ------
    ValueError
        If a size or option is out of range; for a cache while training; for positions that are not
        whole numbers from 0 on, or lie further away than 16 times `max_length` or the tokens.

    Examples
    --------
    >>> kernel = ConvSPE(8, 2, 20, kernel_size=3).kernel(20)
    >>> bool((kernel[:, :, 0, 3:] == 0).all())
    True
    """

    def __init__(
        self,
        d_model: int,
        n_heads: int,
        max_length: int,
        *,
        kernel_size: int = 32,
        n_realisations: int = 64,
        gated: bool = False,
        seed: int = 0,
    ) -> None:
        super().__init__(
            d_model, n_heads, max_length, n_realisations=n_realisations, gated=gated, seed=seed
        )
        self.kernel_size = _checks.count("kernel_size", kernel_size, minimum=1)
        shape = (2, n_heads, self.d_head, self.kernel_size)
        self.filters = nn.Parameter(torch.empty(shape))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        super().reset_parameters()
        nn.init.constant_(self.filters, self.kernel_size**-0.5)

    def ungated_kernel(self, length: int) -> Tensor:
        size = self.kernel_size
        phi_q, phi_k = precise(self.filters)
        padded = nn.functional.pad(phi_k, (size - 1, size - 1))
        # entry s of the correlation belongs to the lag m - n = size - 1 - s
        correlation = (padded.unfold(-1, size, 1) * phi_q[..., None, :]).sum(-1).flip(-1)
        lag = torch.arange(length, device=phi_q.device)
        lag = lag[:, None] - lag
        index = (lag + size - 1).clamp(0, 2 * size - 2)
        return correlation[..., index] * (lag.abs() < size)

    def ungated_codes(self, length: int) -> tuple[Tensor, Tensor]:
        if exporting():
            # a program for every length begins with the blocks of the longest
            self.check_length(length)
            step = torch.arange(length, device=self.filters.device)
            codes = self._codes_by_blocks(self.max_length)[:, :, step]
        else:
            codes = self._codes_by_blocks(length)
        q, k = codes.unflatten(1, (self.n_heads, self.d_head))
        return q, k

    def _codes_by_blocks(self, length: int) -> Tensor:
        """Return the codes of queries and keys: (2, d_model, length, realisations)."""
        size = self.kernel_size
        n_blocks = -(-length // size)
        shape = self.d_model, (n_blocks + 1) * size - 1, self.n_realisations
        noise = self.noise(*shape, time_axis=1)
        # a block of outputs needs 2 P - 1 steps of noise, so one product does all blocks
        seen = noise.unfold(1, 2 * size - 1, size).permute(0, 3, 1, 2).flatten(2)
        with without_autocast(noise):
            codes = _band(precise(self.filters)) @ seen
        codes = codes.unflatten(-1, (n_blocks, -1))
        return codes.transpose(2, 3).flatten(2, 3)[:, :, :length]


def _band(filters: Tensor) -> Tensor:
    """Return the (2, d_model, P, 2 P - 1) matrices whose row m holds the filter, reversed, at m."""
    size = filters.shape[-1]
    padded = nn.functional.pad(filters.flatten(1, 2).flip(-1), (size - 1, size - 1))
    return toeplitz(padded, size)


def _fixed_noise(shape: tuple[int, ...], seed: int, stream: int) -> Tensor:
    """Return the same normal noise on every call, outside of a graph that is being compiled."""
    if torch.compiler.is_compiling():
        # as a decorator it would load the compiler for everybody, which takes seconds
        return torch.compiler.disable(_numpy_noise)(shape, seed, stream)
    return _numpy_noise(shape, seed, stream)


def _numpy_noise(shape: tuple[int, ...], seed: int, stream: int) -> Tensor:
    """Return normal noise that is not torch's, so that `vmap` accepts it."""
    return torch.from_numpy(np.random.default_rng([seed, stream]).standard_normal(shape))
