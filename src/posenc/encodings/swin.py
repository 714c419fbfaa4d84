"""Biases by offset in a plane: the table of Swin Transformer, and the small network of its v2."""

import math
from collections.abc import Sequence

import torch
from torch import Tensor, nn

from posenc import _checks
from posenc.attention import Places, Position, by_offset
from posenc.attention.maps import applied
from posenc.attention.numerics import precise
from posenc.attention.places import check_countable
from posenc.encodings.starts import empty_linear

_STEEP, _LARGEST = (
    8,
    16,
)  # of Liu et al. (2022): what offsets are multiplied by, and the bias's bound


class SwinBias(Position):
    """One learned number per head and offset in a window of patches (Liu et al. 2021, Swin, Eq. 4).

    The score of query i and key j gains B_h[p_i - p_j], where p are row and column in the window.
    Attention itself is limited to one window in Swin; a layer here sees what it is given, so
    windows are rows of the batch. "continuous" learns a function of the offset in place of a table
    (Liu et al. 2022, Swin v2): a network of two layers sees the offset in shares of the window, on
    a logarithmic scale, and what it says is bounded, 16 sigmoid(.), so that it serves windows of
    another size.

    Positions must be given, (length, n_axes) or (batch, length, n_axes); whole numbers for a table.

    Parameters
    ----------
    d_model, n_heads, max_length : int
        As for `Position`. Any length is served.
    window : sequence of int
        Patches of a window along each axis, at least 1, for two axes or more. Offsets that are
        larger than those in a window share the outermost numbers of the table.
    formula : {"table", "continuous"}
    width : int
        Hidden width of the network, for "continuous"; 512 in Swin v2.

    Attributes
    ----------
    n_axes : int
        Numbers that make a position, `len(window)`.
    table : nn.Parameter (n_heads, 2 * window[0] - 1, 2 * window[1] - 1, ...)
        By p_i - p_j, from the smallest on. None for "continuous".

    Notes
    -----
    Parameters to learn, in every layer: `n_heads` times the product of all `2 * w - 1`, or
    `width * (n_axes + 1 + n_heads)` for "continuous". The table starts normal with standard
    deviation 0.02. Swin v2 also compares directions of queries and keys in place of their products,
    which is attention's business and is not done here. Cost: O(n_heads L^2) per layer,
    or O(width L^2) for "continuous".

    Raises
    ------
    ValueError
        If a size or option is out of range; in a forward pass, without given positions, or for a
        table with positions that are not whole numbers.

    Examples
    --------
    >>> position = SwinBias(8, 2, 49)
    >>> position.table.shape
    torch.Size([2, 13, 13])
    >>> grid = torch.cartesian_prod(torch.arange(7), torch.arange(7))
    >>> x = torch.zeros(1, 49, 8)
    >>> position.bias(x, x, x, Places.at(grid, x, 2)).shape
    torch.Size([1, 2, 49, 49])
    """

    def __init__(
        self,
        d_model: int,
        n_heads: int,
        max_length: int,
        *,
        window: Sequence[int] = (7, 7),
        formula: str = "table",
        width: int = 512,
    ) -> None:
        super().__init__(d_model, n_heads, max_length)
        if isinstance(window, str) or not isinstance(window, Sequence) or len(window) < 2:
            raise ValueError(f"window must be a sequence of two numbers or more, got {window!r}")
        self.window = tuple(_checks.count("window", one, minimum=1) for one in window)
        self.n_axes = len(self.window)
        self.formula = _checks.choice("formula", formula, ("table", "continuous"))
        width = _checks.count("width", width, minimum=1)
        self.table: nn.Parameter | None = None
        if self.formula == "table":
            self.table = nn.Parameter(torch.empty(n_heads, *(2 * one - 1 for one in self.window)))
        else:
            width = _checks.count("width", width, minimum=1)
            self.hidden = empty_linear(self.n_axes, width, bias=True)
            self.output = empty_linear(width, n_heads)
        self.reset_parameters()

    @torch.no_grad()
    def reset_parameters(self) -> None:
        """Draw all that is learned anew, as at the start."""
        if self.table is not None:
            self.table.normal_().mul_(0.02)
            return
        self.hidden.reset_parameters()
        self.output.reset_parameters()

    @by_offset
    def bias(self, offset: Tensor, places: Places) -> Tensor:
        if places.counted:
            check_countable(self.n_axes)
        back = -offset  # from key to query
        if self.table is None:
            return self._said(back)
        for steps in (places.of_queries, places.of_keys):
            steps.whole(f"{type(self).__name__} has a number for each offset")
        table = precise(self.table)  # as the gradient of a number sums over many pairs
        rows = [
            back[:, axis].long().clamp(1 - one, one - 1) + one - 1
            for axis, one in enumerate(self.window)
        ]
        index: tuple[slice | Tensor, ...] = (slice(None), *rows)
        return table[index]

    def _said(self, offset: Tensor) -> Tensor:
        """Return what the network says of offsets (n, n_axes), one number per head."""
        longest = torch.tensor([max(one - 1, 1) for one in self.window], device=offset.device)
        share = offset.to(precise(self.hidden.weight).dtype) * _STEEP / longest
        seen = share.sign() * (share.abs() + 1).log2() / math.log2(_STEEP)
        return _LARGEST * applied(self.output, applied(self.hidden, seen).relu()).sigmoid().mT
