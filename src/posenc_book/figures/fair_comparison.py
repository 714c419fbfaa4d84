"""Figures of the chapter on fair comparisons."""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from posenc_book.teaching import plots

NARROW = 5.6  # inches: words stay readable on a phone


def points_from_nothing(gains: Mapping[str, float], claimed: float = 2.0) -> None:
    """Show gains that nothing gives, as bars, beside a gain that somebody claims.

    Parameters
    ----------
    gains : mapping of str to float
        What was done to the points of accuracy that appeared.
    claimed : float
        In points.
    """
    figure, ax = plots.new(height=3.1)
    figure.set_figwidth(NARROW)
    rows = np.arange(len(gains))[::-1]
    bars = ax.barh(rows, list(gains.values()), height=0.38, color=plots.COLORS[2])
    ax.bar_label(bars, fmt="%.1f", padding=4)
    for row, name in zip(rows, gains, strict=True):
        box = {"facecolor": "white", "edgecolor": "none", "pad": 0.8}
        ax.text(0.1, row + 0.25, name, va="bottom", bbox=box)
    ax.axvline(claimed, color=plots.COLORS[0], linestyle="--", linewidth=1.8)
    ax.set_yticks([])
    ax.grid(axis="y", visible=False)
    ax.set(xlabel="points of accuracy", ylim=(-0.5, len(gains) - 0.1))
    ax.set_xlim(0, 1.12 * max(gains.values()))
    listed = "; ".join(f"{name}, {gain:.1f}" for name, gain in gains.items())
    plots.show(
        figure,
        name="fig-points-from-nothing",
        caption="Points of accuracy between models of which neither is better. The dashed line is "
        f"the claim: {claimed:g} points.",
        alt=f"{len(gains)} bars, in points: {listed}. A dashed line stands at {claimed:g} points.",
    )


def two_splits(random_test: NDArray[np.bool_], block_test: NDArray[np.bool_]) -> None:
    """Show a random test part and one in a block, of windows in the order of time.

    Parameters
    ----------
    random_test : bool array of shape (n_windows,)
    block_test : int array of shape (n_windows,)
        2 for a test window, 1 for one that is left out of both parts.
    """
    strips = np.stack([2 * random_test, block_test])
    figure, axes = plots.new(2, 1, height=2.3, sharex=True)
    figure.set_figwidth(NARROW)
    for ax, strip, title in zip(axes, strips, ("random windows", "one block"), strict=True):
        ax.imshow(strip[None], aspect="auto", cmap=plots.COLORMAP, vmin=0, vmax=2)
        for column in np.flatnonzero(strip):
            mark = "x" if strip[column] == 1 else "T"
            ax.text(column, 0, mark, ha="center", va="center", fontsize=9)
        ax.grid(False)
        ax.set_yticks([])
        ax.set_title(title)
    axes[-1].set_xlabel("window, in order of time")
    plots.show(
        figure,
        name="fig-two-splits",
        caption="Two test parts (T) among sixty windows of one recording. Windows marked x are "
        "left out of both parts.",
        alt="Two strips of sixty windows. In the upper one test windows are scattered; in the "
        "lower one they form one block with a dropped window at each end.",
    )


def studies(
    gains: Mapping[str, NDArray[np.float64]],
    intervals: Mapping[str, tuple[float, float, float]],
    margin: float,
) -> None:
    """Show studies as dots, one a data set, with mean and interval, and the margin.

    Parameters
    ----------
    gains : mapping of a study's name to an array of shape (n_sets,), in points
    intervals : mapping of the same names to mean, low and high
    margin : float
        Differences up to this size count as none, in points.
    """
    figure, ax = plots.new(height=0.9 + 0.75 * len(gains))
    figure.set_figwidth(NARROW)
    ax.axvspan(-margin, margin, color="#d9dde3", zorder=0)
    ax.axvline(0, color="#888888", linewidth=1)
    for row, (name, values) in zip(range(len(gains))[::-1], gains.items(), strict=True):
        mean, low, high = intervals[name]
        ax.plot(values, np.full(len(values), row - 0.18), "|", color=plots.COLORS[5], markersize=8)
        ax.plot([low, high], [row, row], "-", color=plots.COLORS[0], linewidth=3)
        ax.plot(mean, row, "o", color=plots.COLORS[0])
        ax.text(ax.get_xlim()[0], row + 0.14, name, va="bottom")
    reach = 1.1 * max(np.abs(values).max() for values in gains.values())
    for text in ax.texts:
        text.set_x(-0.98 * reach)
    ax.set(xlim=(-reach, reach), ylim=(-0.6, len(gains) - 0.3), xlabel="gain in points")
    ax.set_yticks([])
    ax.grid(axis="y", visible=False)
    told = "; ".join(
        f"{name}, mean {m:+.1f}, interval {low:+.1f} to {high:+.1f}"
        for name, (m, low, high) in intervals.items()
    )
    plots.show(
        figure,
        name="fig-three-answers",
        caption=f"Three simulated studies: a tick a data set, a bar the mean with its 90 % "
        f"interval. Grey: differences of at most {margin:g} point, named as none beforehand.",
        alt=f"Three rows of means with 90 % intervals, a grey band of ±{margin:g} point. {told}.",
    )
