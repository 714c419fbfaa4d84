"""The survey's schematic Figures 1 to 3, redrawn from a layer of attention that ran."""

from dataclasses import dataclass
from itertools import product

import torch
from matplotlib.axes import Axes
from torch import Tensor

from posenc.attention import SelfAttention
from posenc_book.teaching import plots

IN_A_HEAD = {  # what a head does, in few letters
    "queries, keys, values": "Q, K, V",
    "scores over the root of the width": "scores",
    "softmax over the keys": "softmax",
    "weighted sums of the values": "sums",
}


@dataclass(frozen=True)
class Step:
    """A step of attention: what it does, the shape of what it hands on, the door that it is."""

    does: str
    shape: tuple[int, ...]
    door: str = ""


@torch.no_grad()
def run(layer: SelfAttention, x: Tensor) -> tuple[list[Step], Tensor]:
    """Take a layer step by step, through the doors that its encoding uses.

    Parameters
    ----------
    layer : SelfAttention
        Whose `mix` returns a tensor or None.
    x : (batch, length, d_model)

    Returns
    -------
    steps, and the output, which is that of `layer(x)`; shapes are without the batch.
    """
    position, used, steps = layer.position, layer.position.doors(), []

    def note(does: str, out: Tensor, door: str = "") -> Tensor:
        steps.append(Step(does, tuple(out.shape[1:]), door))
        return out

    note("tokens", x)
    if "embed" in used:
        x = note("add a row for each place", position.embed(x), "embed")
    q, k, v = layer.qkv(x).unflatten(-1, (3, layer.n_heads, -1)).permute(2, 0, 3, 1, 4)
    note("queries, keys, values", q)
    if "rotate" in used:
        q, k = position.rotate(q, k)
        note("change queries and keys", q, "rotate")
    scores = note("scores over the root of the width", q @ k.mT * layer.scale)
    if "bias" in used:
        added = position.bias(x, q, k)
        assert added is not None
        scores = note("add to the scores", scores + added, "bias")
    weights = note("softmax over the keys", scores.softmax(-1))
    if (extra := position.mix(x)) is not None:
        assert isinstance(extra, Tensor)
        weights = note("add to the weights", weights + extra, "mix")
    heads = note("weighted sums of the values", weights @ v)
    joined = note("heads side by side", heads.transpose(1, 2).flatten(2))
    return steps, note("last linear map", layer.out(joined))


def draw(ax: Axes, steps: list[Step], title: str) -> None:
    """Draw the steps from top to bottom; doors are coloured, shapes stand beside them."""
    for i, step in enumerate(steps):
        box = {"boxstyle": "round,pad=0.35", "ec": plots.COLORS[0]}
        box["fc"] = plots.COLORS[3] if step.door else "white"
        ax.text(0.38, -i, step.does, ha="center", va="center", bbox=box, fontsize=9)
        shape = " × ".join(map(str, step.shape))
        ax.text(0.8, -i, shape, va="center", family="monospace", fontsize=9)
        if i:
            arrow = {"arrowstyle": "->", "color": plots.COLORS[0]}
            ax.annotate("", (0.38, -i + 0.3), (0.38, -i + 0.7), arrowprops=arrow)
    ax.set(title=title, xlim=(0, 1.1), ylim=(-len(steps) + 0.4, 0.6))
    ax.axis("off")


def draw_heads(ax: Axes, steps: list[Step], title: str) -> None:
    """Draw the steps of a layer without encoding from top to bottom, each head in a column."""
    n_heads = steps[1].shape[0]
    arrow = {"arrowstyle": "->", "color": plots.COLORS[0], "lw": 0.8}
    box = {"boxstyle": "round,pad=0.35", "ec": plots.COLORS[0], "fc": "white"}
    above: list[float] = []
    for i, step in enumerate(steps):
        shared = len(step.shape) == 2
        columns = [(n_heads - 1) / 2] if shared else [float(head) for head in range(n_heads)]
        for x in columns:
            does = step.does if shared else IN_A_HEAD[step.does]
            ax.text(x, -i, does, ha="center", va="center", bbox=box, fontsize=8)
        alike = len(columns) == len(above)
        pairs = zip(above, columns, strict=True) if alike else product(above, columns)
        for start, end in pairs:
            ax.annotate("", (end, -i + 0.28), (start, -i + 0.72), arrowprops=arrow)
        said = " × ".join(map(str, step.shape[-2:])) + ("" if shared else " each")
        ax.text(n_heads - 0.3, -i, said, va="center", family="monospace", fontsize=8)
        above = columns
    ax.set(title=title, xlim=(-0.6, n_heads + 2.1), ylim=(-len(steps) + 0.4, 0.6))
    ax.axis("off")
