"""Multimodal rotary encoding: the pairs of one RoPE are dealt out to several axes."""

from collections.abc import Mapping, Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from posenc import _checks
from posenc.attention.turning import waves
from posenc.encodings.rotary import Rotary

ARRANGEMENTS = ("contiguous", "interleaved", "first_slowest")


class MRoPE(Rotary):
    """RoPE whose pairs each follow one of several axes: time, height, width (Wang et al. 2024).

    There is one row of frequencies as in RoPE, and every pair of dimensions turns by the position
    on the axis that it belongs to. A token of text has the same position on all axes, so that text
    is encoded by plain RoPE; a patch of a picture stands at the time of the picture, its row and
    its column. `AxialRotary` differs: there each axis has all frequencies, from fast to slow.

    Positions are (length, n_axes) or (batch, length, n_axes), whole or real numbers. Hugging Face's
    models take (n_axes, batch, length); `positions.movedim(0, -1)` turns theirs into these.

    Parameters
    ----------
    d_model, n_heads, max_length : int
        As for `Position`; `share * d_model / n_heads` must be even. Any length is served.
    sections : sequence of int, optional
        Pairs of each axis, at least 1, in the order of the positions' axes. Their sum is the number
        of pairs that turn. Qwen2-VL has (16, 24, 24). By default three axes share them evenly.
    arrangement : {"contiguous", "interleaved", "first_slowest"}
        How pairs are dealt out, from the fastest to the slowest. "contiguous": first all of the
        first axis, then those of the next (Qwen2-VL, GLM-4V). "interleaved": one pair for each axis
        in turn, and to the first axis what is left when the others have theirs (Qwen3-VL), so that
        every axis has fast and slow ones. "first_slowest": the others in turn, then those of the
        first axis (ERNIE 4.5 VL).
    base, share, values, back, scaling, factor, original_length, scaling_options
        As for `Rotary`.
    pairing : {"half", "interleaved"}
        As for `Rotary`; Qwen's models have "half", GLM-4V and ERNIE "interleaved".

    Attributes
    ----------
    n_axes : int
        Numbers that make a position, `len(sections)`.
    axis : array of shape (d / 2,)
        The axis that each pair follows, 0 to n_axes - 1.
    omega, attention_factor
        As for `Rotary`.

    Raises
    ------
    ValueError
        As for `Rotary`; if the sections do not sum up to the number of pairs, or cannot be arranged
        so.

    Notes
    -----
    Parameters to learn: 0. Cost: O(L d_model) per layer and batch row. Where a schedule looks at
    the length of the input, the largest position on any axis says it.

    Examples
    --------
    >>> position = MRoPE(16, 1, 100, sections=(2, 3, 3))
    >>> position.axis.tolist()
    [0, 0, 1, 1, 1, 2, 2, 2]
    >>> MRoPE(16, 1, 100, sections=(4, 2, 2), arrangement="interleaved").axis.tolist()
    [0, 1, 2, 0, 1, 2, 0, 0]
    """

    def __init__(
        self,
        d_model: int,
        n_heads: int,
        max_length: int,
        *,
        sections: Sequence[int] | None = None,
        arrangement: str = "contiguous",
        base: float = 10_000.0,
        pairing: str = "half",
        share: float = 1.0,
        values: bool = False,
        back: bool = True,
        scaling: str = "none",
        factor: float | None = None,
        original_length: int | None = None,
        scaling_options: Mapping[str, object] | None = None,
    ) -> None:
        super().__init__(
            d_model,
            n_heads,
            max_length,
            base=base,
            pairing=pairing,
            share=share,
            values=values,
            back=back,
            scaling=scaling,
            factor=factor,
            original_length=original_length,
            scaling_options=scaling_options,
        )
        self.sections = _sections(sections, len(self.omega))
        self.arrangement = _checks.choice("arrangement", arrangement, ARRANGEMENTS)
        self.n_axes = len(self.sections)
        self.axis = _dealt(self.sections, arrangement)

    def _waves(self, t: Tensor, omega: Tensor) -> tuple[Tensor, Tensor]:
        if t.ndim == 2:  # counted, and so alike on all axes
            return waves(t, omega)
        angles = t[..., torch.as_tensor(self.axis, device=t.device)] * omega[..., None, :]
        return angles.cos(), angles.sin()


def _sections(sections: Sequence[int] | None, n_pairs: int) -> tuple[int, ...]:
    """Return how many pairs each axis has, or raise ValueError unless all pairs are dealt out."""
    if sections is None:
        sections = [len(part) for part in np.array_split(np.arange(n_pairs), 3)]
    if isinstance(sections, str) or not isinstance(sections, Sequence) or len(sections) < 2:
        raise ValueError(f"sections must be a sequence of two numbers or more, got {sections!r}")
    counts = tuple(_checks.count("sections", one, minimum=1) for one in sections)
    if sum(counts) != n_pairs:
        raise ValueError(
            f"sections must sum up to the {n_pairs} pairs that turn, got {counts}, which are "
            f"{sum(counts)}"
        )
    return counts


def _dealt(sections: tuple[int, ...], arrangement: str) -> NDArray[np.intp]:
    """Return the axis that each pair follows."""
    if arrangement == "contiguous":
        return np.repeat(np.arange(len(sections)), sections)
    axis = np.zeros(sum(sections), dtype=np.intp)
    first_waits = arrangement == "first_slowest"
    taking_turns = len(sections) - first_waits
    fast = axis[: sum(sections[1:])] if first_waits else axis
    for number, count in enumerate(sections[1:], 1):
        own = fast[number - first_waits :: taking_turns][:count]
        own[:] = number
        if len(own) < count:
            raise ValueError(
                f"sections must be nearly alike with arrangement={arrangement!r}, so that axes can "
                f"take turns, got {sections}"
            )
    return axis
