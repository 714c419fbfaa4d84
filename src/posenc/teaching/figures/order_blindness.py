"""Figures of the chapter on order blindness."""

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import ConnectionPatch
from numpy.typing import NDArray

from posenc import tables
from posenc.teaching import plots
from posenc.teaching.program import attention

WORDS = ("Alice", "helped", "Bob")
D_MODEL = 16
N_SHOWN = 10  # of the numbers of a word
# The first figure's weights: a draw in which each word looks mostly at one word, so that what
# differs is easy to see. That rows move with their words holds for every draw.
SEED, SHARPNESS = 49, 3.0


def two_sentences() -> None:
    """Show what a layer of attention makes of two sentences, without and with positions."""
    rng = np.random.default_rng(SEED)
    x = rng.normal(size=(3, D_MODEL))
    maps = rng.normal(size=(3, D_MODEL, D_MODEL)) / np.sqrt(D_MODEL)
    maps[0] *= SHARPNESS
    signals: dict[str, float | NDArray[np.floating]] = {
        "without positions": 0.0,
        "with positions": tables.sinusoidal(3, D_MODEL),
    }
    found = {
        title: (attention(x + signal, *maps), attention(x[::-1] + signal, *maps))
        for title, signal in signals.items()
    }
    limit = max(np.abs(rows[:, :N_SHOWN]).max() for both in found.values() for rows in both)
    figure, axes = plots.new(2, 2, height=4.2, width=5.6)
    plots.set_apart(figure, 0.22)
    for (left, right), (title, rows) in zip(axes, found.items(), strict=True):
        same = np.allclose(rows[0], rows[1][::-1], atol=1e-12)
        _strips(left, rows[0], WORDS, limit)
        _strips(right, rows[1], WORDS[::-1], limit)
        right.yaxis.tick_right()
        left.set_title(f"{title}: {'the same strips' if same else 'other strips'}")
        for place in range(3):
            _link(left, right, place, 2 - place, "-" if same else ":")
    plots.show(
        figure,
        name="fig-two-sentences",
        caption="What one layer of attention makes of each word: ten numbers, drawn as shades. "
        "Lines join the same word in *Alice helped Bob* and *Bob helped Alice*. Without "
        "positions its strip is the same in both sentences (solid); with positions it is not "
        "(dotted).",
        alt="Four panels of three strips of shades, one strip for each word. In the upper pair, "
        "without positions, Alice, helped and Bob have the same strip in both sentences. In the "
        "lower pair, with positions, every strip has changed.",
    )


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


# --- parts -------------------------------------------------------------------------------------


def _strips(ax: Axes, rows: NDArray, words: Sequence[str], limit: float) -> None:
    ax.imshow(rows[:, :N_SHOWN], aspect="auto", vmin=-limit, vmax=limit)
    ax.grid(False)
    ax.set_xticks([])
    ax.set_yticks(range(len(words)), words, fontsize=11)
    ax.hlines(np.arange(len(words) - 1) + 0.5, -0.5, N_SHOWN - 0.5, color="white", linewidth=6)
    ax.spines[:].set_visible(False)
    ax.tick_params(length=0)


def _link(left: Axes, right: Axes, here: int, there: int, style: str) -> None:
    """Draw a line from a strip on the left to one on the right, across the gap."""
    line = ConnectionPatch(
        (N_SHOWN - 0.3, here),
        (-0.7, there),
        left.transData,
        right.transData,
        linestyle=style,
        color=plots.COLORS[1],
        linewidth=1.6,
    )
    left.figure.add_artist(line)
