"""Figures and the table of the chapter on real times, images and signals."""

import textwrap
from collections.abc import Mapping, Sequence
from typing import Protocol

import numpy as np
from matplotlib.patches import Rectangle
from numpy.typing import NDArray

from posenc_book.figures._marks import mean_and_runs, rows_from_above
from posenc_book.teaching import plots
from posenc_book.teaching.words import WordTable

Array = NDArray[np.float64]


class Worth(Protocol):
    """What `worth_of_times` draws of a group: `posenc_book.read.gaps.read.Worth` is one."""

    by_set: Mapping[str, Array]


class Beside(Protocol):
    """What `beside_control` draws of a data set, such as the `Beside` of the control."""

    dataset: str
    encoded: Array
    richer: Array


class Mean(Protocol):
    """A mean with its interval, as `digits_read` draws it."""

    mean: float
    low: float
    high: float


def scores_over_time(seconds: Array, scores: Mapping[str, Array]) -> None:
    """Show scores of one query and key at uneven samples, by the time between the two.

    Parameters
    ----------
    seconds : array of shape (n,)
    scores : mapping from what was handed over to an array of shape (n, n)
    """
    later = np.subtract.outer(seconds, seconds).T
    figure, axes = plots.new(1, len(scores), height=2.6, width=5.4, sharey=True, squeeze=False)
    for ax, (title, values) in zip(axes[0], scores.items(), strict=True):
        ax.plot(later.ravel(), values.ravel(), ".", markersize=3, color=plots.COLORS[0])
        ax.set(title=title, xlabel="time from query to key (s)")
    axes[0, 0].set_ylabel("score")
    plots.show(
        figure,
        name="fig-uneven-scores",
        caption="One query and one key at thirty uneven moments, both turned by rotary encoding. "
        "Given the times, a score is a function of the time between the two; given the numbers of "
        "the samples, it is not.",
        alt="Two scatter plots of score against time between query and key. From times all points "
        "lie on one wavy curve; from sample numbers each score belongs to a broad range of times.",
    )


def two_rulers(seconds: Sequence[int], letters: Sequence[str], asked: int, meant: int) -> None:
    """Show letters where they were sent, and below where they stand if they are counted.

    Parameters
    ----------
    seconds : sequence of n int
        When each letter was sent.
    letters : sequence of n str
    asked, meant : int
        The numbers of the letter that is asked and of the one that is the answer.
    """
    figure, ax = plots.new(height=1.9, width=4.6)
    scale = seconds[-1] / (len(seconds) - 1)
    looks = {asked: plots.COLORS[2], meant: plots.COLORS[1]}
    for k, (second, letter) in enumerate(zip(seconds, letters, strict=True)):
        color = looks.get(k, plots.COLORS[0])
        weight = "bold" if k in looks else "normal"
        ax.plot([second, scale * k], [0.72, 0.28], "-", color=color, linewidth=1, alpha=0.6)
        for x, y, below, number in ((second, 0.86, 1.14, second), (scale * k, 0.14, -0.14, k)):
            ax.text(x, y, letter, ha="center", va="center", color=color, weight=weight)
            ax.text(x, below, str(number), ha="center", va="center", fontsize=8, color="0.35")
    ax.set(xlim=(-1, seconds[-1] + 1), ylim=(-0.35, 1.35), yticks=[1.14, 0.86, 0.14, -0.14])
    ax.set_yticklabels(["second", "sent", "counted", "number"])
    ax.tick_params(left=False)
    ax.set_xticks([])
    ax.grid(False)
    ax.spines[:].set_visible(False)
    apart = seconds[asked] - seconds[meant]
    plots.show(
        figure,
        name="fig-two-rulers",
        caption="What arrived of the buoy's letters. Above, each letter at the second in which it "
        "was sent; below, the same letters counted. The blue letter asks, and the red one is "
        f"{apart} seconds before it, however many letters arrived between the two.",
        alt=f"Letters at uneven places on an upper line, the same letters evenly spaced below. Two "
        f"are marked: {apart} seconds apart above, {asked - meant} apart below.",
    )


