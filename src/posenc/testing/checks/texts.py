"""Texts, and the ways in which they can be handed over; none of these may change an answer."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from posenc.testing.adapters.base import Adapter, counted


@dataclass(frozen=True)
class Laid:
    """Texts laid out as a batch: what is handed over, and where each text stands in it.

    Attributes
    ----------
    x : Tensor of shape (rows, columns) or (rows, columns, width)
    given : dict
        `padding`, `documents`, `positions`, as far as they are needed.
    spans : list of (row, first column, last column)
    """

    x: Tensor
    given: dict[str, Tensor]
    spans: list[tuple[int, int, int]]

    def texts(self, out: Tensor) -> list[Tensor]:
        """Return the outputs of each text, (1, length, width)."""
        return [out[row : row + 1, start:end] for row, start, end in self.spans]


Rows = Sequence[Sequence[int]]
"""Lengths of the texts in each row."""


def lay_out(subject: Adapter, rows: Rows, side: str = "right", *, gap: float | None = None) -> Laid:
    """Return texts of these lengths, one behind the other, in rows that are filled on a side.

    Parameters
    ----------
    subject : Adapter
    rows : lengths of the texts in each row
    side : {"left", "right"}
        Where shorter rows are filled up, with tokens of their own.
    gap : float, optional
        Positions are handed over, and in the middle of each text they leave out so many steps.

    Returns
    -------
    Laid
    """
    columns = max(map(sum, rows))
    x, filler = subject.tokens(len(rows), columns), subject.tokens(len(rows), columns, seed=9)
    real = torch.zeros(x.shape[:2], dtype=torch.bool)
    documents = torch.zeros(x.shape[:2], dtype=torch.long)
    places = torch.zeros(x.shape[:2])
    spans = []
    for r, lengths in enumerate(rows):
        end = columns - sum(lengths) if side == "left" else 0
        for number, length in enumerate(lengths):
            start, end = end, end + length
            spans.append((r, start, end))
            real[r, start:end] = True
            documents[r, start:] = number
            places[r, start:end] = _steps(length, r + 2 * number, gap or 0)
    x = torch.where(real.view(*real.shape, *[1] * (x.ndim - 2)), x, filler)
    given: dict[str, Tensor] = {}
    if not real.all():
        given["padding"] = real
    if documents.any():
        given["documents"] = documents
    if gap is not None:
        whole = bool((places == places.round()).all())
        given["positions"] = _axes(subject, places.long() if whole else places)
    return Laid(x, given, spans)


def _steps(length: int, first: int, gap: float) -> Tensor:
    t = torch.arange(length)
    return first + t + gap * (t > length // 2)


def _axes(subject: Adapter, places: Tensor) -> Tensor:
    """Return places with axes behind, if there are several: each slower than the one before."""
    if subject.axes == 1:
        return places
    return torch.stack([places // (axis + 1) for axis in range(subject.axes)], -1)


def in_pieces(
    subject: Adapter, x: Tensor, sizes: Sequence[int], *, so_far: bool = False, **given: Tensor
) -> Tensor:
    """Return the outputs of tokens that are handed over a few at a time.

    Masks are those of the piece, or of all tokens `so_far`.
    """
    cache, outs, at = subject.cache(), [], 0
    if subject.needs_positions and "positions" not in given:
        given["positions"] = subject.placed(counted(x, given))
    for piece in x.split(list(sizes), dim=1):
        start, at = at, at + piece.shape[1]
        part = {
            word: value[:, 0 if so_far and word != "positions" else start : at]
            for word, value in given.items()
        }
        outs.append(subject.outputs(piece, cache=cache, **part))
    return torch.cat(outs, 1)


def alone(subject: Adapter, laid: Laid) -> list[Tensor]:
    """Return the outputs of each text by itself, (1, length, width), at the places it has."""
    outs = []
    for row, start, end in laid.spans:
        at = slice(row, row + 1), slice(start, end)
        given = {"positions": laid.given["positions"][at]} if "positions" in laid.given else {}
        outs.append(subject.outputs(laid.x[at], **given))
    return outs
