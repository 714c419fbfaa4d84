"""Figures of the chapter on anomaly windows."""

from collections.abc import Mapping, Sequence
from typing import Protocol

import numpy as np

from posenc.teaching import plots

NARROW = 5.6  # inches: words stay readable on a phone


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
        alt=listed(
            {
                name: [f"flag everything {floors[name]:.2f}"]
                + [f"{variant} {one.mean:.2f}" for variant, one in rows.items()]
                for name, rows in found.items()
            }
        )
        + ".",
    )


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
                runs = found[name, split][method]
                style = {"color": plots.COLORS[k], "marker": "os"[k], "linestyle": "none"}
                rows = np.full(len(runs), y + 0.3 * (k - 0.5))
                ax.plot(runs, rows, **style, markersize=3.5, alpha=0.45)
                ax.plot(np.mean(runs), rows[0], **style, markersize=8, label=split)
        ax.axvline(0.5, color="#555555", linewidth=1)
        ax.set_yticks(range(len(methods)), methods)
        ax.invert_yaxis()
        ax.set_title(name)
    handles, labels = axes[0].get_legend_handles_labels()
    step = len(methods)
    figure.legend(handles[::step], labels[::step], loc="outside lower center", ncols=2)
    axes[-1].set_xlabel("balanced accuracy")
    plots.show(
        figure,
        name="fig-windows-splits",
        caption="The same windows, split by whole groups and dealt out at random: means over seeds "
        "(large) and single runs (small). The line at one half is guessing.",
        alt=listed(
            {
                f"{name}, {split}": [
                    f"{method} {np.mean(runs):.2f}" for method, runs in one.items()
                ]
                for (name, split), one in found.items()
            }
        )
        + ".",
    )


def range_probe(distances: Sequence[int], found: Mapping[str, Sequence[Interval]]) -> None:
    """Show test accuracy against the distance of the pulses, a line a variant.

    Parameters
    ----------
    distances : sequence of int
        In steps.
    found : mapping of a variant to its mean and interval at each distance
    """
    figure, ax = plots.new(height=3.8, width=NARROW)
    for k, (variant, rows) in enumerate(found.items()):
        x = np.arange(len(rows)) + 0.06 * (k - len(found) / 2)
        low, middle, high = np.array([(one.low, one.mean, one.high) for one in rows]).T
        style = {"color": plots.COLORS[k], "linestyle": plots.DASHES[k], "marker": "os^Dv"[k]}
        error = [middle - low, high - middle]
        ax.errorbar(x, middle, yerr=error, capsize=2, markersize=5, label=variant, **style)
    ax.axhline(0.5, color="#555555", linewidth=0.8)
    ax.set_xticks(range(len(distances)), distances)
    ax.set(xlabel="distance of the pulses (steps)", ylabel="test accuracy", ylim=(0.45, 1.02))
    figure.legend(loc="outside lower center", ncols=2)
    plots.show(
        figure,
        name="fig-range-core",
        caption="Range probe (synthetic): test accuracy, means over seeds with bootstrap "
        "intervals. Guessing gives one half.",
        alt=listed({name: [f"{one.mean:.2f}" for one in rows] for name, rows in found.items()})
        + f", at the distances {', '.join(map(str, distances))}.",
    )