def reading_order(rows: int, widths: Sequence[int], back: int, asked: tuple[int, int]) -> None:
    """Show patches numbered in reading order, and which is so many before the one that asks.

    Parameters
    ----------
    rows : int
    widths : sequence of int
        Columns of each picture.
    back : int
    asked : tuple of int
        Row and column of the patch that asks.
    """
    figure, axes = plots.new(
        1, len(widths), height=2.6, width=6.8, width_ratios=widths, squeeze=False
    )
    found = []
    for ax, width in zip(axes[0], widths, strict=True):
        numbers = np.arange(rows * width).reshape(rows, width)
        number = numbers[asked]
        at = divmod(int(number) - back, width)
        looks = {asked: plots.COLORS[2], at: plots.COLORS[1]}
        for (row, column), shown in np.ndenumerate(numbers):
            ink = "white" if (row, column) in looks else "0.25"
            color = looks.get((row, column), "white")
            corner = (column - 0.5, row - 0.5)
            ax.add_patch(Rectangle(corner, 1, 1, facecolor=color, edgecolor="0.7"))
            ax.text(column, row, shown, ha="center", va="center", fontsize=8, color=ink)
        ax.set(xlim=(-0.5, width - 0.5), ylim=(rows - 0.5, -0.5), xticks=[], yticks=[])
        ax.set(title=f"{width} columns", aspect="equal")
        ax.grid(False)
        up, across = asked[0] - at[0], at[1] - asked[1]
        found.append(f"with {width} columns it is {up} row up and {across} columns to the right")
    plots.show(
        figure,
        name="fig-reading-order",
        caption=f"Patches in reading order. The blue patch asks; the red one is {back} numbers "
        "before it.",
        alt=f"Grids of numbered patches. The patch {back} numbers before the one that asks: "
        f"{'; '.join(found)}.",
    )


def score_map(w: Array, reach: int) -> Array:
    """Return the mean score of an equal query and key, by their offset in an image.

    Parameters
    ----------
    w : array of shape (n_pairs, 2)
        Angular frequencies of each pair along rows and columns, in radians per patch.
    reach : int
        Largest offset along an axis, in patches.

    Returns
    -------
    array of shape (2 * reach + 1, 2 * reach + 1), the offset 0 in its middle.
    """
    rows, columns = np.mgrid[-reach : reach + 1, -reach : reach + 1]
    return np.cos(np.stack([rows, columns], axis=-1) @ w.T).mean(axis=-1)


def by_direction(w: Array, distance: float) -> dict[str, str]:
    """Return the lowest and the highest score of all offsets of one length.

    Parameters
    ----------
    w : array of shape (n_pairs, 2)
        Angular frequencies of each pair along rows and columns, in radians per patch.
    distance : float
        Length of the offsets, in patches.
    """
    angle = np.linspace(0, np.pi, 181)  # the other half of the circle has the same scores
    circle = distance * np.stack([np.sin(angle), np.cos(angle)], axis=1)
    scores = np.cos(circle @ w.T).mean(axis=-1)
    return {"lowest score": f"{scores.min():.2f}", "highest score": f"{scores.max():.2f}"}


def kernels(maps: Mapping[str, Array], reach: int) -> None:
    """Show what an equal query and key score by their offset in two directions.

    Parameters
    ----------
    maps : mapping from a name to an array of shape (2 * reach + 1, 2 * reach + 1)
    reach : int
        Largest offset along an axis, in patches.
    """
    figure, axes = plots.new(1, len(maps), height=2.6, width=5.4, sharey=True, squeeze=False)
    edge = reach + 0.5
    for ax, (title, values) in zip(axes[0], maps.items(), strict=True):
        image = ax.imshow(
            values, extent=(-edge, edge, -edge, edge), origin="lower", vmin=-0.1, vmax=1
        )
        ax.set(title=title, xlabel="columns apart")
        ax.grid(False)
    axes[0, 0].set_ylabel("rows apart")
    figure.colorbar(image, ax=axes, label="score", shrink=0.9)
    plots.show(
        figure,
        name="fig-2d-kernels",
        caption="The score of an equal query and key by their offset in an image: half of the "
        "pairs for each axis, and pairs with directions of their own.",
        alt="Two heat maps with a bright centre. Axial: a bright cross runs through the centre "
        "along rows and columns. Mixed: a round spot fades nearly alike in all directions.",
    )


