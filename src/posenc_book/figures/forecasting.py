"""Figures of the chapter on forecasting."""

from collections.abc import Mapping, Sequence
from datetime import datetime

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import ArrayLike

from posenc_book.teaching import plots
from posenc_book.teaching.words import WordTable

DAY = 48  # half hours


def week(times: Sequence[datetime], megawatts: ArrayLike) -> None:
    """Show a week of demand, with the names of its days.

    Parameters
    ----------
    times : sequence of datetime
        From midnight on, every half hour.
    megawatts : array-like of shape (n_steps,)
    """
    demand = np.asarray(megawatts)
    figure, ax = plots.new(height=2.4)
    ax.plot(demand)
    ax.set_xlim(0, len(demand))
    ax.axvspan(len(demand) - DAY, len(demand), color=plots.COLORS[3], alpha=0.18, linewidth=0)
    starts = range(0, len(demand), DAY)
    ax.set_xticks([start + DAY / 2 for start in starts], [f"{times[s]:%a}" for s in starts])
    ax.tick_params(axis="x", length=0)
    _days(ax, len(demand))
    ax.set_ylabel("megawatts")
    peaks = ", ".join(f"{demand[s : s + DAY].max():,.0f}" for s in starts)
    first = times[0]
    plots.show(
        figure,
        name="fig-week-of-demand",
        caption=f"Demand for electricity in Victoria, in the week of {first.day} {first:%B %Y}: a "
        "number for each half hour.",
        alt=f"A curve with seven humps, one a day, and a valley each night. The last two are "
        f"lower. The peaks are {peaks} megawatts.",
    )


def forecasts(
    past: ArrayLike, ahead: ArrayLike, said: Mapping[str, Mapping[str, ArrayLike]]
) -> None:
    """Show what several forecasters say of one day.

    Parameters
    ----------
    past, ahead : array-like of shape (n_steps,)
        What they saw, and what came.
    said : mapping of str to mapping of str to array-like
        A panel for each of the former names, a curve for each of the latter.
    """
    past, ahead = np.asarray(past), np.asarray(ahead)
    then = np.arange(len(past), len(past) + len(ahead))
    figure, axes = plots.new(1, len(said), height=3.2, sharey=True)
    for ax, (title, curves) in zip(axes, said.items(), strict=True):
        ax.plot(past, "-", color=plots.GREY)
        ax.plot(then, ahead, "-", color=plots.GREY, linewidth=5, alpha=0.6, label="what came")
        for number, (name, curve) in enumerate(curves.items(), 1):
            ax.plot(then, np.asarray(curve), color=plots.COLORS[number], label=name)
        ax.set_title(title)
        _days(ax, len(past) + len(ahead))
        ax.set_xticks(range(0, len(past) + len(ahead) + 1, DAY))
        ax.set_xlabel("half hours")
    axes[0].set_ylabel("megawatts")
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=3)
    off = {
        f"{title}, {name}": float(np.abs(np.asarray(curve) - ahead).mean())
        for title, curves in said.items()
        for name, curve in curves.items()
    }
    plots.show(
        figure,
        name="fig-one-day-forecast",
        caption="One day of the test part, and what the four forecasters say of it. Grey: what "
        "they saw, and, in bold, what came.",
        alt="Two panels with two days of demand and forecasts of the third. In the mean they are "
        "off by " + ", ".join(f"{error:,.0f} MW ({name})" for name, error in off.items()) + ".",
    )


def pieces(weights: ArrayLike, patch: int) -> None:
    """Show how strongly a flattened head reads each piece of the past.

    Parameters
    ----------
    weights : array-like of shape (n_pieces,)
        A number for each piece, the oldest first.
    patch : int
        Half hours in a piece.
    """
    sizes = np.asarray(weights)
    figure, ax = plots.new(height=2.2)
    hours = (np.arange(len(sizes)) - len(sizes)) * patch / 2
    ax.bar(hours + patch / 4, sizes, width=0.42 * patch, color=plots.COLORS[2])
    ax.set_xticks(hours)
    ax.set_xlabel("hours before the forecast")
    ax.set_ylabel("size of the weights")
    plots.show(
        figure,
        name="fig-what-the-head-reads",
        caption="How strongly a flattened head reads each piece of the past: the length of all "
        "weights that belong to the piece.",
        alt="A bar for each piece, the oldest first: "
        + ", ".join(f"{size:.2f}" for size in sizes)
        + ".",
    )


def read_outs() -> WordTable:
    """Return how public forecasters read a forecast out, and which positions they have.

    Read in their programs, each at one commit; facts only.
    """
    rows = {
        "PatchTST": ("a flattened head", "a learned table", "yuqinie98/PatchTST, 204c21e"),
        "MOMENT": (
            "a flattened head over 64 patches, which make 512 steps",
            "a sinusoid, and T5's bias",
            "moment-timeseries-foundation-model/moment, 38f7310",
        ),
        "TimesFM 2.0": (
            "the last token, which sees those before it",
            "none but the mask",
            "google-research/timesfm, v1, 3dae50b",
        ),
        "TimesFM 2.5": (
            "the last token, which sees those before it",
            "RoPE",
            "google-research/timesfm, 3dae50b",
        ),
        "Chronos-Bolt": (
            "one token of a decoder, which looks at all of the past",
            "T5's bias",
            "amazon-science/chronos-forecasting, 95185d1",
        ),
        "Chronos-2": (
            "tokens at the places of the future",
            "RoPE, and a counted time beside each value",
            "amazon-science/chronos-forecasting, 95185d1",
        ),
        "Moirai 1": (
            "empty tokens at the places of the future",
            "RoPE on half of each head",
            "SalesforceAIResearch/uni2ts, 8d2a08d",
        ),
    }
    heads = ("the forecast comes from", "positions", "read in")
    told = {name: dict(zip(heads, row, strict=True)) for name, row in rows.items()}
    return WordTable(told, head="forecaster", stacked=True)


def _days(ax: Axes, n_steps: int) -> None:
    """Draw midnights in place of the grid's vertical lines."""
    ax.grid(axis="x", visible=False)
    for midnight in range(0, n_steps, DAY):
        ax.axvline(midnight, color="#d9dde3", linewidth=0.8)
