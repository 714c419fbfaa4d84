"""FoPE: each rotation of RoPE a short Fourier series, slow frequencies left out."""

import math

import numpy as np
import torch
from torch import Tensor, nn

from posenc import _checks, frequencies
from posenc.attention import Places, Position
from posenc.attention.places import Steps, constants
from posenc.attention.turning import turn


class FoPE(Position):
    """Rotary encoding with Fourier series in place of single waves (Hua et al. 2025, FoPE).

    A network's layers mix frequencies, and frequencies that do not turn once during training stay
    untrained. FoPE answers both. Frequencies below 2 pi / `original_length` become 0, so that
    their pairs carry no position. Each other pair turns by a mixture: its cosine is the sum
    of cos(t omega_n) c_nm over all frequencies that are kept, its sine that of sin(t omega_n) s_nm,
    with c and s near the identity, drawn for each head at the start and normalised to columns that
    sum to 1. With `gain` = 0 it is RoPE without its slow frequencies.

    A mixture of rotations is no rotation: what a score gains depends on the offset nearly, not
    exactly. The authors' program gives the left-out pairs the factors 1 and 1 in place of
    cos 0 = 1 and sin 0 = 0, which turns them all by the same 45 degrees and doubles their products;
    here they stay as they are. By default it does not normalise coefficients, and gives series to
    half of a head's pairs at most. At least one frequency is kept.

    Parameters
    ----------
    d_model, n_heads, max_length : int
        As for `Position`; `d_model / n_heads` must be even. Any real positions are served.
    base : float
        Of the frequencies, as for `Rotary`.
    gain : float
        How far the mixture departs from the identity: the gain of Glorot's normal
        distribution, at least 0; published configurations use 0.3.
    original_length : int, optional
        Tokens of a training sequence, by default `max_length`.
    learn : bool
        Whether the coefficients are learned; in the paper they are not.

    Attributes
    ----------
    omega : array of shape (n_kept,)
        Frequencies that are kept, in radians per position.

    Notes
    -----
    Parameters to learn, in every layer: 0, or `2 * n_heads * n_kept**2` with `learn`. Cost:
    O(L d_model) per layer and batch row, and tables of waves for each head.

    Raises
    ------
    ValueError
        If a size or option is out of range, or a head's width is odd.

    Examples
    --------
    >>> FoPE(16, 2, 100).omega.round(3).tolist()  # 0.001 is below 2 pi / 100
    [1.0, 0.1]
    """

    of_cos: Tensor
    of_sin: Tensor

    def __init__(
        self,
        d_model: int,
        n_heads: int,
        max_length: int,
        *,
        base: float = 10_000.0,
        gain: float = 0.3,
        original_length: int | None = None,
        learn: bool = False,
    ) -> None:
        super().__init__(d_model, n_heads, max_length)
        omega = frequencies.geometric(_checks.even("d_model / n_heads", self.d_head), base)
        length = self.max_length if original_length is None else original_length
        floor = 2 * math.pi / _checks.count("original_length", length, minimum=1)
        self.omega = omega[: max(1, int((omega >= floor).sum()))]
        self.gain = _checks.non_negative("gain", gain)
        n = len(self.omega)
        for name in ("of_cos", "of_sin"):
            coefficients = torch.empty(self.n_heads, n, n)
            if _checks.flag("learn", learn):
                setattr(self, name, nn.Parameter(coefficients))
            else:
                self.register_buffer(name, coefficients)
        self.reset_parameters()

    @torch.no_grad()
    def reset_parameters(self) -> None:
        """Draw all coefficients anew, as at the start, whether they are learned or not."""
        for coefficients in (self.of_cos, self.of_sin):
            nn.init.xavier_normal_(coefficients, self.gain)
            coefficients += torch.eye(len(self.omega)).to(coefficients)

    def rotate(self, q: Tensor, k: Tensor, places: Places | None = None) -> tuple[Tensor, Tensor]:
        places = places or Places.of(q)
        # each head has coefficients of its own, so shared keys part here
        k = k.repeat_interleave(self.n_heads // k.shape[1], 1)
        series = self._series(places.of_queries, places)
        same = places.of_keys is places.of_queries
        of_keys = series if same else self._series(places.of_keys, places)
        return turn(q, *series, "interleaved"), turn(k, *of_keys, "interleaved")

    def _series(self, steps: Steps, places: Places) -> tuple[Tensor, Tensor]:
        """Return both series at these steps, each (batch or 1, heads, length, n_kept)."""
        t = steps.positions[:, None, :, None]
        omega = places.once("omega", lambda: constants(np.asarray(self.omega), t))
        angles = t * omega
        like = angles.dtype
        of_cos = places.once("of_cos", lambda: _normalised(self.of_cos.to(like)))
        of_sin = places.once("of_sin", lambda: _normalised(self.of_sin.to(like)))
        return angles.cos() @ of_cos, angles.sin() @ of_sin


def _normalised(coefficients: Tensor) -> Tensor:
    """Return coefficients (heads, n_kept, n_kept) whose columns sum to 1."""
    return coefficients / coefficients.sum(-2, keepdim=True)
