"""Table 1's three questions, put to the encodings of this book: absolute, added, learned?"""

import torch
from torch import Tensor

from posenc import encodings
from posenc.attention import Position

_NAMED = {
    frozenset(): "None",
    frozenset({"Abs"}): "Absolute",
    frozenset({"Rel"}): "Relative",
    frozenset({"Abs", "Rel"}): "Rel+Abs",
}


@torch.no_grad()
def kinds(position: Position, length: int = 24) -> frozenset[str]:
    """Return which of "Abs" and "Rel" an encoding is, measured with tokens that are all alike.

    What tells tokens apart before attention is tied to a place. What enters the attention matrix
    is relative if it is the same along each diagonal. Of stochastic codes their kernel is taken.
    """
    x = position.embed(torch.ones(1, length, position.d_model))
    matrix = _in_matrix(position, x)
    found = set()
    if not torch.allclose(x[:, 1:], x[:, :-1]):
        found.add("Abs")
    if not torch.allclose(matrix, matrix.mean(), atol=1e-4):
        along = torch.allclose(matrix[..., 1:, 1:], matrix[..., :-1, :-1], atol=1e-4)
        found.add("Rel" if along else "Abs")
    return frozenset(found)


def named(*found: frozenset[str]) -> str:
    """Return the word of Table 1 for what one encoding is, or several together."""
    return _NAMED[frozenset().union(*found)]


def row(name: str) -> tuple[str, str, str]:
    """Return an encoding's row of Table 1 as measured: technique, injection, learned or not."""
    torch.manual_seed(0)
    position = encodings.make(encodings.get(name), 32, 1, 24)
    doors = set(position.doors())
    injection = "additive" if doors == {"embed"} else "combined" if "embed" in doors else "matrices"
    learned = "Learnable" if list(position.parameters()) else "Fixed"
    return named(kinds(position)), injection, learned


def _in_matrix(position: Position, x: Tensor) -> Tensor:
    """Return what position alone contributes to the attention matrix, per head."""
    if isinstance(position, encodings.StochasticPosition):
        return position.kernel(x.shape[1]).mean(1)
    ones = torch.ones(1, position.n_heads, x.shape[1], position.d_head)
    q, k = position.rotate(ones, ones)
    found = q @ k.transpose(-2, -1)
    for part in (position.bias(x, q, k), position.mix(x)):
        if part is not None:
            assert isinstance(part, Tensor)
            found = found + part
    return found
