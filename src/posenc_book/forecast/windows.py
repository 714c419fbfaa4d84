"""Windows of a unit: a context and what follows it, scaled by the context alone."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from torch import Tensor

from posenc_book.forecast.units import Series, Unit, naive_error

LEAST_KNOWN = 0.5  # of a context and of a horizon
LEAST_SCALE = 0.1  # of the seasonal naive error, so that a flat context does not blow up
MOST_CHOSEN = 2000
HELD_OUT = 0.2  # of the series of a panel choose the checkpoint


@dataclass(frozen=True, eq=False)
class Windows:
    """Windows as places in one long row of values; `take` cuts and scales them.

    Parameters
    ----------
    values : Tensor of shape (n_values,)
        All series of the unit, one behind the other; not-a-number where a value is missing.
    origins : Tensor of shape (n_windows,)
        Index of the first step that is forecast.
    naive : Tensor of shape (n_windows,)
        The seasonal naive error of each window's series.
    series, first : Tensor of shape (n_windows,)
        Number of each window's series, and index of its first value.
    context, horizon : int
    gaps : bool
        Whether any value is missing.
    calendar : Tensor of shape (n_values, n_features) or None
        What joins the values as further channels: of the calendar, or known ahead.
    order : Tensor of shape (n_windows, context) or None
        In which order each window's steps are shown, for the shuffled controls.
    """

    values: Tensor
    origins: Tensor
    naive: Tensor
    series: Tensor
    first: Tensor
    context: int
    horizon: int
    gaps: bool
    calendar: Tensor | None = None
    order: Tensor | None = None

    def __len__(self) -> int:
        return len(self.origins)

    def take(self, rows: Tensor, longer: int = 1) -> tuple[Tensor, Tensor | None, Tensor, Tensor]:
        """Return scaled contexts, their mask, scaled targets, and scales in naive errors.

        (..., context, channels), (..., context) bool or None, (..., horizon), (..., 1) for rows
        (...). With `longer` the context reaches so many times further back, scaled as before.
        """
        length = longer * self.context
        origins = self.origins[rows].unsqueeze(-1)
        steps = torch.arange(-length, self.horizon, device=rows.device)
        index = origins + steps
        near, target = self.values[index].split((length, self.horizon), -1)
        real = near.isfinite() if self.gaps else None
        anchor, scale = self._level(near[..., -self.context :])
        scale = scale.maximum(LEAST_SCALE * self.naive[rows].unsqueeze(-1))
        x = ((near - anchor) / scale).unsqueeze(-1)
        if real is not None:
            x = x.nan_to_num(0.0)
        if self.calendar is not None:
            x = torch.cat((x, self.calendar[index[..., :length]]), -1)
        if self.order is not None:
            order = self.order[rows].long()
            x = x.gather(-2, order.unsqueeze(-1).expand(x.shape))
            real = None if real is None else real.gather(-1, order)
        return x, real, (target - anchor) / scale, scale / self.naive[rows].unsqueeze(-1)

    def _level(self, context: Tensor) -> tuple[Tensor, Tensor]:
        """Return the last known value and the mean distance from the mean, each (..., 1)."""
        if not self.gaps:
            anchor = context[..., -1:]
            return anchor, (context - context.mean(-1, keepdim=True)).abs().mean(-1, keepdim=True)
        step = torch.arange(self.context, device=context.device)
        last = (step * context.isfinite()).argmax(-1, keepdim=True)
        spread = (context - context.nanmean(-1, keepdim=True)).abs().nanmean(-1, keepdim=True)
        return context.gather(-1, last), spread

    def reaching(self, longer: int) -> "Windows":
        """Return the windows whose longer context lies within their own series."""
        there = self.origins - longer * self.context >= self.first
        return self.only(torch.nonzero(there).squeeze(1))

    def to(self, device: torch.device) -> "Windows":
        """Return the same windows on another device."""
        moved: dict[str, Any] = {
            k: v.to(device) for k, v in vars(self).items() if isinstance(v, Tensor)
        }
        return replace(self, **moved)

    def only(self, rows: Tensor) -> "Windows":
        """Return some of the windows."""
        names = ("origins", "naive", "series", "first") + (() if self.order is None else ("order",))
        return replace(self, **{name: getattr(self, name)[rows] for name in names})


@dataclass(frozen=True, eq=False)
class Parts:
    """The windows that are learned from, that choose the checkpoint, and that test."""

    train: Windows
    validation: Windows
    test: Windows


def cut(unit: Unit, *, seed: int = 0, calendar: bool = False, shuffled: str = "") -> Parts:
    """Return the windows of a unit; in a panel the seed decides which series choose.

    No step of a test part is in a target of the first two parts, nor in any scale.
    """
    rng = np.random.default_rng(seed)
    chooses = np.zeros(len(unit.series), bool)
    if unit.panel:
        n_held = max(1, round(HELD_OUT * len(chooses)))
        chooses[rng.permutation(len(chooses))[:n_held]] = True
    starts = np.cumsum([0, *(len(one.values) for one in unit.series)])
    found: dict[str, list[tuple[np.ndarray, int]]] = {"train": [], "validation": [], "test": []}
    for number, (one, choosing) in enumerate(zip(unit.series, chooses, strict=True)):
        for name, origins in _origins(one, unit, bool(choosing)).items():
            found[name].append((starts[number] + _known(one, unit, origins), number))
    base = _base(unit, calendar)
    parts = {name: _windows(base, unit, pairs) for name, pairs in found.items()}
    parts["validation"] = _some(parts["validation"], MOST_CHOSEN, seed)
    if shuffled:
        parts = {name: _shuffle(part, unit, shuffled, rng) for name, part in parts.items()}
    return Parts(**parts)


def _origins(one: Series, unit: Unit, chooses: bool) -> dict[str, np.ndarray]:
    """Return the first forecast steps of a series' windows, for each part that it serves."""
    first, ahead = unit.shape.context, unit.shape.horizon
    learned = np.arange(first, one.learned - ahead + 1)
    test = np.arange(max(first, one.chosen), one.end - ahead + 1, ahead)
    if unit.panel:
        none = np.arange(0)
        train, validation = (none, learned) if chooses else (learned, none)
    else:
        train = learned
        validation = np.arange(max(first, one.learned), one.chosen - ahead + 1)
    return {"train": train, "validation": validation, "test": test}


