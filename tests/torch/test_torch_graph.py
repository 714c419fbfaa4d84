"""Positions of nodes: rows through a map, signs at random in training, and no order at all."""

import warnings

import pytest
import torch

from posenc import tables
from posenc.attention import Places, SelfAttention
from posenc.encodings import GraphPosition

RING = torch.eye(6).roll(1, 0) + torch.eye(6).roll(-1, 0)


def made(**options):
    torch.manual_seed(0)
    return GraphPosition(8, 2, 6, n_columns=3, **options)


def embedded(position, x, rows):
    return position.embed(x, Places.at(rows, x, 3))


def test_rows_go_through_the_map_and_are_added():
    position, x, rows = made().double(), torch.randn(2, 6, 8).double(), torch.randn(2, 6, 3)
    added = embedded(position, x, rows) - x
    torch.testing.assert_close(added, rows.double() @ position.map.weight.mT)
    assert position.doors() == ("embed",)
    assert sum(p.numel() for p in position.parameters()) == 3 * 8


def test_signs_are_drawn_in_training_alone_one_for_each_column_of_each_graph():
    position, x = made(flip=True), torch.zeros(64, 6, 8)
    rows = torch.rand(1, 6, 3).expand(64, 6, 3)
    position.map = torch.nn.Linear(3, 8, bias=False)
    torch.nn.init.eye_(position.map.weight)
    seen = embedded(position, x, rows)[..., :3] / rows
    torch.testing.assert_close(seen.abs(), torch.ones(64, 6, 3))
    assert (seen == seen[:, :1]).all()
    assert len({tuple(signs) for signs in seen[:, 0].sign().tolist()}) == 2**3
    position.eval()
    torch.testing.assert_close(embedded(position, x, rows)[..., :3], rows)


def test_a_layer_takes_tables_whose_rows_are_alike_without_a_word():
    layer, x = SelfAttention(8, 2, made()), torch.randn(1, 6, 8)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for table in (tables.random_walk(RING, 3), tables.laplacian_eigenvectors(RING, 3)):
            layer(x, positions=table)
            layer(x, positions=torch.as_tensor(table).float())


def test_the_order_of_the_nodes_does_not_matter():
    layer, x = SelfAttention(8, 2, made()).double(), torch.randn(1, 6, 8).double()
    rows, order = torch.rand(1, 6, 3).double(), torch.randperm(6)
    out = layer(x, positions=rows)
    torch.testing.assert_close(layer(x[:, order], positions=rows[:, order]), out[:, order])


def test_what_is_missing_or_wrong_is_named():
    layer, x = SelfAttention(8, 2, made()), torch.randn(1, 6, 8)
    with pytest.raises(ValueError, match="positions must be given, with n_axes = 3"):
        layer(x)
    with pytest.raises(ValueError, match=r"positions must have shape .*\(6, 3\)"):
        layer(x, positions=torch.rand(6, 4))
    with pytest.raises(ValueError, match="n_columns must be an integer of at least 2, got 1"):
        GraphPosition(8, 2, 6, n_columns=1)


def test_it_starts_anew():
    position = made()
    before = position.map.weight.clone()
    position.reset_parameters()
    assert not torch.equal(position.map.weight, before)
