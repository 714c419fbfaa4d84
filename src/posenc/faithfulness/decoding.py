"""Positions found again from noisy rows."""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from posenc import _checks
from posenc.faithfulness.blocks import as_table, row_blocks
from posenc.faithfulness.rows import rms_norm


class Decoding(NamedTuple):
    """How well positions are found again: share of wrong ones, mean absolute error in positions.

    Examples
    --------
    >>> Decoding(0.25, 1.5).error_rate
    0.25
    """

    error_rate: float
    mean_distance: float


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

    Examples
    --------
    >>> decode([[0.0], [1.0], [2.0]], [[0.1], [1.8]]).tolist()
    [0, 2]
    """
    from scipy.spatial.distance import cdist  # here, so that `import posenc` stays quick

    rows = as_table(table, n_rows=1)
    noisy = _checks.finite_array("noisy_rows", noisy_rows, ndim=None)
    single = noisy.ndim == 1
    noisy = np.atleast_2d(noisy)
    if noisy.ndim != 2 or noisy.shape[1] != rows.shape[1]:
        raise ValueError(
            f"noisy_rows must be as wide as the table, {rows.shape[1]}, got shape {noisy.shape}"
        )
    positions = np.empty(len(noisy), np.intp)
    for start, block in row_blocks(noisy, len(rows)):
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
        Source of the noise: the same seed gives the same result. A table that was drawn from the
        same seed would meet itself as noise, so it needs another one.

    Returns
    -------
    Decoding(error_rate, mean_distance): share of wrong positions, 0 to 1, and the mean absolute
    difference between decoded and true position.

    Raises
    ------
    ValueError
        If an argument is out of range or the table is not finite.

    Examples
    --------
    >>> decoding_error(np.eye(8), 0.01, n_trials=50, seed=0)
    Decoding(error_rate=0.0, mean_distance=0.0)
    """
    rows = as_table(table, n_rows=1)
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
