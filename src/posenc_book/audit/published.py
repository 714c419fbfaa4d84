"""Minimal re-enactments of what published code was seen to do; for the audit, never for use.

Two public repositories were read: imics-lab/positional-encoding-benchmark at commit 12b718b, which
belongs to a survey (Irani and Metsis 2025), and dfstrans/DFStrans at commit 3918f7b, which belongs
to a companion of the paper on the DFT encoding. Nothing of their code is here. What stands behind
the printed tables is not known. The right modules are those of `posenc.encodings`.

Where a repository leaves a size open that matters to nobody, such as that of a convolution, the
choice here is ours.
"""

# ruff: noqa: ARG002 - a door takes its arguments whether it needs them or not

import math

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from posenc import _checks, tables
from posenc.attention import Position, SelfAttention
from posenc.attention.kernels import softmax_weights
from posenc.encodings import TAPE, TUPE, Sinusoidal
from posenc.models import PatchTransformer, TimeSeriesTransformer

__all__ = [
    "AcrossBatch",
    "BatchIndexed",
    "ConfiguredTAPE",
    "DecayingDFT",
    "FixedSPE",
    "InputOnlyTPE",
    "RescaledSinusoidal",
    "TiedTUPE",
    "TokenConvolution",
    "UnmaskedSkew",
    "attend_across_batch",
    "standardise_before_split",
    "standardise_per_step",
    "unmasked_skew",
]


class BatchIndexed(Sinusoidal):
    """Sinusoids looked up by the row of the batch instead of the time step.

    Token t of series b gets e(b). All tokens of a series get the same vector, so the encoding says
    nothing about time, and a series' output depends on its place in the batch.

    Parameters
    ----------
    d_model, n_heads, max_length, base, scale
        As for `posenc.encodings.Sinusoidal`.

    Raises
    ------
    ValueError
        As `posenc.encodings.Sinusoidal`.

    Source: imics-lab/positional-encoding-benchmark, commit 12b718b (Irani and Metsis 2025)

    Examples
    --------
    >>> import torch
    >>> added = BatchIndexed(8, 2, 20).embed(torch.zeros(3, 5, 8))
    >>> bool((added == added[:, :1]).all())  # all tokens of a series get the same vector
    True
    """

    def embed(self, x: Tensor) -> Tensor:  # type: ignore[override]  # as theirs, without places
        return x + self.rows(x.shape[0])[:, None].to(x.dtype)


class RescaledSinusoidal(Sinusoidal):
    """Sinusoids whose whole table is scaled to a standard deviation of 0.10.

    Parameters
    ----------
    d_model, n_heads, max_length, base, scale
        As for `posenc.encodings.Sinusoidal`.
    """

    def table(self, length: int) -> Tensor:
        table = super().table(length)
        return table * (0.10 / super().table(self.max_length).std())


class UnmaskedSkew(Position):
    """Relative scores of the Music Transformer's skew (Huang et al. 2019) without its causal mask.

    There are vectors for the offsets -(L - 1) to 0 only. For j <= i the score of (i, j) is right;
    for j = i + 1 it is 0, and beyond it is the *next* query with a vector of the far past.

    Parameters
    ----------
    d_model, n_heads, max_length : int
        As for `Position`. An input longer than `max_length` is an error.

    Notes
    -----
    Parameters to learn, in every layer: `max_length * d_head`. The published layer stands once,
    in front of the encoder.

    Raises
    ------
    ValueError
        If a size is out of range; in a forward pass, if the input is longer than `max_length`.

    Source: imics-lab/positional-encoding-benchmark, commit 12b718b (Irani and Metsis 2025)

    Examples
    --------
    >>> import torch
    >>> q = torch.randn(1, 2, 5, 4)
    >>> UnmaskedSkew(8, 2, 20).bias(torch.zeros(1, 5, 8), q, q)[0, 0].diagonal(1).tolist()
    [0.0, 0.0, 0.0, 0.0]
    """

    def __init__(self, d_model: int, n_heads: int, max_length: int) -> None:
        super().__init__(d_model, n_heads, max_length)
        self.vectors = nn.Parameter(torch.empty(self.max_length, self.d_head))
        nn.init.xavier_uniform_(self.vectors)

    def bias(self, x: Tensor, q: Tensor, k: Tensor) -> Tensor:
        length = q.shape[-2]
        self.check_length(length)
        past = self.vectors[self.max_length - length :].to(q.dtype)
        return unmasked_skew(q @ past.T * self.d_head**-0.5)


