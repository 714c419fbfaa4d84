"""The blocks that test: each is forecast by models that have learned from what lies before it."""

from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from posenc import _checks
from posenc_book.forecast.grid import Grid
from posenc_book.forecast.units import Series, Shape, Unit, naive_error
from posenc_book.forecast.windows import cut

TESTED = 0.3  # of all steps, in all blocks together
CHOOSING = 0.1  # of all steps; they lie before each block and choose rate and checkpoint
LEAST_WINDOWS = 32  # to learn from
LEAST_PANEL = 5  # series of which some may choose for the others
FEWEST_BLOCKS = 2


def shape(season: int, horizon: int, context: int | None = None) -> Shape:
    """Return how a file is looked at; by default at four seasons of up to a day of hours."""
    _checks.count("horizon", horizon, minimum=1)
    _checks.count("season", season, minimum=1)
    if context is None:
        context = max(2 * horizon, min(4 * season, 96), season, 8)
    context = _checks.count("context", context, minimum=4)
    if season > context:
        raise ValueError(
            f"context must be at least a season of {season} steps, got {context}; or name a "
            "shorter --season"
        )
    patch = next(size for least, size in ((96, 8), (36, 6), (24, 4), (0, 2)) if context >= least)
    return Shape(season, context, horizon, patch)


@dataclass(frozen=True, eq=False)
class Layout:
    """Series and the blocks of their last third.

    Parameters
    ----------
    stem : str
        Names the file.
    names : list of str
    values : array of shape (n_series, n_steps)
    calendar : array of shape (n_steps, 4), or None
    shape : Shape
    n_blocks : int
    known : array of shape (n_series, n_steps, n_known), optional
        What is known ahead.
    """

    stem: str
    names: list[str]
    values: NDArray[np.float64]
    calendar: NDArray[np.float64] | None
    shape: Shape
    n_blocks: int
    known: NDArray[np.float64] | None = None

    @property
    def n_steps(self) -> int:
        """Steps of the file."""
        return self.values.shape[1]

    @property
    def length(self) -> int:
        """Steps of a block: whole horizons."""
        return _length(self.n_steps, self.shape.horizon, self.n_blocks)

    @property
    def choosing(self) -> int:
        """Steps that choose, before each block."""
        return _choosing(self.n_steps, self.shape.horizon)

    @cached_property
    def panel(self) -> bool:
        """Whether series are so short that whole ones choose, as in the competitions."""
        return self.n_steps < least_steps(self.n_steps, self.shape, self.n_blocks)

    def begin(self, block: int) -> int:
        """Return the first step of a block."""
        return self.n_steps - (self.n_blocks - block) * self.length

    def unit(self, block: int) -> Unit:
        """Return a block as a unit of the experiment; nothing behind the block is in it."""
        begin = self.begin(block)
        learned = begin if self.panel else begin - self.choosing
        kept = []
        for number, values in enumerate(self.values[:, : begin + self.length]):
            there = np.flatnonzero(np.isfinite(values))
            first = int(there[0]) if self.calendar is None and there.size else 0
            known = self._known(number, first, len(values))
            ends = learned - first, begin - first, len(values) - first
            one = Series(values[first:], *ends, known)
            if _serves(one, self.shape):
                kept.append(one)
        calendar = None if self.calendar is None else self.calendar[: begin + self.length]
        unit = Unit("", self.shape, kept, calendar, len(self.values) - len(kept))
        return replace(unit, name=f"{self.stem}:block={block}:{unit.fingerprint}")

    def _known(self, series: int, first: int, end: int) -> NDArray[np.float64] | None:
        """Return what a step is shown of each column known ahead: its own, and a horizon later.

        Columns are scaled by what lies before all blocks; steps without a row stand at the mean.
        """
        if self.known is None:
            return None
        learned = self.known[:, : self.begin(0)].reshape(-1, self.known.shape[2])
        learned = learned[np.isfinite(learned).all(axis=1)]
        spread = learned.std(axis=0)
        scaled = (self.known[series] - learned.mean(axis=0)) / np.where(spread > 0, spread, 1)
        own = np.nan_to_num(scaled[first:end])
        later = np.zeros_like(own)
        later[: -self.shape.horizon] = own[self.shape.horizon :]
        return np.concatenate((own, later), axis=1)


def _serves(one: Series, shape: Shape) -> bool:
    return one.learned >= shape.context + shape.horizon and naive_error(one, shape) > 0


