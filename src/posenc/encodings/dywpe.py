"""DyWPE: vectors made from the wavelet coefficients of the series itself."""

import torch
from torch import Tensor, nn

from posenc import _checks
from posenc.attention.numerics import precise, without_autocast
from posenc.encodings.signal import FromSignal
from posenc.encodings.starts import empty_linear
from posenc.encodings.wavelets import parts, scaling_filter


class DyWPE(FromSignal):
    """Wavelet coefficients of the series, times a learned vector a scale (Irani and Metsis 2026).

    A learned map takes each token to one number. The discrete wavelet transform splits that signal
    into an approximation and details of several scales, mirrored at the ends. The coefficients c of
    a scale with the embedding e become c (sigmoid(W_g e) * tanh(W_v e)), and the inverse transform
    makes the vectors that are added. As it is linear, a token gets the sum over scales of the
    signal's part there times that scale's vector, which is how it is computed here.

    The paper's section 3.2 and the authors' program (imics-lab/DyWPE, src/core/dywpe.py, commit
    06f43ff, and dywpe_optimized.py beside it, which is compared by `make peers`) were read. The
    plain one of the two hands the embeddings of all scales to the approximation, where it means the
    first, and stops with an error at most lengths. As in the program the three maps have offsets,
    which the paper leaves out. The signal is made from the tokens, as in the program's example for
    embedded tokens; where a token is a linear map of one step, that is the paper's map of channels.

    Nothing here knows an index: a constant series gets one vector throughout.

    Parameters
    ----------
    d_model, n_heads, max_length : int
        As for `Position`. Any length is served.
    levels : int
        Scales of details, at least 1. The authors advise log2(length) - 2 at most.
    wavelet : {"haar", "db2", ..., "db8"}
        One of Daubechies'; "db4" is the program's.

    Notes
    -----
    Parameters to learn: `2 * d_model**2 + (levels + 4) * d_model + 1`. Cost: O(L d_model levels)
    per batch row, once per forward pass.

    Raises
    ------
    ValueError
        If a size or option is out of range; in a forward pass, for given positions, in a causal
        layer, and for a mask that marks padding.

    Examples
    --------
    >>> position = DyWPE(8, 2, 100)
    >>> position.embed(torch.randn(1, 20, 8)).shape
    torch.Size([1, 20, 8])
    """

    scaling: Tensor

    def __init__(
        self, d_model: int, n_heads: int, max_length: int, *, levels: int = 3, wavelet: str = "db4"
    ) -> None:
        super().__init__(d_model, n_heads, max_length)
        self.levels = _checks.count("levels", levels, minimum=1)
        self.wavelet = wavelet
        self.register_exact("scaling", scaling_filter(wavelet), wide=True)
        self.channel = empty_linear(self.d_model, 1, bias=True)
        self.scales = nn.Parameter(torch.empty(self.levels + 1, self.d_model))
        self.gate = empty_linear(self.d_model, self.d_model, bias=True)
        self.value = empty_linear(self.d_model, self.d_model, bias=True)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw all that is learned anew, as at the start."""
        self.channel.reset_parameters()
        nn.init.normal_(self.scales)
        self.gate.reset_parameters()
        self.value.reset_parameters()

    def vectors(self, x: Tensor) -> Tensor:
        signal = precise(self.channel(x)[..., 0])
        gated = self.gate(self.scales).sigmoid() * self.value(self.scales).tanh()
        with without_autocast(x):
            found = parts(signal, self.levels, self.scaling.to(signal.dtype))
        return found @ gated.to(found.dtype)
