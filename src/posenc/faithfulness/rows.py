"""How different the rows of a table are: equal ones, distances, directions."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from posenc import _checks
from posenc.faithfulness.blocks import as_table, row_blocks


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

    Examples
    --------
    >>> first_collision([[0.0], [1.0], [0.0]])
    (0, 2)
    """
    first_seen: dict[bytes, int] = {}
    for position, row in enumerate(as_table(table) + 0.0):  # + 0.0 turns -0.0 into 0.0
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

    Examples
    --------
    >>> is_injective([[0.0], [1.0]]), is_injective([[1.0], [1.0]])
    (True, False)
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

    Examples
    --------
    >>> rms_norm([[3.0, 4.0], [5.0, 0.0]])
    5.0
    """
    rows = as_table(table, n_rows=1)
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

    Examples
    --------
    >>> unit_rows([[3.0, 4.0]]).tolist()
    [[0.6, 0.8]]
    """
    rows = as_table(table)
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

    Examples
    --------
    >>> separation([[0.0], [1.0], [5.0]])
    1.0
    """
    from scipy.spatial.distance import cdist  # here, so that `import posenc` stays quick

    rows = as_table(table, n_rows=2)
    smallest = np.inf
    for start, block in row_blocks(rows, len(rows)):
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

    Examples
    --------
    >>> gram([[1.0, 0.0], [1.0, 1.0]]).tolist()
    [[1.0, 1.0], [1.0, 2.0]]
    """
    rows = as_table(table)
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

    Examples
    --------
    >>> numerical_rank([[1.0, 2.0], [2.0, 4.0]])
    1
    """
    rows = as_table(table)
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

    Examples
    --------
    >>> round(condition_number([[2.0, 0.0], [0.0, 1.0]]), 6)
    2.0
    """
    rows = as_table(table, n_rows=1)
    if rows.shape[1] == 0:
        raise ValueError(f"table must have at least 1 column, got shape {rows.shape}")
    values = np.linalg.svd(rows, compute_uv=False)
    return float(values[0] / values[-1]) if values[-1] > 0 else np.inf
