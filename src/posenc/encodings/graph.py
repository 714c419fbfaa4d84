"""Positions of nodes in a graph: rows of a table, mapped to the width of a token and added."""

import torch
from torch import Tensor, nn

from posenc import _checks
from posenc.attention import Places, Position
from posenc.attention.numerics import precise
from posenc.attention.places import check_countable


class GraphPosition(Position):
    """A row of a table for each node, through a linear map, added (Dwivedi and Bresson 2021).

    The rows are the positions, (length, n_columns) or (batch, length, n_columns): those of
    `posenc.tables.laplacian_eigenvectors`, of `posenc.tables.random_walk`, or of both side by side.
    Any table with a row a token will do.

    Parameters
    ----------
    d_model, n_heads, max_length : int
        As for `Position`. Any number of nodes is served.
    n_columns : int
        Columns of the table, at least 2.
    flip : bool
        Whether each graph sees each column with a random sign while the module trains, as columns
        of eigenvectors should be seen: they have no sign of their own.

    Attributes
    ----------
    n_axes : int
        `n_columns`: numbers that make a position.

    Notes
    -----
    Parameters to learn: n_columns d_model. Cost: O(L n_columns d_model) once per forward pass.
    Nodes that share their rows, (length, n_columns), share their signs, too.

    Raises
    ------
    ValueError
        If a size or option is out of range, or no rows are given.

    Examples
    --------
    >>> from posenc.attention import SelfAttention
    >>> from posenc.tables import random_walk
    >>> ring = torch.eye(6).roll(1, 0) + torch.eye(6).roll(-1, 0)
    >>> layer = SelfAttention(16, 2, GraphPosition(16, 2, 6, n_columns=4))
    >>> layer(torch.randn(1, 6, 16), positions=random_walk(ring, 4)).shape
    torch.Size([1, 6, 16])
    """

    def __init__(
        self,
        d_model: int,
        n_heads: int,
        max_length: int,
        *,
        n_columns: int = 8,
        flip: bool = False,
    ) -> None:
        super().__init__(d_model, n_heads, max_length)
        self.n_axes = _checks.count("n_columns", n_columns, minimum=2)
        self.flip = _checks.flag("flip", flip)
        self.map = nn.Linear(self.n_axes, self.d_model, bias=False)

    def reset_parameters(self) -> None:
        """Draw the map anew, as at the start."""
        self.map.reset_parameters()

    def embed(self, x: Tensor, places: Places) -> Tensor:
        rows = places.queries
        if rows.ndim < 3:  # nodes have no order in which they could be counted
            check_countable(self.n_axes)
        if self.flip and self.training:
            signs = torch.randint(2, (len(rows), 1, self.n_axes), device=rows.device)
            rows = rows * (2 * signs - 1)
        weight = precise(self.map.weight)
        return x + (rows.to(weight) @ weight.mT).to(x)
