"""Figures of the chapter on the benchmark."""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from posenc_book.atlas import called
from posenc_book.teaching import plots

NARROW = 5.6  # inches: words stay readable on a phone
NUMBERS = "Every number stands in a table below."
N_COLOURS = 128  # of a map: its page has many pictures
MANY = 16  # tokens: as few, and as many, are told of together


class Interval(Protocol):
    """A mean and its interval."""

    mean: float
    low: float
    high: float


class Gain(Protocol):
    """What an encoding adds to none: a mean with its interval, in shares, and the verdict."""

    encoding: str
    effect: Interval
    answer: str


def answers(
    found: Mapping[str, tuple[NDArray[np.float64], Sequence[Gain]]],
    margin: float,
    *,
    name: str = "fig-answers",
    table: str = "The table of the frozen analysis",
) -> None:
    """Show the mean gain of each encoding with its interval, and every data set as a dot.

    Parameters
    ----------
    found : mapping of what a token is to gains and answers
        Gains in points, (n_encodings, n_units), and a `Gain` for each encoding, in this order.
    margin : float
        Points within which a mean gain counts as none.
    name : str
        Of the figure.
    table : str
        Where every number stands, as the beginning of a sentence.
    """
    heights = [len(gains) for _, gains in found.values()]
    figure, axes = plots.new(len(found), 1, height=1.6 + 0.22 * sum(heights), height_ratios=heights)
    figure.set_figwidth(NARROW)
    for ax, (tokens, (units, gains)) in zip(np.atleast_1d(axes), found.items(), strict=True):
        _draw_answers(ax, units, gains, margin)
        ax.set_title(f"{tokens}: {units.shape[1]} independent sets")
        ax.set_xlabel("gain over no encoding (points)")
    plots.show(
        figure,
        name=name,
        caption="Gain over no encoding in points of test accuracy: the mean over independent data "
        "sets (diamond) with its 95 % interval, and each set as a dot. A gain whose whole interval "
        f"lies in the band of ±{margin:g} point counts as none. Each panel has a scale of its own.",
        alt="Means, intervals and single sets of each encoding. "
        + " ".join(f"{tokens}: {_told_answers(*one)}." for tokens, one in found.items())
        + f" {table} has every mean and interval.",
    )


def _draw_answers(
    ax: plots.Axes, units: NDArray[np.float64], gains: Sequence[Gain], margin: float
) -> None:
    plots.draw_band(ax, margin)
    for y, (dots, gain) in enumerate(zip(units, gains, strict=True)):
        low, mean, high = (100 * v for v in (gain.effect.low, gain.effect.mean, gain.effect.high))
        ax.plot(dots, np.full(len(dots), y), "o", color=plots.GREY, markersize=4, alpha=0.8)
        ax.plot([low, high], [y, y], "-", color=plots.COLORS[0], linewidth=2)
        ax.plot(mean, y, "D", color=plots.COLORS[1], markeredgecolor="black", markersize=6)
    ax.set_yticks(range(len(gains)), [called(gain.encoding) for gain in gains])
    ax.set_ylim(len(gains) - 0.4, -0.6)
    ax.grid(axis="y", visible=False)


def _told_answers(units: NDArray[np.float64], gains: Sequence[Gain]) -> str:
    """Return from where to where means, intervals and dots lie."""
    means = [100 * gain.effect.mean for gain in gains]
    above = sum(gain.effect.low > 0 for gain in gains)
    highest, lowest = (called(gains[int(p(means))].encoding) for p in (np.argmax, np.argmin))
    return (
        f"{len(gains)} means from {min(means):+.1f} ({lowest}) to {max(means):+.1f} ({highest}), "
        f"{above} intervals above zero, and {(units > 0).mean():.0%} of the dots, which lie from "
        f"{units.min():+.1f} to {units.max():+.1f}"
    )


