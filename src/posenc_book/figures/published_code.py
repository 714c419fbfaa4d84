"""Figures of the Audit's page on published code."""

from collections.abc import Mapping

import numpy as np

from posenc_book.teaching import plots

RESOLUTION = 2.0**-25  # of a 32-bit sum: it registers no smaller term
WIDTH = 5.6  # inches: letters stay readable on a phone


def decay(shares: Mapping[int, np.ndarray]) -> None:
    """Draw what a table that scales itself adds to a token, by forward pass.

    Parameters
    ----------
    shares : dict of width to array (n_passes,)
        Norm of a row as a share of the norm of a token.
    """
    figure, ax = plots.new(height=3.4, width=WIDTH)
    for (d, share), marker in zip(shares.items(), "os^", strict=False):
        passes = range(1, len(share) + 1)
        ax.semilogy(passes, share, marker=marker, markersize=4, label=f"decaying, {d} wide")
    ax.axhline(np.sqrt(0.5), color="0.2", linestyle="-", linewidth=1.4)
    ax.text(25, 0.2, "original encoding, any d", ha="right", va="top", fontsize=9)
    ax.axhline(RESOLUTION, color=plots.COLORS[1], linestyle="--", linewidth=1)
    ax.text(25, RESOLUTION * 2, "resolution of 32-bit numbers", ha="right", fontsize=9)
    ax.set(xlabel="forward pass", ylabel="norm of a row / norm of a token", ylim=(1e-12, 3))
    ax.set_xlim(0, 26)
    figure.legend(loc="outside lower center", ncols=3, columnspacing=1)
    lost = sorted(int((np.asarray(s) < RESOLUTION).argmax()) + 1 for s in shares.values())
    plots.show(
        figure,
        name="fig-decay",
        caption="What the decaying table adds to a token, by forward pass. Steeper for wider "
        "models.",
        alt=f"{len(shares)} straight falling lines on a logarithmic axis, the steepest for width "
        f"{max(shares)}. They cross the resolution of 32-bit numbers at passes "
        f"{', '.join(map(str, lost[:-1]))} and {lost[-1]}. The line of the original encoding stays "
        "level, near the top.",
    )


def batch_sizes(found: Mapping[str, Mapping[str, tuple[np.ndarray, np.ndarray]]]) -> None:
    """Draw the accuracy of trained models by the size of the batch in which they are asked.

    Parameters
    ----------
    found : dict of data set to dict of model to (batch sizes, accuracies)
    """
    size = {"height": 0.7 + 1.7 * len(found), "width": WIDTH}
    figure, axes = plots.new(len(found), 1, **size, sharey=True)
    for ax, (dataset, models) in zip(axes, found.items(), strict=True):
        for (name, (sizes, accuracy)), marker in zip(models.items(), "os^", strict=False):
            ax.plot(range(len(sizes)), accuracy, marker=marker, markersize=5, label=name)
        ax.set_xticks(range(len(sizes)), sizes)
        ax.set_title(dataset)
    axes[-1].set_xlabel("series in a batch")
    figure.supylabel("accuracy on the test part", fontsize=10)
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=3)
    plots.show(
        figure,
        name="fig-batch-size",
        caption="The same trained models, asked in batches of different sizes (means of five "
        "seeds).",
        alt=f"{len(found)} panels, one for each data set: accuracy by series in a batch. "
        + " ".join(f"{dataset}: {_told(models)}." for dataset, models in found.items()),
    )


def _told(models: Mapping[str, tuple[np.ndarray, np.ndarray]]) -> str:
    """Return from where to where the line of each model goes."""
    words = []
    for name, (sizes, accuracy) in models.items():
        first, last = accuracy[0], accuracy[-1]
        if np.ptp(accuracy) < 5e-4:
            words.append(f"{name} {first:.2f} throughout")
        else:
            words.append(f"{name} {first:.2f} with {sizes[0]}, {last:.2f} with {sizes[-1]}")
    return "; ".join(words)


def best_of(
    sizes: np.ndarray,
    luck: Mapping[int, np.ndarray],
    gaps: Mapping[str, np.ndarray],
    half: np.ndarray,
) -> None:
    """Draw the luck of the best of m models beside the printed gaps between neighbours.

    Parameters
    ----------
    sizes : array (n_sizes,)
        Numbers of series.
    luck : dict of m to array (n_sizes,)
        By how many points the best of m is flattered.
    gaps : dict of label to array (n_sets,)
        Median gaps between neighbouring methods, in points.
    half : array (n_sets,)
        Half of the printed test sizes.
    """
    figure, ax = plots.new(height=3.4, width=WIDTH)
    for (m, line), dash in zip(luck.items(), plots.DASHES, strict=False):
        ax.plot(sizes, line, dash, color=plots.COLORS[0], linewidth=1.2)
        ax.text(sizes[0] * 0.92, line[0], f"best of {m}", ha="right", va="center", fontsize=9)
    for (label, values), marker, color in zip(gaps.items(), "o^", plots.COLORS[1:], strict=False):
        ax.plot(half, values, marker, color=color, label=label)
    ax.set(xscale="log", xlim=(22, 60_000), ylim=(0, None))
    ax.set(xlabel="series in half of the test part", ylabel="accuracy (percentage points)")
    ax.legend()
    plots.show(
        figure,
        name="fig-best-of-m",
        caption="Luck of the best of several equally good models (right in three of four cases), "
        "and the printed gaps between neighbouring methods at half of the survey's test sizes.",
        alt="Three falling lines against the number of series, the luck of the best of 3, 10 and "
        "40 models. For the smallest sets they lie several points above the dots that mark gaps "
        "between neighbouring methods; beyond a few thousand series they lie below.",
    )
