"""Figures of score tables, in the book's style: heatmap, rank bars, critical differences."""

import warnings

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from posenc import plots
from posenc.bench import statistics
from posenc.bench.tables import Scores


def heatmap(scores: Scores) -> Figure:
    """Return a heatmap of mean scores in per cent, data sets by encodings (survey, Fig. 6)."""
    means = 100 * scores.mean()
    figure, ax = plots.new(height=1.6 + 0.32 * len(scores.datasets))
    label = f"{scores.metric.replace('_', ' ')} (%)"
    plots.heatmap(ax, means, label=label, x="", y="")
    ax.set_xticks(range(len(scores.encodings)), scores.encodings, rotation=45, ha="right")
    ax.set_yticks(range(len(scores.datasets)), scores.datasets)
    _write_values(ax, means)
    ax.set_title(f"Mean over seeds, {scores.model} model")
    return figure


def rank_bars(scores: Scores) -> Figure:
    """Return bars of average ranks, the best on top (survey, Fig. 5)."""
    complete = scores.complete()
    means = statistics.average_ranks(complete.mean())
    order = np.argsort(-means, kind="stable")
    figure, ax = plots.new(height=0.9 + 0.26 * len(order))
    bars = ax.barh([complete.encodings[i] for i in order], means[order], color=plots.COLORS[2])
    ax.bar_label(bars, fmt="%.2f", padding=3, fontsize=8)
    ax.grid(axis="y", visible=False)
    ax.set(xlabel=f"average rank over {len(complete.datasets)} data sets (1 is best)")
    ax.set_title(f"Average ranks, {scores.model} model")
    return figure


def critical_differences(scores: Scores, alpha: float = 0.05) -> Figure:
    """Return a critical-difference diagram: ranks, and bars over what Nemenyi cannot tell apart.

    Drawn by aeon (`plot_critical_difference`), whose tables of Nemenyi's test know an `alpha` of
    0.01, 0.05 and 0.1.
    """
    import matplotlib.pyplot as plt
    from aeon.visualisation import plot_critical_difference

    complete = scores.complete()
    style = {**plots.STYLE, "axes.prop_cycle": plt.rcParamsDefault["axes.prop_cycle"]}
    with plt.rc_context(style), warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # aeon's remark on ties, which ranks handle
        figure, _ = plot_critical_difference(
            complete.mean(),
            list(complete.encodings),
            test="nemenyi",
            correction=None,
            alpha=alpha,
            width=plots.WIDTH + 2,
            textspace=2.4,
        )
    return figure


def _write_values(ax: Axes, values: np.ndarray) -> None:
    middle = np.nanmean([np.nanmin(values), np.nanmax(values)])
    for (row, column), value in np.ndenumerate(values):
        text = "–" if np.isnan(value) else f"{value:.0f}"
        color = "black" if value > middle else "white"
        ax.text(column, row, text, ha="center", va="center", fontsize=7, color=color)
