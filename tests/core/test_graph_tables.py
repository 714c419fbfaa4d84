"""Tables for nodes: eigenvectors from the slowest on, and walks step by step."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from posenc import tables


def path(n):
    return np.eye(n, k=1) + np.eye(n, k=-1)


def ring(n):
    graph = path(n)
    graph[0, -1] = graph[-1, 0] = 1
    return graph


def drawn(n=9, seed=0):
    """Return a connected graph without symmetries, its edges of different weights."""
    rng = np.random.default_rng(seed)
    upper = np.triu(rng.random((n, n)) * (rng.random((n, n)) < 0.4), 1)
    return upper + upper.T + path(n)


@pytest.mark.parametrize("normalized", [True, False])
def test_the_columns_are_eigenvectors_from_the_slowest_on(normalized):
    graph = drawn()
    degrees = graph.sum(1)
    laplacian = np.diag(degrees) - graph
    if normalized:
        laplacian = laplacian / np.sqrt(np.outer(degrees, degrees))
    table = tables.laplacian_eigenvectors(graph, 8, normalized=normalized)
    values = np.einsum("nk,nm,mk->k", table, laplacian, table)
    assert np.allclose(laplacian @ table, table * values)
    assert (np.diff(values) > 0).all()
    assert values[0] > 1e-6
    assert (table[np.abs(table).argmax(0), range(8)] > 0).all()


def test_what_a_small_graph_lacks_is_zero():
    table = tables.laplacian_eigenvectors(path(3), 5)
    assert table.shape == (3, 5)
    assert np.allclose(np.linalg.norm(table, axis=0), [1, 1, 0, 0, 0])
    assert tables.laplacian_eigenvectors([[0]], 2).tolist() == [[0, 0]]


def test_return_probabilities_are_those_of_all_walks():
    graph = drawn(5)
    step = graph / graph.sum(1, keepdims=True)
    third = sum(
        step[:, i, None] * step[i, j] * step[j] for i in range(5) for j in range(5)
    )  # (from, to), by the two nodes on the way
    table = tables.random_walk(graph, 3)
    assert np.allclose(table[:, 2], np.diag(third))
    assert np.allclose(table[:, 1], (step * step.T).sum(1))
    assert (table[:, 0] == 0).all()


def test_a_node_without_neighbours_stays_where_it_is():
    alone = np.pad(path(3), (0, 1))
    assert tables.random_walk(alone, 2)[-1].tolist() == [0, 0]
    assert np.isfinite(tables.laplacian_eigenvectors(alone, 3)).all()


def test_matrices_of_other_kinds_are_taken():
    for graph in (ring(6).astype(bool), ring(6).astype(int).tolist(), csr_array(ring(6))):
        assert np.array_equal(tables.random_walk(graph, 3), tables.random_walk(ring(6), 3))


def test_edges_with_a_direction_have_walks_and_no_eigenvectors():
    circle = np.roll(np.eye(3), 1, axis=1)
    assert tables.random_walk(circle, 3)[:, 2].tolist() == [1, 1, 1]
    with pytest.raises(ValueError, match=r"adjacency must be symmetric.*np\.maximum"):
        tables.laplacian_eigenvectors(circle, 2)
