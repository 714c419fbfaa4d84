"""Figures of the chapter on the Fourier view."""

from collections.abc import Mapping

import numpy as np
from matplotlib.axes import Axes

from posenc import fourier, frequencies
from posenc_book.teaching import plots

WIDTH = 4.8  # inches: letters stay readable on a phone
SINUSOID, DFT = plots.COLORS[:2]


def sum_with_a_word(code: np.ndarray, word: np.ndarray) -> None:
    """Show the code of a position, a word, and their sum.

    Parameters
    ----------
    code, word : array of shape (d,)
    """
    figure, axes = plots.new(3, 1, sharex=True, sharey=True, height=3.6, width=WIDTH)
    rows = {"the code of a position": code, "a word": word, "their sum": code + word}
    for ax, (title, row), color in zip(axes, rows.items(), (SINUSOID, "0.5", DFT), strict=True):
        ax.vlines(np.arange(len(row)), 0, row, color=color, linewidth=0.8)
        ax.set(title=title, xlim=(-1, len(row)))
    axes[-1].set_xlabel("which of the numbers")
    plots.show(
        figure,
        name="fig-sum-with-a-word",
        caption=f"The code of a position, a word, and what a model gets: {len(code)} numbers each. "
        "Which of 200 positions is it?",
        alt="Three rows of bars. Above, the code: fast waves on the left that grow slower, then "
        "every other bar is 0 and every other 1. In the middle random bars, many of them longer. "
        "Below, their sum, in which the pattern can hardly be made out.",
    )


def two_selections(d: int = 256) -> None:
    """Show where the waves of the sinusoidal and of the DFT encoding lie, as ticks and smoothed.

    Parameters
    ----------
    d : int
        Width of both encodings, and number of lattice points; even.
    """
    geometric, uniform = frequencies.geometric(d), frequencies.harmonic(d)
    step = 2 * np.pi / d
    figure, axes = plots.new(2, 1, sharex=True, height_ratios=[1, 1.5], height=4.2, width=WIDTH)
    _ticks(axes[0], {"sinusoid": geometric, "DFT": uniform})
    slow = np.sum(geometric < step)
    note = f"{slow} of {len(geometric)} stand left of the second\nDFT tick: no full cycle"
    axes[0].annotate(note, (1.1, 0), fontsize=9, va="center")
    smoothed = fourier.frequency_density(geometric, d, 4 * step)
    axes[1].plot(uniform, smoothed, color=SINUSOID, label="sinusoid")
    axes[1].plot(uniform, fourier.dft_density(d), color=DFT, linestyle="--", label="DFT")
    axes[1].set(xlabel="angular frequency (radians per position)", ylabel="share of the waves")
    axes[1].set_xticks([0, 1, 2, np.pi], ["0", "1", "2", "π"])
    axes[1].legend(loc="upper right")
    plots.show(
        figure,
        name="fig-density",
        caption=f"The waves of two encodings of {d} dimensions. Above, one tick for each wave, "
        "where the two at the ends of the DFT row count half: they are one wave each, not a pair. "
        "Below, the same smoothed, as in Fig. 1 of the DFT paper. The sinusoid crowds its waves at "
        "the slow end.",
        alt="Above, two rows of ticks between 0 and pi. The ticks of the DFT encoding are evenly "
        "spaced; those of the sinusoid crowd at 0, thin out and end at 1. Below, the "
        "smoothed density of the sinusoid is highest at 0 and falls to nothing soon "
        "after 1, the density of the DFT encoding is flat.",
    )


def _ticks(ax: Axes, grids: Mapping[str, np.ndarray]) -> None:
    """Draw a row of ticks for each grid of frequencies, the first one on top."""
    for row, (grid, color) in enumerate(zip(grids.values(), (SINUSOID, DFT), strict=True)):
        ax.vlines(grid, -row - 0.35, -row + 0.35, color=color, linewidth=0.7)
    ax.set_yticks(-np.arange(len(grids)), list(grids))
    ax.grid(False)
    ax.spines[["left", "bottom"]].set_visible(False)
    ax.tick_params(length=0)


