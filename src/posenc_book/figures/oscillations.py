"""Figures of the chapter on oscillations."""

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Circle, Rectangle, Wedge
from numpy.typing import NDArray

from posenc_book.teaching import plots


def clocks(words: Sequence[str], periods: Sequence[int] = (8, 4, 2)) -> None:
    """Show the places of words on clocks, and the bits that are the halves of their dials.

    Parameters
    ----------
    words : sequence of str
    periods : sequence of int
        Positions that each row of clocks takes for one turn; powers of 2, the slowest first.
    """
    figure, ax = plots.new(height=3.4, width=6.4)
    for row, period in enumerate(periods):
        for t in range(len(words)):
            _clock(ax, (t, -1.35 * row), 2 * np.pi * t / period)
        ax.text(-0.75, -1.35 * row, f"one turn\nin {period}", ha="right", va="center")
    for t, word in enumerate(words):
        ax.text(t, 0.95, f"{t}", ha="center", weight="bold")
        ax.text(t, 0.62, word, ha="center", fontsize=9)
    ax.set(xlim=(-2.0, len(words) - 0.5), ylim=(-1.35 * len(periods) + 0.45, 1.25), aspect="equal")
    ax.axis("off")
    plots.show(
        figure,
        name="fig-bits-on-clocks",
        caption="Eight words, each with three clocks, whose hands turn counter-clockwise from the "
        "right. A hand that has gone less than half a turn reads as the bit 0, any other (shaded) "
        "as 1; read downwards, the three bits are the number of the place. The hands "
        "know more than the bits: they also show how far the half turn has gone.",
        alt="Eight words in a row, numbered from 0 to 7, with three clock faces below each. The "
        "hand of the first clock moves on by an eighth of a turn from word to word, "
        "counter-clockwise, that of the second by a quarter, that of the third by a half. The "
        "dials whose hands point straight left or below the horizontal are shaded and bear a 1: "
        "000, 001, 010 and so on up to 111.",
    )


def sinusoidal_table(table: NDArray, pairs: Sequence[int] = (4, 8, 16)) -> None:
    """Show a table of positions as a heat map, and some of its sine columns as curves.

    Parameters
    ----------
    table : array of shape (n_positions, d_model)
    pairs : sequence of int
        Numbers of the pairs whose sines are drawn.
    """
    figure, axes = plots.new(1, 2, height=3.4, width=6.4, width_ratios=[5, 4])
    plots.set_apart(figure, 0.1)  # two labels meet in the middle
    plots.heatmap(axes[0], table, label="value", vmin=-1, vmax=1)
    for pair in pairs:
        axes[1].plot(table[:, 2 * pair], label=str(2 * pair))
    axes[1].set(xlabel="position", ylabel="value of a column", ylim=(-1.05, 1.05))
    axes[1].legend(title="dimension", ncols=3, loc="lower center", bbox_to_anchor=(0.5, 1))
    plots.show(
        figure,
        name="fig-sinusoidal-table",
        caption="The sinusoidal table of 100 positions and 64 dimensions, and three of its "
        "columns. The further right a column, the slower its wave.",
        alt="Left, a heat map: the left columns oscillate quickly down the positions, columns "
        "further right ever more slowly, and the right quarter hardly changes, alternating "
        "between zero and one. Right, three columns as curves, from a fast wave to a slow rise.",
    )


def base_and_noise(bases: NDArray, recovered: Mapping[str, NDArray]) -> None:
    """Show how many positions are recovered under noise, by base.

    Parameters
    ----------
    bases : array of shape (n,)
    recovered : mapping from a label to shares between 0 and 1, of shape (n,)
    """
    figure, ax = plots.new(height=3.0, width=6.2)
    for label, share in recovered.items():
        ax.plot(bases, 100 * share, label=label)
    ax.axvline(10_000, color="grey", linestyle=":", label="base of the Transformer")
    ax.set(xscale="log", xlabel="base", ylim=(0, 105), ylabel="positions recovered (%)")
    ax.legend()
    plots.show(
        figure,
        name="fig-base-noise",
        caption="Positions recovered under noise of standard deviation 1 per dimension; "
        "500 positions, 64 dimensions. Small bases name the place exactly more often; near misses "
        "have an optimum of their own.",
        alt="Recovered positions against the base on a log scale. Exact recovery falls as the "
        "base grows. Recovery within two positions stays near 100 percent up to a base of about "
        "100, then falls too. The base of the Transformer, 10,000, lies on both slopes.",
    )