def unmasked_skew(scores: Tensor) -> Tensor:
    """Move scores (..., L, L), whose columns are the offsets -(L - 1)..0, as a causal skew does."""
    length = scores.shape[-1]
    padded = nn.functional.pad(scores, (1, 0)).flatten(-2)
    return padded[..., length:].unflatten(-1, (length, length))


class ConfiguredTAPE(TAPE):
    """tAPE whose L is a configured number of time steps, whatever number of tokens there is.

    Parameters
    ----------
    d_model, n_heads, max_length, base, scale
        As for `TAPE`.
    n_steps : int
        The configured length, at least `max_length`. The frequencies are omega_i d_model / n_steps.

    Raises
    ------
    ValueError
        If `n_steps` is below `max_length`, and as `posenc.encodings.TAPE`.

    Source: imics-lab/positional-encoding-benchmark, commit 12b718b (Irani and Metsis 2025)

    Examples
    --------
    >>> import torch
    >>> from posenc.encodings import TAPE
    >>> same = ConfiguredTAPE(8, 2, 20, n_steps=20).rows(20)
    >>> torch.equal(same, TAPE(8, 2, 20).rows(20))
    True
    """

    def __init__(
        self,
        d_model: int,
        n_heads: int,
        max_length: int,
        *,
        n_steps: int,
        base: float = 10_000.0,
        scale: str = "paper",
    ) -> None:
        super().__init__(d_model, n_heads, max_length, base=base, scale=scale)
        self.n_steps = _checks.count("n_steps", n_steps, minimum=self.max_length)
        self._keep(tables.tape(self.n_steps, d_model, base)[: self.max_length])


class TiedTUPE(TUPE):
    """TUPE with a sinusoid added to the tokens as well, so that content and position mix again.

    Parameters
    ----------
    d_model, n_heads, max_length, cls_reset
        As for `posenc.encodings.TUPE`.

    Raises
    ------
    ValueError
        As `posenc.encodings.TUPE`.

    Source: imics-lab/positional-encoding-benchmark, commit 12b718b (Irani and Metsis 2025)

    Examples
    --------
    >>> "embed" in TiedTUPE(8, 2, 20).doors()
    True
    """

    sinusoid: Tensor

    def __init__(
        self, d_model: int, n_heads: int, max_length: int, *, cls_reset: bool = False
    ) -> None:
        super().__init__(d_model, n_heads, max_length, cls_reset=cls_reset)
        self.register_exact("sinusoid", tables.sinusoidal(self.max_length, d_model))

    def embed(self, x: Tensor) -> Tensor:
        self.check_length(x.shape[1])
        return x + self.sinusoid[: x.shape[1]].to(x.dtype)


class DecayingDFT(Position):
    """A DFT table that shrinks with every call, as seen in dfstrans/DFStrans at commit 3918f7b.

    Four things differ from the paper's encoding, `posenc.encodings.DFT`. Positions count from 1.
    The columns are cos and sin in turn for the frequencies 2 pi k / d_model, k = 0 to
    d_model / 2 - 1, so that the second column is sin 0 = 0 and the Nyquist column cos(pi t) is
    missing. The factor sqrt(1 / 2) of the first and last *frequency* is given to the first and
    last *time step*. And the scale is multiplied into the table in place in each forward pass,
    training or not, where the paper has it once.

    Parameters
    ----------
    d_model : int
        Positive and even.
    n_heads, max_length : int
        As for `Position`. An input longer than `max_length` is an error.

    Attributes
    ----------
    table : Tensor of shape (max_length, d_model)
        The buffer that changes, here and in a `state_dict`. Its rows start with norm
        sqrt(d_model / 2), the length of d_model / 2 pairs (cos, sin). One factor sqrt(2 / d_model)
        makes that 1, as the paper wants it; n forward passes make it
        sqrt(2 / d_model)**(n - 1). At d_model = 2 that factor is 1 and nothing shrinks.

    Notes
    -----
    Parameters to learn: 0. Cost: O(max_length d_model) per forward pass. It is a Python side
    effect: a stack of seeds keeps one table for each.

    Raises
    ------
    ValueError
        If `d_model` is odd or another size is out of range.

    Examples
    --------
    >>> import torch
    >>> decaying = DecayingDFT(16, 2, 16)
    >>> first, second = (decaying.embed(torch.zeros(1, 16, 16))[0, 5].norm() for _ in range(2))
    >>> round(float(second / first), 2)  # sqrt(2 / 16), again at every call
    0.35
    """

    table: Tensor

    def __init__(self, d_model: int, n_heads: int, max_length: int) -> None:
        super().__init__(_checks.even("d_model", d_model), n_heads, max_length)
        self.register_buffer("table", _unscaled(self.max_length, d_model))

    def embed(self, x: Tensor) -> Tensor:
        length = x.shape[1]
        self.check_length(length)
        self.table.mul_(math.sqrt(2 / self.d_model))
        self.table[0].mul_(math.sqrt(0.5))
        self.table[-1].mul_(math.sqrt(0.5))
        return x + self.table[:length].to(x.dtype)


