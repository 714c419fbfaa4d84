"""Figures of the chapter on rotations, and of the Audit of the proof that it follows."""

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Circle, Wedge
from numpy.typing import NDArray

from posenc_book.teaching import plots


def clock_hands(steps: int = 2) -> None:
    """Show the same step forward from several positions, in three pairs of different speed."""
    clocks = {1.0: (0, 2, 4), 10**-0.5: (0, 5, 10, 15), 0.1: (0, 12, 24, 40)}
    figure, axes = plots.new(1, 3, height=2.9, width=6.6, sharey=True)
    for ax, (omega, starts) in zip(axes, clocks.items(), strict=True):
        ax.add_patch(Circle((0, 0), 1, fill=False, color="0.6"))
        for t, color in zip(starts, plots.COLORS, strict=False):
            _step(ax, omega, t, steps, color)
        ax.set(xlim=(-1.85, 1.85), ylim=(-1.6, 1.6), aspect="equal", xlabel="cos(ωt)")
        ax.set_title(f"ω = {omega:.3g}: {omega * steps:.2g} rad", fontsize=10)
    axes[0].set_ylabel("sin(ωt)")
    plots.show(
        figure,
        name="fig-clock-hands",
        caption="Two positions ahead, from several positions $t$ (thick hands), in three pairs. "
        "Each clock has its own turn, and makes the same one wherever it starts.",
        alt="Three circles with clock hands labelled by position. From each hand a shaded sector "
        "leads counter-clockwise to the hand two positions later. Sectors on one circle are "
        "equally wide: about a third of the circle on the fast clock, a narrow slice on the slow "
        "one.",
    )


def lone_sine(fit: Callable[[float, int], tuple[float, float]]) -> None:
    """Show a lone sine now and later, a case without a linear map and one with it.

    Parameters
    ----------
    fit : function of an angular frequency and an offset
        Returns the best factor, and what it misses.
    """
    figure, axes = plots.new(1, 2, height=3.6, width=6.2, sharey=True)
    for ax, omega, k in zip(axes, (1.0, np.pi / 4), (1, 4), strict=True):
        t = np.arange(60)
        rises = np.cos(omega * t) > 0
        for way, marker, which in (("rises", "^", rises), ("falls", "v", ~rises)):
            now, later = np.sin(omega * t[which]), np.sin(omega * (t[which] + k))
            ax.plot(now, later, marker, markersize=5, label=f"the shadow {way}")
        ax.axline((0, 0), slope=fit(omega, k)[0], color="0.4", linestyle="--", label="best factor")
        ax.set_title("one place on" if k == 1 else "half a turn on")
        ax.set(xlabel="shadow now, sin(ωt)", xlim=(-1.15, 1.15), ylim=(-1.15, 1.15))
        ax.set_aspect("equal")
    axes[0].set_ylabel("shadow later, sin(ω(t + k))")
    axes[1].legend(loc="upper right", fontsize="small")
    plots.show(
        figure,
        name="fig-sine-alone",
        caption="The shadow of a hand now, and $k$ places later. Every mark is a place. Left: "
        "$\\omega = 1$, $k = 1$; the same shadow has two futures, and the best factor is a "
        "compromise. Right: $\\omega = \\pi/4$, $k = 4$, half a turn, where $-1$ serves them all.",
        alt="Left, marks on a tilted ellipse: those of a rising shadow on its upper arc, those of "
        "a falling one on its lower arc, and the dashed line through the middle misses nearly all. "
        "Right, all marks lie on a falling dashed line.",
    )


def left_behind(
    errors: Mapping[str, NDArray[np.float64]], omega: NDArray[np.float64], n_places: int
) -> None:
    """Show on which clocks a map goes wrong, and which of them went round while it was found.

    Parameters
    ----------
    errors : mapping from a label to an array of shape (d_model,)
        Largest error of each dimension; that of a clock is the larger one of its two.
    omega : array of shape (d_model / 2,)
    n_places : int
        Places in a row from which the map was found.
    """
    figure, ax = plots.new(height=2.9, width=6.6)
    for words, error in errors.items():
        ax.plot(error.reshape(-1, 2).max(axis=1), marker="o", markersize=4, label=words)
    round_once = int(np.sum(omega * n_places >= 2 * np.pi))
    ax.axvspan(-0.5, round_once - 0.5, color="0.9", zorder=0)
    ax.annotate(f"went round\nwithin {n_places} places", (0, 1.35), va="top", fontsize=9)
    ax.set(xlabel="clock, from the fastest to the slowest", ylabel="largest error")
    ax.set(xlim=(-0.5, len(omega) - 0.5), ylim=(-0.08, 1.5))
    ax.legend(loc="upper right")
    plots.show(
        figure,
        name="fig-left-behind",
        caption="How wrong two matrices of least squares are 1,000 places on, clock by clock. "
        f"Shaded: the {round_once} clocks that go all the way round in {n_places} places.",
        alt=f"Two curves over {len(omega)} clocks. One is near zero for the {round_once} clocks in "
        "the shaded part and rises to about one behind it; the other is zero throughout.",
    )


