"""Figures of score tables, in the book's style: heatmap, rank bars, critical differences."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from posenc_book.figures import ranks
from posenc_book.records.tables import Scores
from posenc_book.statistics import summary as statistics
from posenc_book.statistics.standing import Standing, standing
from posenc_book.teaching import plots


def heatmap(scores: Scores, *, centred: bool = False, values: bool = True) -> Figure:
    """Return a heatmap of mean scores in per cent, data sets by encodings (survey, Fig. 6).

    Source: Irani and Metsis (2025), Fig. 6, for the kind of figure.
    """
    figure, ax = plots.new(height=1.6 + 0.32 * len(scores.datasets))
    draw_heatmap(ax, scores, centred=centred, values=values)
    return figure


def draw_heatmap(ax: Axes, scores: Scores, *, centred: bool = False, values: bool = True) -> None:
    """Draw `heatmap` into given axes.

    Parameters
    ----------
    ax : matplotlib axes
    scores, centred, values
        As for `heatmap`.

    Returns
    -------
    None

    Raises
    ------
    TypeError or ValueError
        If `scores` has no data set.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from posenc_book.audit import printed
    >>> figure, (left, right) = plt.subplots(1, 2)
    >>> for ax, model in ((left, "time_series"), (right, "patch")):
    ...     draw_heatmap(ax, printed.printed_scores(model), values=False)
    >>> [tick.get_text() for tick in left.get_yticklabels()[:2]]
    ['Sleep', 'ElectricDevices']
    >>> plt.close(figure)
    """
    means = 100 * scores.mean()
    label = f"{scores.metric.replace('_', ' ')} (%)"
    colours, meaning = means, label
    if centred:
        colours = means - np.nanmean(means, axis=1, keepdims=True)
        limit = np.nanquantile(np.abs(colours), 0.9)  # one collapsed cell must not hide the rest
        colours, meaning = np.clip(colours, -limit, limit), "points from mean"
    plots.heatmap(ax, colours, label=meaning, x="", y="")
    ax.set_xticks(range(len(scores.encodings)), scores.encodings, rotation=45, ha="right")
    ax.set_yticks(range(len(scores.datasets)), scores.datasets)
    if values:
        _write_values(ax, means, colours)
    ax.set_title(f"Mean {label}, {scores.model} model")


def rank_bars(scores: Scores) -> Figure:
    """Return bars of average ranks, the best on top (survey, Fig. 5).

    Source: Irani and Metsis (2025), Fig. 5, for the kind of figure.
    """
    figure, ax = plots.new(height=0.9 + 0.26 * len(scores.encodings))
    draw_rank_bars(ax, scores)
    return figure


def draw_rank_bars(ax: Axes, scores: Scores) -> None:
    """Draw bars of average ranks over the complete data sets into given axes."""
    complete = scores.complete()
    means = statistics.average_ranks(complete.mean())
    order = np.argsort(-means, kind="stable")
    bars = ax.barh([complete.encodings[i] for i in order], means[order], color=plots.COLORS[2])
    ax.bar_label(bars, fmt="%.2f", padding=3, fontsize=9)
    ax.set_xlim(0, 1.22 * means.max())
    ax.margins(y=0.02)
    ax.grid(axis="y", visible=False)
    ax.set(xlabel=f"average rank over {len(complete.datasets)} data sets (1 is best)")
    ax.set_title(f"Average ranks, {scores.model} model")


def critical_differences(scores: Scores, alpha: float = 0.05) -> Figure:
    """Return a critical-difference diagram: average ranks, and which no test tells apart."""
    figure, ax = plots.new(height=1.0 + 0.26 * len(scores.encodings))
    ranks.draw(ax, _standing(scores, alpha))
    ax.set_xlabel(f"average rank over {len(scores.complete().datasets)} data sets (1 is best)")
    ax.set_title(f"Critical differences, {scores.model} model")
    return figure


def told_apart(scores: Scores, alpha: float = 0.05) -> str:
    """Return what `critical_differences` shows, in words."""
    return ranks.summary_text(_standing(scores, alpha))


def _standing(scores: Scores, alpha: float) -> Standing:
    complete = scores.complete()
    return standing(complete.mean(), complete.encodings, alpha=alpha)


def draw_critical_differences(ax: Axes, scores: Scores, alpha: float = 0.05) -> None:
    """Draw average ranks, the best on top, with bars as wide as the critical difference.

    Two encodings differ by Nemenyi's test if and only if their bars do not overlap: each reaches
    half the critical difference to both sides. Bars that reach the best one's are dark; a dashed
    line marks its end.

    Parameters
    ----------
    ax : matplotlib axes
    scores : Scores
        At least two encodings, and a data set on which all of them finished.
    alpha : float
        Level of Nemenyi's test.

    Returns
    -------
    None

    Raises
    ------
    ValueError
        If there are fewer, or `alpha` is out of (0, 1).

    Source: Demšar (2006), section 3.2, for the diagram.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from posenc_book.audit import printed
    >>> figure, ax = plt.subplots()
    >>> draw_critical_differences(ax, printed.printed_scores("patch"), alpha=0.1)
    >>> ax.get_xlabel()
    'average rank over 11 data sets, bars: 2.90 wide'
    >>> plt.close(figure)
    """
    complete = scores.complete()
    n_datasets, n_encodings = len(complete.datasets), len(complete.encodings)
    means = statistics.average_ranks(complete.mean())
    distance = statistics.critical_difference(n_datasets, n_encodings, alpha)
    order = np.argsort(-means, kind="stable")
    beyond = means - means.min() > distance
    for row, i in enumerate(order):
        colour = "#b8c0cc" if beyond[i] else plots.COLORS[2]
        ends = means[i] + np.array([-0.5, 0.5]) * distance
        ax.plot(ends, [row, row], "-", color=colour, linewidth=5, solid_capstyle="butt")
        ax.plot(means[i], row, "o", color=plots.COLORS[0], markersize=5)
    ax.axvline(means.min() + 0.5 * distance, color=plots.COLORS[0], linestyle="--", linewidth=1.6)
    ax.set_yticks(range(n_encodings), [complete.encodings[i] for i in order])
    ax.set_ylim(-0.7, n_encodings - 0.3)
    ax.xaxis.set_major_locator(MaxNLocator(5, integer=True))
    ax.grid(axis="y", visible=False)
    ax.set(xlabel=f"average rank over {n_datasets} data sets, bars: {distance:.2f} wide")
    ax.set_title(f"Critical differences, {scores.model} model")


def _write_values(ax: Axes, values: np.ndarray, colours: np.ndarray) -> None:
    middle = np.nanmean([np.nanmin(colours), np.nanmax(colours)])
    for (row, column), value in np.ndenumerate(values):
        text = "–" if np.isnan(value) else f"{value:.1f}"
        color = "black" if np.isnan(value) or colours[row, column] > middle else "white"
        ax.text(column, row, text, ha="center", va="center", fontsize=9, color=color)
