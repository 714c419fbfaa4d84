"""Figures of the chapter on raw indices."""

from collections.abc import Mapping

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import NDArray

from posenc import tables
from posenc_book.teaching import plots

LENGTHS = (3, 6, 12, 24)


def four_attempts() -> None:
    """Show what goes wrong with each of the four plain ways to number the words."""
    figure, axes = plots.new(2, 2, height=4.6, width=6.2)
    (index, digits), (fraction, bits) = axes
    t = np.arange(41)
    _beside_a_token(index, t, "index: without bound")
    _beside_a_token(digits, tables.digits(41)[:, -1], "last digit: out of scale")
    digits.set_ylim(index.get_ylim())
    _drift(fraction)
    fraction.set_title("fraction: one place, four values")
    flips = np.abs(np.diff(tables.binary(64), axis=0)).sum(axis=1)
    bits.vlines(np.arange(1, 64), 0, flips, color=plots.COLORS[0], linewidth=1.8)
    bits.set(xlabel="position", ylabel="bits that flip", title="bits: jumps")
    bits.set_ylim(0, 6.6)
    plots.show(
        figure,
        name="fig-four-attempts",
        caption="Four ways to number words, and what is wrong with each. Grey: the range in which "
        "nearly all numbers of a token's embedding lie. Diamonds: the second word of texts of "
        "four lengths.",
        alt="Four panels. The index climbs far out of a grey band around zero. The last digit "
        "climbs to 9 and falls back to 0 again and again, mostly above the band. Under division "
        "by the length the second word of a text lies at 0.33, 0.17, 0.08 and 0.04. From one "
        "position to the next mostly one or two bits flip, but up to "
        f"{np.sort(flips)[-2]:.0f}, and all {flips.max():.0f} from {flips.argmax()} to "
        f"{flips.argmax() + 1}.",
    )


def training(losses: Mapping[str, NDArray]) -> None:
    """Show loss against training step, one line for each signal that was added.

    Parameters
    ----------
    losses : mapping from the name of the signal to the losses of shape (n_steps,), in nats
    """
    figure, ax = plots.new(height=3.0, width=6.2)
    for name, curve in losses.items():
        ax.plot(curve, label=name)
    ax.set(xlabel="training step", ylabel="loss (nats, log scale)", yscale="log")
    ax.legend(loc="upper right", ncols=2, bbox_to_anchor=(1, 0.72))
    plots.show(
        figure,
        name="fig-index-training",
        caption="The same easy task, the same step size: only the signal added to the tokens "
        "differs.",
        alt="Loss against training step on a log scale. "
        + "; ".join(f"{name}: {_course(curve)}" for name, curve in losses.items())
        + ".",
    )


def odometer() -> None:
    """Show positions 0 to 63 as digits and as bits, one column a wheel of the odometer."""
    figure, axes = plots.new(1, 2, height=3.2, width=5.6)
    plots.heatmap(axes[0], tables.digits(64, 2), label="digit", x="wheel")
    plots.heatmap(axes[1], tables.binary(64, 6), label="bit", x="wheel, by its worth", y="")
    axes[1].images[0].colorbar.set_ticks([0, 1])
    axes[0].set_title("digits")
    axes[1].set_title("bits")
    axes[0].set_xticks(range(2), ["tens", "ones"])
    axes[1].set_xticks(range(6), ["32", "16", "8", "4", "2", "1"])
    plots.show(
        figure,
        name="fig-digits-bits",
        caption="Positions 0 to 63, read downwards, on two odometers: each wheel turns ten times "
        "(digits) or twice (bits) as fast as the one to its left.",
        alt="Two heat maps, positions downwards. Digits: the last column runs through ten shades "
        "again and again, the one before changes every ten rows. Bits: six columns of stripes, "
        "each twice as tall as in the column to its right.",
    )


# --- parts -------------------------------------------------------------------------------------


def _beside_a_token(ax: Axes, values: NDArray, title: str) -> None:
    ax.axhspan(-2, 2, color="#c3c9d2", linewidth=0)
    ax.plot(values, color=plots.COLORS[0])
    ax.set(xlabel="position", ylabel="added number", title=title)


def _course(losses: NDArray) -> str:
    """Return how a curve of losses runs, in words."""
    first, top, end = losses[0], int(losses.argmax()), losses[-1]
    if top == 0:
        return f"falls from {first:.2f} to {end:.2f}"
    if end < first:
        return f"jumps to {losses[top]:.1f} at step {top} and falls to {end:.2f}"
    least = losses[top:].min()
    return f"jumps to {losses[top]:,.0f} at step {top} and never falls below {least:,.0f} again"


def _drift(ax: Axes) -> None:
    """Draw all positions of sequences of several lengths, divided by the length."""
    for row, n in enumerate(LENGTHS):
        values = tables.normalized(n).ravel()
        ax.plot(values, np.full(n, row), "o", color=plots.COLORS[0], markersize=4)
        ax.plot(values[1], row, "D", color=plots.COLORS[1], markersize=8)
    ax.set_yticks(range(len(LENGTHS)), [f"{n} words" for n in LENGTHS])
    ax.set(xlabel="position / length", ylim=(-0.6, len(LENGTHS) - 0.4))