def digits_read(
    shown: Mapping[str, Sequence[Sequence[int]]], found: Mapping[str, Mapping[str, Mean]]
) -> None:
    """Show one digit in each shape, and below it how many digits were read rightly.

    Parameters
    ----------
    shown : mapping of a shape to a picture, rows of numbers from 0 to 16
    found : mapping of an encoding to a mapping of the same shapes to accuracies in per cent
    """
    figure, axes = plots.new(2, len(shown), height=4.6, height_ratios=[1, 2], squeeze=False)
    longest = max(len(row) for picture in shown.values() for row in picture)
    edges = (-0.5, longest - 0.5)
    for (shape, picture), (above, below) in zip(shown.items(), axes.T, strict=True):
        above.imshow(picture, cmap="Greys", vmin=0, vmax=16)
        frame = Rectangle((-0.5, -0.5), len(picture[0]), len(picture), fill=False, edgecolor="0.6")
        above.add_patch(frame)
        above.set(xlim=edges, ylim=edges[::-1], xticks=[], yticks=[])
        words = textwrap.fill(shape.replace(" x ", "×").replace(", ", ",\n", 1), 13)
        above.set_title(words, fontsize=7.5, y=1.02)
        above.grid(False)
        above.spines[:].set_visible(False)
        for y, name in enumerate(found):
            one, color = found[name][shape], plots.COLORS[0]
            below.plot([one.low, one.high], [y, y], "-", color=color, linewidth=2)
            below.plot(one.mean, y, "o", color=color, markersize=5)
        rows_from_above(below, [*found] if below is axes[1, 0] else [""] * len(found), line=10)
        below.set(xlim=(0, 103), xticks=[0, 50, 100])
    figure.supxlabel("digits read rightly (%), with 95 % intervals", fontsize=9)
    plots.show(
        figure,
        name="fig-digits-read",
        caption="Small transformers that learned handwritten digits of 8 × 8 pixels, asked about "
        "other digits in six shapes. Above, one digit in each; below, how many of them each model "
        "reads rightly, and at the line how often one would by guessing. The intervals are over "
        "trainings.",
        alt="Dots for each shape. "
        + " ".join(
            f"{shape}: "
            + ", ".join(f"{name} {found[name][shape].mean:.0f}" for name in found)
            + "."
            for shape in shown
        ),
    )


def foundation_models() -> WordTable:
    """Return how public models for forecasting tell their tokens where they stand.

    Read in the repositories named, at the commits named; facts only.
    """
    rows = {
        "Chronos": (
            "whatever the loaded model has: the code takes one of the transformers library by its "
            "configuration, which we did not read",
            _CHRONOS.format("chronos/chronos.py"),
        ),
        "Chronos-Bolt": (
            "T5's learned bias by bucket of offset, as the stacks are T5's",
            _CHRONOS.format("chronos/chronos_bolt.py"),
        ),
        "Chronos-2": (
            "rotary over the number of the patch, base 10,000; no position among the series of a "
            "group; beside each value a counted time, divided by a constant, by default the "
            "context length",
            _CHRONOS.format("chronos/chronos2/layers.py, model.py"),
        ),
        "Moirai 1, MoE and 2": (
            "rotary over the number of the patch, on the first half of each head's dimensions; "
            "two learned numbers a head for same and other variate",
            "SalesforceAIResearch/uni2ts, src/uni2ts/model/*/module.py, 8d2a08d (10 November 2025)",
        ),
        "Timer": (
            "sinusoids added to the patches",
            "thuml/Large-Time-Series-Model, layers/Embed.py, 1ff8d1a (22 March 2026)",
        ),
        "Timer-XL": (
            "rotary on the first half of each head's dimensions, counted on through the patches of "
            "one variate after another; two learned numbers a head for same and other variate",
            "thuml/OpenLTM, layers/SelfAttention_Family.py, 0b30050 (22 March 2026)",
        ),
        "TimesFM 1 and 2": (
            "sinusoids added to the patches, with a switch that the examples for version 2 turn "
            "off",
            _TIMESFM.format("v1/src/timesfm/pytorch_patched_decoder.py, v1/README.md"),
        ),
        "TimesFM 2.5": (
            "rotary over the number of the patch, counted from the first that is not padding",
            _TIMESFM.format("src/timesfm/torch/transformer.py"),
        ),
    }
    heading = "how a token learns where it stands"
    told = {name: {heading: f"{how}. Read in {where}"} for name, (how, where) in rows.items()}
    return WordTable(told, head="model")


_CHRONOS = "amazon-science/chronos-forecasting, src/{}, 95185d1 (18 June 2026)"
_TIMESFM = "google-research/timesfm, {}, 3dae50b (13 July 2026)"


def worth_of_times(found: Mapping[str, Worth]) -> None:
    """Show what true times are worth on each data set, by what an encoding knows of a time.

    Parameters
    ----------
    found : mapping of what the scores know of a time to a `Worth`
    """
    means = {what: {d: v.mean() for d, v in one.by_set.items()} for what, one in found.items()}
    total = {
        dataset: sum(by[dataset] for what, by in means.items() if what != "no encoding")
        for dataset in next(iter(means.values()))
    }
    order = sorted(total, key=total.__getitem__, reverse=True)
    figure, ax = plots.new(height=1.3 + 0.4 * len(order), width=5.4)
    for k, (what, one) in enumerate(found.items()):
        for y, dataset in enumerate(order):
            at = y + 0.25 * (k - (len(found) - 1) / 2)
            mean_and_runs(ax, one.by_set[dataset], at, k, None if y else what)
    rows_from_above(ax, order, line=0)
    ax.set_xlabel("accuracy with times minus with numbers (points)")
    figure.legend(loc="outside lower center", ncols=3)
    plots.show(
        figure,
        name="fig-worth-of-times",
        caption="What true times are worth when half of the steps of each series are lost: means "
        "(large) and five seeds each (small), by what an encoding knows of a time. A model "
        "without encoding cannot tell the two apart: its marks show the scatter.",
        alt="Marks for each data set. "
        + " ".join(
            f"{d}: " + ", ".join(f"{what} {by[d]:+z.1f}" for what, by in means.items()) + "."
            for d in order
        ),
    )


