"""Figures of the chapter that opens a sentence model."""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from posenc_book.teaching import plots

Array = NDArray[np.float64]


def alike(found: Mapping[str, Sequence[Sequence[float]]], name: str = "fig-real-alike") -> None:
    """Show how alike texts stay under each treatment: one row a treatment, one dot a text's try.

    Parameters
    ----------
    found : mapping from words for the treatment to one list of cosines a text
    name : str
        The figure's.
    """
    figure, ax = plots.new(height=0.55 + 0.42 * len(found), width=6.4)
    for row, tries in enumerate(found.values()):
        for k, values in enumerate(tries):
            x = np.full(len(values), row) + 0.09 * (k - (len(tries) - 1) / 2)
            ax.plot(values, x, "o", ms=4, color=plots.COLORS[2], alpha=0.6)
        mean = np.mean(np.concatenate([np.asarray(values) for values in tries]))
        ax.plot([mean, mean], [row - 0.3, row + 0.3], "-", color=plots.COLORS[1], lw=2.5)
    ax.set(xlabel="how alike the two lists of numbers are", xlim=(-0.02, 1.02))
    ax.set_yticks(range(len(found)), list(found))
    ax.invert_yaxis()
    plots.show(
        figure,
        name=name,
        caption="Five sentences, each compared with itself after something was done to it. A dot "
        "is one try, a bar the mean.",
        alt="Rows of dots on a scale from 0 to 1, in this order of their means: "
        + ", ".join(
            f"{done} at {np.mean([np.mean(one) for one in tries]):.2f}"
            for done, tries in found.items()
        )
        + ".",
    )


def table_and_cosines(table: Array, cosines: Array) -> None:
    """Show a table as it is stored, and how alike each two of its rows are."""
    figure, (left, right) = plots.new(1, 2, height=3.4, width_ratios=[1, 1.15])
    most = float(np.quantile(np.abs(table), 0.99))
    left.imshow(table, aspect="auto", vmin=-most, vmax=most)
    left.grid(False)
    left.set(xlabel="dimension", ylabel="place", title="the table")
    plots.heatmap(right, cosines, label="cosine", x="place", y="place", vmin=-0.2, vmax=1)
    right.set(title="how alike two rows are")
    plots.show(
        figure,
        name="fig-real-table",
        caption="Left, 512 places with 384 numbers each. Right, the cosine between each two rows.",
        alt="Left, a picture that looks like noise with faint stripes. Right, a bright diagonal "
        "with many finer stripes on both sides of it, which bend a little far from it.",
    )


def directions(shares: Array, n_kept: int) -> None:
    """Show how much of a table lies along each of its strongest directions."""
    figure, ax = plots.new(height=2.5, width=6.2)
    shown = np.arange(1, 31)
    kept = shown <= n_kept
    ax.bar(shown[kept], 100 * shares[:30][kept], color=plots.COLORS[2])
    ax.bar(shown[~kept], 100 * shares[:30][~kept], color=plots.COLORS[0], alpha=0.45)
    ax.set(xlabel="direction, strongest first", ylabel="share of the table (%)")
    plots.show(
        figure,
        name="fig-real-directions",
        caption=f"How much of the table lies along its strongest directions. After {n_kept} of "
        "384 there is nearly nothing left.",
        alt=f"Bars that are of similar height for ten directions and fall to almost nothing "
        f"after {n_kept}.",
    )


def circle(values: NDArray[np.complex128]) -> None:
    """Show what one step does: eigenvalues in the complex plane, and their speeds in order."""
    figure, (left, right) = plots.new(1, 2, height=3.1, width=6.8, width_ratios=[1, 1.2])
    round_ = np.linspace(0, 2 * np.pi, 200)
    left.plot(np.cos(round_), np.sin(round_), color=plots.COLORS[0], lw=1)
    left.plot(values.real, values.imag, "o", color=plots.COLORS[1])
    left.set(aspect="equal", xlabel="real part", ylabel="imaginary part", title="one step")
    speeds = np.sort(np.angle(values[np.angle(values) > 1e-6]))
    numbers = np.arange(1, len(speeds) + 1)
    slope, start = np.polyfit(numbers, np.log(speeds), 1)
    right.plot(numbers, np.exp(start + slope * numbers), "--", color=plots.COLORS[0], lw=1)
    right.plot(numbers, speeds, "o", color=plots.COLORS[1])
    right.set(yscale="log", xlabel="clock, slowest first", ylabel="radians a place", title="speeds")
    right.set_xticks(numbers)
    plots.show(
        figure,
        name="fig-real-clocks",
        caption="Left, the eigenvalues of the map from each row to the next; the circle has radius "
        "1. Right, the speeds of the five pairs on it. On this scale a straight line means that "
        "each clock is faster than the one before by the same factor.",
        alt="Left, eleven points, all close to the circle, ten of them in pairs above and below "
        "the axis. Right, five points close to a straight rising line.",
    )


def heads(weights: Array, offsets: Array) -> None:
    """Show how far away each head of a layer looks.

    Parameters
    ----------
    weights : array of shape (n_heads, n_offsets)
        Mean attention by offset.
    offsets : array of shape (n_offsets,)
    """
    figure, axes = plots.new(2, 6, height=2.9, sharex=True, sharey=True)
    for number, (ax, own) in enumerate(zip(axes.flat, weights, strict=True), start=1):
        ax.bar(offsets, own, width=0.9, color=plots.COLORS[2])
        ax.set_title(f"head {number}", fontsize=9)
        ax.set_xticks([-8, 0, 8])
    figure.supxlabel("offset of the token it looks at", fontsize=10)
    figure.supylabel("attention", fontsize=10)
    plots.show(
        figure,
        name="fig-real-heads",
        caption="What places alone make the twelve heads of the first layer look at, with the same "
        "average word at every place.",
        alt="Twelve small charts. Head 3 has a single full bar one place before, head 6 a tall one "
        "there; heads 4 and 5 have a hump around themselves, the others are flat.",
    )


def lengths(norms: Array, marked: Mapping[int, str]) -> None:
    """Show how long each row of a table is, with some places marked."""
    figure, ax = plots.new(height=2.5, width=6.2)
    ax.plot(norms, lw=1.2)
    for place, words in marked.items():
        ax.annotate(
            words, (place, norms[place]), xytext=(14, 4), textcoords="offset points", fontsize=9,
            arrowprops={"arrowstyle": "-", "lw": 0.6},
        )  # fmt: skip
    ax.set(xlabel="place", ylabel="length of its row", ylim=(0, None))
    plots.show(
        figure,
        name="fig-real-lengths",
        caption="The length of each row.",
        alt="A line that starts very high at place 0, drops to about 0.45, has a small peak at "
        "place 127, a small step up behind it, and a rise at the very last place.",
    )