def spike_of_waves(s: int, d: int) -> None:
    """Show the waves that make a spike at s of d points, d even, and their sums so far."""
    bare = {"xticks": range(d), "yticks": []}
    figure, axes = plots.new(d // 2 + 1, 2, sharey="col", height=5, width=WIDTH, subplot_kw=bare)
    fine, points, total = np.linspace(0, d - 1, 200), np.arange(d), np.zeros(d)
    for k, (left, right) in enumerate(axes):
        share = 1 / d if k in (0, d / 2) else 2 / d
        smooth, wave = (share * np.cos(2 * np.pi * k * (t - s) / d) for t in (fine, points))
        total = total + wave
        left.plot(fine, smooth, "-", points, wave, "o", color=SINUSOID, lw=1, markersize=3)
        right.vlines(points, 0, total, color=DFT, lw=3)
        left.axhline(0, color="0.6", lw=0.6)
        right.axhline(0, color="0.6", lw=0.6)
    axes[0, 0].set_title("a wave")
    axes[0, 1].set_title("the sum so far")
    axes[-1, 0].set_xlabel("lattice point")
    plots.show(
        figure,
        name="fig-partial-sums",
        caption=f"A spike at point {s} of {d}, made of waves that have their crest there. The "
        "first and the last are half as high as the others.",
        alt="Five rows. On the left a wave in each, from one that stands still to one that flips "
        f"at every point, all with a crest at {s}. On the right their sum so far: level, then a "
        f"broad bump around {s} that grows narrower, and at last a single bar at {s}.",
    )


def two_kernels(lags: np.ndarray, sinusoidal: np.ndarray, dft: np.ndarray) -> None:
    """Show what a position looks like after analysis and synthesis with two sets of waves.

    Parameters
    ----------
    lags, sinusoidal, dft : array of shape (n,)
        Offsets in positions, and the dot product of encodings of norm 1 that far apart.
    """
    figure, ax = plots.new(height=3.0, width=WIDTH)
    ax.plot(lags, sinusoidal, color=SINUSOID, label="sinusoid")
    ax.plot(lags, dft, color=DFT, linestyle="--", label="DFT")
    ax.set(xlabel="offset t − s (positions)", ylabel="dot product (norm 1)", ylim=(-0.05, 1.05))
    ax.legend(loc="upper right")
    plots.show(
        figure,
        name="fig-two-kernels",
        caption="A spike after analysis and synthesis with the waves of the two encodings, in 256 "
        "dimensions. The DFT encoding gives the spike back; the sinusoid, a tip on broad "
        "shoulders.",
        alt="Dot product against offset from -128 to 128. The DFT curve is 1 at offset 0 and 0 "
        "elsewhere. The sinusoid's curve has a sharp tip at 0 and broad shoulders that sink "
        "slowly, with ripples, to about 0.4.",
    )


def shares_read(omega: np.ndarray, shares: Mapping[str, np.ndarray], waves: np.ndarray) -> None:
    """Show how much of a wave a linear layer reads from an encoding, for waves of each frequency.

    Parameters
    ----------
    omega : array of shape (m,)
        Angular frequencies of the target waves in radians per position.
    shares : mapping of str to array of shape (m,)
        Share of each target that is read from the sinusoidal and from the DFT encoding.
    waves : array of shape (n,)
        The sinusoidal encoding's own frequencies, drawn as ticks.
    """
    figure, ax = plots.new(height=3.2, width=WIDTH)
    looks = ((SINUSOID, "-", "o"), (DFT, "--", ""))
    for (name, values), (color, dash, dot) in zip(shares.items(), looks, strict=True):
        ax.plot(
            omega, values, color=color, ls=dash, lw=1, marker=dot, markersize=2.5, label=f"{name}"
        )
    ax.vlines(waves, -0.13, -0.05, color=SINUSOID, linewidth=0.6)
    ax.set(
        xlabel="frequency of the wave to be read (radians per position)",
        ylabel="share that is read",
        ylim=(-0.15, 1.08),
    )
    ax.set_xticks([0, 1, 2, np.pi], ["0", "1", "2", "π"])
    ax.legend(loc="center right")
    name, values = next((name, np.asarray(one)) for name, one in shares.items())
    begin = int(np.argmax(values < 0.9))  # of the comb, and its end
    end = int(np.flatnonzero(values >= 0.05)[-1]) + 1
    comb = values[begin:end]
    plots.show(
        figure,
        name="fig-share-read",
        caption="How much of each of 127 waves a linear layer reads from the two encodings under "
        "mild noise. Ticks at the foot: the sinusoid's own waves.",
        alt=f"The DFT line is level just below 1. The {name} dots lie near 1 up to frequency "
        f"{omega[begin]:.2f}, jump between {comb.min():.2f} and {comb.max():.2f} from there to "
        f"{omega[end - 1]:.2f}, and lie at 0 from {omega[end]:.2f} on.",
    )
