"""Rows in blocks, so that no more than a small part of a table is ever held in float64."""

from collections.abc import Iterator

BLOCK_BYTES = 256 * 1024  # a block of float64 values that stays in a core's own cache


def blocks(n_rows: int, n_columns: int) -> Iterator[slice]:
    """Yield slices that cover `n_rows` rows, each about `BLOCK_BYTES` of float64 large."""
    step = max(1, BLOCK_BYTES // (8 * max(n_columns, 1)))
    for start in range(0, n_rows, step):
        yield slice(start, min(start + step, n_rows))
