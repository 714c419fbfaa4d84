"""Learned tables for another length: what was learned stays at its position or offset."""

from collections.abc import Sequence
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
    outermost rows serve all beyond. The first `still` rows are no positions and stay as they are.
    """

    tables: tuple[str, ...] = ()
    axis: int = 0
    n: int = 0
    zero: int = 0
    reach: int = 0
    clipped: bool = False
    still: int = 0


@runtime_checkable
class _Resizable(Protocol):
    """An encoding with a learned table."""

    def _learned_rows(self) -> Rows: ...
    def reset_parameters(self) -> None: ...


@torch.no_grad()
def resize(position: Position, max_length: int, *, interpolate: bool = False) -> Position:
    """Return an encoding with a learned table for another length, keeping what was learned.

    A row stays at its position, or at its offset. A table that is cut loses the last positions, or
    the largest offsets. One that grows gets rows for new ones: in "learnable", "tupe", "erpe" and
    "distance_profiles" they are drawn as at the start, as nobody has learned them; in "relative"
    and "deberta" new offsets get what they had before, the vector of the outermost one, so that
    nothing changes until they are trained. "t5" and "cope" have tables that hang on no length and
    are copied.

    Parameters
    ----------
    position : Position
        One of those eight; it stays as it is.
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
    tables = _with_room(new, position, rows)
    new.reset_parameters()
    kept = position.state_dict()
    for name, place in new.state_dict().items():
        if name in tables:
            old, fresh = (x.movedim(rows.axis, 0) for x in (kept[name], place))
            fresh.copy_(_moved(old, fresh, old_rows, rows, interpolate=interpolate))
        else:
            place.copy_(kept[name])
    return new


def _with_room(new: Position, position: Position, rows: Rows) -> list[str]:
    """Give an encoding tables of so many rows, yet to be filled, and return their names."""
    tables = [name for name in rows.tables if getattr(position, name) is not None]
    for name in tables:
        old = getattr(position, name)
        shape = [*old.shape[: rows.axis], rows.n, *old.shape[rows.axis + 1 :]]
        setattr(new, name, nn.Parameter(old.new_empty(shape), old.requires_grad))
    return tables


Grid = tuple[int, int]


@torch.no_grad()
def resize_grid(
    position: Position,
    old: Grid,
    new: Grid,
    *,
    prefix: int = 0,
    mode: str = "bicubic",
    antialias: bool = True,
    overshoot: float = 0.0,
) -> Position:
    """Return learned positions of the patches of a picture for another size of it.

    The rows are those of a picture's patches, row by row, and are resampled as if each of their
    d_model numbers were an image, which is how vision transformers serve other resolutions
    (Dosovitskiy et al. 2021, section 3.2). `resize` does so along one axis.

    Parameters
    ----------
    position : Position
        "learnable" or "tupe", with `max_length` = prefix + height * width of the old grid; it stays
        as it is.
    old, new : (int, int)
        Height and width in patches.
    prefix : int
        First positions that belong to no patch, such as that of a class token, at least 0. They are
        kept.
    mode : {"bicubic", "bilinear"}
    antialias : bool
        Whether a smaller grid averages over all old patches that it covers, as timm and DINOv2 with
        registers have it; with a larger one the kernel of "bicubic" differs slightly, too.
    overshoot : float
        Added to the new height and width before the scale is computed, though not to their sizes;
        DINOv2 without registers has 0.1, and no `antialias`. At least 0, below 1.

    Returns
    -------
    Position
        With parameters of its own, of the same type and on the same device, for
        prefix + height * width tokens of the new grid.

    Raises
    ------
    ValueError
        If the encoding has no learned row for each position, the old grid is not that of its table,
        or an option is out of range.

    Notes
    -----
    A grid that stays as it is is copied. The resampling is torch's `interpolate`, with
    `align_corners=False`, in float32 at least.

    Source: Dosovitskiy et al. (2021), section 3.2; Oquab et al. (2024), DINOv2, and their program.

    Examples
    --------
    >>> from posenc.encodings import make
    >>> small = make("learnable", 8, 2, 1 + 7 * 7)
    >>> large = resize_grid(small, (7, 7), (14, 10), prefix=1)
    >>> large.vectors.shape, torch.equal(large.vectors[0], small.vectors[0])
    (torch.Size([141, 8]), True)
    """
    old, new = _grid("old", old), _grid("new", new)
    prefix = _checks.count("prefix", prefix, minimum=0)
    _checks.choice("mode", mode, ("bicubic", "bilinear"))
    _checks.flag("antialias", antialias)
    _checks.probability("overshoot", overshoot)
    rows = position._learned_rows() if isinstance(position, _Resizable) else Rows()
    if not isinstance(position, Position) or rows.n != rows.still + position.max_length:
        raise ValueError(
            f"position must be an encoding with a learned row for each position, "
            f"got {type(position).__name__}"
        )
    if position.max_length != prefix + old[0] * old[1]:
        raise ValueError(
            f"old must be the grid of the table, whose {position.max_length} rows are prefix + "
            f"height * width, got {old} with prefix={prefix}"
        )
    resized = deepcopy(position)
    if new == old:
        return resized
    resized.max_length = prefix + new[0] * new[1]
    wanted = rows._replace(n=rows.still + resized.max_length)
    for name in _with_room(resized, position, wanted):
        kept, patches = getattr(position, name).tensor_split([rows.still + prefix])
        images = precise(patches).mT.unflatten(-1, old)[None]
        found = _resampled(images, new, mode, antialias, overshoot)[0].flatten(1).mT
        getattr(resized, name).copy_(torch.cat((kept, found.to(kept.dtype))))
    return resized


def _resampled(images: Tensor, size: Grid, mode: str, antialias: bool, overshoot: float) -> Tensor:
    """Return images (1, channels, height, width) in another size."""
    scale = tuple((n + overshoot) / m for n, m in zip(size, images.shape[2:], strict=True))
    how = {"scale_factor": scale} if overshoot else {"size": size}
    return nn.functional.interpolate(
        images, mode=mode, align_corners=False, antialias=antialias, **how
    )


def _grid(name: str, sizes: Grid) -> Grid:
    """Return height and width, or raise ValueError unless these are two whole numbers."""
    if isinstance(sizes, str) or not isinstance(sizes, Sequence) or len(sizes) != 2:
        raise ValueError(f"{name} must be two numbers, height and width, got {sizes!r}")
    height, width = (_checks.count(name, size, minimum=1) for size in sizes)
    return height, width


def _moved(old: Tensor, fresh: Tensor, old_rows: Rows, rows: Rows, *, interpolate: bool) -> Tensor:
    """Return the rows of a new table: learned ones where there are any, else fresh ones."""
    scale = old_rows.reach / max(rows.reach, 1) if interpolate else 1.0
    row = torch.arange(rows.n, dtype=torch.float64)
    at = old_rows.zero + (row - rows.zero) * scale
    at[: rows.still] = row[: rows.still]
    last = old_rows.n - 1
    there = at.clamp(0, last)
    wide, low = precise(old), there.floor().long().to(old.device)
    share = (there - there.floor()).view(-1, *(1 for _ in old.shape[1:])).to(wide)
    found = torch.lerp(wide[low], wide[(low + 1).clamp(max=last)], share)
    if interpolate or old_rows.clipped:
        return found
    return found.to(old.dtype).where((at == there).view(share.shape).to(old.device), fresh)
