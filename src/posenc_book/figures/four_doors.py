"""Figures of the chapter on the four doors."""

from collections.abc import Mapping, Sequence

import numpy as np
import torch
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle
from numpy.typing import NDArray

from posenc import encodings
from posenc.attention import SelfAttention
from posenc_book.teaching import plots

TOKENS = "ABACABAC"
NARROW = 4.6  # inches: figures that are read on a phone
LOUD = 0.75  # entries of the tokens, beside 1 of the sinusoid
# door -> what goes through it in the opening figure, with options
GUESTS = {
    "none": ("none", {}),
    "embed": ("sinusoidal", {}),
    "rotate": ("rotary", {}),
    "bias": ("alibi", {}),
    "mix": ("erpe", {"std": 0.1}),
}
TITLES = {
    "none": "all doors shut",
    "embed": "embed: sinusoid",
    "rotate": "rotate: RoPE",
    "bias": "bias: ALiBi",
    "mix": "mix: eRPE",
}


@torch.no_grad()
def attention_map(door: str, d_model: int = 128, n_heads: int = 4) -> NDArray[np.float64]:
    """Return who sees whom among the `TOKENS` if position comes in through one door.

    Equal letters are equal tokens; queries and keys are the tokens as they are. That is the first
    of the heads, (queries, keys).
    """
    name, options = GUESTS[door]
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(3)
        letters = {letter: LOUD * torch.randn(d_model).sign() for letter in sorted(set(TOKENS))}
        position = encodings.make(encodings.get(name), d_model, n_heads, len(TOKENS), **options)
        layer = SelfAttention(d_model, n_heads, position).double().eval()
    layer.qkv.weight[: 2 * d_model] = torch.eye(d_model).repeat(2, 1)
    x = torch.stack([letters[letter] for letter in TOKENS]).double()
    return layer.weights(x[None])[0, 0].numpy()


def doors_opened() -> None:
    """Show one small attention map with all doors shut, and with each door open in turn."""
    maps = {door: attention_map(door) for door in GUESTS}
    low, high = min(m.min() for m in maps.values()), max(m.max() for m in maps.values())
    figure, axes = plots.new(3, 2, height=6.2)
    figure.set_figwidth(NARROW)
    for ax, (door, weights) in zip(axes.ravel(), maps.items(), strict=False):
        image = _draw_map(ax, weights, TITLES[door], low, high)
    axes[2, 1].axis("off")
    axes[2, 1].text(0.5, 0.75, "rows: queries\ncolumns: keys", ha="center", va="center")
    bar = axes[2, 1].inset_axes([0.05, 0.35, 0.9, 0.12])
    figure.colorbar(image, cax=bar, orientation="horizontal", label="attention weight")
    plots.show(
        figure,
        name="fig-doors-opened",
        caption="One head looks at eight tokens that spell A B A C A B A C. Rows are queries, "
        "columns keys. With all doors shut, rows of equal letters are equal. Each door "
        "breaks that in its own way.",
        alt="Five maps of eight by eight attention weights. "
        + " ".join(
            f"{TITLES[door]}: {_in_words(weights, maps['none'])}." for door, weights in maps.items()
        ),
    )


def _draw_map(ax: Axes, weights: NDArray[np.float64], title: str, low: float, high: float):
    image = ax.imshow(weights, vmin=low, vmax=high)
    ax.grid(False)
    ax.set_title(title, fontsize=10)
    ax.set_xticks(range(len(TOKENS)), TOKENS)
    ax.set_yticks(range(len(TOKENS)), TOKENS)
    ax.tick_params(length=0)
    return image


def _in_words(weights: NDArray[np.float64], shut: NDArray[np.float64]) -> str:
    """Return what a map shows, read from its numbers and those with all doors shut."""
    firsts = [i for i, letter in enumerate(TOKENS) if letter == "A"]
    apart = max(np.abs(weights[i] - weights[firsts[0]]).max() for i in firsts)
    words = ["the four rows of A " + ("are equal" if apart < 1e-9 else f"differ by {apart:.2f}")]
    words.append(f"a token gives itself {np.diagonal(weights).mean():.2f} on average")
    added = weights - shut
    if apart > 1e-9 and np.allclose(added[1:, 1:], added[:-1, :-1]):
        words.append("what is added to the first map is the same along each diagonal")
    if weights.min() < 0:
        words.append(f"the smallest weight is {weights.min():.2f}")
    return ", ".join(words)


STEPS = (
    ("tokens x", None),
    ("x + e(t)", "embed"),
    ("queries, keys, values", None),
    ("R(t) q,  R(t) k", "rotate"),
    ("scores  q·k / √d_head", None),
    ("scores + b", "bias"),
    ("softmax: weights A", None),
    ("A + w", "mix"),
    ("R(s) v", "carry"),
    ("heard  A v", None),
    ("R(−t) A v", "deliver"),
    ("output", None),
)


