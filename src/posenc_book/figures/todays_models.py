"""Figures of the chapter on today's models."""

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.patches import Patch
from numpy.typing import NDArray

from posenc_book.teaching import plots

Array = NDArray[np.float64]


def peaks(steps: Array, scores: Mapping[str, Array]) -> None:
    """Show how sharply a head can look at one place, with several bases.

    Parameters
    ----------
    steps : array of shape (n,)
        Distances from the place that is meant, at least 1.
    scores : mapping from what a curve is called to its scores, 1 at the place itself
    """
    figure, ax = plots.new(height=2.7, width=6.4)
    for words, values in scores.items():
        ax.plot(steps, values, label=words)
    ax.axhline(0.5, color="#8a919c", linewidth=0.8, linestyle=":")
    ax.set(xscale="log", xlabel="tokens from the place that is meant", ylabel="score")
    ax.legend(title="base")
    plots.show(
        figure,
        name="fig-base-peaks",
        caption="All 64 hands of a head agree on one place. The curves show what is left of the "
        "score beside it, for three bases. The larger the base, the broader the peak; where a "
        "curve meets the dotted line, half of it is left.",
        alt="Three falling curves over the distance on a logarithmic axis. The one of the smallest "
        "base falls first, that of the largest last.",
    )


def dealt(arrangements: Mapping[str, Sequence[int]], axes: Sequence[str]) -> None:
    """Show which axis each pair follows, a row for each arrangement.

    Parameters
    ----------
    arrangements : mapping from what a row is called to the axis of each pair, the fastest first
    axes : sequence of str
        What the axes are called.
    """
    figure, ax = plots.new(height=1.9, width=7.0)
    colours = ("#1b2a49", "#d1495b", "#edae49")
    for row, axis in enumerate(arrangements.values()):
        for i, one in enumerate(axis):
            ax.bar(i, 0.22 + 0.2 * one, 0.8, bottom=row + 0.32 - (0.22 + 0.2 * one),
                   color=colours[one])  # fmt: skip
    ax.set_yticks(np.arange(len(arrangements)), list(arrangements))
    ax.set(xlabel="pair, the fastest first", ylim=(len(arrangements) - 0.5, -0.5))
    ax.grid(False)
    keys = [Patch(color=colours[one], label=words) for one, words in enumerate(axes)]
    ax.legend(handles=keys, loc="upper center", bbox_to_anchor=(0.4, -0.42), ncols=len(axes))
    plots.show(
        figure,
        name="fig-dealt-pairs",
        caption="Two ways to deal the 64 pairs of a head to time, rows and columns. A taller bar "
        "is a later axis. Above, columns get the slowest pairs only; below, each axis has fast "
        "and slow ones.",
        alt="Two rows of 64 bars in three heights and colours: above in three blocks, below by "
        "turns.",
    )
