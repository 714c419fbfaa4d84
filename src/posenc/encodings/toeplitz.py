"""From one value per offset to a matrix: `posenc.attention.toeplitz`, where attention can use it."""

from posenc.attention.toeplitz import offsets, skew, spread, toeplitz

__all__ = ["offsets", "skew", "spread", "toeplitz"]
