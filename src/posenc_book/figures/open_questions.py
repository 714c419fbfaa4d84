"""The figure of the page on open questions."""

import numpy as np
from numpy.typing import NDArray

from posenc_book.teaching import plots

HOURS_A_DAY = 24
DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")


def like_monday_noon(tables: dict[str, NDArray[np.float64]]) -> None:
    """Show how like Monday noon each hour of two weeks is, in tables of one row an hour.

    Parameters
    ----------
    tables : dict of (336, d) arrays
        By the name that the figure shows; hour 0 is midnight before Monday.
    """
    noon = HOURS_A_DAY // 2
    figure, ax = plots.new(height=3.2)
    for (name, table), color, style in zip(tables.items(), plots.COLORS, ("-", "--"), strict=False):
        rows = table / np.linalg.norm(table, axis=1, keepdims=True)
        ax.plot(rows @ rows[noon], style, color=color, label=name, linewidth=1.4)
    starts = np.arange(0, len(rows), HOURS_A_DAY)
    ax.set_xticks(starts + noon, [DAYS[i % 7] for i in range(len(starts))], fontsize=8)
    ax.set(ylabel="likeness to Monday noon", ylim=(-1.1, 1.1), xlim=(0, len(rows) - 1))
    figure.legend(loc="outside upper center", ncols=len(tables), fontsize=9, frameon=False)
    plots.show(
        figure,
        name="fig-monday-noon",
        caption="How like Monday noon is each hour of two weeks? Cosine of the angle between its "
        "code and that of Monday noon, for the sinusoid and for two waves of a day and a week.",
        alt="Two curves over two weeks. The sinusoid's starts at one on Monday noon, falls within "
        "hours and then wavers with no rhythm of days. That of the day and the week has a peak "
        "every noon, lowest in the middle of the week and back at one on the next Monday.",
    )
