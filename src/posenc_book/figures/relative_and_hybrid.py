"""Figures of the chapter on relative and hybrid encodings, and the scores that they draw."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import torch
from matplotlib.axes import Axes
from numpy.typing import NDArray
from torch import Tensor

from posenc import encodings
from posenc.attention import Position
from posenc.encodings import StochasticPosition
from posenc_book.teaching import plots

Array = NDArray[np.float64]

LENGTH, D_MODEL, N_HEADS = 64, 64, 4
NARROW = 5.4  # inches: figures that are read on a phone
QUERIES = (24, 40)
# name -> title, in the order of the chapter
SHOWN = {
    "sinusoidal": "sinusoid, added",
    "t5": "T5",
    "alibi": "ALiBi",
    "relative": "Shaw",
    "rotary": "RoPE",
    "sine_spe": "SineSPE",
    "conv_spe": "ConvSPE",
    "erpe": "eRPE (weights)",
    "tupe": "TUPE",
    "tpe": "T-PE",
}
RECIPES: dict[str, type[encodings.SineSPE | encodings.ConvSPE]] = {
    "SineSPE": encodings.SineSPE,
    "ConvSPE": encodings.ConvSPE,
}
DRAWS = tuple(4**n for n in range(2, 7))


def make(name: str, **options: Any) -> Position:
    """Return an encoding at its start in the size of the chapter, in double precision."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        return (
            encodings.make(encodings.get(name), D_MODEL, N_HEADS, LENGTH, **options).double().eval()
        )


def heads(x: Tensor) -> Tensor:
    """Cut tokens (batch, length, d_model) into (batch, heads, length, d_head)."""
    return x.unflatten(-1, (N_HEADS, -1)).transpose(1, 2)


