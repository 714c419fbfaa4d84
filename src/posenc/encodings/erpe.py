"""Efficient relative position encoding: a learned scalar per offset, after the softmax."""

import torch
from torch import Tensor, nn

from posenc import _checks
from posenc.attention import Places, Position, by_offset
from posenc.attention.numerics import precise
from posenc.attention.places import can_look, refuse
from posenc.encodings.resizing import Rows


class ERPE(Position):
    """A learned scalar per head and offset added to the weights (Foumani et al. 2024, eRPE).

    The weight of (i, j) is softmax(...)_ij + w_{j - i}; rows need not sum to 1 any more, and a
    weight may be negative. A survey (Irani and Metsis 2025, section 3.6) has the same formula
    with one vector of 2 L - 1 scalars; that is `per_head=False`. Positions must be whole numbers.

    Parameters
    ----------
    d_model, n_heads, max_length : int
        As for `Position`. An input longer than `max_length` is an error.
    std : float
        Standard deviation of the normal start, at least 0. The authors' program starts at 0,
        where the layer does not see order yet.
    per_head : bool
        Whether each head has scalars of its own, as in the authors' program.

    Notes
    -----
    Parameters to learn, in every layer: `(2 * max_length - 1) * n_heads`, or `2 * max_length - 1`
    without `per_head` (the survey's Table 2 counts L^2 + L). Cost: the scalars meet the
    values beside the fused kernel, in O(L^2 d_model) per layer and batch row, or by Fourier
    transforms in O(L log(L) d_model) where the input is long.

    Raises
    ------
    ValueError
        If a size or option is out of range, or an input is too long; for positions that are not
        whole numbers, or more than `max_length - 1` apart.

    Examples
    --------
    >>> ERPE(8, 2, 100).values.shape
    torch.Size([2, 199])
    """

    def __init__(
        self,
        d_model: int,
        n_heads: int,
        max_length: int,
        *,
        std: float = 0.02,
        per_head: bool = True,
    ) -> None:
        super().__init__(d_model, n_heads, max_length)
        self.std = _checks.non_negative("std", std)
        n_vectors = n_heads if _checks.flag("per_head", per_head) else 1
        shape = (n_vectors, 2 * self.max_length - 1)
        self.values = nn.Parameter(torch.empty(shape))
        self.reset_parameters()

    @torch.no_grad()
    def reset_parameters(self) -> None:
        """Draw all that is learned anew, as at the start."""
        self.values.normal_().mul_(self.std)

    def _learned_rows(self) -> Rows:
        reach = self.max_length - 1
        return Rows(("values",), 1, 2 * reach + 1, reach, reach)

    @by_offset
    def mix(self, offset: Tensor, places: Places) -> Tensor:
        self._check_offsets(offset, places)
        # in float32 at least, as the gradient of an offset sums over many pairs
        return precise(self.values)[:, offset.long() + self.max_length - 1]

    def _check_offsets(self, offset: Tensor, places: Places) -> None:
        """Raise ValueError unless there is a scalar for each offset."""
        if places.plain:
            self.check_length(places.of_keys.length)
            return
        for steps in (places.of_queries, places.of_keys):
            steps.whole("ERPE has one scalar for each whole offset")
        reach = self.max_length - 1
        if can_look(offset) and (offset.abs() > reach).any():
            wanted = f"must be at most max_length - 1 = {reach} apart, as ERPE has no more scalars"
            refuse(places.name, wanted, offset.abs().max())
