"""Figures of the chapter on the benchmark."""

import re
from collections.abc import Mapping
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from posenc.teaching import plots

NARROW = 5.6  # inches: words stay readable on a phone
MOST_COLUMNS = 6  # of a block of the map; further sets stand in the next one


class Interval(Protocol):
    """A mean and its interval."""

    mean: float
    low: float
    high: float


def gains_map(gains: Mapping[tuple[str, str], Mapping[str, Interval]]) -> None:
    """Show gains over no encoding: a column a data set, a row an encoding, coloured by sign.

    Parameters
    ----------
    gains : mapping of (data set, tokens) to a mapping of encoding to its gain, in points
        All with the same encodings. A gain whose interval holds 0 has no colour.
    """
    names, columns = list(next(iter(gains.values()))), list(gains)
    blocks = [columns[i : i + MOST_COLUMNS] for i in range(0, len(columns), MOST_COLUMNS)]
    figure, axes = plots.new(len(blocks), 1, height=0.4 * len(blocks) * (len(names) + 3))
    figure.set_figwidth(NARROW)
    limit = max(abs(one.mean) for by_name in gains.values() for one in by_name.values())
    for ax, block in zip(np.atleast_1d(axes), blocks, strict=True):
        found = [[gains[column][name] for column in block] for name in names]
        _draw_map(ax, found, limit)
        ax.set_yticks(range(len(names)), names)
        ax.set_xticks(range(len(block)), [_broken(*column) for column in block])
    plots.show(
        figure,
        name="fig-gains-over-none",
        caption="Gain over no encoding in points of test accuracy, mean of five trainings, with "
        "half the width of its 95 % interval. Orange and bold is a gain, violet and bold a loss; "
        "where it is pale, the interval holds zero.",
        alt=f"A table of {len(names)} encodings by {len(columns)} data sets. "
        + "; ".join(_told(*column, by_name) for column, by_name in gains.items())
        + ".",
    )


def _draw_map(ax: plots.Axes, found: list[list[Interval]], limit: float) -> None:
    """Draw one block of gains, (n_encodings, n_sets)."""
    means = np.array([[one.mean for one in row] for row in found])
    open_ = np.array([[one.low <= 0 <= one.high for one in row] for row in found])
    ax.set_facecolor("#eef0f3")
    # half of each side of the map, so that black numbers stay readable
    ax.imshow(np.where(open_, np.nan, means), "PuOr_r", aspect="auto", vmin=-2 * limit,
              vmax=2 * limit)  # fmt: skip
    for (row, column), mean in np.ndenumerate(means):
        one = found[row][column]
        weight = "normal" if open_[row, column] else "bold"
        shown = f"{round(mean, 1) + 0.0:+.1f}"  # no minus before a rounded zero
        ax.text(column, row + 0.02, shown, ha="center", va="bottom", fontsize=10, weight=weight)
        half = f"±{(one.high - one.low) / 2:.1f}"
        ax.text(column, row + 0.06, half, ha="center", va="top", fontsize=7.5, color="#333333")
    ax.xaxis.tick_top()
    ax.tick_params(length=0)
    ax.grid(False)
    ax.spines[:].set_visible(False)


def _broken(name: str, tokens: str) -> str:
    """Return the name of a data set in lines, at its capitals, and what a token is."""
    return "\n".join([*re.findall("[A-Z][a-z]+|[A-Z]+", name), f"({tokens})"])


def _told(name: str, tokens: str, by_name: Mapping[str, Interval]) -> str:
    means = [one.mean for one in by_name.values()]
    shown = sum(one.low > 0 or one.high < 0 for one in by_name.values())
    return (
        f"{name}, {tokens}: {min(means):+.1f} to {max(means):+.1f} points, coloured {shown} of "
        f"{len(means)}"
    )


