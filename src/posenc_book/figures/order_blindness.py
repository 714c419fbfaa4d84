"""Figures of the chapter on order blindness."""

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.patches import Rectangle
from numpy.typing import ArrayLike, NDArray

from posenc_book.teaching import plots


def every_order(words: Sequence[str], orders: Sequence[Sequence[int]], numbers: ArrayLike) -> None:
    """Show one number of each output row in every order, as it comes and sent back to its word.

    Parameters
    ----------
    words : sequence of L str
    orders : sequence of n permutations
        Which word stands where.
    numbers : array of shape (n, L)
        A number of each row, by its place in the order.
    """
    numbers = np.asarray(numbers)
    places = [f"place {place}" for place in range(1, len(words) + 1)]
    panels = {
        "as attention gives them": (numbers, places),
        "each sent back to its word": (
            np.take_along_axis(numbers, np.argsort(orders, axis=1), axis=1),
            words,
        ),
    }
    figure, axes = plots.new(2, 1, height=3.8, width=6.4, sharex=True)
    for ax, (title, (rows, names)) in zip(axes, panels.items(), strict=True):
        ax.imshow(rows.T, aspect="auto")
        ax.grid(False)
        ax.set_title(title)
        ax.set_xticks([])
        ax.set_yticks(range(len(names)), names)
    axes[1].set_xlabel(f"the {len(orders)} orders")
    plots.show(
        figure,
        name="fig-every-order",
        caption="One column for each order of the five words. A field is the first number that "
        "attention makes of a word, the brighter the larger.",
        alt=f"Two grids of {len(words)} rows and {len(orders)} columns. In the upper one, by "
        "place, the shades change from column to column. In the lower one, by word, each row has "
        "one shade from end to end.",
    )


def weights_move(
    panels: Mapping[str, tuple[NDArray, Sequence[str]]], framed: tuple[str, str]
) -> None:
    """Show the attention weights of a sentence in several arrangements.

    Parameters
    ----------
    panels : mapping from a title to the weights, of shape (L, L), and the L words; four of them
    framed : pair of str
        The word that looks and the word it looks at, whose weight has a frame.
    """
    figure, axes = plots.new(2, 2, height=5.4, width=5.6)
    for ax, (title, (weights, words)) in zip(axes.ravel(), panels.items(), strict=True):
        ax.imshow(weights, vmin=0, vmax=1)
        ax.grid(False)
        ax.set_title(title)
        ax.set_xticks(range(len(words)), words)
        ax.set_yticks(range(len(words)), words)
        for (row, column), weight in np.ndenumerate(weights):
            shade = "black" if weight > 0.5 else "white"
            bold = "bold" if (words[row], words[column]) == framed else None
            ax.text(
                column, row, f"{weight:.2f}", ha="center", va="center", color=shade, weight=bold
            )
        row, column = (words.index(word) for word in framed)
        ax.add_patch(
            Rectangle(
                (column - 0.5, row - 0.5),
                1,
                1,
                fill=False,
                edgecolor=plots.COLORS[1],
                linewidth=4,
                clip_on=False,
            )
        )
    plots.show(
        figure,
        name="fig-weights-move",
        caption="Attention weights, one row for each word that looks. Without a mask the reversed "
        "sentence has the same nine weights, moved along with their words. With a causal mask it "
        f"has others. Framed: what {framed[0]} gives to {framed[1]}.",
        alt="Four grids of three by three weights. In the upper two, without a mask, the weight "
        "that one word gives another is the same in both sentences, only its row and column "
        "have moved. In the lower two, with a mask, the upper right triangle is zero, and a word "
        "that sees another in one sentence does not see it in the other.",
    )
