"""Learned tables for another length: what was learned stays at its position or offset."""

from copy import deepcopy
from typing import NamedTuple, Protocol, runtime_checkable

import torch
from torch import Tensor, nn

from posenc import _checks
from posenc.attention import Position
from posenc.attention.numerics import precise


class Rows(NamedTuple):
    """Which learned tables hang on the length, and how: n rows along an axis of each.

    Row `zero` is that of position or offset 0, and `reach` the largest one. With `clipped`, the
    outermost rows serve all beyond.
    """

    tables: tuple[str, ...] = ()
    axis: int = 0
    n: int = 0
    zero: int = 0
    reach: int = 0
    clipped: bool = False


@runtime_checkable
class _Resizable(Protocol):
    """An encoding with a learned table."""

    def _learned_rows(self) -> Rows: ...
    def reset_parameters(self) -> None: ...


@torch.no_grad()
def resize(position: Position, max_length: int, *, interpolate: bool = False) -> Position:
    """Return an encoding with a learned table for another length, keeping what was learned.

    A row stays at its position, or at its offset. A table that is cut loses the last positions, or
    the largest offsets. One that grows gets rows for new ones: in "learnable", "tupe" and "erpe"
    they are drawn as at the start, as nobody has learned them; in "relative" and "deberta" new
    offsets get what they had before, the vector of the outermost one, so that nothing changes until
    they are trained. "t5" and "cope" have tables that hang on no length and are copied.

    Parameters
    ----------
    position : Position
        One of those seven; it stays as it is.
    max_length : int
        Tokens that the new one is for, at least 1.
    interpolate : bool
        Whether the table is stretched or squeezed: position t of the new length then gets what lay
        at the same share of the old one, between two rows if need be, and nothing is drawn. That is
        for a series which is sampled more finely, as vision transformers do for larger pictures
        (Dosovitskiy et al. 2021, section 3.2, along two axes).

    Returns
    -------
    Position
        With parameters of its own, of the same type and on the same device.

    Raises
    ------
    ValueError
        If the encoding has no learned table. Make it anew then; `posenc.models.transfer` hands over
        what weights it has.

    Notes
    -----
    In a model, layers may share an encoding, and should go on to:

        new = {}
        for layer in model.layers:
            old = layer.attention.position
            layer.attention.position = new.setdefault(old, resize(old, 200))

    Examples
    --------
    >>> from posenc.encodings import make
    >>> short = make("learnable", 8, 2, 100)
    >>> long = resize(short, 150)
    >>> long.vectors.shape, torch.equal(long.vectors[:100], short.vectors)
    (torch.Size([150, 8]), True)
    """
    length = _checks.count("max_length", max_length, minimum=1)
    _checks.flag("interpolate", interpolate)
    if not (isinstance(position, Position) and isinstance(position, _Resizable)):
        raise ValueError(
            f"position must be an encoding with a learned table, got {type(position).__name__}; "
            f"make it anew with max_length = {length}, and posenc.models.transfer hands over its "
            "weights"
        )
    new = deepcopy(position)
    new.max_length = length
    old_rows, rows = position._learned_rows(), new._learned_rows()
    if rows == old_rows:
        return new
    tables = [name for name in rows.tables if getattr(position, name) is not None]
    for name in tables:
        old = getattr(position, name)
        shape = [*old.shape[: rows.axis], rows.n, *old.shape[rows.axis + 1 :]]
        setattr(new, name, nn.Parameter(old.new_empty(shape), old.requires_grad))
    new.reset_parameters()
    kept = position.state_dict()
    for name, place in new.state_dict().items():
        if name in tables:
            old, fresh = (x.movedim(rows.axis, 0) for x in (kept[name], place))
            fresh.copy_(_moved(old, fresh, old_rows, rows, interpolate=interpolate))
        else:
            place.copy_(kept[name])
    return new


def _moved(old: Tensor, fresh: Tensor, old_rows: Rows, rows: Rows, *, interpolate: bool) -> Tensor:
    """Return the rows of a new table: learned ones where there are any, else fresh ones."""
    scale = old_rows.reach / max(rows.reach, 1) if interpolate else 1.0
    row = torch.arange(rows.n, dtype=torch.float64)
    at = old_rows.zero + (row - rows.zero) * scale
    last = old_rows.n - 1
    there = at.clamp(0, last)
    wide, low = precise(old), there.floor().long().to(old.device)
    share = (there - there.floor()).view(-1, *(1 for _ in old.shape[1:])).to(wide)
    found = torch.lerp(wide[low], wide[(low + 1).clamp(max=last)], share)
    if interpolate or old_rows.clipped:
        return found
    return found.to(old.dtype).where((at == there).view(share.shape).to(old.device), fresh)