def gains_map(gains: Mapping[tuple[str, str], Mapping[str, Interval]], tokens: str) -> None:
    """Show gains over no encoding: a row a data set, a column an encoding, coloured by the gain.

    Parameters
    ----------
    gains : mapping of (data set, tokens) to a mapping of encoding to its gain, in points
        All with the same encodings. A gain whose interval holds 0 has a dot.
    tokens : str
        What a token is in the rows that are shown, such as "steps".
    """
    largest = max(abs(one.mean) for row in gains.values() for one in row.values())
    rows = {name: by_name for (name, kind), by_name in gains.items() if kind == tokens}
    names = list(next(iter(rows.values())))
    figure, ax = plots.new(height=0.9 + 0.175 * len(rows), width=NARROW + 0.5)
    _draw_map(ax, [[by_name[name] for name in names] for by_name in rows.values()], largest)
    titles = [called(name) for name in names]
    ax.set_xticks(range(len(names)), titles, rotation=50, ha="left", rotation_mode="anchor")
    ax.set_yticks(range(len(rows)), list(rows))
    plots.show(
        figure,
        name=f"fig-gains-with-{tokens}",
        caption=f"Gain over no encoding with {tokens} as tokens, in points of test accuracy, mean "
        "of five training runs, on each data set. The deeper the orange, the larger the gain; the "
        "deeper the violet, the larger the loss. A dot means doubt: the 95 % interval contains "
        "zero. Numbers without one are bold. Sets stand in the order of their length.",
        alt=f"A table of {len(rows)} data sets by {len(names)} encodings, {tokens} as tokens. "
        f"{_told(rows)} {NUMBERS}",
        n_colours=N_COLOURS,
    )


def _draw_map(ax: plots.Axes, found: list[list[Interval]], largest: float) -> None:
    """Draw gains, (n_sets, n_encodings), in colours that reach to the largest of all maps."""
    means = np.array([[one.mean for one in row] for row in found])
    open_ = np.array([[one.low <= 0 <= one.high for one in row] for row in found])
    # half of each side of the map, so that black numbers stay readable
    ax.imshow(depth(means), "PuOr_r", aspect="auto",
              vmin=-2 * float(depth(largest)), vmax=2 * float(depth(largest)))  # fmt: skip
    for (row, column), mean in np.ndenumerate(means):
        weight = "normal" if open_[row, column] else "bold"
        digits = 1 if abs(mean) < 9.95 else 0  # columns are narrow
        shown = f"{mean:+z.{digits}f}"
        where = {"x": column + 0.44, "y": row, "ha": "right", "va": "center"}
        ax.text(s=shown, fontsize=9, weight=weight, in_layout=False, **where)  # within the map
    rows, columns = np.nonzero(open_)
    ax.plot(columns - 0.39, rows, "o", color="#444444", markersize=2.4)
    ax.vlines(np.arange(means.shape[1] - 1) + 0.5, -0.5, len(means) - 0.5, "white", linewidth=1.5)
    ax.xaxis.tick_top()
    ax.tick_params(length=0)
    ax.grid(False)
    ax.spines[:].set_visible(False)


def depth(gain: ArrayLike) -> NDArray[np.float64]:
    """Return how deep the colour of a gain is: its square root, so that small ones show, too."""
    return np.sign(gain) * np.sqrt(np.abs(gain))


def _told(gains: Mapping[str, Mapping[str, Interval]]) -> str:
    """Return where gains are largest and lie widest apart, and which have no dot."""
    means = {name: [one.mean for one in row.values()] for name, row in gains.items()}
    top, wide = (max(means, key=lambda n: size(means[n])) for size in (np.mean, np.ptp))
    up = {name: sum(one.low > 0 for one in row.values()) for name, row in gains.items()}
    down = [
        f"{called(encoding)} on {name} ({one.mean:+.1f})"
        for name, row in gains.items()
        for encoding, one in row.items()
        if one.high < 0
    ]
    where = ", ".join(f"{name} {n}" for name, n in up.items() if n)
    largest, widest = (f"{n}, {min(means[n]):+.1f} to {max(means[n]):+.1f}" for n in (top, wide))
    return (
        f"Gains are largest on {largest}, and lie widest apart on {widest}. "
        f"Without a dot are {sum(up.values())} gains ({where or 'nowhere'}) and "
        f"{len(down)} losses{': ' * bool(down)}{', '.join(down)}."
    )


