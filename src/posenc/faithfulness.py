"""Faithfulness as numbers: how well a table of encodings tells positions apart.

A table is faithful if no two of its rows are equal (`is_injective`). That is a yes or no; the other
functions grade it: how far apart rows are, how many directions they span, and how often a
position survives noise or rounding.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.spatial.distance import cdist

from posenc import _checks
from posenc.precision import round_to
from posenc.returns import Return, nearest_return, return_distances

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

_BLOCK_PAIRS = 4_000_000  # distances held at once


class Decoding(NamedTuple):
    """How well positions are found again: share of wrong ones, mean absolute error in positions."""

    error_rate: float
    mean_distance: float


def first_collision(table: ArrayLike) -> tuple[int, int] | None:
    """Return the first position whose row is equal to an earlier row, with that earlier position.

    Parameters
    ----------
    table : array of shape (n_positions, d_model)
        Rows are compared exactly, number by number.

    Returns
    -------
    (earlier, later), or None if all rows differ.

    Raises
    ------
    ValueError
        If the table is not finite or has not two axes.
    """
    first_seen: dict[bytes, int] = {}
    for position, row in enumerate(_table(table) + 0.0):  # + 0.0 turns -0.0 into 0.0
        earlier = first_seen.setdefault(row.tobytes(), position)
        if earlier != position:
            return earlier, position
    return None


def is_injective(table: ArrayLike) -> bool:
    """Return whether all rows differ: faithfulness by the letter.

    Parameters
    ----------
    table : array of shape (n_positions, d_model)

    Returns
    -------
    bool, True for a table of one row or none.

    Raises
    ------
    ValueError
        If the table is not finite or has not two axes.

    Source: Idé et al., Definition 1.
    """
    return first_collision(table) is None


def rms_norm(table: ArrayLike) -> float:
    """Return the root mean square of the row norms: the unit in which `decoding_error` has noise.

    Dividing a table, or its separation, by this number makes tables of different scale comparable.

    Parameters
    ----------
    table : array of shape (n_positions, d_model)
        At least one row.

    Returns
    -------
    float, at least 0, in the units of the table.

    Raises
    ------
    ValueError
        If the table is not finite, has not two axes, or no rows.
    """
    rows = _table(table, n_rows=1)
    return float(np.linalg.norm(rows) / np.sqrt(len(rows)))


def unit_rows(table: ArrayLike) -> NDArray[np.float64]:
    """Return the table with every row scaled to norm 1: what is left when only directions count.

    Parameters
    ----------
    table : array of shape (n_positions, d_model)
        No row may be zero.

    Returns
    -------
    array of the same shape.

    Raises
    ------
    ValueError
        If the table is not finite, has not two axes, or holds a row of zeros.
    """
    rows = _table(table)
    norms = np.linalg.norm(rows, axis=1, keepdims=True)
    if not norms.all():
        raise ValueError(
            "table must have no row of zeros (it has no direction), got one at position "
            f"{int(np.argmin(norms))}"
        )
    return rows / norms


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


def condition_number(table: ArrayLike) -> float:
    """Return the largest singular value divided by the smallest of min(n_positions, d_model).

    1 means that a linear layer can read every direction of the table equally well. Above about
    1e16, float64 cannot tell the value from infinity.

    Parameters
    ----------
    table : array of shape (n_positions, d_model)
        At least one row and one column.

    Returns
    -------
    float of at least 1, infinite if the smallest singular value is 0.

    Raises
    ------
    ValueError
        If the table is not finite, has not two axes, or is empty.
    """
    rows = _table(table, n_rows=1)
    if rows.shape[1] == 0:
        raise ValueError(f"table must have at least 1 column, got shape {rows.shape}")
    values = np.linalg.svd(rows, compute_uv=False)
    return float(values[0] / values[-1]) if values[-1] > 0 else np.inf


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
    noisy = _checks.finite_array("noisy_rows", noisy_rows, ndim=None)
    single = noisy.ndim == 1
    noisy = np.atleast_2d(noisy)
    if noisy.ndim != 2 or noisy.shape[1] != rows.shape[1]:
        raise ValueError(
            f"noisy_rows must be as wide as the table, {rows.shape[1]}, got shape {noisy.shape}"
        )
    positions = np.empty(len(noisy), np.intp)
    for start, block in _row_blocks(noisy, len(rows)):
        positions[start : start + len(block)] = cdist(block, rows).argmin(axis=1)
    return positions[0] if single else positions


def decoding_error(
    table: ArrayLike,
    noise: float,
    n_trials: int = 10,
    *,
    seed: int | np.random.Generator = 0,
) -> Decoding:
    """Return how often Gaussian noise makes another row the nearest one.

    Every trial adds fresh noise to every row and decodes all of them. The noise has the same
    variance in every dimension, chosen so that the root mean square of its norm is `noise` times
    `rms_norm(table)`. Scaling the table therefore changes nothing.

    Parameters
    ----------
    table : array of shape (n_positions, d_model)
        At least one row and one column.
    noise : float
        Size of the noise relative to the rows, at least 0.
    n_trials : int
        Noisy copies of the table, at least 1.
    seed : int or numpy.random.Generator
        Source of the noise: the same seed gives the same result.

    Returns
    -------
    Decoding(error_rate, mean_distance): share of wrong positions, 0 to 1, and the mean absolute
    difference between decoded and true position.

    Raises
    ------
    ValueError
        If an argument is out of range or the table is not finite.
    """
    rows = _table(table, n_rows=1)
    if rows.shape[1] == 0:
        raise ValueError(f"table must have at least 1 column, got shape {rows.shape}")
    n_trials = _checks.count("n_trials", n_trials, minimum=1)
    if not isinstance(seed, np.random.Generator):
        seed = _checks.count("seed", seed)
    rng = np.random.default_rng(seed)
    scale = _checks.non_negative("noise", noise) * rms_norm(rows) / np.sqrt(rows.shape[1])
    offsets = np.empty((n_trials, len(rows)))
    for trial in range(n_trials):
        decoded = decode(rows, rows + scale * rng.standard_normal(rows.shape))
        offsets[trial] = np.abs(decoded - np.arange(len(rows)))
    return Decoding(float(np.mean(offsets > 0)), float(np.mean(offsets)))


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