def row_lengths(sines: NDArray, pairs: NDArray) -> None:
    """Show how long the rows are that hold sines alone, beside rows of sine and cosine.

    Parameters
    ----------
    sines, pairs : arrays of shape (n_places, n_clocks) and (n_places, 2 * n_clocks)
    """
    figure, ax = plots.new(height=2.6, width=6.2)
    ax.plot(np.linalg.norm(pairs, axis=1), label="sine and cosine")
    ax.plot(np.linalg.norm(sines, axis=1), label="sine alone")
    ax.set(xlabel="place", ylabel="length of the row", ylim=(0, None))
    ax.legend()
    plots.show(
        figure,
        name="fig-row-lengths",
        caption=f"How long the row of each place is, for {sines.shape[1]} clocks. With sines alone "
        "place 0 has no row at all, and the others are longer and shorter; with the cosines beside "
        "them all rows are equally long.",
        alt="Length of the row against the place. Sine and cosine together give a level line. The "
        "sine alone starts at zero, climbs quickly, then more slowly and in waves, and stays below "
        "the level line.",
    )


def added_and_beside(d: int = 4) -> None:
    """Show a sum of word and position, and the two side by side, each with the matrix behind it."""
    figure, axes = plots.new(1, 2, height=3.0, width=6.6)
    for ax, title in zip(axes, ("added", "side by side"), strict=True):
        wide = d if title == "added" else 2 * d
        word, place = plots.COLORS[0], plots.COLORS[1]
        _boxes(ax, 0, 2.3, d, word, "word")
        left, bottom = (0, 1.1) if wide == d else (d, 2.3)
        _boxes(ax, left, bottom, d, place, "position")
        if wide == d:
            ax.text(d / 2, 2.1, "+", ha="center", va="center")
        ax.add_patch(Rectangle((0, 0.2 - wide), wide, wide, facecolor="#c3c9d2", edgecolor="none"))
        ax.text(wide / 2, 0.2 - wide / 2, f"{wide} × {wide}", ha="center", va="center")
        ax.set(title=title, xlim=(-0.5, 2 * d + 0.5), ylim=(-2 * d, 3.6), aspect="equal")
        ax.axis("off")
    plots.show(
        figure,
        name="fig-added-and-beside",
        caption="A word and its position, each of four numbers, and below them a matrix that reads "
        "them. Side by side they take a matrix twice as wide and twice as high.",
        alt="Left, added: four boxes of the word, a plus sign, four boxes of the position, and a "
        "square of 4 by 4. Right, side by side: eight boxes in one row, four of the word and four "
        "of the position, and a square of 8 by 8, four times as large.",
    )


# --- parts -------------------------------------------------------------------------------------


def _clock(ax: Axes, centre: tuple[float, float], angle: float) -> None:
    """Draw a dial with its hand, `angle` radians from the right, and the bit that it reads as."""
    x, y = centre
    bit = angle % (2 * np.pi) > np.pi - 1e-9
    if bit:
        ax.add_patch(Wedge(centre, 0.42, 180, 360, color="#c3c9d2", linewidth=0))
    ax.add_patch(Circle(centre, 0.42, fill=False, edgecolor=plots.COLORS[0], linewidth=1.2))
    tip = (x + 0.36 * np.cos(angle), y + 0.36 * np.sin(angle))
    ax.annotate(
        "", tip, centre, arrowprops={"arrowstyle": "-|>", "color": plots.COLORS[1], "shrinkA": 0}
    )
    ax.text(x, y - 0.62, f"{int(bit)}", ha="center", va="center", fontsize=9)


def _boxes(ax: Axes, left: float, bottom: float, n: int, color: str, name: str) -> None:
    """Draw a row of n numbers as boxes, and its name on them."""
    for i in range(n):
        box = Rectangle((left + i, bottom), 1, 0.8, facecolor=color, edgecolor="white")
        ax.add_patch(box)
    middle = left + n / 2, bottom + 0.38
    ax.text(*middle, name, color="white", ha="center", va="center", fontsize=8)