@torch.no_grad()
def scores(position: Position, x: Tensor) -> Tensor:
    """Return the scores of tokens that are their own queries and keys.

    Parameters
    ----------
    position : Position
        As `make` returns it.
    x : tensor of shape (batch, length, d_model)

    Returns
    -------
    tensor of shape (batch, heads, length, length)
    """
    x = position.embed(x)
    q, k = position.rotate(heads(x), heads(x))
    bias = position.bias(x, q, k)
    return q @ k.mT / (D_MODEL // N_HEADS) ** 0.5 + (0 if bias is None else bias)


@torch.no_grad()
def added(name: str) -> Array:
    """Return what position adds to scores, or to weights, of equal tokens: (queries, keys).

    That is of the first head, at the start of training.
    """
    same = torch.ones(1, LENGTH, D_MODEL, dtype=torch.float64)
    if name == "erpe":
        weights = make(name).mix(same)
        assert isinstance(weights, Tensor)
        return weights[0].numpy()
    return (scores(make(name), same) - scores(make("none"), same))[0, 0].numpy()


def kernels(reach: int = 23) -> None:
    """Show what each encoding adds by offset, seen from two queries."""
    offset = np.arange(-reach, reach + 1)
    rows = -(-len(SHOWN) // 2)
    figure, axes = plots.new(rows, 2, height=1.3 * rows + 0.6, width=NARROW, sharex=True)
    apart = []
    for ax, (name, title) in zip(axes.ravel(), SHOWN.items(), strict=True):
        matrix = added(name)
        seen = [matrix[query, query + offset] for query in QUERIES]
        for query, values in zip(QUERIES, seen, strict=True):
            ax.plot(offset, values, label=f"query at {query}")
        ax.set_title(title)
        ax.locator_params(axis="y", nbins=3)
        if not np.allclose(seen[0], seen[1], atol=1e-9):
            apart.append(title)
    handles, labels = axes[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=2)
    figure.supxlabel("offset, key minus query (positions)", fontsize=10)
    figure.supylabel("added to the score (eRPE: to the weight)", fontsize=10)
    together = [title for title in SHOWN.values() if title not in apart]
    plots.show(
        figure,
        name="fig-kernels",
        caption="What each encoding adds to the score of two equal tokens before training, seen "
        "from two places (first head). Where the lines coincide, only the offset counts. Each "
        "panel has its own vertical scale.",
        alt=f"{len(SHOWN)} panels, two lines each. The lines coincide for {', '.join(together)}. "
        f"They differ for {', '.join(apart)}. ALiBi is a tent, T5 a staircase of random heights, "
        "Shaw and eRPE are random, RoPE is a peak with waves beside it.",
    )


def skewed(defined: Array, skew: Array, query: int = 4) -> None:
    """Show scores as they are defined and as the causal skew has them, and one row of both.

    Parameters
    ----------
    defined, skew : arrays of shape (n, n)
        Scores, rows are queries.
    query : int
        The row that is drawn as curves.
    """
    figure, axes = plots.new(2, 2, height=4.6, width=NARROW, height_ratios=[1.25, 1])
    for ax in axes[1]:
        ax.remove()
    line = figure.add_subplot(axes[1, 0].get_gridspec()[1, :])
    for ax, image, title in zip(axes[0], (defined, skew), ("as defined", "skew"), strict=True):
        ax.imshow(image, vmin=min(defined.min(), skew.min()), vmax=max(defined.max(), skew.max()))
        ax.grid(False)
        ax.set(title=title, xlabel="key")
        line.plot(np.arange(len(image)) - query, image[query], label=title)
    axes[0, 0].set_ylabel("query")
    line.set(title=f"row of query {query}", xlabel="offset (positions)", ylabel="score")
    line.legend()
    far = len(skew) - 1
    plots.show(
        figure,
        name="fig-skew",
        caption="A preference for near keys, as it is defined and through the causal skew without "
        "a mask. Above, bright is a high score.",
        alt="Left, a bright diagonal that fades to both sides. Right, the same below the diagonal, "
        "but dark just above it and lighter again in the far upper right corner. Below, the row "
        f"of query {query}: one step ahead the score as defined is "
        f"{defined[query, query + 1]:.2f}, the skew's {skew[query, query + 1]:.2f}; at the last "
        f"key {defined[query, far]:.2f} and {skew[query, far]:.2f}.",
    )


def spe_errors(n: int = 32, width: int = 16, n_seeds: int = 4) -> None:
    """Show sampled covariances beside their kernel, and the noise of scores against the draws.

    Parameters
    ----------
    n, width : int
        Positions, and dimensions of the head, of the scores whose error is measured.
    n_seeds : int
        Samples of the codes.
    """
    figure, axes = plots.new(2, 1, height=5.2, width=NARROW)
    _draw_codes(axes[0])
    at_64 = []
    for (name, recipe), marker, colour in zip(RECIPES.items(), "ox", plots.COLORS, strict=False):
        found = [[noise_of(recipe, r, s, n, width) for r in DRAWS] for s in range(n_seeds)]
        error, expected, signal = np.mean(found, axis=0).T
        measured, told = np.sqrt(error) / signal, np.sqrt(expected) / signal
        axes[1].loglog(DRAWS, measured, marker, color=colour, label=name, fillstyle="none")
        axes[1].loglog(DRAWS, told, "-", color=colour, linewidth=1, label=f"{name}, theorem")
        at_64.append(f"{name} {measured[DRAWS.index(64)]:.1f}")
    axes[1].set_xticks(DRAWS, DRAWS, minor=False)
    axes[1].set_yticks([0.1, 0.2, 0.5, 1, 2], ["0.1", "0.2", "0.5", "1", "2"])
    axes[1].minorticks_off()
    axes[1].set(xlabel="number of draws R", ylabel="noise / signal of a score")
    axes[1].legend()
    plots.show(
        figure,
        name="fig-spe",
        caption="Above: covariance of sampled codes and the kernel that they stand for (ConvSPE at "
        "its start, seen from position 40). Below: root mean square error of a score in units of "
        "the scores' spread, measured and as the theorem tells.",
        alt="Above, a triangle over the offset. The line for 16 draws wanders far off, the one for "
        "256 stays near, the one for 4096 is nearly on it. Below, on logarithmic axes the measured "
        "noise of both recipes falls along straight lines of slope minus one half. Noise over "
        f"signal at 64 draws: {', '.join(at_64)}.",
    )


@torch.no_grad()
def noise_of(
    recipe: type[StochasticPosition], n_draws: int, seed: int, n: int, width: int
) -> tuple[float, float, float]:
    """Return the mean squared error of random scores, the one the theorem tells, their spread."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        spe = recipe(width, 1, n, n_realisations=n_draws, seed=seed).double().eval()
    rng = np.random.default_rng(101)  # no seed of the codes, which would draw the same numbers
    q, k = (torch.tensor(a) for a in rng.normal(size=(2, 1, 1, n, width)))
    met_q, met_k = spe.rotate(q, k)
    true = torch.einsum("md,dmn,nd->mn", q[0, 0], spe.kernel(n)[0], k[0, 0])
    error = (met_q @ met_k.mT)[0, 0] - true
    expected = (q.square().sum(-1).mT * k.square().sum(-1) + true.square()) / n_draws
    return error.square().mean().item(), expected.mean().item(), true.std().item()


def _draw_codes(ax: Axes, query: int = 40) -> None:
    offset = np.arange(LENGTH) - query
    for n_draws in (16, 256, 4096):
        spe = encodings.ConvSPE(4, 1, LENGTH, n_realisations=n_draws).eval()  # small: one is drawn
        with torch.no_grad():
            q, k = spe.codes(LENGTH)
        sampled = (q[0, 0, query] @ k[0, 0].mT / n_draws).numpy()
        ax.plot(offset, sampled, label=f"R = {n_draws}", alpha=0.8)
    exact = spe.kernel(LENGTH)[0, 0, query].detach().numpy()
    ax.plot(offset, exact, color="black", linestyle="-", linewidth=0.9, label="kernel")
    ax.set(xlabel="offset (positions)", ylabel="covariance")
    ax.legend()


def entrance(name: str) -> str:
    """Return by which doors position enters, and of which kind a term is: "bias, by offset"."""
    position, x = make(name), torch.zeros(1, 2, D_MODEL, dtype=torch.float64)
    words = []
    for door in position.doors():
        if door == "mix" and position.mix(x) is None:
            continue
        form = position.form(door)
        kind = form.kind.replace("_", " ") if form else "dense"
        words.append(f"{door}, {kind}" if door in ("bias", "mix") else door)
    return "; ".join(words) or "none"


def side_by_side(names: Iterable[str] = SHOWN) -> dict[str, dict[str, Any]]:
    """Return how position enters, whether scores move along, and what there is to learn.

    Parameters
    ----------
    names : names of encodings

    Returns
    -------
    mapping of a name to the columns of its row
    """
    rows = {}
    for name in names:
        longer, kept = takes_longer(make(name))
        rows[name] = {
            "enters by": entrance(name),
            "same scores 5 places on": moves_along(make(name)),
            "takes 3 times the length": longer,
            "first scores stay": kept,
            "numbers to learn": sum(p.numel() for p in make(name).parameters()),
        }
    return rows


def moves_along(position: Position, shift: int = 5) -> bool:
    """Return whether the scores of the same tokens stay where all of them move on together."""
    x = _tokens(LENGTH)
    before, after = scores(position, x), scores(position, x.roll(shift, 1))
    extra = position.mix(x)
    assert not callable(extra)
    still = extra is None or torch.allclose(extra[:, :-shift, :-shift], extra[:, shift:, shift:])
    return still and torch.allclose(before[..., :-shift, :-shift], after[..., shift:, shift:])


def takes_longer(position: Position, times: int = 3) -> tuple[bool, str]:
    """Return whether an input may be longer than planned, and whether the first scores stay."""
    x = _tokens(times * LENGTH)
    try:
        position.mix(x)
        grown = scores(position, x)[..., :LENGTH, :LENGTH]
    except ValueError:
        return False, "–"
    return True, "yes" if torch.allclose(grown, scores(position, x[:, :LENGTH])) else "no"


def _tokens(length: int) -> Tensor:
    return torch.tensor(np.random.default_rng(2).normal(size=(1, length, D_MODEL)))


def crowd(lengths: Array, shares: Mapping[str, Sequence[float]]) -> None:
    """Show which share of the attention all far letters get, as a text grows.

    Parameters
    ----------
    lengths : array of ints
    shares : mapping of a ruler's title to its share at each length, between 0 and 1
    """
    figure, ax = plots.new(height=3.2, width=NARROW)
    for title, values in shares.items():
        ax.semilogx(lengths, np.array(values) * 100, label=title, base=2)
    ax.set(xlabel="letters in the text", ylabel="attention beyond 8 steps (%)", ylim=(-3, 103))
    ax.legend()
    ends = ", ".join(f"{title} {100 * values[-1]:.0f} %" for title, values in shares.items())
    plots.show(
        figure,
        name="fig-crowd",
        caption="Which share of the attention goes to all letters more than eight steps back, if "
        "all words say the same. Beside the four slopes of ALiBi a ruler that ends in one low "
        "number for all that is far.",
        alt=f"Lines over the length of the text. Four level off, one climbs. At {lengths[-1]:,} "
        f"letters: {ends}.",
    )


def learned(rulers: Mapping[str, Mapping[str, Tensor]], offset: Sequence[int]) -> None:
    """Show what trained models have written on their rulers.

    Parameters
    ----------
    rulers : mapping of a title to lines, which are a mapping of words to values
    offset : ints, key minus query, one for each value
    """
    figure, axes = plots.new(2, 1, height=4.6, width=NARROW, sharex=True)
    peaks = []
    for ax, (title, curves) in zip(axes, rulers.items(), strict=True):
        for words, values in curves.items():
            ax.plot(offset, values, marker="o", markersize=4, label=words)
        ax.set(title=title, ylabel="added to the score")
        ax.legend()
        peaks.append(", ".join(str(offset[int(v.argmax())]) for v in curves.values()))
    axes[-1].set_xlabel("offset, key minus query (positions)")
    above, below = rulers
    plots.show(
        figure,
        name="fig-learned-terms",
        caption="What two trained models add to the scores. Above, one ruler for all letters. "
        "Below, each kind of letter has its peak where its answer stands.",
        alt=f"Above, {above}: one line that is high at offsets -1 to -4 alike. Below, {below}: "
        f"lines with their peaks at offsets {peaks[-1]}.",
    )
