# ruff: noqa: ARG002 - a door takes its arguments whether it needs them or not
"""What a checker of types sees of the library in somebody else's code.

`mypy` reads this file strictly: it compares what `assert_type` names, and where a wrong call stands
it must find the error that is named there. Pytest runs the same code.
"""

from typing import assert_type

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from torch import Tensor

from posenc import rotation, tables
from posenc.attention import Cache, CrossAttention, Places, Position, SelfAttention, by_offset
from posenc.encodings import make, names
from posenc.models import PatchTransformer


class Near(Position):
    """Positions that tokens count, as the shortest example has it."""

    def bias(self, x: Tensor, q: Tensor, k: Tensor) -> Tensor:
        t = torch.arange(x.shape[1], device=x.device)
        return -(t - t[:, None]).abs().to(q.dtype)


class NearAnywhere(Position):
    """A door with one more argument than that of `Position`."""

    def bias(self, x: Tensor, q: Tensor, k: Tensor, places: Places) -> Tensor:
        return -places.offset().abs().to(q.dtype)


class NearByOffset(Position):
    """A door with other arguments altogether, as its decorator wants them."""

    @by_offset
    def bias(self, offset: Tensor) -> Tensor:
        return -offset.abs().float()


def test_encodings_of_ones_own_serve_a_layer() -> None:
    x = torch.randn(2, 5, 8)
    outputs = []
    for cls in (Near, NearAnywhere, NearByOffset):
        torch.manual_seed(0)
        layer = SelfAttention(8, 2, cls(8, 2, 5))
        outputs.append(assert_type(layer(x), Tensor))
    for output in outputs:
        torch.testing.assert_close(output, outputs[0])


def test_what_comes_back_has_a_type() -> None:
    position = make("rotary", 8, 2, 5, base=100.0)
    assert_type(position, Position)
    assert_type(make(Near, 8, 2, 5), Position)
    with pytest.raises(ValueError, match="'rotary'"):
        make("rotray", 8, 2, 5)  # type: ignore[arg-type]
    assert_type(names(), list[str])
    layer = SelfAttention(8, 2, position, causal=True)
    assert_type(layer, SelfAttention)
    assert_type(layer.position, Position)
    assert_type(layer.weights(torch.zeros(1, 5, 8)), Tensor)
    assert_type(layer(torch.zeros(1, 5, 8), cache=Cache()), Tensor)
    model = PatchTransformer(1, 2, 16, patch=4, d_model=8, n_heads=2, n_layers=2)
    assert_type(model.layers[0].attention, SelfAttention)
    assert_type(model(torch.zeros(1, 16, 1)), Tensor)
    assert_type(rotation.shift_matrix([1.0, 0.1], 3), NDArray[np.float64])
    assert_type(tables.sinusoidal(4, 8), NDArray[np.floating])


def test_wrong_calls_are_errors_to_the_checker_and_at_run_time() -> None:
    position = make("rotary", 8, 2, 5)
    with pytest.raises(ValueError, match="d_model"):
        make("rotary", "8", 2, 5)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="makes one from a name"):
        SelfAttention(8, 2, "rotary")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="casual"):
        SelfAttention(8, 2, position, casual=True)  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="context"):
        CrossAttention(8, 2, position).forward(torch.zeros(1, 5, 8))  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="offset"):
        rotation.shift_matrix([1.0])  # type: ignore[call-arg]
