"""Figures of the chapter on rotary encoding."""

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Circle, FancyBboxPatch
from numpy.typing import NDArray

from posenc import frequencies, schedules
from posenc_book.teaching import plots

Array = NDArray[np.float64]


def scores_by_offset(added: Array, turned: Array, offset: int = 3) -> None:
    """Show scores of one query and one key at all pairs of positions, added and turned.

    Parameters
    ----------
    added, turned : array of shape (n, n)
        Scores, rows are positions of the query.
    offset : int
        The diagonal that is drawn as a curve.
    """
    figure, axes = plots.new(1, 3, height=2.7, width=6.8, width_ratios=[1, 1, 1.15])
    for ax, scores, title in zip(axes, (added, turned), ("added", "turned"), strict=False):
        ax.imshow(scores, aspect="auto")
        ax.set(title=title, xlabel="key position s")
        ax.grid(False)
    axes[0].set_ylabel("query position t")
    for scores, label in ((added, "added"), (turned, "turned")):
        axes[2].plot(np.diagonal(scores, offset), label=label)
    axes[2].set(title=f"score at offset {offset}", xlabel="query position t")
    axes[2].legend(loc="best", fontsize=9)
    plots.show(
        figure,
        name="fig-rope-scores",
        caption="Scores of one and the same query and key at all pairs of positions. With a "
        "position added to both they depend on the two places; with both turned they form "
        f"stripes: the offset alone counts. Bright is high, each map in its own scale. Right: the "
        f"diagonal $s = t + {offset}$.",
        alt="Left, a heat map of blotches. Middle, a heat map of clean diagonal stripes. Right, a "
        "strongly varying line for added positions and a flat one for turned vectors.",
    )


def waves_of_pairs(
    offsets: Array, omega: Array, shown: Mapping[str, int], sums: Mapping[str, int]
) -> None:
    """Show what single pairs add to a score, by the offset, and sums of all.

    Parameters
    ----------
    offsets : array of shape (n,)
    omega : array of shape (m,)
        Angular frequencies in radians per position.
    shown : mapping from words to the number of a pair
    sums : mapping from words to by how many positions all arrows of the key are turned ahead
    """
    figure, axes = plots.new(2, 1, height=3.9, width=6.2, sharex=True)
    for words, i in shown.items():
        axes[0].plot(offsets, np.cos(omega[i] * offsets), label=words)
    axes[0].set(ylabel="one pair adds", ylim=(-1.1, 1.75))
    axes[0].legend(loc="upper center", ncols=len(shown), fontsize=9)
    for words, ahead in sums.items():
        axes[1].plot(offsets, np.cos(np.outer(offsets + ahead, omega)).sum(axis=1), label=words)
    axes[1].set(ylabel="all pairs add", xlabel="offset s − t (positions)")
    axes[1].set_ylim(top=1.35 * len(omega))
    axes[1].legend(loc="upper center", ncols=len(sums), fontsize=9)
    plots.show(
        figure,
        name="fig-rope-waves",
        caption="Above: what a pair adds to the score of a query and an equal key, by their "
        "offset, a wave of its own frequency. Below: the sum over all pairs, for two keys. It has "
        "its peak where the arrows of query and key agree.",
        alt="Above, three cosine waves over the offset: a fast one with many periods, one that "
        "makes a single slow swing, and one that is flat. Below, two sums over all pairs, each a "
        "high peak that falls off unevenly on both sides: "
        + ", ".join(f"{words}, at offset {-ahead}" for words, ahead in sums.items())
        + ".",
    )


def full_turn_rows(
    bases: Sequence[float], lengths: Sequence[int], d_head: int
) -> dict[str, dict[str, float]]:
    """Return, for each base, the slowest wave of a head and how many pairs turn at least once.

    Parameters
    ----------
    bases : sequence of float
    lengths : sequence of int
        Numbers of positions.
    d_head : int
    """
    rows: dict[str, dict[str, float]] = {}
    for base in bases:
        omega = frequencies.geometric(d_head, base)
        row: dict[str, float] = {"slowest wave (positions)": 2 * np.pi / omega[-1]}
        for n in lengths:
            full = int((schedules.turns(omega, n) >= 1).sum())
            row[f"pairs with a full turn in {n:,}"] = full
        rows[f"{base:,}"] = row
    return rows


