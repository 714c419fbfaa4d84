"""Figures of the chapter on graphs draw bonds where they are, and numbers with their signs."""

import numpy as np
import pytest

from posenc_book.figures import graphs


def ring(n, *bonds):
    graph = np.roll(np.eye(n), 1, axis=1)
    for one, other in bonds:
        graph[one, other] = 1
    return np.maximum(graph, graph.T)


DECALIN = ring(10, (0, 5))
BICYCLOPENTYL = np.kron(np.eye(2), ring(5))
BICYCLOPENTYL[0, 5] = BICYCLOPENTYL[5, 0] = 1


@pytest.mark.parametrize(
    ("places", "adjacency"),
    [
        (graphs.two_hexagons(), DECALIN),
        (graphs.two_pentagons(), BICYCLOPENTYL),
        (graphs.on_a_circle(7), ring(7)),
    ],
)
def test_bonds_are_one_long_and_nobody_else_is_as_near(places, adjacency):
    apart = np.linalg.norm(places[:, None] - places, axis=-1)
    assert np.allclose(apart[adjacency > 0], 1)
    assert (apart[(adjacency == 0) & ~np.eye(len(places), dtype=bool)] > 1.2).all()


def test_both_molecules_have_ten_atoms_and_eleven_bonds(drawn):
    graphs.two_molecules(DECALIN, BICYCLOPENTYL)
    for ax in drawn["fig-two-molecules"][0].axes:
        assert len(ax.texts) == 10
        assert sum(line.get_linestyle() == "-" for line in ax.lines) == 11


def test_discs_have_the_sign_and_the_share_of_their_number(drawn):
    table = np.array([[1.0, -0.5], [-2.0, 0.5], [0.0, 1.0]])
    graphs.slowest_waves(
        {name: (graphs.on_a_line(3), np.eye(3, k=1), table) for name in ("one", "other")}
    )
    first, second, *_ = drawn["fig-slowest-waves"][0].axes
    full, hollow = first.collections
    assert full.get_offsets().tolist() == [[0, 0]]
    assert hollow.get_offsets().tolist() == [[0.5, 0]]
    assert full.get_sizes() / hollow.get_sizes() == pytest.approx(1 / 4)
    assert [len(one.get_offsets()) for one in second.collections] == [2, 1]
