"""The DFT encoding at the size of the sinusoidal one, as the trainings on anomaly windows had it.

The option `scale="loud"` of `posenc.encodings.DFT` came later. Up to `d_model` positions, and the
windows have 50, it gives the same rows. Beyond, where rows of the stretched table differ in norm,
it makes them alike and this class does not: so the records keep the name that they were made under.
"""

from torch import Tensor

from posenc.encodings import DFT


class LoudDFT(DFT):
    """The DFT encoding with its table times sqrt(d_model / 2), so that rows have that norm.

    Parameters
    ----------
    d_model, n_heads, max_length, scale
        As for `posenc.encodings.DFT`; another scale than "paper" comes on top.
    """

    def table(self, length: int) -> Tensor:
        return (self.d_model / 2) ** 0.5 * super().table(length)
