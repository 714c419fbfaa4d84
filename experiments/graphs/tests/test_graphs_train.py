"""Models of graphs: padding changes nothing, bonds enter by positions alone, runs are whole."""

import numpy as np
import pytest
import torch

from experiments.graphs import train
from posenc_book.data.graphs import NAMES, Graph
from posenc_book.read.graphs import read


def some(seed=0, n_graphs=20):
    """Return paths and rings, which a model may tell from each other."""
    rng = np.random.default_rng(seed)
    graphs = []
    for i in range(n_graphs):
        n = int(rng.integers(4, 9))
        adjacency = np.eye(n, k=1) + np.eye(n, k=-1)
        adjacency[0, -1] = adjacency[-1, 0] = i % 2
        graphs.append(Graph(rng.integers(3, size=n), adjacency, i % 2))
    return graphs


@pytest.mark.parametrize("kind", train.KINDS)
def test_a_graph_gets_the_same_answer_beside_larger_ones(kind):
    graphs = some()
    torch.manual_seed(0)
    model = train.Classifier(train.make_position(kind), 3, 2).double().eval()
    tags, real, rows = train.padded(graphs, kind)
    together = model(tags, real, rows.double())
    tags, real, rows = train.padded(graphs[:1], kind)
    torch.testing.assert_close(model(tags, real, rows.double()), together[:1])


def test_bonds_enter_through_positions_alone():
    n = 6
    ring = np.eye(n, k=1) + np.eye(n, k=-1)
    ring[0, -1] = ring[-1, 0] = 1
    graphs = [Graph(np.zeros(n, int), one, 0) for one in (ring, np.eye(n, k=1) + np.eye(n, k=-1))]
    for kind in train.KINDS:
        model = train.Classifier(train.make_position(kind), 1, 2).eval()
        one, other = model(*train.padded(graphs, kind))
        assert torch.allclose(one, other, atol=1e-6) == (kind == "none")


def test_a_run_learns_what_can_be_seen(monkeypatch):
    monkeypatch.setattr(train, "STEPS", 200)
    monkeypatch.setattr(train, "RATE", 5e-3)
    assert train.run(some(n_graphs=100), "random walk", 0)["right"] > 0.9


def test_what_is_stored_is_whole():
    stored = read.load()
    assert [*train.missing(stored["runs"])] == []
    assert len(stored["runs"]) == len(NAMES) * len(train.KINDS) * len(train.SEEDS)
    for name in NAMES:
        facts, row = stored["sets"][name], read.summary(name)
        assert facts["used"] <= facts["graphs"]
        assert list(row)[1:] == list(train.KINDS)
        for kind in train.KINDS:
            right = read.accuracies(name, kind)
            assert len(right) == len(train.SEEDS)
            assert row[kind].startswith(f"{right.mean():.0%} (")