def _known(one: Series, unit: Unit, origins: np.ndarray) -> np.ndarray:
    """Return those origins around which enough is known."""
    counted = np.concatenate(([0], np.isfinite(one.values).cumsum()))
    near = (counted[origins] - counted[origins - unit.shape.context]) / unit.shape.context
    ahead = (counted[origins + unit.shape.horizon] - counted[origins]) / unit.shape.horizon
    return origins[np.minimum(near, ahead) >= LEAST_KNOWN]


def _base(unit: Unit, calendar: bool) -> Windows:
    values = np.concatenate([one.values for one in unit.series])
    if calendar and unit.calendar is None:
        raise ValueError(f"calendar must be False for {unit.name}, whose files have no times")
    parts = [one.known for one in unit.series if one.known is not None]
    joining = [np.concatenate(parts)] if parts else []
    if calendar and unit.calendar is not None:
        joining.insert(0, np.tile(unit.calendar, (len(unit.series), 1)))
    features = np.concatenate(joining, axis=1) if joining else None
    none = torch.empty(0, dtype=torch.long)
    return Windows(
        torch.from_numpy(values).float(),
        none,
        torch.empty(0),
        none,
        none,
        unit.shape.context,
        unit.shape.horizon,
        bool(np.isnan(values).any()),
        None if features is None else torch.from_numpy(features).float(),
    )


def _windows(base: Windows, unit: Unit, pairs: Sequence[tuple[np.ndarray, int]]) -> Windows:
    errors = [naive_error(one, unit.shape) for one in unit.series]
    lengths = [len(one.values) for one in unit.series]
    first = torch.from_numpy(np.cumsum([0, *lengths[:-1]]))
    n_each = [len(origins) for origins, _ in pairs]
    numbers = np.repeat([number for _, number in pairs], n_each).astype(np.int64)
    origins = np.concatenate([origins for origins, _ in pairs]).astype(np.int64)
    return replace(
        base,
        origins=torch.from_numpy(origins),
        series=torch.from_numpy(numbers),
        first=first[torch.from_numpy(numbers)],
        naive=torch.tensor(errors, dtype=torch.float32)[torch.from_numpy(numbers)],
    )


def _some(windows: Windows, most: int, seed: int) -> Windows:
    if len(windows) <= most:
        return windows
    rows = np.random.default_rng(seed).permutation(len(windows))[:most]
    return windows.only(torch.from_numpy(np.sort(rows)))


def _shuffle(windows: Windows, unit: Unit, what: str, rng: np.random.Generator) -> Windows:
    """Give each window an order of its own, in which its steps or patches are shown."""
    size = 1 if what == "steps" else unit.shape.patch
    blocks = rng.random((len(windows), unit.shape.context // size)).argsort(1)
    order = (blocks[..., None] * size + np.arange(size)).reshape(len(windows), -1)
    return replace(windows, order=torch.from_numpy(order.astype(np.uint8)))


def joined(windows: Sequence[Windows]) -> tuple[Windows, list[int]]:
    """Return windows of several units or splits in one row, and where in it each one's begin."""
    distinct = list({id(one): one for one in windows}.values())
    n_values = np.cumsum([0, *(len(one.values) for one in distinct)]).tolist()
    n_windows = np.cumsum([0, *map(len, distinct)]).tolist()
    begins = {id(one): start for one, start in zip(distinct, n_windows, strict=False)}
    starts = [begins[id(one)] for one in windows]
    first = distinct[0]
    if len(distinct) == 1:
        return first, starts
    row: dict[str, Any] = {
        name: torch.cat([getattr(one, name) for one in distinct])
        for name in ("values", "naive", "series", "calendar", "order")
        if getattr(first, name) is not None
    }
    for name in ("origins", "first"):
        moved = [getattr(one, name) + n for one, n in zip(distinct, n_values, strict=False)]
        row[name] = torch.cat(moved)
    return replace(first, **row, gaps=any(one.gaps for one in distinct)), starts