def levels(rows: Mapping[tuple[str, str], Mapping[str, Any]], tokens: str) -> None:
    """Show accuracies in per cent, a row a data set: encodings, none, and two baselines.

    Parameters
    ----------
    rows : mapping of (data set, tokens) to accuracies
        "encodings" is an array of shape (n_encodings,); "none", "1-NN" and "MiniRocket" are floats.
    tokens : str
        What a token is in the rows that are shown, such as "steps".
    """
    shown = {name: one for (name, kind), one in rows.items() if kind == tokens}
    figure, ax = plots.new(height=1.2 + 0.2 * len(shown), width=NARROW)
    style = {"MiniRocket": ("s", 3, 9), "1-NN": ("^", 2, 7), "none": ("X", 1, 6)}
    rows_of = np.arange(len(shown))
    strokes = np.array([one["encodings"] for one in shown.values()])
    places = np.broadcast_to(rows_of[:, None], strokes.shape)
    ax.plot(strokes.ravel(), places.ravel(), "|", color=plots.COLORS[0], markersize=11)
    for name, (mark, color, size) in style.items():  # the largest first: none is covered
        options: dict[str, Any] = {"color": plots.COLORS[color], "markeredgecolor": "black"}
        found = [one[name] for one in shown.values()]
        ax.plot(found, rows_of, mark, markersize=size, markeredgewidth=0.6, **options)
    labels = ["ten encodings", *list(style)[:-1], "no encoding"]
    figure.legend(ax.lines, labels, loc="outside lower center", ncols=2)
    ax.set(ylim=(len(shown) - 0.4, -0.6), xlabel="test accuracy (%)")
    ax.set_yticks(range(len(shown)), list(shown))
    plots.show(
        figure,
        name=f"fig-levels-with-{tokens}",
        caption=f"Test accuracy of ten encodings with {tokens} as tokens (strokes), of the same "
        "model without any, and of two classifiers that are no transformers. A mark to the right "
        "of all strokes beats every encoding.",
        alt=f"One row for each of {len(shown)} data sets. {_told_levels(shown)} The table below "
        "has the numbers.",
    )


def _told_levels(rows: Mapping[str, Mapping[str, Any]]) -> str:
    """Return on how many sets each mark stands beyond all strokes, and where strokes lie widest."""
    right = {
        words: sum(one[name] > np.max(one["encodings"]) for one in rows.values())
        for name, words in (("MiniRocket",) * 2, ("1-NN",) * 2, ("none", "no encoding"))
    }
    left = sum(one["none"] < np.min(one["encodings"]) for one in rows.values())
    widest = max(rows, key=lambda name: np.ptp(rows[name]["encodings"]))
    low, high = min(rows[widest]["encodings"]), max(rows[widest]["encodings"])
    beats = ", ".join(f"{words} on {n}" for words, n in right.items())
    return (
        f"Right of all strokes stand {beats}; left of all of them no encoding on {left}. The "
        f"strokes lie widest on {widest}, from {low:.1f} to {high:.1f} %."
    )


