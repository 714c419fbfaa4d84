"""What an encoding adds, as the pictures of the atlas show it: a table, or a score by offset."""

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn.functional import pad

from posenc import encodings
from posenc.attention import Places, Position, SelfAttention

D_MODEL, N_HEADS, LENGTH = 64, 4, 48
QUERIES = (16, 31)  # places from which scores are seen
REACH = 15  # offsets to each side
ROWS = 6  # of a grid of LENGTH tokens, for encodings of several axes


def make(name: str) -> Position:
    """Return an encoding at its start, in the size of the pictures."""
    with _one_draw():
        return encodings.make(encodings.get(name), D_MODEL, N_HEADS, LENGTH).double().eval()


@torch.no_grad()
def added_rows(name: str) -> NDArray[np.float64] | None:
    """Return the rows that the door `embed` adds, (positions, d_model), or None if it is unused.

    An encoding that is made from the signal is given a wave that gets faster, in every dimension.
    """
    position = make(name)
    if "embed" not in position.doors():
        return None
    x = torch.zeros(1, LENGTH, D_MODEL, dtype=torch.float64)
    if position.reads_neighbours:
        x += torch.arange(LENGTH, dtype=x.dtype).square().div(2 * LENGTH).sin()[:, None]
    return (position.embed(x) - x)[0].numpy()


@torch.no_grad()
def by_offset(name: str) -> NDArray[np.float64] | None:
    """Return what a pair of equal tokens gains at each offset, as the `QUERIES` see it.

    An encoding of several axes is asked along the last one. All tokens hold ones, and queries and
    keys are the tokens as they are; of the first head the result is (queries, 2 REACH + 1), key
    minus query from -REACH to REACH. Gained are scores, or weights at the door `mix`; what the door
    `embed` does to scores is left out. None if no door but `embed` is used.
    """
    position = make(name)
    if set(position.doors()) == {"embed"}:
        return None
    x = torch.ones(1, LENGTH, D_MODEL, dtype=torch.float64)
    gained = _gained(position, x).expand(1, N_HEADS, LENGTH, LENGTH)[0, 0]
    return np.stack([gained[i, i - REACH : i + REACH + 1].numpy() for i in QUERIES])


def unit(name: str) -> str:
    """Return what `by_offset` is made of: "score" or "weight"."""
    return "weight" if isinstance(_mixed(make(name)), Tensor) else "score"


@torch.no_grad()
def who_sees_whom(name: str, n_heads: int = N_HEADS) -> NDArray[np.float64]:
    """Return the attention weights of equal tokens, averaged over heads: (queries, keys).

    Queries and keys are the tokens as they are, so without position every token sees all alike,
    and whatever departs from that is the encoding's doing, at its start. With several axes tokens
    stand on a grid of `ROWS` rows along the last two, row by row.
    """
    with _one_draw():
        position = encodings.make(encodings.get(name), D_MODEL, n_heads, LENGTH)
        layer = SelfAttention(D_MODEL, n_heads, position).double().eval()
    layer.qkv.weight[: 2 * D_MODEL] = torch.eye(D_MODEL).repeat(2, 1)
    x = torch.ones(1, LENGTH, D_MODEL, dtype=torch.float64)
    grid = torch.cartesian_prod(torch.arange(ROWS), torch.arange(LENGTH // ROWS))
    places = pad(grid, (position.n_axes - 2, 0)) if position.n_axes > 1 else None
    return layer.weights(x, positions=places)[0].mean(0).numpy()


def offset_only(name: str) -> bool:
    """Return whether a weight, before its row is normalised, depends on the offset only.

    Then the ratio of two neighbouring weights stays the same when query and keys move together.
    """
    logs = np.log(np.abs(who_sees_whom(name, n_heads=1)) + 1e-30)
    ratios = logs[:, 1:] - logs[:, :-1]
    return np.allclose(ratios[1:, 1:], ratios[:-1, :-1], atol=1e-9)


@contextmanager
def _one_draw() -> Iterator[None]:
    """Start random encodings alike in all pictures.

    Torch draws other numbers in double precision, which the page's lines of code switch on.
    """
    dtype = torch.get_default_dtype()
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        torch.set_default_dtype(torch.float32)
        try:
            yield
        finally:
            torch.set_default_dtype(dtype)


def _mixed(position: Position) -> object:
    return position.mix(torch.zeros(1, LENGTH, D_MODEL, dtype=torch.float64))


def _gained(position: Position, x: Tensor) -> Tensor:
    """Return what position adds to scores or weights: (1, heads or 1, length, length)."""
    mixed = _mixed(position)
    if isinstance(mixed, Tensor):
        return mixed[None] if mixed.ndim == 3 else mixed
    q = x.unflatten(-1, (N_HEADS, -1)).transpose(1, 2)
    places = Places.of(x)
    if position.n_axes > 1:
        line = pad(torch.arange(LENGTH)[:, None], (position.n_axes - 1, 0))
        places = Places.at(line, x, position.n_axes)
    turned_q, turned_k = position.through("rotate", places, q, q)
    gained = (turned_q @ turned_k.mT - q @ q.mT) * position.d_head**-0.5
    bias = position.through("bias", places, position.embed(x), turned_q, turned_k)
    return gained if bias is None else gained + bias
