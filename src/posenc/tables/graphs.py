"""Tables for the nodes of a graph: what stands in the place of a position where there is no line.

A row for each node. The graph comes as its adjacency matrix: `adjacency[i, j]` is above 0 where i
and j are neighbours, 1 or the weight of the edge.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from posenc import _checks

_ALIKE = 1e-6  # entries as large as this share of the largest may be the one that sets the sign


def laplacian_eigenvectors(
    adjacency: ArrayLike, k: int, *, normalized: bool = True
) -> NDArray[np.float64]:
    """Return eigenvectors of the graph's Laplacian, from the slowest wave on, without the first.

    Parameters
    ----------
    adjacency : array of shape (n, n)
        Symmetric, no entry below 0.
    k : int
        Columns of the table, at least 1. A graph with fewer than k + 1 nodes has zeros in the last.
    normalized : bool
        Whether the Laplacian is I - D**-1/2 A D**-1/2, as in PyTorch Geometric and DGL, or D - A,
        whose eigenvectors on a path and on a ring are the waves of Fourier. D holds the degrees.

    Returns
    -------
    array of shape (n, k), each column of length 1 or 0.

    Raises
    ------
    ValueError
        If `adjacency` is no square, symmetric matrix of finite numbers from 0 on, or `k` is no
        integer above 0.

    Notes
    -----
    An eigenvector has no sign, and where several eigenvalues are equal no direction either: any
    turn of theirs is as good, and libraries of linear algebra differ in the one that they return.
    Here the first of a column's largest entries is positive, which settles signs, no more, and
    depends on how the nodes are numbered. So store a table with the data that it is for. Models
    that learn from the table should see its columns with random signs (`flip` of
    `posenc.encodings.GraphPosition`). In a graph of several parts further eigenvalues are 0; their
    columns tell the parts from each other.

    Source: Dwivedi et al. (2023), Benchmarking Graph Neural Networks.

    Examples
    --------
    >>> path = np.eye(4, k=1) + np.eye(4, k=-1)
    >>> laplacian_eigenvectors(path, 1, normalized=False).round(3).T.tolist()
    [[0.653, 0.271, -0.271, -0.653]]
    """
    graph, k = _adjacency(adjacency), _checks.count("k", k, minimum=1)
    if not np.allclose(graph, graph.T):
        raise ValueError(
            "adjacency must be symmetric, as neighbours are neighbours of each other; for edges "
            "with a direction pass np.maximum(adjacency, adjacency.T)"
        )
    degrees = graph.sum(axis=1)
    if _checks.flag("normalized", normalized):
        scale = np.divide(1, np.sqrt(degrees), out=np.zeros_like(degrees), where=degrees > 0)
        laplacian = np.eye(len(graph)) - scale[:, None] * graph * scale
    else:
        laplacian = np.diag(degrees) - graph
    vectors = np.linalg.eigh(laplacian)[1][:, 1 : k + 1]
    size = np.abs(vectors)
    first = (size >= (1 - _ALIKE) * size.max(axis=0)).argmax(axis=0)
    signs = np.sign(vectors[first, np.arange(vectors.shape[1])])
    return np.pad(signs * vectors, ((0, 0), (0, k - vectors.shape[1])))


def random_walk(adjacency: ArrayLike, k: int) -> NDArray[np.float64]:
    """Return how likely a random walk is back at its node after 1, 2, ..., k steps.

    Each step goes to a neighbour, to each with the same probability or in the proportion of its
    edge. The table needs no eigenvectors, so it has neither their signs nor their turns; nodes that
    stand alike in the graph get equal rows.

    Parameters
    ----------
    adjacency : array of shape (n, n)
        No entry below 0; symmetric unless edges have a direction, from the row to the column.
    k : int
        Columns of the table, at least 1.

    Returns
    -------
    array of shape (n, k), probabilities. The first column is 0 unless nodes are neighbours of
    themselves, and a node without neighbours has zeros.

    Raises
    ------
    ValueError
        If `adjacency` is no square matrix of finite numbers from 0 on, or `k` is no integer above
        0.

    Source: Dwivedi et al. (2022), Graph Neural Networks with Learnable Structural and Positional
    Representations.

    Examples
    --------
    >>> path = np.eye(3, k=1) + np.eye(3, k=-1)
    >>> random_walk(path, 2).tolist()
    [[0.0, 0.5], [0.0, 1.0], [0.0, 0.5]]
    """
    graph, k = _adjacency(adjacency), _checks.count("k", k, minimum=1)
    degrees = graph.sum(axis=1, keepdims=True)
    step = np.divide(graph, degrees, out=np.zeros_like(graph), where=degrees > 0)
    table, walked = np.empty((len(graph), k)), step
    for column in range(k):
        table[:, column] = np.diag(walked)
        walked = walked @ step
    return table


def _adjacency(given: ArrayLike) -> NDArray[np.float64]:
    """Return an adjacency matrix in float64, or raise ValueError if it cannot be one."""
    array = _checks.as_array("adjacency", given.toarray() if hasattr(given, "toarray") else given)
    entries = array.astype(np.int64) if array.dtype == bool else array
    graph = _checks.finite_array("adjacency", entries, ndim=2).astype(np.float64, copy=False)
    n_rows, n_columns = graph.shape
    if n_rows != n_columns or not n_rows:
        hint = "; for a list of edges write adjacency = np.zeros((n, n)); adjacency[i, j] = 1"
        raise ValueError(
            "adjacency must be square, a row and a column for each node, got shape "
            f"{graph.shape}{hint if 2 in graph.shape else ''}"
        )
    if (graph < 0).any():
        raise ValueError(f"adjacency must hold no number below 0, got {graph.min():g}")
    return graph
