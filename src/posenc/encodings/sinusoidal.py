"""Fixed tables added to the tokens: sinusoids, the faithful DFT encoding, and tAPE."""

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from posenc import _checks, frequencies, tables
from posenc.attention.places import Steps, can_look, constants, refuse
from posenc.attention.position import made_of
from posenc.encodings.added import Added


class _Fixed(Added):
    """A table from `posenc.tables`, held in the module's dtype and device."""

    fixed: Tensor
    omega = made_of("omega")

    def _keep(self, table: NDArray[np.floating], omega: NDArray[np.float64] | None = None) -> None:
        """Hold a table, and the frequencies of the waves that it consists of, if that is so."""
        self.register_exact("fixed", table)
        self._omega = omega

    def table(self, length: int) -> Tensor:
        self.check_length(length)
        return self.fixed[:length]

    def _anywhere(self, steps: Steps) -> Tensor:
        end = steps.first + steps.length
        if steps.given is None and end <= self.max_length:  # there already, as in decoding
            return self.table(end)[steps.first :]
        return super()._anywhere(steps)


class Sinusoidal(_Fixed):
    """Sines and cosines of geometrically falling frequencies (Vaswani et al. 2017, 3.5).

    Row t holds sin(t omega_i), cos(t omega_i) interleaved, omega_i = base**(-2i / d_model); it is
    `posenc.tables.sinusoidal`. Real positions have rows, too.

    Parameters
    ----------
    d_model, n_heads, max_length, scale
        As for `Added`; `d_model` must be even. Longer inputs than `max_length` are served, by a
        table that is computed on the spot.
    base : float
        At least 1; the slowest wave has about `2 pi base` positions.

    Notes
    -----
    Parameters to learn: 0. Cost: O(L d_model) once per forward pass.

    Raises
    ------
    ValueError
        If a size, `base` or `scale` is out of range, or `d_model` is odd.

    Examples
    --------
    >>> Sinusoidal(4, 2, 10).rows(2).tolist()[0]
    [0.0, 1.0, 0.0, 1.0]
    """

    def __init__(
        self,
        d_model: int,
        n_heads: int,
        max_length: int,
        *,
        base: float = 10_000.0,
        scale: str = "paper",
    ) -> None:
        super().__init__(d_model, n_heads, max_length, scale=scale)
        self.base = _checks.positive("base", base)
        omega = frequencies.geometric(d_model, base)
        self._keep(tables.sinusoidal(max_length, d_model, base), omega)

    def table(self, length: int) -> Tensor:
        if length <= self.max_length:
            return self.fixed[:length]
        longer = tables.sinusoidal(length, self.d_model, self.base)
        return torch.as_tensor(longer).to(self.fixed)

    def at(self, positions: Tensor) -> Tensor:
        return waves(positions[..., None] * constants(self.omega, positions))


class DFT(_Fixed):
    """The Fourier coefficients of the one-hot position (Idé, Labaien, Chen, Eq. 17-21).

    Up to `d_model` positions the rows are orthonormal. Their definition ends there, so what
    happens beyond is a choice, made by `overflow`; see `posenc.tables.dft`. Positions must be whole
    numbers, as a row holds the coefficients of a lattice with a one at that position.

    Parameters
    ----------
    d_model, n_heads, max_length, scale
        As for `Added`; `d_model` must be even. An input longer than `max_length` is an error.
    overflow : {"stretch", "alias", "error"}
        For `max_length > d_model`: "stretch" keeps the rows unique, "alias" repeats them after
        `d_model` positions as the paper's formula does, "error" refuses.

    Notes
    -----
    Parameters to learn: 0. Cost: O(L d_model) once per forward pass.

    Raises
    ------
    ValueError
        If a size or option is out of range, `d_model` is odd, or an input is too long; for
        positions that are not whole numbers from 0 on.

    Examples
    --------
    >>> rows = DFT(8, 2, 8).rows(8)
    >>> bool(torch.allclose(rows @ rows.T, torch.eye(8), atol=1e-6))
    True
    """

    def __init__(
        self,
        d_model: int,
        n_heads: int,
        max_length: int,
        *,
        overflow: str = "stretch",
        scale: str = "paper",
    ) -> None:
        super().__init__(d_model, n_heads, max_length, scale=scale)
        self.overflow = overflow
        self._keep(tables.dft(max_length, d_model, overflow=overflow))


class TAPE(_Fixed):
    """Sinusoids whose frequencies grow with d_model / L (Foumani et al. 2024, ConvTran, tAPE).

    The frequencies are omega_i d_model / L with the omega_i of Vaswani et al. and L the number of
    tokens, `max_length`. A survey (Irani and Metsis 2025, section 3.5) prints k d_model / L
    instead, whose frequencies are multiples of one step. That version is `formula="survey"`.

    Parameters
    ----------
    d_model, n_heads, max_length, scale
        As for `Added`; `d_model` must be even. An input longer than `max_length` is an error,
        because the length sets the frequencies; a shorter one uses the first rows. Real
        positions may lie anywhere from 0 to `max_length - 1`, which is not checked under
        `torch.compile` and `torch.func` transforms.
    base : float
        Above 0.
    formula : {"original", "survey"}

    Notes
    -----
    Parameters to learn: 0 (the survey's Table 2 counts L d_model).
    Cost: O(L d_model) once per forward pass.

    Raises
    ------
    ValueError
        If a size or option is out of range, `d_model` is odd, or an input is too long; for
        positions outside of 0 to `max_length - 1`.

    Examples
    --------
    >>> TAPE(8, 2, 100).rows(100).shape
    torch.Size([100, 8])
    """

    def __init__(
        self,
        d_model: int,
        n_heads: int,
        max_length: int,
        *,
        base: float = 10_000.0,
        formula: str = "original",
        scale: str = "paper",
    ) -> None:
        super().__init__(d_model, n_heads, max_length, scale=scale)
        self.base = _checks.positive("base", base)
        self.formula = _checks.choice("formula", formula, ("original", "survey"))
        if formula == "original":
            omega = frequencies.length_scaled(d_model, max_length, base)
            self._keep(tables.tape(max_length, d_model, base), omega)
        else:
            omega = np.arange(_checks.even("d_model", d_model) // 2) * d_model / max_length
            self._keep(tables.encode(np.arange(max_length), omega), omega)

    def at(self, positions: Tensor) -> Tensor | None:
        if self.omega is None:
            return None
        return waves(positions[..., None] * constants(self.omega, positions))

    def _anywhere(self, steps: Steps) -> Tensor:
        self._check_reach(steps)
        return super()._anywhere(steps)

    def _check_reach(self, steps: Steps) -> None:
        """Raise ValueError where tokens stand beyond the length that the frequencies follow."""
        given, last = steps.given, self.max_length - 1
        if given is None:
            self.check_length(steps.first + steps.length)
        elif can_look(given) and ((given < 0) | (given > last)).any():
            wanted = f"must be from 0 to max_length - 1 = {last}, as TAPE's frequencies follow it"
            refuse(steps.name, wanted, given[(given < 0) | (given > last)][0])


def waves(angles: Tensor) -> Tensor:
    """Return sines and cosines of angles (..., n), interleaved: (..., 2 n)."""
    return torch.stack((angles.sin(), angles.cos()), -1).flatten(-2)
