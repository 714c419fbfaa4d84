"""Figures of the chapter on anomaly windows."""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike

from posenc_book.figures._marks import mean_and_runs, rows_from_above
from posenc_book.teaching import plots

NARROW = 5.6  # inches: words stay readable on a phone
NOT_FOUND = 12_000  # where marks stand of trainings that ended without the task


class Interval(Protocol):
    """A mean and its interval."""

    mean: float
    low: float
    high: float


def listed(rows: Mapping[str, Sequence[str]]) -> str:
    """Return what stands in each row as words: "one: a, b; other: c"."""
    return "; ".join(f"{name}: {', '.join(words)}" for name, words in rows.items())


def scores(found: Mapping[str, Mapping[str, Interval]], floors: Mapping[str, float]) -> None:
    """Show F1 scores, a panel a data set and a row a variant, beside flagging every window.

    Parameters
    ----------
    found : mapping of a data set to a mapping of a variant to its mean and interval
    floors : mapping of a data set to the F1 of a detector that flags everything
    """
    figure, axes = plots.new(
        len(found), 1, height=0.8 + 1.9 * len(found), width=NARROW, sharex=True
    )
    for ax, (name, rows) in zip(axes, found.items(), strict=True):
        for y, one in enumerate(rows.values()):
            ax.plot([one.low, one.high], [y, y], "-", color=plots.COLORS[0], linewidth=2)
            ax.plot(one.mean, y, "o", color=plots.COLORS[0], markersize=6)
        ax.axvline(floors[name], color=plots.COLORS[1], linestyle="--")
        ax.set_yticks(range(len(rows)), rows)
        ax.invert_yaxis()
        ax.set(title=name, xlim=(0, None))
    axes[-1].set_xlabel("F1 of the anomalous windows")
    plots.show(
        figure,
        name="fig-windows-scores",
        caption="F1 of a transformer without and with encodings: means over seeds with bootstrap "
        "intervals. Dashed: a detector that flags every window.",
        alt="F1 of the anomalous windows. "
        + " ".join(f"{name}: {_told(rows, floors[name])}." for name, rows in found.items()),
    )


def _told(rows: Mapping[str, Interval], floor: float) -> str:
    """Return the means in words, and whose interval does not meet that of the first variant."""
    means = ", ".join(f"{variant} {one.mean:.2f}" for variant, one in rows.items())
    (name, first), *others = rows.items()
    apart = [v for v, one in others if one.low > first.high or one.high < first.low]
    meet = f"those of {', '.join(apart)} do not meet" if apart else "every other one meets"
    own = f"the interval of {name} is {first.low:.2f} to {first.high:.2f}, and {meet} it"
    return f"flagging everything has {floor:.2f}; {means}; {own}"


def two_splits(found: Mapping[tuple[str, str], Mapping[str, Sequence[float]]]) -> None:
    """Show balanced accuracies on two splits of the same windows, a panel a data set.

    Parameters
    ----------
    found : mapping of (data set, split) to a mapping of a method to its scores, one a seed
    """
    names, splits = (list(dict.fromkeys(part)) for part in zip(*found, strict=True))
    figure, axes = plots.new(
        len(names), 1, height=1.2 + 1.7 * len(names), width=NARROW, sharex=True
    )
    for ax, name in zip(axes, names, strict=True):
        methods = list(found[name, splits[0]])
        for k, split in enumerate(splits):
            for y, method in enumerate(methods):
                label = None if y else split
                mean_and_runs(ax, found[name, split][method], y + 0.3 * (k - 0.5), k, label)
        rows_from_above(ax, methods, line=0.5)
        ax.set_title(name)
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=2)
    axes[-1].set_xlabel("balanced accuracy")
    plots.show(
        figure,
        name="fig-windows-splits",
        caption="Balanced accuracy on the same windows, split by whole groups and dealt out at "
        "random: means over seeds (large) and single runs (small). The line at one half is "
        "guessing.",
        alt="Mean balanced accuracy. "
        + listed(
            {
                f"{name}, {split}": [
                    f"{method} {np.mean(runs):.2f}" for method, runs in one.items()
                ]
                for (name, split), one in found.items()
            }
        )
        + ".",
    )


def steps_to_find(distances: Sequence[int], found: Mapping[str, Sequence[ArrayLike]]) -> None:
    """Show when trainings found the task, against the distance of the pulses.

    Parameters
    ----------
    distances : sequence of int
        In steps.
    found : mapping of a variant to the steps of each seed, at each distance
        Infinity where a training never found it.
    """
    figure, ax = plots.new(height=4.2, width=NARROW)
    for k, (variant, by_distance) in enumerate(found.items()):
        x = np.arange(len(distances)) + 0.13 * (k - (len(found) - 1) / 2)
        steps = np.minimum(np.asarray(by_distance), NOT_FOUND)
        marks: dict[str, Any] = {"color": plots.COLORS[k], "marker": "os^Dv"[k]}
        ax.plot(x, steps, linestyle="none", markersize=4, alpha=0.35, **marks)
        middle = np.minimum(np.median(np.array(by_distance, dtype=float), axis=1), NOT_FOUND)
        ax.plot(x, middle, markersize=8, linestyle=plots.DASHES[k], label=variant, **marks)
    ticks = [50, 100, 200, 500, 1000, 2000, 4000]
    ax.set_yscale("log")
    ax.set_yticks([*ticks, NOT_FOUND], [*(f"{n:,}" for n in ticks), "not found"])
    ax.minorticks_off()
    ax.set_xticks(range(len(distances)), [str(one) for one in distances])
    ax.set(xlabel="distance of the pulses (steps)", ylabel="steps until it was found")
    figure.legend(loc="outside lower center", ncols=2)
    middles = {v: np.median(np.array(rows, dtype=float), axis=1) for v, rows in found.items()}
    words = {
        v: [f"{n:,.0f}" if n < NOT_FOUND else "not found" for n in row]
        for v, row in middles.items()
    }
    plots.show(
        figure,
        name="fig-range-core",
        caption="Range probe (synthetic): steps of training until the task was found, each of ten "
        "seeds as a small mark and their median as a large one.",
        alt=f"Median steps: {listed(words)}; at the distances {', '.join(map(str, distances))}.",
    )