def where_it_looks(
    by_step: Mapping[int, float], marked: Sequence[int], omega: Array, known: int
) -> None:
    """Show how much attention goes to each step, and the hands as they stand at some steps.

    Parameters
    ----------
    by_step : mapping from a step, key minus query, to its mean weight
    marked : sequence of int
        Steps above which the dials are drawn.
    omega : array of shape (n,)
        Frequencies of the dials, fast ones first.
    known : int
        The largest step of training.
    """
    figure, ax = plots.new(height=3.4, width=6.8)
    steps, weights = list(by_step), list(by_step.values())
    ax.axvspan(-known, known, color="0.9", label="steps of training")
    ax.plot(steps, weights, "-", linewidth=1.2)
    top = max(weights)
    ax.set(xlabel="step from the asking letter", ylabel="mean weight", ylim=(0, 1.75 * top))
    ax.legend(loc="upper left", fontsize=9)
    for step in marked:
        ax.text(step, 1.08 * top, f"{step:+d}".replace("-", "−"), ha="center", fontsize=9)
        for i, frequency in enumerate(omega):
            middle = ax.transLimits.transform((step + 13 * (i - (len(omega) - 1) / 2), 1.33 * top))
            _small_dial(ax, middle, frequency * step)
    plots.show(
        figure,
        name="fig-rope-looks",
        caption="Where RoPE looks in a text of 128 letters, by the step from the letter that asks, "
        "averaged over letters and heads. Above three steps, the dials of a head, the fast ones "
        "left: the first two show nearly the same hands each time.",
        alt="A curve over the steps. "
        + " ".join(f"A spike at {step:+d} of {by_step[step]:.2f}." for step in marked)
        + f" Only the steps from -{known} to {known} were met in training. Above each spike four "
        "dials, whose first two hands stand nearly alike in all three.",
    )


def _small_dial(ax: Axes, middle: Array, angle: float) -> None:
    """Draw a dial of its own, so that it is round on any scale."""
    dial = ax.inset_axes((middle[0] - 0.023, middle[1] - 0.06, 0.046, 0.12))
    dial.add_patch(Circle((0, 0), 1, facecolor="white", edgecolor="0.4"))
    dial.plot([0, np.cos(angle)], [0, np.sin(angle)], "-", color=plots.COLORS[1], linewidth=1.6)
    dial.set(xlim=(-1.15, 1.15), ylim=(-1.15, 1.15), aspect="equal")
    dial.axis("off")


