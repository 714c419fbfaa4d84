"""Figures of the chapter on faithfulness."""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from posenc import tables
from posenc_book.teaching import plots

WIDTH = 4.8  # inches: letters stay readable on a phone
LOOKS = list(zip([*plots.COLORS, "0.45"], [*plots.DASHES, (0, (1, 1))], strict=True))
COLUMNS = 3  # of a legend


def lineup(n_positions: int, d_model: int) -> dict[str, NDArray]:
    """Return one table of each kind that the chapter compares, by name.

    Digits and bits take as many columns as the last position needs. Random rows stand for a learned
    table before training; beyond `d_model` positions the DFT encoding is stretched.
    """
    random = np.random.default_rng(1)  # not 0, from which `decoding_error` draws its noise
    return {
        "sinusoid": tables.sinusoidal(n_positions, d_model),
        "DFT": tables.dft(n_positions, d_model, overflow="stretch"),
        "tAPE": tables.tape(n_positions, d_model),
        "random": random.normal(size=(n_positions, d_model)),
        "bits": tables.binary(n_positions),
        "digits": tables.digits(n_positions),
        "index": tables.index(n_positions, d_model),
    }


def kinds_of_mistakes(answers: Mapping[str, tuple[NDArray, NDArray]]) -> None:
    """Show decoded against true positions of two encodings.

    Parameters
    ----------
    answers : mapping of str to (array of shape (n,), array of shape (n,))
        True and decoded positions of the sinusoidal and of the DFT encoding.
    """
    figure, axes = plots.new(1, 2, sharey=True, height=3.1, width=WIDTH)
    for ax, (name, (true, found)), color in zip(axes, answers.items(), plots.COLORS, strict=False):
        wrong = np.mean(true != found)
        ax.plot(true, found, "o", color=color, markersize=1.8, alpha=0.6)
        ax.set(title=f"{name}: {wrong:.0%} wrong", xlabel="true position", aspect="equal")
    axes[0].set_ylabel("position read back")
    plots.show(
        figure,
        name="fig-kinds-of-mistakes",
        caption="Equally many mistakes, of two kinds: 200 positions read back from noisy encodings "
        "of 256 dimensions, six times each. The noise is 2 times as long as the code on the left, "
        "5 times on the right.",
        alt="Two scatter plots of decoded against true position. Left, sinusoid: nearly all dots "
        "lie close to the diagonal. Right, DFT: most dots lie on the diagonal and the rest are "
        "scattered evenly over the square.",
    )


def separation_by_length(lengths: np.ndarray, apart: Sequence[Mapping[str, float]]) -> None:
    """Show the relative separation of several encodings against the number of positions.

    Parameters
    ----------
    lengths : array of shape (m,)
        Numbers of positions.
    apart : sequence of m mappings of str to float
        For each number of positions the separation of each encoding in norms.
    """
    figure, ax = plots.new(height=3.6, width=WIDTH)
    for name, (color, dash) in zip(apart[0], LOOKS, strict=True):
        values = [row[name] for row in apart]
        ax.plot(lengths, values, color=color, linestyle=dash, label=name)
    ax.set(
        xscale="log",
        yscale="log",
        xlabel="number of positions",
        ylabel="separation (lengths of the code)",
    )
    ax.set_xticks(lengths, [f"{n:g}" for n in lengths])
    ax.minorticks_off()
    figure.legend(loc="outside lower center", ncols=COLUMNS)
    plots.show(
        figure,
        name="fig-separation",
        caption="Distance of the two nearest positions, in lengths of the code. All codes have 64 "
        "dimensions, but bits and digits take as many columns as the last position needs. Only the "
        "sinusoid's line is level throughout.",
        alt="On log axes the sinusoid's line is level at 0.26 for every number of positions. The "
        "DFT line is level at 1.41 up to 64 positions and then falls steadily; it crosses "
        "the sinusoid's near 512. The lines of tAPE, digits and index fall throughout, those of "
        "random rows and bits fall slowly.",
    )


def share_of_mistakes(levels: np.ndarray, curves: Mapping[str, np.ndarray]) -> None:
    """Show how many positions are lost as the noise grows.

    Parameters
    ----------
    levels : array of shape (m,)
        Size of the noise in norms.
    curves : mapping of str to array of shape (m,)
        Share of positions read back wrongly, for each encoding.
    """
    figure, ax = plots.new(height=3.6, width=WIDTH)
    for (name, values), (color, dash) in zip(curves.items(), LOOKS, strict=False):
        ax.plot(levels, values, color=color, linestyle=dash, label=name)
    ax.axhline(1 / 3, color="0.6", linewidth=0.8, zorder=0)
    ax.annotate("a third", (levels[0], 1 / 3), fontsize=9, va="bottom")
    ax.set(xscale="log", xlabel="noise (lengths of the code)", ylabel="share of positions lost")
    ax.set_xticks([0.03, 0.1, 0.3, 1, 3, 10], ["0.03", "0.1", "0.3", "1", "3", "10"])
    ax.minorticks_off()
    figure.legend(loc="outside lower center", ncols=COLUMNS)
    plots.show(
        figure,
        name="fig-noise",
        caption="Positions lost under growing noise: 200 positions, encodings of 256 dimensions, "
        "bits in 8 columns and digits in 3. The further right a curve rises, the more noise its "
        "encoding bears.",
        alt="The share of lost positions rises with the noise for each encoding: for index and "
        "digits first, then for bits, then for sinusoid and tAPE, and for DFT and random last.",
    )


def density_and_spikes(
    densities: Mapping[str, NDArray], rebuilt: Mapping[str, Sequence[NDArray]]
) -> None:
    """Show the frequency densities of two encodings, and the spikes that Algorithm 1 makes of them.

    Parameters
    ----------
    densities : mapping of str to array of shape (d // 2 + 1,)
        Share of the waves at each lattice frequency from 0 to pi, the first for sinusoids.
    rebuilt : mapping of str to sequence of arrays of shape (d,)
        For each encoding the same spikes, rebuilt.
    """
    figure, (above, below) = plots.new(2, 1, height=4.6, width=WIDTH)
    for (name, density), (color, dash) in zip(densities.items(), LOOKS, strict=False):
        omega = np.linspace(0, np.pi, len(density))
        above.plot(omega, density, color=color, linestyle=dash, label=name)
        for row in rebuilt[name]:
            below.plot(row, color=color, linestyle=dash)
    above.set(xlabel="frequency (radians per position)", ylabel="share of waves", ylim=(0, None))
    above.set_xticks([0, 1, 2, np.pi], ["0", "1", "2", "π"])
    below.set(xlabel="lattice point t", ylabel="value", xlim=(0, len(rebuilt[name][0]) - 1))
    above.legend(loc="upper right")
    plots.show(
        figure,
        name="fig-density-and-spikes",
        caption="Figure 1 of the DFT paper, and what Algorithm 1 makes of it. Above, how densely "
        "the waves of two encodings lie. Below, positions 5, 40 and 75 rebuilt with either density "
        "as weights, over the whole lattice.",
        alt="Above, the sinusoid's density is highest at 0 and falls to nothing soon after 1; the "
        "DFT density is flat. Below, the DFT rows give three spikes of height near 1; the "
        "sinusoid's three broad bumps of height about a third, the first of which comes in "
        "again at the right end.",
    )
