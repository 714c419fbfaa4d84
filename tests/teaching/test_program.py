"""The reader's program is checked against the library's layer and tables."""

import ast
from pathlib import Path

import nbformat
import numpy as np
import pytest
import torch

from posenc import encodings, tables
from posenc.attention import SelfAttention
from posenc.teaching import program


@pytest.fixture
def x():
    return np.random.default_rng(0).normal(size=(7, 8))


@pytest.fixture
def maps():
    return np.random.default_rng(1).normal(size=(3, 8, 8)) / np.sqrt(8)


def test_softmax_gives_weights():
    weights = program.softmax([[0.0, np.log(3.0), -np.inf], [1000.0, 1000.0, 1000.0]])
    assert np.allclose(weights, [[0.25, 0.75, 0], [1 / 3, 1 / 3, 1 / 3]])


@pytest.mark.parametrize("causal", [False, True])
def test_attention_is_that_of_the_library(x, maps, causal):
    layer = SelfAttention(8, 1, encodings.make("none", 8, 1, 7), causal=causal).double()
    with torch.no_grad():
        layer.qkv.weight.copy_(torch.tensor(np.concatenate(maps.swapaxes(1, 2))))
        layer.out.weight.copy_(torch.eye(8))
        for bias in (layer.qkv.bias, layer.out.bias):
            if bias is not None:
                bias.zero_()
        expected = layer(torch.tensor(x)[None])[0].numpy()
    assert np.allclose(program.attention(x, *maps, causal=causal), expected, atol=1e-12)


def test_embed_adds_the_sinusoid(x):
    assert np.allclose(program.embed(x) - x, tables.sinusoidal(7, 8), atol=1e-12)
    assert np.allclose(program.embed(x, 100.0) - x, tables.sinusoidal(7, 8, 100.0), atol=1e-12)


def test_the_whole_transformer_has_the_fifty_lines_that_the_book_promises():
    book = Path(__file__).resolve().parents[2] / "book"
    cells = nbformat.read(book / "four-doors.ipynb", as_version=4).cells
    classes = {
        node.name: ast.get_source_segment(cell.source, node)
        for cell in cells
        if cell.cell_type == "code" and cell.source.startswith("class ")
        for node in ast.walk(ast.parse(cell.source))
        if isinstance(node, ast.ClassDef)
    }
    program = [classes[k] for k in ("Shut", "Attention", "Sinusoid", "Layer", "Transformer")]
    n_lines = sum(bool(line.strip()) for text in program for line in text.splitlines())
    assert n_lines == 50
