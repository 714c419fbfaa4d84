"""Tables as checked arrays, and cut so that what is held at once stays small."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import ArrayLike, NDArray

from posenc import _checks

_BLOCK_PAIRS = 4_000_000  # distances held at once


def as_table(table: ArrayLike, n_rows: int = 0) -> NDArray[np.float64]:
    """Return the table as float64 with at least `n_rows` rows, or raise ValueError."""
    rows = _checks.finite_array("table", table, ndim=2).astype(np.float64, copy=False)
    if len(rows) < n_rows:
        raise ValueError(f"table must have at least {n_rows} rows, got shape {rows.shape}")
    return rows


def row_blocks(
    rows: NDArray[np.float64], n_columns: int
) -> Iterator[tuple[int, NDArray[np.float64]]]:
    """Yield (first row, block of rows) so that a block against `n_columns` others stays small."""
    step = max(1, _BLOCK_PAIRS // max(n_columns, 1))
    for start in range(0, len(rows), step):
        yield start, rows[start : start + step]