def pair_layouts(d_head: int = 8) -> None:
    """Show which dimensions of a head form a pair in both layouts, and the permutation between."""
    figure, ax = plots.new(height=2.6, width=6.2)
    half = d_head // 2
    rows = {
        "interleaved": (1.5, np.arange(d_head) // 2),
        "half-split": (0, np.arange(d_head) % half),
    }
    for name, (y, pair) in rows.items():
        for place in range(d_head):
            _dimension(ax, place, y, pair[place], half)
        ax.text(-0.7, y, name, ha="right", va="center")
    for place in range(d_head):
        target = place // 2 + half * (place % 2)
        ax.annotate(
            "",
            (target, 0.38),
            (place, 1.12),
            arrowprops={"arrowstyle": "->", "color": "0.45", "linewidth": 1},
        )
    ax.set(xlim=(-2.9, d_head - 0.4), ylim=(-0.5, 2.0))
    ax.axis("off")
    plots.show(
        figure,
        name="fig-pair-layouts",
        caption="Eight dimensions of a head, four pairs. A number and a shade say which "
        "dimensions turn together. The arrows are the permutation that leads from one layout to "
        "the other.",
        alt="Two rows of eight boxes. In the upper row, interleaved, the pair numbers read 0 0 1 1 "
        "2 2 3 3; in the lower row, half-split, 0 1 2 3 0 1 2 3. Arrows lead from each box above "
        "to its place below.",
    )


def precision_rows(turns: Mapping[str, tuple[Array, Array]], omega: Array) -> dict[str, dict]:
    """Return how many rows of cosines and sines differ, and how far scores are off.

    Parameters
    ----------
    turns : mapping from words to cosines and sines, each of shape (n, m)
    omega : array of shape (m,)
        The exact frequencies in radians per position.
    """
    rows: dict[str, dict[str, object]] = {}
    for name, (cos, sin) in turns.items():
        both = np.concatenate((cos, sin), axis=1)
        rows[name] = {f"different rows of {len(both):,}": len(np.unique(both, axis=0))}
        for offset in (1, 1000):
            exact = np.cos(np.asarray(omega) * offset).mean()
            error = np.abs(_scores_at(cos, sin, offset) - exact).max()
            rows[name][f"largest error at offset {offset:,}"] = f"{error:.2g}"
    return rows


def score_by_precision(turns: Mapping[str, tuple[Array, Array]]) -> None:
    """Show the score at offset 1 along the positions, for angles of several precisions.

    Parameters
    ----------
    turns : mapping from words to cosines and sines, each of shape (n, m)
        The words say what was rounded.
    """
    scores = {f"rounded: {words}": _scores_at(*pair, 1) for words, pair in turns.items()}
    figure, axes = plots.new(
        len(scores), 1, height=1.25 * len(scores) + 0.5, width=6.2, sharex=True, sharey=True
    )
    for ax, (words, values), color in zip(axes, scores.items(), plots.COLORS, strict=False):
        ax.plot(values, "-", color=color, linewidth=1)
        ax.set_title(words, fontsize=10)
    axes[len(scores) // 2].set_ylabel("score at offset 1")
    axes[-1].set_xlabel("query position t")
    plots.show(
        figure,
        name="fig-rope-precision",
        caption="The score of one query and an equal key next to it, which should be the same "
        "everywhere. Angles in float32 keep it, angles or positions in bfloat16 do not.",
        alt="A panel for each. "
        + " ".join(
            f"{words.capitalize()} rounded: {_band(values)}."
            for words, values in zip(turns, scores.values(), strict=True)
        ),
    )


def _band(values: Array) -> str:
    """Return how wide a curve scatters, in stretches of positions that double in length."""
    if np.ptp(values) < 1e-3:
        return "a flat line"
    ends = [n for n in 256 * 2 ** np.arange(8) if n < len(values)] + [len(values) + 1]
    widths = [np.ptp(part) for part in np.split(values, ends[:-1])]
    told = [f"{width:.2f} up to {end:,}" for width, end in zip(widths, ends, strict=True)]
    return f"no order, in a band whose width by position is {', '.join(told)}"


def _scores_at(cos: Array, sin: Array, offset: int) -> Array:
    """Return scores of a query and a key of equal entries and norm 1, by the query's position."""
    cos, sin = np.asarray(cos), np.asarray(sin)
    return (cos[:-offset] * cos[offset:] + sin[:-offset] * sin[offset:]).mean(axis=1)


def _dimension(ax: Axes, x: float, y: float, pair: int, n_pairs: int) -> None:
    """Draw a box with the number of its pair, the shade of which is that of the pair."""
    grey = 0.95 - 0.62 * pair / (n_pairs - 1)
    box = FancyBboxPatch(
        (x - 0.36, y - 0.3),
        0.72,
        0.6,
        boxstyle="round,pad=0.02",
        facecolor=str(grey),
        edgecolor="0.3",
    )
    ax.add_patch(box)
    ax.text(x, y, str(pair), ha="center", va="center", color="black" if grey > 0.45 else "white")
