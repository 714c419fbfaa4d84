"""Figures of the page on other norms, sizes and encodings."""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from posenc_book.figures.benchmark import NARROW
from posenc_book.teaching import plots


class Change(Protocol):
    """Gains of the same units in a plain model and in another one, (n_units, n_resamples)."""

    datasets: Sequence[str]
    plain: NDArray[np.float64]
    varied: NDArray[np.float64]


def changes(found: Mapping[str, Change]) -> None:
    """Show the mean gain on each set in the plain model and in another one, a panel a question.

    Parameters
    ----------
    found : mapping of a title to Change
        Gains in shares, such as `posenc_book.read.classification.variants.changes` finds them.
    """
    heights = [len(one.datasets) for one in found.values()]
    figure, axes = plots.new(len(found), 1, height=1.6 + 0.22 * sum(heights), height_ratios=heights)
    figure.set_figwidth(NARROW)
    axes = np.atleast_1d(axes)
    for ax, (title, one) in zip(axes, found.items(), strict=True):
        _draw_change(ax, one)
        ax.set(title=title, xlabel="mean gain of three encodings (points)")
    labels = ["the plain model", "the other one"]
    figure.legend(axes[0].lines[-2:], labels, loc="outside lower center", ncols=2)
    plots.show(
        figure,
        name="fig-changed-gains",
        caption="Mean gain of three encodings over none, in points of test accuracy: in the plain "
        "model (circle) and in the other one (diamond), on each set on which both learn something.",
        alt="Two marks for each data set, joined by a line. "
        + " ".join(f"{title}: {_told(one)}." for title, one in found.items()),
    )


def _means(one: Change) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the mean gains of the units in points, in the plain model and in the other one."""
    return 100 * one.plain.mean(1), 100 * one.varied.mean(1)


def _draw_change(ax: plots.Axes, one: Change) -> None:
    plain, varied = _means(one)
    rows = np.arange(len(plain))
    ax.axvline(0, color="#555555", linewidth=1)
    ax.hlines(rows, plain, varied, color=plots.GREY, linewidth=2)
    edge: dict[str, Any] = {"markeredgecolor": "black", "linestyle": "none"}
    ax.plot(plain, rows, "o", color="white", markersize=6, **edge)
    ax.plot(varied, rows, "D", color=plots.COLORS[1], markersize=6, **edge)
    ax.set_yticks(rows, one.datasets)
    ax.set_ylim(len(rows) - 0.4, -0.6)
    ax.grid(axis="y", visible=False)


def _told(one: Change) -> str:
    """Return on how many sets the gain is larger in the other model, and where it moves most."""
    plain, varied = _means(one)
    most = int(np.abs(varied - plain).argmax())
    return (
        f"the gain is larger in the other model on {(varied > plain).sum()} of {len(plain)} sets, "
        f"and moves most on {one.datasets[most]}, from {plain[most]:+z.1f} to {varied[most]:+z.1f}"
    )
