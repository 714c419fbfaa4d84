"""Figures of the chapter on today's models."""

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Patch
from numpy.typing import NDArray

from posenc_book.teaching import plots, released

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


def strips(names: Sequence[str]) -> None:
    """Show what each layer of some released models does, a row for each model.

    Parameters
    ----------
    names : sequence of str
        Models of `released.MODELS`.
    """
    figure, ax = plots.new(height=0.3 * len(names) + 0.9, width=7.0)
    dark, light, empty = "#1b2a49", "#2e86ab", "white"
    for row, name in enumerate(names):
        for i, layer in enumerate(released.read(name).layers):
            near = layer.window is not None
            turning = layer.door == "rotate"
            colour = empty if not turning else light if near else dark
            high = 0.32 if near else 0.72
            ax.bar(
                i + 1, high, 0.72, bottom=row + 0.36 - high, color=colour, edgecolor=dark, lw=0.7
            )
    ax.set_yticks(np.arange(len(names)), [released.title(name) for name in names])
    ax.set(xlabel="layer", ylim=(len(names) - 0.4, -0.7), xlim=(0, None))
    ax.grid(False)
    for side in ("left", "bottom"):
        ax.spines[side].set_visible(False)
    ax.tick_params(left=False)
    _keys(ax, dark, light, empty)
    plots.show(
        figure,
        name="fig-strips",
        caption="The layers of released models, the first on the left. Tall and dark: clocks, and "
        "every earlier token in sight. Low and light: clocks, and a window. Open: no positions, "
        "and every earlier token in sight.",
        alt="A row of bars for each model. In the first rows all bars are tall and dark. In the "
        "others every second to sixth one differs from its neighbours, which are low and light in "
        "most of these rows: it is tall and dark, or open.",
    )


def _keys(ax: Axes, dark: str, light: str, empty: str) -> None:
    """Name the three kinds of bars below the axis."""
    kinds = {
        "clocks, sees all": dark,
        "clocks, sees a window": light,
        "no positions, sees all": empty,
    }
    keys = [Patch(facecolor=c, edgecolor=dark, lw=0.7, label=words) for words, c in kinds.items()]
    ax.legend(handles=keys, loc="upper center", bbox_to_anchor=(0.4, -0.14), ncols=3)


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