def way_through() -> None:
    """Show the steps of an attention layer from top to bottom, with the doors beside them."""
    figure, ax = plots.new(height=5.5)
    figure.set_figwidth(NARROW)
    for row, (text, door) in enumerate(STEPS):
        colour = plots.COLORS[3] if door else "#f2f5f9"
        box = {"boxstyle": "round,pad=0.4", "fc": colour, "ec": plots.COLORS[0]}
        ax.text(0.32, -row, text, ha="center", va="center", fontsize=12, bbox=box)
        if door:
            ax.text(0.64, -row, door, va="center", fontsize=13, family="monospace")
        if row:
            arrow = {"arrowstyle": "->", "color": plots.COLORS[0]}
            ax.annotate("", (0.32, -row + 0.3), (0.32, -row + 0.7), arrowprops=arrow)
    ax.set(xlim=(0, 1), ylim=(-len(STEPS) + 0.4, 0.6))
    ax.axis("off")
    boxes = [f"{text}, the door {door}" if door else text for text, door in STEPS]
    plots.show(
        figure,
        name="fig-way-through",
        caption="The way through an attention layer. Coloured: the moments at which position can "
        "come in: four before a line, and two around the message, before the sum and after it.",
        alt=f"A column of boxes joined by arrows, from top to bottom: {'; '.join(boxes)}.",
    )


def overruled(likings: NDArray[np.floating], weights: Mapping[str, Sequence[float]]) -> None:
    """Show the weight of a word for which only its place speaks, against how loud another is.

    Parameters
    ----------
    likings : numpy.ndarray, (n,)
        What the other word's content adds to its score.
    weights : mapping from what the place adds to weights, each (n,)
    """
    figure, ax = plots.new(height=3.0, width=5.6)
    for name, line in weights.items():
        ax.plot(likings, line, label=name)
    ax.set(xlabel="score of the word that the head likes", ylabel="weight of the last word")
    ax.set_ylim(bottom=0)
    figure.legend(ncols=2, loc="outside upper center")
    told = "; ".join(f"{name}, from {w[0]:.2f} to {w[-1]:.2f}" for name, w in weights.items())
    plots.show(
        figure,
        name="fig-overruled",
        caption="The same wish of the place, before the softmax and behind it. The more the head "
        "likes another word, the less a bias is heard. What is added behind stays.",
        alt="Two falling lines over the score of the word that the head likes, up to "
        f"{likings[-1]:.0f}. The weight of the last word: {told}.",
    )


def heads_cut(n_words: int, n_heads: int) -> None:
    """Show how the numbers of each word are cut into queries, keys and values of several heads."""
    figure, ax = plots.new(height=4.0, width=5.4)
    below = -n_words - 2.6  # where the first row of the heaps stands
    for piece in range(3 * n_heads):
        part, head = divmod(piece, n_heads)
        left = 1.3 * piece + 1.2 * part
        for word in range(n_words):
            for x, y in ((1.3 * piece + 1.2, -word), (left, below - word)):
                width = 1.3 if y > below else 1
                box = Rectangle((x, y), width, 0.9, fc=plots.COLORS[part + 1], ec="white")
                ax.add_patch(box)
        ax.text(left + 0.5, below - n_words + 0.5, f"{head + 1}", ha="center", va="center")
    middle = 0.65 * 3 * n_heads + 1.2
    for part, words in enumerate(("queries", "keys", "values")):
        ax.text(middle + (part - 1) * (1.3 * n_heads + 1.2), below + 1.3, words, ha="center")
    ax.text(middle, 1.2, "a row of numbers for each word", ha="center")
    ax.annotate(
        "", (middle, below + 2.3), (middle, -n_words + 0.7), arrowprops={"arrowstyle": "->"}
    )
    ax.text(middle, below - n_words - 0.7, "heads", ha="center")
    ax.set(xlim=(-0.2, 2 * middle + 0.2), ylim=(below - n_words - 1, 2))
    ax.axis("off")
    plots.show(
        figure,
        name="fig-heads-cut",
        caption=f"The numbers of {n_words} words, cut for {n_heads} heads. Above, (length, 3 "
        "d_model). Below, three heaps of (heads, length, d_head). Each box holds d_head numbers.",
        alt=f"Above, {n_words} rows of {3 * n_heads} boxes, each row in three colours. Below, the "
        f"same boxes as {3 * n_heads} columns of {n_words}, in three groups: queries, keys and "
        f"values, each with the heads 1 to {n_heads}.",
    )
