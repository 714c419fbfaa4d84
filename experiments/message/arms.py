"""Two arms that the library lacks: eRPE's numbers before the softmax, and Shaw's values alone."""

# ruff: noqa: ARG002 - a door takes its arguments whether it needs them or not

from torch import Tensor

from posenc.attention import Places, Position
from posenc.encodings.erpe import ERPE
from posenc.encodings.relative import Relative


class Before(Position):
    """eRPE's numbers, one for each head and offset in every layer, added to the scores."""

    def __init__(self, d_model: int, n_heads: int, max_length: int) -> None:
        super().__init__(d_model, n_heads, max_length)
        self.erpe = ERPE(d_model, n_heads, max_length)

    def bias(self, x: Tensor, q: Tensor, k: Tensor, places: Places) -> Tensor:
        return self.erpe.mix(x, places)


class ShawValues(Relative):
    """Shaw's vectors for the values, one for each head and offset, without those for the keys."""

    def __init__(self, d_model: int, n_heads: int, max_length: int) -> None:
        super().__init__(
            d_model, n_heads, max_length, max_distance=None, values=True, per_head=True
        )
        self.keys = None

    def bias(self, x: Tensor, q: Tensor, k: Tensor, places: Places | None = None) -> None:
        return None
