"""Faithfulness as numbers: how well a table of encodings tells positions apart."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.spatial.distance import cdist

from posenc import _checks

_BLOCK_PAIRS = 4_000_000  # distances held at once


def separation(table: ArrayLike) -> float:
    """Return the smallest Euclidean distance between two rows.

    It is 0 exactly if two positions share an encoding.

    Parameters
    ----------
    table : array of shape (n_positions, d_model)
        At least two rows.

    Returns
    -------
    float, in the units of the table.

    Raises
    ------
    ValueError
        If the table is not finite, has not two axes, or fewer than two rows.
    """
    rows = _table(table, n_rows=2)
    smallest = np.inf
    for start, block in _row_blocks(rows, len(rows)):
        distances = cdist(block, rows[start:])
        distances[np.tril_indices(len(block), k=0, m=distances.shape[1])] = np.inf
        smallest = min(smallest, distances.min())
    return float(smallest)


def gram(table: ArrayLike) -> NDArray[np.float64]:
    """Return the dot products of all pairs of rows.

    Parameters
    ----------
    table : array of shape (n_positions, d_model)

    Returns
    -------
    array of shape (n_positions, n_positions).

    Raises
    ------
    ValueError
        If the table is not finite or has not two axes.
    """
    rows = _table(table)
    return rows @ rows.T


def numerical_rank(table: ArrayLike, rtol: float | None = None) -> int:
    """Return the number of singular values above `rtol` times the largest.

    Parameters
    ----------
    table : array of shape (n_positions, d_model)
    rtol : float, optional
        Relative threshold; by default the larger side of the table times float64's spacing at 1.

    Returns
    -------
    int between 0 and min(n_positions, d_model).

    Raises
    ------
    ValueError
        If the table is not finite or has not two axes, or `rtol` is not a finite number above 0.
    """
    rows = _table(table)
    if rtol is None:
        rtol = max(*rows.shape, 1) * np.finfo(np.float64).eps
    values = np.linalg.svd(rows, compute_uv=False) if rows.size else np.zeros(0)
    threshold = _checks.positive("rtol", rtol) * values.max(initial=0.0)
    return int(np.count_nonzero(values > threshold))


def decode(table: ArrayLike, noisy_rows: ArrayLike) -> NDArray[np.intp]:
    """Return, for each noisy row, the position whose encoding lies nearest.

    Parameters
    ----------
    table : array of shape (n_positions, d_model)
        At least one row.
    noisy_rows : array of shape (n_rows, d_model), or (d_model,) for a single row

    Returns
    -------
    array of shape (n_rows,), or () for a single row: positions; of equally near rows the first.

    Raises
    ------
    ValueError
        If an argument is not finite or the widths differ.
    """
    rows = _table(table, n_rows=1)
    noisy = np.asarray(noisy_rows)
    single = noisy.ndim == 1
    noisy = _checks.finite_array("noisy_rows", np.atleast_2d(noisy), ndim=2)
    if noisy.shape[1] != rows.shape[1]:
        raise ValueError(
            f"noisy_rows must be as wide as the table, {rows.shape[1]}, got shape {noisy.shape}"
        )
    positions = np.empty(len(noisy), np.intp)
    for start, block in _row_blocks(noisy, len(rows)):
        positions[start : start + len(block)] = cdist(block, rows).argmin(axis=1)
    return positions[0] if single else positions


def _table(table: ArrayLike, n_rows: int = 0) -> NDArray[np.float64]:
    """Return the table as float64 with at least `n_rows` rows, or raise ValueError."""
    rows = _checks.finite_array("table", table, ndim=2).astype(np.float64, copy=False)
    if len(rows) < n_rows:
        raise ValueError(f"table must have at least {n_rows} rows, got shape {rows.shape}")
    return rows


def _row_blocks(rows: NDArray, n_columns: int) -> Iterator[tuple[int, NDArray]]:
    """Yield (first row, block of rows) so that a block against `n_columns` others stays small."""
    step = max(1, _BLOCK_PAIRS // max(n_columns, 1))
    for start in range(0, len(rows), step):
        yield start, rows[start : start + step]
