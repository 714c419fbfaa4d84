"""The five wished-for properties of an encoding, measured.

The wishes are those of the chapter that derives sinusoids from raw indices: a compatible scale,
unique and repeatable rows, a relative structure that is the same everywhere, room to extend, and
small steps between neighbours. Each becomes one number with a threshold.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from posenc import _checks, faithfulness
from posenc_book.teaching.table import Table

OFFSETS = (1, 2, 5, 10)

# A wish counts as met on this side of its threshold. Token embeddings are taken to have a
# standard deviation of about 1 per dimension, so a value of 3 is already rare among them.
LARGEST_VALUE = 3.0
SEPARATION = 1e-6
OFFSET_VARIATION = 1e-6
ROW_CHANGE = 1e-9
LARGEST_STEP = 0.75

# The wishes in the order of the chapters, and the measurement that answers each.
_COLUMNS = {
    "scale": "largest_value",
    "unique": "separation",
    "relative": "offset_variation",
    "extendable": "row_change",
    "smooth": "largest_step",
}


@dataclass(frozen=True)
class Scorecard:
    """Measurements of one encoding, each with the wish that it answers.

    Parameters
    ----------
    largest_value : float
        Largest absolute entry (wish 1, scale).
    mean_value : float
        Mean entry; 0 for an encoding centred like token embeddings (wish 1, scale).
    separation : float
        Smallest distance between two rows (wish 2, unique).
    repeatable : bool
        Whether a second call gives the same bits (wish 2, deterministic).
    offset_variation : float
        How much the distance between positions t and t + k varies over t and over two sequence
        lengths, relative to its mean; worst over the offsets (wish 3, relative structure).
    row_change : float
        Largest change of an old row when the length doubles (wish 4, extendability).
        Infinite if the encoding cannot be extended.
    largest_step : float
        Largest distance between neighbours, relative to the mean distance between two rows
        (wish 5, smoothness).
    """

    largest_value: float
    mean_value: float
    separation: float
    repeatable: bool
    offset_variation: float
    row_change: float
    largest_step: float

    @property
    def wishes(self) -> dict[str, bool]:
        """Which of the five wishes are met, by this module's thresholds."""
        return {
            "scale": self.largest_value <= LARGEST_VALUE,
            "unique": self.separation > SEPARATION and self.repeatable,
            "relative": self.offset_variation <= OFFSET_VARIATION,
            "extendable": self.row_change <= ROW_CHANGE,
            "smooth": self.largest_step <= LARGEST_STEP,
        }


def measure(make_table: Callable[[int], NDArray], n_positions: int = 100) -> Scorecard:
    """Return the scorecard of an encoding.

    Parameters
    ----------
    make_table : callable
        Takes a number of positions, returns the table of shape (n_positions, d_model). A table
        may grow wider with the length; missing columns then count as zeros on the left, like the
        leading zeros of a number.
    n_positions : int
        Length at which to measure, more than twice the largest offset; twice as many positions
        are tried as well.

    Returns
    -------
    Scorecard

    Raises
    ------
    ValueError
        If `n_positions` is too small.

    Examples
    --------
    >>> from posenc import tables
    >>> measure(tables.index).largest_value  # the raw index has no scale
    99.0
    """
    _checks.count("n_positions", n_positions, minimum=2 * max(OFFSETS) + 1)
    table = np.asarray(make_table(n_positions), dtype=np.float64)
    longer = _longer_table(make_table, n_positions)
    return Scorecard(
        largest_value=float(np.abs(table).max()),
        mean_value=float(table.mean()),
        separation=faithfulness.separation(table),
        repeatable=np.array_equal(table, make_table(n_positions)),
        offset_variation=_offset_variation([table] if longer is None else [table, longer]),
        row_change=np.inf if longer is None else _row_change(table, longer),
        largest_step=largest_step(table),
    )


def render(cards: dict[str, Scorecard]) -> str:
    """Return scorecards as a text table: one row per encoding, a star where a wish is met."""
    width = max([16, *(len(name) + 1 for name in cards)])
    head = f"{'encoding':<{width}}" + "".join(f"{wish:>13}" for wish in _COLUMNS)
    lines = [head, "-" * len(head)]
    for name, card in cards.items():
        numbers = [_number(getattr(card, field)) for field in _COLUMNS.values()]
        marks = [" *" if met else "  " for met in card.wishes.values()]
        cells = "".join(f"{n + m:>13}" for n, m in zip(numbers, marks, strict=True))
        lines.append(f"{name:<{width}}{cells}")
    return "\n".join([*lines, "* the wish is met"])


def scorecard_table(cards: dict[str, Scorecard]) -> Table:
    """Return scorecards as a rendered table: one row per encoding, a tick where a wish is met.

    Parameters
    ----------
    cards : dict from an encoding's name to its scorecard.

    Returns
    -------
    Table

    Raises
    ------
    ValueError
        If there is no card.

    Examples
    --------
    >>> from posenc import tables
    >>> found = scorecard_table({"binary": measure(tables.binary)})
    >>> found.rows["binary"]["unique"], found.rows["binary"]["smooth"]
    ('1 ✓', '1.45 ✗')
    """
    return Table(
        {
            name: {
                wish: f"{_number(getattr(card, field))} {'✓' if card.wishes[wish] else '✗'}"
                for wish, field in _COLUMNS.items()
            }
            for name, card in cards.items()
        },
        head="encoding",
        caption="Five wishes, measured: ✓ met, ✗ not met.",
    )


def _number(value: float) -> str:
    """Return `value` in few characters, with rounding noise shown as 0."""
    if np.isinf(value):
        return "refuses"
    return f"{0 if value < 1e-9 else value:.3g}"


def _longer_table(
    make_table: Callable[[int], NDArray], n_positions: int
) -> NDArray[np.float64] | None:
    """Return the table of twice the length, or None where the encoding refuses."""
    try:
        return np.asarray(make_table(2 * n_positions), dtype=np.float64)
    except ValueError:
        return None


def _offset_variation(tables: list[NDArray[np.float64]]) -> float:
    """Return (max - min) / mean of the distances at one offset, worst over the offsets."""
    worst = 0.0
    for k in OFFSETS:
        distances = np.concatenate([np.linalg.norm(t[k:] - t[:-k], axis=1) for t in tables])
        worst = max(worst, _ratio(np.ptp(distances), distances.mean()))
    return float(worst)


def _row_change(table: NDArray[np.float64], longer: NDArray[np.float64]) -> float:
    """Return the largest change of the first rows after the table has grown."""
    padding = longer.shape[1] - table.shape[1]
    padded = np.pad(table, ((0, 0), (padding, 0)))
    return float(np.abs(longer[: len(table)] - padded).max())


def largest_step(table: NDArray[np.float64]) -> float:
    """Return the largest neighbour distance over the mean distance of two different rows."""
    n = len(table)
    squares = np.sum(table**2, axis=1)
    squared = squares[:, None] + squares - 2 * faithfulness.gram(table)
    mean_distance = np.sqrt(np.maximum(squared, 0)).sum() / (n * (n - 1))
    return _ratio(np.linalg.norm(np.diff(table, axis=0), axis=1).max(), mean_distance)


def _ratio(part: float, whole: float) -> float:
    """Return part / whole, and 0 where nothing moves at all."""
    return float(part / whole) if part else 0.0
