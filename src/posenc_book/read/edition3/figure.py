"""All answers of the third edition in a figure: a panel for each question, a row for a pair.

A question that is not answered yet has no panel, and is named below.
"""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from posenc_book.read.edition3 import plan, words
from posenc_book.read.edition3.questions import QUESTIONS, Question
from posenc_book.read.edition3.reading import Answer, Family
from posenc_book.statistics.answers import AHEAD, BEHIND, HERE, NEW_SERIES, NEW_SETS
from posenc_book.teaching import plots

LINES: dict[str, tuple[float, dict[str, Any]]] = {
    HERE: (0.0, {"color": plots.COLORS[0], "linewidth": 3}),
    NEW_SERIES: (0.22, {"color": plots.COLORS[2], "linewidth": 1.6}),
    NEW_SETS: (-0.22, {"color": "#6f7d92", "linewidth": 0.8}),
}
"""Where in a row an interval stands, and how it looks, by what it is about."""
TICKS = (-50, -20, -10, -5, -2, 0, 2, 5, 10, 20, 50)  # points


def draw_answers(families: Mapping[str, Family]) -> Figure:
    """Return the figure, or raise ValueError if nothing is answered."""
    answered = {t: QUESTIONS[t] for t in _answered(families)}
    if not answered:
        raise ValueError("families must hold an answered question, got none")
    heights = [len(one.pairs) + 0.6 for one in answered.values()]
    figure, axes = plots.new(
        len(heights),
        1,
        height=1.2 + 0.42 * sum(heights),
        height_ratios=heights,
        sharex=True,
        squeeze=False,
    )
    axes = axes[:, 0]
    for ax, (title, question) in zip(axes, answered.items(), strict=True):
        _panel(ax, question, families[title])
        ax.set_title(words.TITLES[title], fontsize=9)
    _scale(axes[-1], families)
    axes[-1].set_xlabel("difference (points of accuracy)")
    figure.legend(*_legend(axes[0]), loc="outside lower center", ncols=2)
    return figure


def show_answers(families: Mapping[str, Family]) -> None:
    """Show the figure in a notebook, with caption and alt text."""
    margin = 100 * plan.MARGIN
    answered = _answered(families)
    waiting = [words.TITLES[title] for title in QUESTIONS if title not in answered]
    plots.show(
        draw_answers(families),
        name="fig-third-edition",
        caption="What the third edition found: each pair’s difference in points of test accuracy, "
        "the mean over the sets of its question (diamond; filled where it is ahead or behind on "
        f"these very series). Three 95 % intervals: {HERE} (thick), {NEW_SERIES} (below it), and "
        f"{NEW_SETS} (thin, by the scatter of the dots). Grey: "
        f"±{margin:g} points; what is shown to lie within is equal. Steps of the scale grow with "
        "the distance from 0." + f" Not yet trained: {', '.join(waiting)}." * bool(waiting),
        alt="A panel for each question, a row for each pair. "
        + " ".join(summary_text(title, families[title]) for title in answered),
    )


def _answered(families: Mapping[str, Family]) -> list[str]:
    return [title for title in QUESTIONS if families[title].answers]


def summary_text(title: str, family: Family) -> str:
    """Return what a panel shows, in a sentence."""
    found = ", ".join(
        f"{words.pair(a.contrast)} {100 * a.effect.mean:+z.1f} ({a.answer})" for a in family.answers
    )
    return f"{words.TITLES[title]}: {found}."


def _panel(ax: Axes, question: Question, family: Family) -> None:
    plots.draw_band(ax, plan.MARGIN)
    ax.grid(axis="y", visible=False)
    for y, answer in enumerate(family.answers):
        _line(ax, y, answer)
    said = [words.pair(one).replace(" beside", "\nbeside") for one in question.titles]
    ax.set_yticks(range(len(said)), said, fontsize=8)
    ax.set_ylim(len(said) - 0.5, -0.5)


def _line(ax: Axes, y: int, answer: Answer) -> None:
    """Draw the sets, three intervals and the mean of one pair."""
    ax.plot(answer.by_set, np.full(len(answer.by_set), y), "o", color=plots.GREY, markersize=3.5)
    for about, (place, look) in LINES.items():
        effect = answer.about[about].effect
        ax.plot([effect.low, effect.high], [y + place, y + place], "-", **look)
    colour = plots.COLORS[1] if answer.answer in (AHEAD, BEHIND) else "white"
    ax.plot(answer.effect.mean, y, "D", color=colour, markeredgecolor="black", markersize=5)


def _scale(ax: Axes, families: Mapping[str, Family]) -> None:
    """Give all panels one scale."""
    answers = [a for title in _answered(families) for a in families[title].answers]
    ends = [(one.effect.low, one.effect.high) for a in answers for one in a.about.values()]
    scale(ax, [*(x for a in answers for x in a.by_set), *(x for pair in ends for x in pair)])


def scale(ax: Axes, differences: Iterable[float]) -> None:
    """Scale an axis of differences in points, wide around 0."""
    reach = [*differences]
    low, high = (1.1 * edge([*reach, side * 0.05]) for edge, side in ((min, -1), (max, 1)))
    ax.set_xscale("asinh", linear_width=2 * plan.MARGIN)
    ticks = [tick for tick in TICKS if low <= tick / 100 <= high]
    ax.set_xticks([tick / 100 for tick in ticks], [f"{tick:+d}" if tick else "0" for tick in ticks])
    ax.set_xticks([], minor=True)
    ax.set_xlim(low, high)


def _legend(ax: Axes) -> tuple[list, list[str]]:
    marks = [
        ax.plot([], [], "o", color=plots.GREY, markersize=3.5)[0],
        *(ax.plot([], [], "-", **look)[0] for _, look in LINES.values()),
    ]
    return marks, ["a data set", *LINES]