def a_star(days: Array, brightness: Array, period: float) -> None:
    """Show a star's readings as they come, and folded at its period.

    Parameters
    ----------
    days, brightness : array of shape (n,)
    period : float
        In days.
    """
    figure, axes = plots.new(1, 2, height=2.6, sharey=True)
    spent = {"days": days, "hours since a cycle began": 24 * (days % period)}
    for ax, (label, x) in zip(axes, spent.items(), strict=True):
        ax.plot(x, brightness, "o", markersize=3.5, color=plots.COLORS[0])
        ax.set_xlabel(label)
    axes[0].set(title="as the readings came", ylabel="brightness")
    axes[1].set(title=f"folded at {24 * period:.1f} hours")
    plots.show(
        figure,
        name="fig-a-star",
        caption="A made-up star, and the readings of it in a year. On the right each reading "
        "stands at the hour of the star's cycle in which it was taken.",
        alt="Two scatter plots of the same readings. Over the days they are a cloud; by the hour "
        "of the cycle they lie on a curve that rises fast and falls slowly.",
    )


def stars_told_apart(
    found: Mapping[str, Mapping[str, Mapping[str, Mean]]], commonest: Mapping[str, float]
) -> None:
    """Show how many stars of each survey a model tells the kind of, by what it knows of time.

    Parameters
    ----------
    found : mapping of a survey to a mapping of an arm to its "accuracy"
    commonest : mapping of a survey to the share of its commonest kind
    """
    n_rows = max(map(len, found.values()))
    figure, axes = plots.new(1, len(found), height=1.3 + 0.33 * n_rows, squeeze=False)
    for ax, (survey, arms) in zip(axes[0], found.items(), strict=True):
        for y, (arm, one) in enumerate((a, scores["accuracy"]) for a, scores in arms.items()):
            told_when = arm.endswith(("times", "since"))
            color, marker = (plots.COLORS[1], "s") if told_when else (plots.COLORS[0], "o")
            ax.plot(np.multiply([one.low, one.high], 100), [y, y], "-", color=color)
            ax.plot(100 * one.mean, y, marker, color=color, markersize=6)
        rows_from_above(ax, [*arms] if ax is axes[0, 0] else [""] * n_rows, 100 * commonest[survey])
        ax.set_title(survey)
    figure.supxlabel("stars whose kind is told rightly (%), with 95 % intervals", fontsize=9)
    plots.show(
        figure,
        name="fig-stars-told-apart",
        caption="How many new stars each model tells the kind of. Red squares: models that are "
        "told when a star was read. The line: always naming the commonest kind. Means of five "
        "deals of the stars.",
        alt="A dot with an interval for each way to tell time, one panel a survey. "
        + " ".join(
            f"{survey}: "
            + ", ".join(f"{a} {100 * scores['accuracy'].mean:.0f}" for a, scores in arms.items())
            + "."
            for survey, arms in found.items()
        ),
    )


def beside_control(found: Mapping[str, Sequence[Beside]]) -> None:
    """Show what window statistics gain as an encoding, and as channels of a model without one.

    Parameters
    ----------
    found : mapping of what a token is to a sequence of `Beside`
    """
    rows = [(f"{one.dataset}, {tokens}", one) for tokens, sets in found.items() for one in sets]
    figure, ax = plots.new(height=1.3 + 0.45 * len(rows), width=5.4)
    said = []
    for y, (name, one) in enumerate(rows):
        gains = {"added to the tokens": one.encoded, "channels of the input": one.richer}
        for k, (words, values) in enumerate(gains.items()):
            mean_and_runs(ax, values, y + 0.3 * (k - 0.5), k, None if y else words)
        encoded, richer = (v.mean() for v in gains.values())
        said.append(f"{name}: {encoded:+z.1f} and {richer:+z.1f}")
    rows_from_above(ax, [name for name, _ in rows], line=0)
    ax.set_xlabel("gain over no encoding (points)")
    figure.legend(loc="outside lower center", ncols=2)
    plots.show(
        figure,
        name="fig-beside-control",
        caption="Gain over the plain model without encoding, in points of test accuracy, of the "
        "same window statistics added to the tokens and as further channels of the input of a "
        "model without encoding: means (large) and five training runs each (small).",
        alt="A pair of marks for each data set, added and as channels. " + "; ".join(said) + ".",
    )