def by_tokens(rows: Sequence[tuple[str, str, int, float, float, float]]) -> None:
    """Show the mean gain of ten encodings on each data set against the number of its tokens.

    Parameters
    ----------
    rows : sequence of (data set, what a token is, number of tokens, mean, lowest, highest gain)
        Gains in points.
    """
    figure, ax = plots.new(height=2.8)
    figure.set_figwidth(NARROW)
    ax.axhline(0, color="#555555", linewidth=1)
    kinds = list(dict.fromkeys(tokens for _, tokens, *_ in rows))
    for kind, mark, color in zip(kinds, "so", (1, 0), strict=False):
        some = [row for row in rows if row[1] == kind]
        n, mean, low, high = (np.array([row[i] for row in some]) for i in (2, 3, 4, 5))
        bars: dict[str, Any] = {
            "fmt": mark,
            "color": plots.COLORS[color],
            "elinewidth": 1,
            "capsize": 2,
        }
        ax.errorbar(n, mean, [mean - low, high - mean], label=kind, **bars)
    counts = [1, 2, 3, 5, 10, 20, 50, 100]
    ax.semilogx()
    ax.set_xticks(counts, [str(one) for one in counts])
    ax.minorticks_off()
    ax.set(xlabel="tokens of a series", ylabel="gain over no encoding (points)")
    ax.legend(title="a token is one of the")
    plots.show(
        figure,
        name="fig-gains-by-tokens",
        caption="Mean gain of ten encodings over none on each data set, against the number of its "
        "tokens; the lines reach from the worst encoding to the best.",
        alt="A scatter of gains against tokens. "
        + " ".join(_told_tokens(kind, [row for row in rows if row[1] == kind]) for kind in kinds)
        + " The table below has the numbers.",
    )


def _told_tokens(kind: str, rows: Sequence[tuple[str, str, int, float, float, float]]) -> str:
    """Return which mean gains sets of few and of many tokens have, and which set gains most."""
    words = []
    for part, holds in ((f"fewer than {MANY}", np.less), (f"{MANY} or more", np.greater_equal)):
        some = [row[3] for row in rows if holds(row[2], MANY)]
        if some:
            middle, low, high = np.median(some), min(some), max(some)
            n = f"{len(some)} set{'s' * (len(some) > 1)} of {part}"
            words.append(f"{n}, median {middle:+z.1f}, from {low:+z.1f} to {high:+z.1f}")
    name, _, n_tokens, mean, *_ = max(rows, key=lambda row: row[3])
    most = f"most gains {name}, {mean:+.1f} with {n_tokens} token{'s' * (n_tokens > 1)}"
    return f"{kind.capitalize()}: {'; '.join(words)}; {most}."


def by_length(
    curves: Mapping[str, tuple[NDArray[np.int64], NDArray[np.float64]]], early: int
) -> None:
    """Show what encodings would have gained had all trainings been stopped earlier.

    Parameters
    ----------
    curves : mapping of a title to steps, (n_checks,), and gains, (n_encodings, n_checks)
        Gains in points of validation accuracy.
    early : int
        A step at which trainings might have been stopped; drawn as a dashed line.
    """
    figure, axes = plots.new(len(curves), 1, height=0.6 + 2.1 * len(curves), sharex=True)
    figure.set_figwidth(NARROW)
    told = []
    for ax, (title, (steps, gains)) in zip(np.atleast_1d(axes), curves.items(), strict=True):
        middle = np.median(gains, axis=0)
        ax.fill_between(steps, gains.min(0), gains.max(0), color="#b9cfe0")
        ax.semilogx(steps, middle, "-", color=plots.COLORS[0])
        ax.axhline(0, color="#555555", linewidth=1)
        ax.axvline(early, color=plots.COLORS[1], linestyle="--", linewidth=1.4)
        ax.set(title=title, ylabel="gain (points)")
        at = {early: middle[steps.tolist().index(early)], steps[-1]: middle[-1]}
        told.append(
            f"{title}: the median is highest, {middle.max():+.1f}, at {steps[middle.argmax()]:,}; "
            + ", ".join(f"{gain:+.1f} at {step:,}" for step, gain in at.items())
        )
    ticks = [50, 100, 200, 500, 1000, 2000, 4000]
    axes = np.atleast_1d(axes)
    axes[-1].set_xticks(ticks, ticks)
    axes[-1].minorticks_off()
    axes[-1].set_xlabel("optimisation steps")
    plots.show(
        figure,
        name="fig-gains-by-length",
        caption="Gain over no encoding in validation accuracy if all training runs had ended at "
        "that step: the median of ten encodings, and the range from the lowest to the highest. "
        f"Dashed: {early} steps.",
        alt=f"Two panels of gain against steps, with a dashed line at {early}. {'; '.join(told)}.",
    )


