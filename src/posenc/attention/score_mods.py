"""Functions that FlexAttention calls with each score: they add what a table holds for its place."""

from collections.abc import Callable

import torch
from torch import Tensor

ScoreMod = Callable[[Tensor, Tensor, Tensor, Tensor, Tensor], Tensor]


def by_offset(offsets: Tensor, first: int = 0) -> ScoreMod:
    """Return the function that adds to a score the one by offset, for all queries or for each.

    The first query stands at `first`.
    """
    reach = offsets.shape[-1] // 2
    start, last = _number(first - reach, offsets), _number(2 * reach, offsets)

    def column(i: Tensor, j: Tensor) -> Tensor:
        return (j - i - start).clamp(min=0).minimum(last)

    if offsets.shape[-2] == 1:
        line, several = offsets[0, :, 0], offsets.shape[1] > 1

        def of_all(score: Tensor, b: Tensor, h: Tensor, i: Tensor, j: Tensor) -> Tensor:  # noqa: ARG001
            return score + line[h if several else 0, column(i, j)]

        return of_all

    def of_each(score: Tensor, b: Tensor, h: Tensor, i: Tensor, j: Tensor) -> Tensor:
        return score + offsets[b, h, i, column(i, j)]

    return of_each


def _number(n: int, like: Tensor) -> Tensor:
    """Return a whole number as FlexAttention's compiler takes it where it changes with the length.

    A plain one that changes from call to call ends in an error there.
    """
    return torch.full((), n, device=like.device)


def by_line(line: Tensor, n_queries: int) -> ScoreMod:
    """Return the function that adds the score of each offset that occurs, in order.

    Parameters
    ----------
    line : (heads or 1, n_queries + n_keys - 1)
        As `toeplitz` takes it, so that nothing has to be clipped.
    n_queries : int
    """
    several = line.shape[0] > 1

    def added(score: Tensor, b: Tensor, h: Tensor, i: Tensor, j: Tensor) -> Tensor:  # noqa: ARG001
        return score + line[h if several else 0, j - i + (n_queries - 1)]

    return added


def by_table(table: Tensor) -> ScoreMod:
    """Return the function that adds what a matrix holds, which broadcasts to the scores."""
    axes = [axis - table.ndim for axis, size in enumerate(table.shape) if size > 1]
    table = table.squeeze()

    def added(score: Tensor, *where: Tensor) -> Tensor:
        return score + table[tuple(where[axis] for axis in axes)]

    return added
