"""Tables for the nodes of a graph."""

import torch
from torch import Tensor

from peers.compare import Numbers, case
from posenc import tables

NODES, COLUMNS = 12, 4


def adjacency(numbers: Numbers) -> Tensor:
    """Return a graph without symmetries: a path, and a few edges more that chance has drawn."""
    drawn = numbers("edges", NODES, NODES).detach().triu(2) > 1
    path = torch.ones(NODES - 1).diag(1)
    once = torch.maximum(path, drawn.to(path))
    return once + once.T


def of_pyg(graph: Tensor, transform: torch.nn.Module, name: str) -> Tensor:
    """Return what a transform of PyTorch Geometric adds to a graph."""
    from torch_geometric.data import Data

    edges = graph.nonzero().T
    data = Data(edge_index=edges, edge_weight=graph[tuple(edges)], num_nodes=NODES)
    return transform(data)[name].to(graph)


@case(
    "laplacian_eigenvectors",
    "PyTorch Geometric",
    "AddLaplacianEigenvectorPE",
    note="The reference draws the sign of each column; the largest entry is made positive here.",
)
def laplacian_eigenvectors(numbers: Numbers):
    from torch_geometric.transforms import AddLaplacianEigenvectorPE

    graph = adjacency(numbers)
    ours = torch.as_tensor(tables.laplacian_eigenvectors(graph, COLUMNS)).to(graph)
    transform = AddLaplacianEigenvectorPE(COLUMNS, is_undirected=True)
    theirs = of_pyg(graph, transform, "laplacian_eigenvector_pe")
    largest = ours.abs().argmax(0, keepdim=True)
    return tuple(one * one.gather(0, largest).sign() for one in (ours, theirs))


@case("random_walk", "PyTorch Geometric", "AddRandomWalkPE")
def random_walk(numbers: Numbers):
    from torch_geometric.transforms import AddRandomWalkPE

    graph = adjacency(numbers)
    ours = torch.as_tensor(tables.random_walk(graph, COLUMNS)).to(graph)
    return ours, of_pyg(graph, AddRandomWalkPE(COLUMNS), "random_walk_pe")