def in_order_and_sorted(charts: NDArray[np.float64], names: Sequence[str]) -> None:
    """Show one series of each kind, and below several of them with their values sorted.

    Parameters
    ----------
    charts : array of shape (n_series, n_kinds, length)
    names : sequence of str
        Of the kinds.
    """
    figure, axes = plots.new(2, len(names), height=2.6, width=NARROW + 0.4, sharey=True)
    for column, (name, series) in enumerate(zip(names, charts.swapaxes(0, 1), strict=True)):
        axes[0, column].plot(series[0], color=plots.COLORS[0], linewidth=1.2)
        axes[1, column].plot(np.sort(series).T, color=plots.COLORS[1], linewidth=0.7, alpha=0.6)
        axes[0, column].set_title(name, fontsize=9)
    for ax in axes.ravel():
        ax.set(xticks=[], yticks=[])
        ax.grid(False)
    axes[0, 0].set_ylabel("in order")
    axes[1, 0].set_ylabel("sorted")
    plots.show(
        figure,
        name="fig-in-order-and-sorted",
        caption="Six kinds of charts, each scaled to mean 0 and standard deviation 1. Above is "
        f"one chart of each. Below are {len(charts)} of each, with their values sorted.",
        alt=f"Two rows of {len(names)} curves. Above, each looks like its name: "
        f"{', '.join(names)}. Below, sorted, all of them rise from left to right, and those of "
        "falling charts look like those of rising ones.",
    )


class Sorting(Protocol):
    """What sorting costs a rule and what encodings gain, in points, by data set."""

    sets: Sequence[str]
    lost: NDArray[np.float64]
    gains: NDArray[np.float64]


def sorting(found: Sorting, *, named: Sequence[str]) -> None:
    """Show what an encoding brings on each set against what sorting costs there.

    Parameters
    ----------
    found : Sorting
    named : sequence of str
        Sets whose names are written beside their dots.
    """
    figure, ax = plots.new(height=3.8, width=NARROW)
    ax.axvline(0, color="#888888", linewidth=1)
    ax.axhline(0, color="#888888", linewidth=1)
    ax.plot(found.lost, found.gains, "o", color=plots.COLORS[0], markersize=6)
    for name in named:
        at = list(found.sets).index(name)
        x, y = found.lost[at], found.gains[at]
        left = x > 30 or -20 < x < 0  # names stay inside the frame and apart
        beside = (-7 if left else 7, 8 if y < 5 else 0)
        style: dict[str, Any] = {"ha": "right" if left else "left", "va": "center", "fontsize": 9}
        ax.annotate(name, (x, y), beside, textcoords="offset points", **style)
    ax.set_xlabel("what sorting costs the nearest neighbour (points)")
    ax.set_ylabel("what an encoding brings (points)")
    told = ", ".join(
        f"{name} ({found.lost[i]:+.1f}, {found.gains[i]:+.1f})" for i, name in enumerate(found.sets)
    )
    plots.show(
        figure,
        name="fig-sorting",
        caption="Each dot is an independent data set. To the right: how many points of accuracy a "
        "nearest neighbour loses when all series are sorted. Up: what an encoding brings the "
        "transformer with a token for each step, in the mean of ten.",
        alt=f"A cloud of {len(found.sets)} dots that climbs to the right. Lost and gained: {told}.",
    )
