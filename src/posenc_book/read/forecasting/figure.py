"""The figure that answers the question: what each encoding changes, for each of the readers."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from posenc_book.atlas import called
from posenc_book.read.forecasting.answers import Answer, Answered
from posenc_book.read.forecasting.effects import per_cent
from posenc_book.read.forecasting.plan import MARGIN
from posenc_book.statistics.answers import WORDS
from posenc_book.teaching import plots

# Heads that know the places by themselves stand above those that know none.
LAYOUT = (("steps_flat", "patches_flat"), ("steps_mean", "patches_mean", "decoder"))
TITLES = {
    "steps_flat": "steps, flattened",
    "patches_flat": "patches, flattened",
    "steps_mean": "steps, mean",
    "patches_mean": "patches, mean",
    "decoder": "decoder, last step",
}
TICKS = (-80, -50, -20, -8, -3, 0, 3, 10, 30, 100)  # per cent
MEAN: dict[str, Any] = {"markeredgecolor": "black", "markersize": 5, "linestyle": "none"}
SHOWN, OTHER = plots.COLORS[1], "white"


def draw_worth(answered: Sequence[Answered]) -> Figure:
    """Return the figure: a panel for each reader, a row for each encoding.

    Parameters
    ----------
    answered : sequence of Answered
        Of the question "worth", one for each reader, in any order. A family that is not whole gets
        its panel, which says so and shows no effect.
    """
    families = {one.family.name: one for one in answered}
    labels = [comparison.label for comparison in answered[0].family.comparisons]
    columns = max(map(len, LAYOUT))
    height = 1.4 + 2 * 0.21 * len(labels)
    figure, axes = plots.new(len(LAYOUT), columns, height=height, sharex=True, sharey=True)
    for row, readers in zip(axes, LAYOUT, strict=True):
        for ax, reader in zip(row, readers, strict=False):
            _panel(ax, families[reader])
            ax.set_title(TITLES[reader], fontsize=9)
        for ax in row[len(readers) :]:
            _legend(ax)
    _scale(axes[0, 0], labels, answered)
    for ax, above in zip(axes[1], axes[0], strict=True):
        ax.set_xlabel("change of the error (%)")
        above.tick_params(labelbottom=False)
    return figure


def show_worth(answered: Sequence[Answered], *, name: str = "fig-worth-of-position") -> None:
    """Show the figure in a notebook, with caption and alt text."""
    plots.show(
        draw_worth(answered),
        name=name,
        caption="What each encoding changes of the error of a model without positions, in per "
        "cent: the mean over data sets (diamond) with its 95 % interval, and each as a dot. "
        "Above, heads that flatten all tokens; below, heads that average them or take the last. "
        f"Grey: changes of at most {100 * MARGIN:g} %, which count as none. A filled diamond: a "
        "difference is shown. Steps of the scale grow with the distance from 0.",
        alt="Five panels, one for each reader, with a row for each encoding. "
        + " ".join(summary_text(one) for one in answered),
    )


def summary_text(one: Answered) -> str:
    """Return what a panel shows, as a sentence."""
    title = TITLES[one.family.name]
    if not one.is_whole:
        return f"{title}: {one.completeness}."
    means = {
        called(a.comparison.label): per_cent(a.effect.interval.mean)
        for a in one.answers
        if a.effect is not None
    }
    low, high = min(means, key=means.__getitem__), max(means, key=means.__getitem__)
    counts = [sum(a.answer == what for a in one.answers) for what in WORDS[:3]]
    return (
        f"{title}: means from {means[low]:+z.1f} % ({low}) to {means[high]:+z.1f} % ({high}); "
        f"shown of the encodings: {counts[0]} ahead, {counts[1]} behind, "
        f"{counts[2]} equal, within {100 * MARGIN:g} %."
    )


def _panel(ax: Axes, one: Answered) -> None:
    plots.draw_band(ax, MARGIN)
    ax.grid(axis="y", visible=False)
    if not one.is_whole:
        plots.say_in_middle(ax, one.completeness)
    for y, answer in enumerate(one.answers):
        _line(ax, y, answer)


def _line(ax: Axes, y: int, answer: Answer) -> None:
    """Draw the units, the interval and the mean of one encoding."""
    if answer.effect is None:
        return
    units, interval = answer.effect.by_unit, answer.effect.interval
    ax.plot(units, np.full(len(units), y), "o", color=plots.GREY, markersize=3.5, alpha=0.8)
    ax.plot([interval.low, interval.high], [y, y], "-", color=plots.COLORS[0], linewidth=2)
    colour = SHOWN if answer.differs else OTHER
    ax.plot(interval.mean, y, marker="D", color=colour, **MEAN)


def _scale(ax: Axes, labels: Sequence[str], answered: Sequence[Answered]) -> None:
    """Give all panels the encodings' names and one scale in per cent, wide around 0."""
    ax.set_yticks(range(len(labels)), [called(name) for name in labels])
    ax.set_ylim(len(labels) - 0.4, -0.6)
    ax.set_xscale("asinh", linear_width=2 * MARGIN)
    effects = [a.effect.by_unit for one in answered for a in one.answers if a.effect is not None]
    reach = [2 * -MARGIN, 2 * MARGIN, *np.ravel(effects)]
    low, high = 1.15 * min(reach), 1.15 * max(reach)
    ticks = [tick for tick in TICKS if low <= np.log1p(tick / 100) <= high]
    names = [f"{tick:+d}" if tick else "0" for tick in ticks]
    ax.set_xticks(np.log1p(np.array(ticks) / 100), names)
    ax.set_xticks([], minor=True)
    ax.set_xlim(low, high)


def _legend(ax: Axes) -> None:
    """Say in the free corner what is drawn."""
    ax.axis("off")
    ax.plot([], [], "o", color=plots.GREY, markersize=3.5, label="a data set")
    ax.plot([], [], "-", color=plots.COLORS[0], linewidth=2, label="95 % interval")
    ax.plot([], [], marker="D", color=SHOWN, label="difference shown", **MEAN)
    ax.plot([], [], marker="D", color=OTHER, label="none shown", **MEAN)
    ax.fill([], [], color=plots.BAND, label=f"±{100 * MARGIN:g} %, counts as none")
    ax.legend(loc="center")
