"""Figures of the chapter on order blindness."""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from posenc.teaching import plots


def weights_move(panels: Mapping[str, tuple[NDArray, Sequence[str]]]) -> None:
    """Show the attention weights of a sentence in several arrangements.

    Parameters
    ----------
    panels : mapping from a title to the weights, of shape (L, L), and the L words; four of them
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
            ax.text(column, row, f"{weight:.2f}", ha="center", va="center", color=shade)
    plots.show(
        figure,
        name="fig-weights-move",
        caption="Attention weights, one row for each word that looks. Without a mask the reversed "
        "sentence has the same nine weights, moved along with their words. With a causal mask it "
        "has others.",
        alt="Four grids of three by three weights. In the upper two, without a mask, the weight "
        "that one word gives another is the same in both sentences, only its row and column "
        "have moved. In the lower two, with a mask, the upper right triangle is zero, and a word "
        "that sees another in one sentence does not see it in the other.",
    )