def levels(rows: Mapping[tuple[str, str], Mapping[str, object]]) -> None:
    """Show accuracies in per cent, a row a data set: encodings, none, and two baselines.

    Parameters
    ----------
    rows : mapping of (data set, tokens) to accuracies
        "encodings" is an array of shape (n_encodings,); "none", "1-NN" and "MiniRocket" are floats.
    """
    figure, ax = plots.new(height=1.3 + 0.62 * len(rows))
    figure.set_figwidth(NARROW)
    style = {"none": ("X", 1), "1-NN": ("^", 2), "MiniRocket": ("s", 3)}
    for y, one in zip(range(len(rows))[::-1], rows.values(), strict=True):
        several = one["encodings"]
        ax.plot(several, np.full(len(several), y), "|", color=plots.COLORS[0], markersize=13)
        for name, (mark, color) in style.items():
            options = {"color": plots.COLORS[color], "markeredgecolor": "black"}
            ax.plot(one[name], y, mark, markersize=8, markeredgewidth=0.6, **options)
    for y, column in zip(range(len(rows))[::-1], rows, strict=True):
        box = {"facecolor": "white", "edgecolor": "none", "pad": 0.8}
        ax.text(0.01, y + 0.26, ", ".join(column), transform=ax.get_yaxis_transform(), bbox=box)
    labels = ["ten encodings", "no encoding", *list(style)[1:]]
    figure.legend(ax.lines[:4], labels, loc="outside lower center", ncols=2)
    ax.set(ylim=(-0.5, len(rows) - 0.2), xlabel="test accuracy (%)")
    ax.set_yticks([])
    ax.grid(axis="y", visible=False)
    plots.show(
        figure,
        name="fig-levels",
        caption="Test accuracy of ten encodings (strokes), of the same model without any, and of "
        "two classifiers that are no transformers. A mark to the right of all strokes beats every "
        "encoding.",
        alt="One row for each data set. "
        + "; ".join(
            f"{name}, {tokens}: encodings {min(one['encodings']):.1f} to "
            f"{max(one['encodings']):.1f} %, none {one['none']:.1f}, 1-NN {one['1-NN']:.1f}, "
            f"MiniRocket {one['MiniRocket']:.1f}"
            for (name, tokens), one in rows.items()
        )
        + ".",
    )


def by_length(
    curves: Mapping[str, tuple[NDArray[np.int64], NDArray[np.float64]]], short: int
) -> None:
    """Show what encodings would have gained had all trainings been stopped earlier.

    Parameters
    ----------
    curves : mapping of a title to steps, (n_checks,), and gains, (n_encodings, n_checks)
        Gains in points of validation accuracy.
    short : int
        Steps of a training of the first edition.
    """
    figure, axes = plots.new(len(curves), 1, height=0.6 + 2.1 * len(curves), sharex=True)
    figure.set_figwidth(NARROW)
    told = []
    for ax, (title, (steps, gains)) in zip(np.atleast_1d(axes), curves.items(), strict=True):
        middle = np.median(gains, axis=0)
        ax.fill_between(steps, gains.min(0), gains.max(0), color="#b9cfe0")
        ax.semilogx(steps, middle, "-", color=plots.COLORS[0])
        ax.axhline(0, color="#555555", linewidth=1)
        ax.axvline(short, color=plots.COLORS[1], linestyle="--", linewidth=1.4)
        ax.set(title=title, ylabel="gain (points)")
        told.append(f"{title}: median {middle[steps.tolist().index(short)]:+.1f} there, "
                    f"{middle[-1]:+.1f} at the end")  # fmt: skip
    ticks = [50, 100, 200, 500, 1000, 2000, 4000]
    axes = np.atleast_1d(axes)
    axes[-1].set_xticks(ticks, ticks)
    axes[-1].minorticks_off()
    axes[-1].set_xlabel("optimisation steps")
    plots.show(
        figure,
        name="fig-gains-by-length",
        caption="Gain over no encoding in validation accuracy if all trainings had ended at that "
        "step: the median of ten encodings, and the range from the lowest to the highest. Dashed: "
        f"{short} steps, about the longest training of the first edition.",
        alt=f"Two panels of gain against steps, with a dashed line at {short}. {'; '.join(told)}.",
    )
