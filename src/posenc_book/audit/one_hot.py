"""The position as a one-hot vector, which the DFT paper names as the thing to be replaced."""

import numpy as np
from torch import Tensor

from posenc.encodings import Added


class OneHot(Added):
    """Row t is 1 in entry t and 0 elsewhere; at most `d_model` positions.

    Parameters
    ----------
    d_model, n_heads, max_length, scale
        As for `posenc.encodings.Added`.

    Notes
    -----
    Parameters to learn: 0.
    """

    fixed: Tensor

    def __init__(
        self, d_model: int, n_heads: int, max_length: int, *, scale: str = "paper"
    ) -> None:
        super().__init__(d_model, n_heads, max_length, scale=scale)
        if max_length > d_model:
            raise ValueError(f"max_length must be at most d_model = {d_model}, got {max_length}")
        self.register_exact("fixed", np.eye(max_length, d_model))

    def table(self, length: int) -> Tensor:
        self.check_length(length)
        return self.fixed[:length]
