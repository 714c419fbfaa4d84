"""The old place of `posenc.attention.toeplitz`: from one value per offset to a matrix."""

from posenc.attention.toeplitz import offsets, skew, spread, toeplitz

__all__ = ["offsets", "skew", "spread", "toeplitz"]