def lay_out(
    path: Path,
    grid: Grid,
    shape: Shape,
    n_blocks: int,
    *,
    calendar: bool = False,
    context: int | None = None,
) -> Layout:
    """Return the blocks of a file, or raise ValueError if it is too short or has nothing to learn.

    Parameters
    ----------
    path : pathlib.Path
        The file.
    grid : Grid
    shape : Shape
    n_blocks : int
        At least two, as one tells nothing of the next.
    calendar : bool
        Whether calendar features join the values.
    context : int, optional
        The context that was asked for; without, it goes with the horizon.
    """
    _checks.count("blocks", n_blocks, minimum=FEWEST_BLOCKS)
    features = grid.calendar if calendar else None
    known = grid.known if grid.known.size else None
    if known is not None and shape.context < shape.horizon:
        raise ValueError(
            f"context must be at least the horizon of {shape.horizon:,} steps, or not all that is "
            f"known ahead would be seen, got {shape.context:,}"
        )
    stem = path.name.removesuffix(".gz").removesuffix(".csv")
    layout = Layout(stem, grid.names, grid.values, features, shape, n_blocks, known)
    few = len(grid.names) < LEAST_PANEL
    if layout.panel and (few or layout.begin(0) < shape.context + shape.horizon):
        raise ValueError(f"{path}: {_too_short(layout, context)}")
    _check_learnable(path, layout, grid)
    for block in range(n_blocks):
        parts = cut(layout.unit(block), calendar=calendar)
        for part, windows in vars(parts).items():
            if not len(windows):
                raise ValueError(
                    f"{path}: at block {block + 1} of {n_blocks} no window is left for {part}, as "
                    "half of its context or of its horizon is unknown; fill the gaps, or take a "
                    "shorter --context or fewer --blocks"
                )
    return layout


def least_steps(n_steps: int, shape: Shape, n_blocks: int) -> int:
    """Return how many steps are needed if each series is divided in time."""
    learned = shape.context + shape.horizon + LEAST_WINDOWS - 1
    tested = n_blocks * _length(n_steps, shape.horizon, n_blocks)
    return learned + _choosing(n_steps, shape.horizon) + tested


def _length(n_steps: int, horizon: int, n_blocks: int) -> int:
    return max(1, int(TESTED * n_steps) // (n_blocks * horizon)) * horizon


def _choosing(n_steps: int, horizon: int) -> int:
    return max(2 * horizon, int(CHOOSING * n_steps))


def _too_short(layout: Layout, context: int | None) -> str:
    """Return what a file is too short for, and what would fit."""
    n, asked, n_blocks = layout.n_steps, layout.shape, layout.n_blocks

    def fits(horizon: int) -> bool:
        return least_steps(n, shape(asked.season, horizon, context), n_blocks) <= n

    longest = next((h for h in range(min(n, asked.horizon - 1), 0, -1) if fits(h)), 0)
    said = (
        f"{n:,} steps are too few for a horizon of {asked.horizon:,} with a context "
        f"of {asked.context:,} and {n_blocks} blocks, which need "
        f"{least_steps(n, asked, n_blocks):,}"
    )
    if longest:
        return f"{said}; --horizon {longest} would fit"
    return f"{said}; take a shorter --context, fewer --blocks, or a longer file"


def _check_learnable(path: Path, layout: Layout, grid: Grid) -> None:
    """Raise ValueError if no series of the first block has anything to forecast."""
    if layout.unit(0).series:
        return
    learned = layout.begin(0) - (0 if layout.panel else layout.choosing)
    known = grid.values[0, :learned]
    lines = grid.lines[0, :learned][np.isfinite(known)]
    known = known[np.isfinite(known)]
    name = grid.names[0] if len(grid.names) == 1 else f"{grid.names[0]}, like all other series,"
    if len(known) < layout.shape.context + layout.shape.horizon:
        why = f"{name} has {len(known)} known values in the first {learned} steps, too few to learn"
    elif np.ptp(known) == 0:
        why = (
            f"{name} is {known[0]:g} in all of lines {lines[0]} to {lines[-1]}, where one learns: "
            "there is nothing to forecast"
        )
    else:
        why = (
            f"{name} repeats itself every {layout.shape.season} steps in lines {lines[0]} to "
            f"{lines[-1]}: the seasonal naive forecast makes no error there that could be a "
            "measure; name another --season"
        )
    raise ValueError(f"{path}: {why}")
