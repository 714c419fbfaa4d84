"""Figures of the chapter on oscillations."""

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Circle, Wedge
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
