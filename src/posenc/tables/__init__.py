"""NumPy tables of positional encodings: one row per position, one column per dimension.

All angles are computed in float64; `dtype` is the type of the result. No more than a small part
of the rows is ever held in float64, so a float32 table costs little more than itself.

`laplacian_eigenvectors` and `random_walk` have a row for each node of a graph.
"""

from posenc.tables.counting import binary, digits, index, normalized
from posenc.tables.fourier import dft
from posenc.tables.graphs import laplacian_eigenvectors, random_walk
from posenc.tables.waves import encode, sinusoidal, tape

__all__ = [
    "binary",
    "dft",
    "digits",
    "encode",
    "index",
    "laplacian_eigenvectors",
    "normalized",
    "random_walk",
    "sinusoidal",
    "tape",
]
