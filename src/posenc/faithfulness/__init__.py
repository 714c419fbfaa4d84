"""Faithfulness as numbers: how well a table of encodings tells positions apart.

A table is faithful if no two of its rows are equal (`is_injective`). That is a yes or no; the other
functions grade it: how far apart rows are, how many directions they span, and how often a
position survives noise or rounding.

A table may be a learned one, `module.rows(100)`: tensors are taken from any device and in any
type. What comes back are NumPy arrays and numbers, so gradients end here.
"""

from posenc.faithfulness.decoding import Decoding, decode, decoding_error
from posenc.faithfulness.precision import round_to
from posenc.faithfulness.returns import Return, nearest_return, return_distances
from posenc.faithfulness.rows import (
    condition_number,
    first_collision,
    gram,
    is_injective,
    numerical_rank,
    rms_norm,
    separation,
    unit_rows,
)

__all__ = [
    "Decoding",
    "Return",
    "condition_number",
    "decode",
    "decoding_error",
    "first_collision",
    "gram",
    "is_injective",
    "nearest_return",
    "numerical_rank",
    "return_distances",
    "rms_norm",
    "round_to",
    "separation",
    "unit_rows",
]
