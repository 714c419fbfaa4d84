"""Figures of the chapter on two transformers for time series, and the traces that they draw."""

from collections.abc import Mapping, Sequence

import numpy as np
import torch
from matplotlib.axes import Axes
from torch import Tensor, nn

from posenc import encodings
from posenc.models import PatchTransformer, TimeSeriesTransformer
from posenc_book.teaching import plots

Step = tuple[str, str, tuple[int, ...]]  # name, kind, shape of what comes out

WORDS = {
    "project": "linear map",
    "input_norm": "batch norm",
    "embed": "position",
    "patches": "convolution",
    "qkv": "queries, keys, values",
    "out": "attention output",
    "attention_norm": "norm",
    "expand": "feed-forward, out",
    "contract": "feed-forward, back",
    "feed_forward_norm": "norm",
    "mean": "mean over tokens",
    "head": "linear map to classes",
    "0": "linear map",
    "1": "GELU",
    "2": "linear map to classes",
}


def trace(model: nn.Module, x: Tensor) -> list[Step]:
    """Run a model once and return the steps that it took, by forward hooks."""
    assert isinstance(model.position, TakesNotes)
    model.position.notes = steps = []
    for name, module in model.named_modules():
        if not list(module.children()) and not isinstance(module, (nn.Dropout, nn.Identity)):
            module.register_forward_hook(
                lambda module, _, out, name=name: steps.append(
                    (name, type(module).__name__, tuple(out.shape))
                )
            )
    with torch.no_grad():
        model.eval()(x)
    return steps


class TakesNotes(encodings.Sinusoidal):
    """A sinusoid that writes down when it enters: it works through a door and is no module."""

    notes: list[Step]

    def embed(self, x: Tensor) -> Tensor:  # type: ignore[override]  # tokens count in the figure
        """Return the tokens with the table added."""
        self.notes.append(("embed", "position", tuple(x.shape)))
        return super().embed(x)


def two_flows(n_steps: int = 100, n_channels: int = 6, n_classes: int = 4) -> None:
    """Show both models as they run, top to bottom, with the shape behind each step."""
    x = torch.zeros(1, n_steps, n_channels)
    torch.manual_seed(0)
    models = {
        "one token a step": TimeSeriesTransformer(n_channels, n_classes, n_steps, TakesNotes),
        "one token a patch": PatchTransformer(n_channels, n_classes, n_steps, TakesNotes, patch=8),
    }
    figure, axes = plots.new(1, 2, height=5.8)
    figure.set_figwidth(6.0)  # narrow, so that a phone shows its words large enough
    for ax, (title, model) in zip(axes, models.items(), strict=True):
        _flow(ax, folded(trace(model, x)), title)
    plots.show(
        figure,
        name="fig-two-flows",
        caption=f"Both models as they ran on {n_steps} steps of {n_channels} channels, top to "
        "bottom: what each step does, and the shape of what it hands on (tokens × numbers). "
        "The bracket repeats four times. Red are the residual paths: what enters attention, or the "
        "feed-forward network, is added to what comes out.",
        alt="Two columns of boxes joined by arrows. Left: linear map 100 by 128, batch norm, "
        "position, then four layers of queries keys values, attention output, norm, feed-forward, "
        "norm, then the mean over tokens and a linear map to 4 classes. In each layer one line "
        "leads around attention and one around the feed-forward network, to a plus before the "
        "norm. Right: convolution 13 by 128, position, the same four layers, the mean, a linear "
        "map to 256, GELU, linear map to 4 classes.",
    )


def folded(steps: Sequence[Step]) -> list[Step]:
    """Return the steps outside the layers and those of the first layer, which all others repeat."""
    numbers = sorted({name.split(".")[1] for name, *_ in steps if name.startswith("layers.")})
    layers = [_layer(steps, number) for number in numbers]
    if any(layer != layers[0] for layer in layers):
        raise ValueError("steps must repeat from layer to layer, got layers that differ")
    later = tuple(f"layers.{number}." for number in numbers[1:])
    return [step for step in steps if not step[0].startswith(later)]


def work(lengths: Sequence[int], operations: Mapping[str, Sequence[float]]) -> None:
    """Show how many operations models need, against the length of the series.

    Parameters
    ----------
    lengths : sequence of int
        In steps.
    operations : mapping of a line's name to one number a length
    """
    figure, ax = plots.new(height=3.3)
    figure.set_figwidth(5.6)
    for (name, values), marker in zip(operations.items(), "os^D", strict=False):
        ax.loglog(lengths, values, marker=marker, markersize=4, label=name)
    ax.set_xticks(lengths, [str(one) for one in lengths])
    ax.minorticks_off()
    ax.set(xlabel="length of the series (steps)", ylabel="operations")
    ax.legend()
    told = "; ".join(f"{name} {_large(values[-1])}" for name, values in operations.items())
    plots.show(
        figure,
        name="fig-work",
        caption="Operations of one forward pass at the survey's size, counted from the shapes. The "
        "dashed line is what attention proper, scores and sums, takes of the solid one.",
        alt=f"Rising lines on logarithmic axes. At {lengths[-1]} steps: {told}. "
        + _half_way(lengths, operations),
    )


