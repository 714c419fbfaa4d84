"""Single runs and their mean, a row for each thing that is compared."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from posenc_book.teaching import plots


def mean_and_runs(
    ax: plots.Axes, runs: Sequence[float] | np.ndarray, at: float, k: int, label: str | None
) -> None:
    """Mark single runs small and their mean large, in the k-th colour."""
    style: dict[str, Any] = {"color": plots.COLORS[k], "marker": "osD"[k], "linestyle": "none"}
    ax.plot(runs, np.full(len(runs), at), **style, markersize=3.5, alpha=0.45)
    ax.plot(np.mean(runs), at, **style, markersize=8, label=label)


def rows_from_above(ax: plots.Axes, names: Sequence[str], line: float) -> None:
    """Name the rows from above, with a line at a value to compare with."""
    ax.axvline(line, color="#555555", linewidth=1)
    ax.set_yticks(range(len(names)), names)
    ax.invert_yaxis()
