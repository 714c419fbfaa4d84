"""What all encodings that are added to the tokens have in common: a table and its scale."""

from abc import ABC, abstractmethod

import torch
from torch import Tensor, nn

from posenc import _checks
from posenc.attention import Places, Position
from posenc.attention.numerics import precise
from posenc.attention.places import Steps, is_plain
from posenc.attention.position import depth

SCALES = ("paper", "unit", "loud", "learned")


class Added(Position, ABC):
    """A table of vectors, one per position, added to the tokens through `embed`.

    Derived classes define `table(length)`, of shape (length, d_model), which serves whole positions
    from 0 on, and `at(positions)` if their rows follow a formula that holds between them, too. A
    class that overrides the table of an ancestor with a formula is served by its table.

    Parameters
    ----------
    d_model, n_heads, max_length : int
        As for `Position`.
    scale : {"paper", "unit", "loud", "learned"}
        "paper" adds the rows as their authors define them, whose norms differ from method to
        method (sqrt(d_model / 2) for sinusoids, 1 for the DFT). "unit" divides each row by its
        Euclidean norm, so that all methods add vectors of norm 1. "loud" gives each row the norm
        of sinusoidal ones, sqrt(d_model / 2). "learned" multiplies the paper's rows by one
        learned gain that starts at 1, and has one parameter more.

    Raises
    ------
    ValueError
        If a size or `scale` is out of range.

    Examples
    --------
    >>> from posenc.encodings import make
    >>> round(float(make("sinusoidal", 8, 2, 5, scale="unit").rows(5)[3].norm().detach()), 4)
    1.0
    """

    _by_formula = False

    def __init_subclass__(cls, **options: object) -> None:
        super().__init_subclass__(**options)
        cls._by_formula = depth(cls, "at") <= depth(cls, "table")

    def __init__(
        self, d_model: int, n_heads: int, max_length: int, *, scale: str = "paper"
    ) -> None:
        super().__init__(d_model, n_heads, max_length)
        self.scale = _checks.choice("scale", scale, SCALES)
        self.gain = nn.Parameter(torch.ones(())) if scale == "learned" else None

    def reset_parameters(self) -> None:
        """Draw all that is learned anew, as at the start."""
        if self.gain is not None:
            nn.init.ones_(self.gain)

    @abstractmethod
    def table(self, length: int) -> Tensor:
        """Return the rows for positions 0 to length - 1 in the authors' scale.

        What is computed from positions must be in float32 at least: bfloat16 does not tell 256
        from 257.
        """

    def at(self, positions: Tensor) -> Tensor | None:  # noqa: ARG002
        """Return the rows of any positions (...) as (..., d_model), or None without a formula."""
        return None

    def rows(self, length: int) -> Tensor:
        """Return the rows that are added: (length, d_model), in the chosen scale."""
        return self._scaled(self.table(length))

    def _scaled(self, table: Tensor) -> Tensor:
        table = precise(table)
        if self.scale in ("unit", "loud"):
            norm = 1 if self.scale == "unit" else (self.d_model / 2) ** 0.5
            return norm * nn.functional.normalize(table, dim=-1)
        return table if self.gain is None else self.gain * table

    def embed(self, x: Tensor, places: Places | None = None) -> Tensor:
        if places is None or is_plain(places):
            return x + self.rows(x.shape[1]).to(x.dtype)
        return x + self._scaled(self._anywhere(places.of_queries)).to(x.dtype)

    def _anywhere(self, steps: Steps) -> Tensor:
        """Return the rows of tokens that stand anywhere, in the authors' scale."""
        rows = self.at(steps.positions) if self._by_formula else None
        return self._from_table(steps) if rows is None else rows

    def _from_table(self, steps: Steps) -> Tensor:
        who = f"{type(self).__name__} has one row for each"
        index = None if steps.given is None else steps.whole(who, lowest=0)
        end = steps.end(self.max_length)
        try:
            table = self.table(end)
        except ValueError as error:
            raise ValueError(
                f"{steps.name} must lie in the table, got {end - 1}: {error}"
            ) from error
        return table[steps.first :] if index is None else nn.functional.embedding(index, table)