def gram_direction(
    gram: NDArray[np.float64], rows: Mapping[str, NDArray[np.float64]], at: int
) -> None:
    """Show a Gram matrix, and one row of scores for several matrices between the encodings.

    Parameters
    ----------
    gram : array of shape (n, n)
    rows : mapping from a label to an array of shape (n, n)
        Scores of all pairs of positions.
    at : int
        The position whose row is drawn.
    """
    figure, axes = plots.new(1, 2, height=3.1, width=6.6, width_ratios=[1, 1.25])
    plots.heatmap(axes[0], gram, label="dot product", aspect="equal", x="position s")
    axes[0].set_ylabel("position t")
    axes[0].axhline(at, color="white", linestyle="--", linewidth=1)
    for words, scores in rows.items():
        axes[1].plot(np.arange(len(gram)) - at, scores[at], label=words)
    axes[1].set(xlabel="offset s − t (positions)", ylabel="score", ylim=(-12, 46))
    axes[1].legend(loc="upper left", ncols=2, columnspacing=1)
    plots.show(
        figure,
        name="fig-gram-direction",
        caption="Left: the products of all pairs of places, $d_\\text{model} = 64$. Right: those "
        f"of place {at} (symmetric), and what becomes of them if one row is turned first: nine "
        "places on, which moves the peak, or by quarter turns, which makes a sign.",
        alt="Left, a heat map with a bright diagonal and parallel stripes, a dashed line along "
        f"row {at}. Right, three curves over the offset: one symmetric about zero, one with the "
        "same shape centred at nine, one odd, negative before and positive after.",
    )


def close_returns(
    distances: Mapping[int, NDArray[np.float64]], marked: Sequence[int] = (44, 710, 103_993)
) -> None:
    """Show how close an encoding has come to an earlier value, by the positions searched.

    Parameters
    ----------
    distances : mapping from d_model to an array
        Distance between the encodings of two positions that are 1, 2, 3, ... apart.
    marked : sequence of int
        Distances in positions to name on the curve of two dimensions.
    """
    figure, ax = plots.new(height=3.4, width=6.6)
    n_searched = len(next(iter(distances.values())))
    samples = np.unique(np.logspace(0, np.log10(n_searched), 600).astype(int))
    for d_model, distance in distances.items():
        closest = np.minimum.accumulate(distance)[samples - 1]
        ax.plot(samples, closest, drawstyle="steps-post", label=f"$d$ = {d_model}")
    for t in marked:
        at = (t, distances[2][t - 1])
        ax.annotate(f"{t:,}", at, (-3, -9), textcoords="offset points", ha="right", fontsize=9)
    ax.set(xscale="log", yscale="log", xlabel="positions searched")
    ax.set_ylabel("closest return (distance)")
    ax.legend(loc="center left", bbox_to_anchor=(1, 0.5))
    plots.show(
        figure,
        name="fig-close-returns",
        caption="How close the encoding has come to an earlier value within $t$ positions "
        "(distance, no unit). Marked: the numerators of three convergents of $2\\pi$.",
        alt="Falling staircases on logarithmic axes. One pair falls to three millionths within a "
        "million positions, four dimensions to half a thousandth, eight to three thousandths; "
        "sixteen barely falls, and the lines of 64 and 512 dimensions stay flat.",
    )


def _step(ax: Axes, omega: float, t: int, steps: int, color: str) -> None:
    """Draw two hands and the sector between them, counter-clockwise, position 0 to the right."""
    before, after = (np.degrees(omega * x) for x in (t, t + steps))
    ax.add_patch(Wedge((0, 0), 1, before, after, facecolor=color, alpha=0.35))
    for x, width in [(t, 2.2), (t + steps, 1.0)]:
        ax.plot([0, np.cos(omega * x)], [0, np.sin(omega * x)], "-", color=color, linewidth=width)
    at = 1.45 * np.cos(omega * t), 1.28 * np.sin(omega * t)
    ax.annotate(f"t={t}", at, ha="center", va="center", fontsize=9)