def _large(number: float) -> str:
    """Return a number of operations in words: "11 billion"."""
    unit, word = (1e9, "billion") if number >= 1e9 else (1e6, "million")
    return f"{number / unit:.2g} {word}" if number < 100 * unit else f"{number / unit:.0f} {word}"


def _half_way(lengths: Sequence[int], operations: Mapping[str, Sequence[float]]) -> str:
    """Return from which length on the second line takes half of the first."""
    whole, part = [*operations.values()][:2]
    shares = np.divide(part, whole)
    half = lengths[int((shares >= 0.5).argmax())]
    return f"The second line is {shares[0]:.0%} of the first at {lengths[0]} steps, half at {half}."


def order_training(scores: Mapping[str, Sequence[float]]) -> None:
    """Show how often models tell which came first, one row for each and one mark for each seed.

    Parameters
    ----------
    scores : mapping of an encoding to accuracies
    """
    figure, ax = plots.new(height=1.1 + 0.36 * len(scores))
    figure.set_figwidth(5.6)
    for i, values in enumerate(scores.values()):
        spread = np.linspace(-0.2, 0.2, len(values))
        ax.plot(values, i + spread, "D", color=plots.COLORS[1], markersize=6, alpha=0.85)
    ax.set_yticks(range(len(scores)), list(scores))
    ax.axvline(0.5, color="black", linewidth=1, linestyle=":")
    ax.set(xlabel="test accuracy, one mark a seed", xlim=(0.35, 1.03))
    ax.invert_yaxis()
    told = "; ".join(f"{name} {min(v):.0%} to {max(v):.0%}" for name, v in scores.items())
    plots.show(
        figure,
        name="fig-order-training",
        caption="Which came first, running or walking? The same model with five encodings. The "
        "dotted line is a coin.",
        alt=f"Test accuracy, lowest and highest of the seeds: {told}.",
    )


def mean_rows(means: Mapping[str, tuple[float, float]]) -> dict[str, dict[str, str]]:
    """Return a row for each norm: the largest means that it leaves.

    Parameters
    ----------
    means : mapping from a name to the largest mean of a feature, and that of a token
    """
    columns = ("of a feature", "of a token")
    return {
        name: {column: f"{mean:.2f}" for column, mean in zip(columns, pair, strict=True)}
        for name, pair in means.items()
    }


def _layer(steps: Sequence[Step], number: str) -> list[Step]:
    start = f"layers.{number}."
    return [(n.removeprefix(start), kind, shape) for n, kind, shape in steps if n.startswith(start)]


def _flow(ax: Axes, steps: Sequence[Step], title: str) -> None:
    """Draw the steps as boxes with the shapes beside them; the mean stands before the head."""
    shown = [(name, shape[:0:-1] if kind == "Conv1d" else shape[1:]) for name, kind, shape in steps]
    head = next(i for i, (name, _) in enumerate(shown) if name.startswith("head"))
    rows = [*shown[:head], ("mean", shown[head - 1][1][1:]), *shown[head:]]
    inner = [i for i, (name, _) in enumerate(rows) if name.startswith("layers")]
    for i, (name, shape) in enumerate(rows):
        color = plots.COLORS[3] if name == "embed" else "white"
        box = {"boxstyle": "round,pad=0.35", "fc": color, "ec": plots.COLORS[0]}
        ax.text(
            0.34, -i, WORDS[name.split(".")[-1]], ha="center", va="center", bbox=box, fontsize=9.5
        )
        ax.text(0.7, -i, " × ".join(map(str, shape)), va="center", family="monospace", fontsize=9)
        if i:
            arrow = {"arrowstyle": "->", "color": plots.COLORS[0]}
            ax.annotate("", (0.34, -i + 0.27), (0.34, -i + 0.73), arrowprops=arrow)
    start = inner[0]
    for norm in (i for i in inner if rows[i][0].endswith("norm")):
        _residual_path(ax, start - 0.5, norm - 0.58)
        start = norm + 1
    ends = -np.array([inner[0]] * 2 + [inner[-1]] * 2)
    ax.plot([-0.12, -0.14, -0.14, -0.12], ends, "-", color=plots.COLORS[0])
    ax.text(-0.16, -float(np.mean(inner)), "4 layers", rotation=90, ha="right", va="center")
    ax.set(title=title, xlim=(-0.24, 1.05), ylim=(-11.5, 0.6))
    ax.axis("off")


def _residual_path(ax: Axes, start: float, end: float) -> None:
    """Draw the way around half a layer, from one arrow to a plus on a later one."""
    around = [(0.34, -start), (-0.06, -start), (-0.06, -end), (0.31, -end)]
    ax.plot(*zip(*around, strict=True), "-", color=plots.COLORS[1], linewidth=1.2, zorder=0)
    ring = {"boxstyle": "circle,pad=0.02", "fc": "white", "ec": plots.COLORS[1]}
    ax.text(0.34, -end, "+", ha="center", va="center", bbox=ring, fontsize=8)
