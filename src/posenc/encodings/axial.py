"""Rotary encoding for tokens whose position is several numbers, and where patches stand."""

from collections.abc import Sequence
from numbers import Real

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from posenc import _checks, frequencies
from posenc.attention import Places, Position, words
from posenc.attention.numerics import precise, without_autocast
from posenc.attention.places import Steps, constants, refuse
from posenc.attention.position import MESSAGE
from posenc.attention.turning import PAIRINGS, turn

OF_PARTS = "half_of_parts"


class AxialRotary(Position):
    """Pairs of dimensions turn with one axis each, or with all axes (Heo et al. 2024, RoPE-ViT).

    Tokens may stand on a grid of sensors and steps, or anywhere in a plane. "axial" deals the pairs
    out to the axes in parts, and each part turns as RoPE does with the position on its
    axis. A score then depends on each offset by itself. "mixed" lets every pair turn by the sum
    of its frequencies times the positions on all axes, so that it can look along a diagonal;
    frequencies are learned for each head, from random directions and geometric sizes.

    Positions must be given, (length, n_axes) or (batch, length, n_axes), whole or real numbers.

    Parameters
    ----------
    d_model, n_heads, max_length : int
        As for `Position`; `d_model / n_heads` must be a multiple of `2 * n_axes` for "axial" with
        equal parts, and even for "mixed". Any length is served.
    n_axes : int, optional
        Numbers that make a position, at least 2; `Rotary` is for one. By default 2, or as many as
        there are parts.
    axes : {"axial", "mixed"}
    base : float or sequence of float
        Frequencies are `base**(-2i / d)` with d the dimensions of one part, or of the head; for
        "axial" one base for all axes or one for each. The authors use 100 for images, whose axes
        are short.
    parts : sequence of int, optional
        Dimensions of a head that each axis has, even numbers that sum up to `d_model / n_heads` at
        most, where axes are not alike, such as time, height and width of a video. What is left
        stays as it is. Equal parts by default; for "axial" only.
    pairing : {"interleaved", "half", "half_of_parts"}
        Pairs are dimensions (2i, 2i + 1), or (i, i + d / 2) with d all dimensions that turn, as in
        DINOv3 and in the vision models of Qwen, or with d the dimensions of one part, as in
        Gemma 4's ("axial" only).
    fastest : float
        Frequency of the fastest pair in radians per position, above 0. Where places run from -1 to
        1, as `patch_centres` makes them, DINOv3 has 2 pi, one turn for each unit.
    values : bool
        Whether values turn by their places and sums of them back by the query's, as in `RoVE`.

    Attributes
    ----------
    omega : array of shape (d / 2, n_axes), or nn.Parameter (n_heads, d / 2, n_axes) for "mixed"
        Angular frequencies in radians per position, with d the dimensions that turn: pair i of a
        token at t, (n_axes,), turns by `omega[..., i, :] @ t`. For "axial" each pair has one that
        is not 0, that of its axis.

    Notes
    -----
    Parameters to learn, in every layer: 0, or `d_model * n_axes / 2` for "mixed". Cost:
    O(L d_model) per layer and batch row.

    Raises
    ------
    ValueError
        If a size or option is out of range; in a forward pass, without given positions.

    Examples
    --------
    >>> from posenc.attention import SelfAttention
    >>> layer = SelfAttention(8, 1, AxialRotary(8, 1, 6))
    >>> grid = torch.cartesian_prod(torch.arange(2), torch.arange(3))  # 2 sensors, 3 steps
    >>> layer(torch.randn(1, 6, 8), positions=grid).shape
    torch.Size([1, 6, 8])
    """

    omega: nn.Parameter | NDArray[np.floating]
    _on_request = MESSAGE

    def __init__(
        self,
        d_model: int,
        n_heads: int,
        max_length: int,
        *,
        n_axes: int | None = None,
        axes: str = "axial",
        base: float | Sequence[float] = 100.0,
        parts: Sequence[int] | None = None,
        pairing: str = "interleaved",
        fastest: float = 1.0,
        values: bool = False,
    ) -> None:
        super().__init__(d_model, n_heads, max_length)
        if _checks.flag("values", values):
            self._on_request = frozenset()
        self.axes = _checks.choice("axes", axes, ("axial", "mixed"))
        known = PAIRINGS if self.axes == "mixed" else (*PAIRINGS, OF_PARTS)
        self.pairing = words.choice("pairing", pairing, known, words.PAIRINGS)
        self.fastest = _checks.positive("fastest", fastest)
        if parts is not None and (isinstance(parts, str) or not isinstance(parts, Sequence)):
            raise ValueError(
                f"parts must be a sequence of even numbers, one an axis, got {parts!r}"
            )
        if n_axes is None:
            n_axes = 2 if parts is None else len(parts)
        self.n_axes = _checks.count("n_axes", n_axes, minimum=2)
        if self.axes == "mixed":
            if parts is not None or not isinstance(base, Real):
                wrong = f"parts {parts!r}" if parts is not None else f"base {base!r}"
                raise ValueError(f"{wrong} must be for axes='axial', as mixed pairs have no axis")
            sizes = frequencies.geometric(
                _checks.even("d_model / n_heads", self.d_head), _bases(base, 1)[0]
            )
            self._sizes = fastest * sizes
            self.omega = nn.Parameter(torch.empty(n_heads, len(sizes), n_axes))
            self.reset_parameters()
            return
        self.parts = self._parts_of_head(parts)
        bases = _bases(base, self.n_axes)
        speeds = [frequencies.geometric(d, b) for d, b in zip(self.parts, bases, strict=True)]
        self._axis = np.repeat(np.arange(self.n_axes), [len(one) for one in speeds])
        self._speed = fastest * np.concatenate(speeds)
        self.omega = np.eye(self.n_axes)[self._axis] * self._speed[:, None]

    def _parts_of_head(self, parts: Sequence[int] | None) -> tuple[int, ...]:
        """Return the dimensions of a head that each axis has, or raise ValueError."""
        if parts is None:
            if self.d_head % (2 * self.n_axes):
                raise ValueError(
                    f"d_model / n_heads must be a multiple of 2 * n_axes = {2 * self.n_axes}, "
                    f"got {self.d_head}"
                )
            return self.n_axes * (self.d_head // self.n_axes,)
        found = tuple(_checks.even("parts", part) for part in parts)
        if len(found) != self.n_axes or sum(found) > self.d_head:
            raise ValueError(
                f"parts must be n_axes = {self.n_axes} even numbers that sum up to at most "
                f"d_model / n_heads = {self.d_head}, got {found}"
            )
        return found

    @torch.no_grad()
    def reset_parameters(self) -> None:
        """Draw all that is learned anew, as at the start; nothing is with "axial"."""
        if isinstance(self.omega, Tensor):
            drawn = torch.empty_like(precise(self.omega)).normal_()
            size = torch.as_tensor(self._sizes).to(drawn)[:, None]
            self.omega.copy_(drawn / drawn.norm(dim=-1, keepdim=True) * size)

    def rotate(self, q: Tensor, k: Tensor, places: Places | None = None) -> tuple[Tensor, Tensor]:
        places = self._given(places)
        return self._turned(q, places.of_queries), self._turned(k, places.of_keys)

    def carry(self, v: Tensor, places: Places | None = None) -> Tensor:
        return self._turned(v, self._given(places).of_keys)

    def deliver(self, out: Tensor, places: Places | None = None) -> Tensor:
        return self._turned(out, self._given(places).of_queries, back=True)

    def _given(self, places: Places | None) -> Places:
        """Return the places, or raise ValueError unless somebody gave them."""
        if places is None or places.of_queries.given is None or places.of_keys.given is None:
            refuse("positions", f"must be given, with n_axes = {self.n_axes} numbers a token", None)
        return places

    def _turned(self, x: Tensor, steps: Steps, *, back: bool = False) -> Tensor:
        if self.axes == "mixed":  # each head has frequencies of its own, so shared ones part here
            x = x.repeat_interleave(self.n_heads // x.shape[1], 1)
        angles = self._angles(steps.positions)
        cos, sin = angles.cos(), -angles.sin() if back else angles.sin()
        if self.pairing != OF_PARTS:
            return turn(x, cos, sin, self.pairing)
        widths = [*self.parts, x.shape[-1] - sum(self.parts)]
        pairs = [width // 2 for width in self.parts]
        *turning, still = x.split(widths, -1)
        both = zip(turning, cos.split(pairs, -1), sin.split(pairs, -1), strict=True)
        return torch.cat([*(turn(*part, "half") for part in both), still], -1)

    def _angles(self, t: Tensor) -> Tensor:
        """Return the angle of each pair: (batch or 1, heads or 1, length, d / 2)."""
        if isinstance(self.omega, Tensor):
            omega = self.omega.to(torch.promote_types(t.dtype, precise(self.omega).dtype))
            with without_autocast(t):  # in which a product would round positions
                return t.to(omega.dtype)[:, None] @ omega.mT
        axis = torch.as_tensor(self._axis, device=t.device)
        return t[:, None, :, axis] * constants(self._speed, t)


def _bases(base: float | Sequence[float], n_axes: int) -> tuple[float, ...]:
    """Return the base of each axis, or raise ValueError."""
    if isinstance(base, Real):
        return n_axes * (float(base),)
    if isinstance(base, str) or not isinstance(base, Sequence) or len(base) != n_axes:
        raise ValueError(f"base must be one number or n_axes = {n_axes} of them, got {base!r}")
    return tuple(base)


def patch_centres(height: int, width: int) -> Tensor:
    """Return where the patches of a picture stand: their centres, from -1 to 1 on both axes.

    So a larger picture has finer steps and no farther places (Siméoni et al. 2025, DINOv3).

    Parameters
    ----------
    height, width : int
        Patches of the picture, at least 1 each.

    Returns
    -------
    Tensor (height * width, 2)
        Row and column, row by row, in float64: what `AxialRotary` takes for positions.

    Raises
    ------
    ValueError
        If a size is not a positive integer.

    Source: Siméoni et al. (2025), DINOv3.

    Examples
    --------
    >>> patch_centres(1, 4).tolist()
    [[0.0, -0.75], [0.0, -0.25], [0.0, 0.25], [0.0, 0.75]]
    """
    sizes = [
        _checks.count(name, size, minimum=1)
        for name, size in (("height", height), ("width", width))
    ]
    lines = [(torch.arange(n, dtype=torch.float64) + 0.5) / n * 2 - 1 for n in sizes]
    return torch.cartesian_prod(*lines)


def shaken(
    centres: Tensor, *, shift: float = 0.0, jitter: float = 1.0, rescale: float = 1.0
) -> Tensor:
    """Return places moved at random, so that a model in training learns no exact sizes.

    They are shifted by one number for each axis, uniform from -shift to shift; stretched on each
    axis by a factor of its own, whose logarithm is uniform from -log(jitter) to log(jitter); and
    stretched on all axes by one factor more, likewise from `rescale`. All tokens are moved alike.

    Parameters
    ----------
    centres : Tensor (length, n_axes)
        Such as those of `patch_centres`.
    shift : float
        At least 0.
    jitter, rescale : float
        At least 1, which changes nothing. DINOv3 was trained with a rescale of 2.

    Returns
    -------
    Tensor (length, n_axes)
        Of the same type. The numbers are drawn in this order by torch's generator.

    Raises
    ------
    ValueError
        If a number is out of range, or the places have other axes.

    Source: Siméoni et al. (2025), DINOv3.

    Examples
    --------
    >>> places = patch_centres(2, 2)
    >>> bool((shaken(places, rescale=2.0) / places).std() < 1e-12)
    True
    """
    if centres.ndim != 2 or not centres.is_floating_point():
        refuse("centres", "must be real numbers (length, n_axes)", tuple(centres.shape))
    for name, factor in (("jitter", jitter), ("rescale", rescale)):
        if _checks.positive(name, factor) < 1:
            raise ValueError(f"{name} must be at least 1, got {factor!r}")
    reach, n_axes = _checks.non_negative("shift", shift), centres.shape[-1]
    if reach:
        centres = centres + _drawn(n_axes, reach, centres)
    if jitter > 1:
        centres = centres * _drawn(n_axes, float(np.log(jitter)), centres).exp()
    if rescale > 1:
        centres = centres * _drawn(1, float(np.log(rescale)), centres).exp()
    return centres


def _drawn(n: int, reach: float, like: Tensor) -> Tensor:
    """Return n numbers that are uniform from -reach to reach."""
    return torch.empty(n, device=like.device, dtype=like.dtype).uniform_(-reach, reach)