def _unscaled(n_positions: int, d_model: int) -> Tensor:
    """Return cos and sin in turn of 2 pi k t / d_model, t = 1..n_positions."""
    phase = np.outer(np.arange(1, n_positions + 1), np.arange(d_model // 2)) % d_model
    angles = 2 * np.pi * phase / d_model
    table = np.stack((np.cos(angles), np.sin(angles)), -1).reshape(n_positions, d_model)
    return torch.as_tensor(table, dtype=torch.get_default_dtype())


class FixedSPE(Sinusoidal):
    """What ran under the name of SPE: the sinusoidal encoding, without any stochastic code.

    Parameters
    ----------
    d_model, n_heads, max_length, base, scale
        As for `posenc.encodings.Sinusoidal`.

    Raises
    ------
    ValueError
        As `posenc.encodings.Sinusoidal`.

    Source: imics-lab/positional-encoding-benchmark, commit 12b718b (Irani and Metsis 2025)

    Examples
    --------
    >>> import torch
    >>> from posenc.encodings import Sinusoidal
    >>> torch.equal(FixedSPE(8, 2, 20).rows(20), Sinusoidal(8, 2, 20).rows(20))
    True
    """


class TokenConvolution(Position):
    """What was written under the name of ConvSPE: a convolution along the tokens.

    The layers see the convolved tokens. SPE convolves *noise*, and its codes meet the queries and
    keys of every layer; here neither noise nor position enters, but for the zeros beyond the ends.

    Parameters
    ----------
    d_model, n_heads, max_length : int
        As for `Position`. Any length is served.
    kernel_size : int
        Odd, at least 1.

    Raises
    ------
    ValueError
        If `kernel_size` is even or below 1.

    Source: imics-lab/positional-encoding-benchmark, commit 12b718b (Irani and Metsis 2025)

    Examples
    --------
    >>> import torch
    >>> TokenConvolution(8, 2, 20).embed(torch.zeros(3, 5, 8)).shape
    torch.Size([3, 5, 8])
    """

    def __init__(
        self, d_model: int, n_heads: int, max_length: int, *, kernel_size: int = 3
    ) -> None:
        super().__init__(d_model, n_heads, max_length)
        size = _checks.count("kernel_size", kernel_size, minimum=1)
        if size % 2 == 0:
            raise ValueError(f"kernel_size must be odd, got {kernel_size}")
        self.convolution = nn.Conv1d(d_model, d_model, size, padding=size // 2)

    def embed(self, x: Tensor) -> Tensor:
        return self.convolution(x.mT).mT


class InputOnlyTPE(Sinusoidal):
    """T-PE with its sinusoid at the input only and without its similarity term.

    Parameters
    ----------
    d_model, n_heads, max_length, base, scale
        As for `posenc.encodings.Sinusoidal`.

    Raises
    ------
    ValueError
        As `posenc.encodings.Sinusoidal`.

    Source: imics-lab/positional-encoding-benchmark, commit 12b718b (Irani and Metsis 2025)

    Examples
    --------
    >>> InputOnlyTPE(8, 2, 20).doors()
    ('embed',)
    """


class AcrossBatch(SelfAttention):
    """Attention that takes the batch for the sequence.

    That is what an attention layer for inputs (length, batch, d_model) does with an input
    (batch, length, d_model): at each time step the *series* of the batch attend to each other.

    Parameters
    ----------
    d_model, n_heads, position, dropout
        As for `SelfAttention`; the encoding may use the door `embed` only.
    """

    def __init__(
        self, d_model: int, n_heads: int, position: Position, dropout: float = 0.0
    ) -> None:
        super().__init__(d_model, n_heads, position, dropout)
        if set(position.doors()) - {"embed"}:
            raise ValueError(f"position must use the door 'embed' only, got {position.doors()}")

    def attend(  # type: ignore[override]  # the whole batch is asked, nothing else can be
        self, x: Tensor, mask: Tensor | None = None, bias: Tensor | None = None
    ) -> Tensor:
        if mask is not None or bias is not None:
            raise ValueError("mask and bias must be None for attention across the batch")
        return super().attend(x.transpose(0, 1)).transpose(0, 1)

    def weights(  # type: ignore[override]
        self, x: Tensor, mask: Tensor | None = None
    ) -> Tensor:
        """Return which series sees which at each time step: (length, heads, batch, batch)."""
        self.check_input(x, mask)
        x = self.position.embed(x).transpose(0, 1)
        q, k, _ = self._project(x)
        return softmax_weights(q, self._for_all_heads(k), None, None, self.scale)


def attend_across_batch(model: TimeSeriesTransformer | PatchTransformer) -> None:
    """Turn the attention of every layer of a model into `AcrossBatch`, weights and all.

    Parameters
    ----------
    model : TimeSeriesTransformer or PatchTransformer
        Changed in place.

    Raises
    ------
    ValueError
        If an encoding of the model uses another door than `embed`.

    Returns
    -------
    None

    Examples
    --------
    >>> from posenc.models import PatchTransformer
    >>> model = PatchTransformer(1, 2, 32, "sinusoidal", d_model=8, n_heads=2, n_layers=1, d_ff=16)
    >>> attend_across_batch(model)
    >>> type(model.layers[0].attention).__name__
    'AcrossBatch'
    """
    for layer in model.layers:
        old = layer.attention
        new = AcrossBatch(old.d_model, old.n_heads, old.position, old.dropout)
        new.to(old.qkv.weight).load_state_dict(old.state_dict())
        layer.attention = new.train(old.training)


def standardise_per_step(train: NDArray, other: NDArray) -> tuple[NDArray, NDArray]:
    """Standardise each channel of each time step by the training part.

    Parameters
    ----------
    train, other : arrays (n, length, n_channels)

    Returns
    -------
    Both, in units of the training part's standard deviation at that step; steps that never change
    there are only centred.

    Raises
    ------
    ValueError
        If the two differ in length or channels.

    Examples
    --------
    >>> import numpy as np
    >>> waves = np.sin(np.arange(6.0))[None, :, None] * np.ones((4, 1, 1))
    >>> bool((standardise_per_step(waves, waves)[0] == 0).all())  # the common shape is gone
    True
    """
    mean, deviation = train.mean(axis=0), train.std(axis=0)
    return _scaled(mean, deviation, train, other)


def standardise_before_split(train: NDArray, test: NDArray) -> tuple[NDArray, NDArray]:
    """Standardise each channel by both parts together, arrays (n, length, n_channels).

    Parameters
    ----------
    train, test : arrays (n, length, n_channels)

    Returns
    -------
    Both, in units of their common standard deviation of each channel.

    Raises
    ------
    ValueError
        If the two differ in length or channels.

    Examples
    --------
    >>> import numpy as np
    >>> train, test = np.zeros((4, 3, 1)), np.ones((4, 3, 1))
    >>> standardise_before_split(train, test)[0].ravel()[:2]  # the training part knows of the test
    array([-1., -1.])
    """
    whole = np.concatenate((train, test))
    return _scaled(whole.mean(axis=(0, 1)), whole.std(axis=(0, 1)), train, test)


def _scaled(
    mean: NDArray, deviation: NDArray, one: NDArray, other: NDArray
) -> tuple[NDArray, NDArray]:
    deviation = np.where(deviation > 0, deviation, 1)
    return (one - mean) / deviation, (other - mean) / deviation
