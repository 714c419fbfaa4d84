"""Figures of the chapter on inputs longer than in training."""

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from matplotlib.ticker import PercentFormatter
from numpy.typing import NDArray

from posenc import schedules
from posenc.teaching import plots

Array = NDArray[np.float64]
PENALTIES: dict[str, Callable[[Array], Array]] = {  # by distance
    "no bias": lambda d: 0.0 * d,
    "T5, last bucket (from 113) at -3, others 0": lambda d: np.where(d < 113, 0.0, -3.0),
    "ALiBi, flattest of 8 heads": lambda d: -(2.0**-8) * d,
    "ALiBi, steepest of 8 heads": lambda d: -0.5 * d,
}


def longer_and_later(
    found: Mapping[str, Mapping[str, Sequence[float]]], refusing: Sequence[str]
) -> None:
    """Show the accuracy of each training beyond the trained length, one row an encoding.

    Parameters
    ----------
    found : mapping from an encoding to a mapping from a test to the accuracy of each seed
        Two tests, the same for all; rows are drawn in the order given.
    refusing : sequence of str
        Encodings that stop with an error.
    """
    names = [*found, *refusing]
    tests = list(next(iter(found.values())))
    figure, ax = plots.new(height=0.6 + 0.34 * len(names), width=6.2)
    for y, (name, seeds) in enumerate(found.items()):
        for k, (test, color, marker) in enumerate(zip(tests, plots.COLORS, "os", strict=False)):
            at = np.full(len(seeds[test]), y + 0.24 * k - 0.12)
            ax.plot(
                seeds[test],
                at,
                marker,
                color=color,
                fillstyle="full" if k else "none",
                label=test if name == names[0] else None,
            )
    for y, _ in enumerate(refusing, len(found)):
        ax.text(0.52, y, "refuses", va="center", style="italic")
    ax.axvline(0.5, color="#777777", linestyle=":")
    ax.set_yticks(range(len(names)), names)
    ax.set(xlim=(0.28, 1.03), ylim=(len(names) - 0.4, -0.6), xlabel="accuracy (0.5 is guessing)")
    ax.legend(loc="upper center", bbox_to_anchor=(0.4, 1.14), ncols=2)
    best, worst = (max if up else min for up in (True, False))
    highest = best(found, key=lambda e: np.mean(found[e][tests[0]]))
    lowest = worst(found, key=lambda e: np.mean(found[e][tests[1]]))
    plots.show(
        figure,
        name="fig-longer-and-later",
        caption="Trained on series of 32 steps, tested on 128: each mark is one training that "
        "learned the task. Longer: the series has 128 steps. Later: it has 32, at the end of a "
        "frame of 128.",
        alt=f"A row of marks for each encoding, on a scale of accuracy. All marks of {highest} "
        f"stand at the right end; those of {lowest} scatter around and below guessing. "
        f"{' and '.join(refusing)} have no marks and refuse.",
    )


def seen_angles(seen: Array, reached: Array) -> None:
    """Show which share of a turn each pair has met in training, and what a longer input adds.

    Parameters
    ----------
    seen, reached : array of shape (n_pairs,)
        Shares of a full turn, at most 1.
    """
    figure, ax = plots.new(height=2.5, width=6.2)
    pairs = np.arange(len(seen))
    ax.bar(pairs, seen, width=1.0, color=plots.COLORS[0], label="met in training")
    ax.bar(
        pairs,
        reached - seen,
        width=1.0,
        bottom=seen,
        color="#f4c7c3",
        edgecolor=plots.COLORS[1],
        hatch="///",
        linewidth=0,
        label="new at four times the length",
    )
    ax.set(xlabel="pair, fast to slow", ylabel="share of a turn", xlim=(-0.5, len(seen) - 0.5))
    ax.set_ylim(0, 1.3)
    ax.legend(loc="upper left", ncols=2)
    full, new = int((seen >= 1).sum()), int((reached > seen).sum())
    plots.show(
        figure,
        name="fig-seen-angles",
        caption="The pairs of a head of 128 dimensions, base 10,000, trained on 4,096 tokens: how "
        "much of the circle each has met, and what 16,384 tokens add.",
        alt=f"Bars for {len(seen)} pairs. The first {full} reach a full turn; from there the dark "
        f"bars fall towards zero, and a hatched part on top of {new} of them shows angles that "
        "only the longer input brings.",
    )


def schedule_rows(
    frequencies: Mapping[str, Array], trained: int, factor: float
) -> dict[str, dict[str, int]]:
    """Return how many pairs a schedule leaves alone, slows fully, or lets meet new angles.

    Parameters
    ----------
    frequencies : mapping from words to an array of shape (n_pairs,)
        Radians per token; the first ones are those of training.
    trained : int
        Tokens of a training text.
    factor : float
        How many times longer the input is.
    """
    omega = next(iter(frequencies.values()))
    before = schedules.turns(omega, trained)
    rows = {}
    for name, new in frequencies.items():
        after = schedules.turns(new, round(factor * trained))
        rows[name] = {
            "left alone": int(np.isclose(omega / new, 1).sum()),
            f"divided by {factor:g}": int(np.isclose(omega / new, factor).sum()),
            "meet new angles": int(((before < 1) & (after > before * (1 + 1e-9))).sum()),
        }
    return rows


def shares_beyond(
    share: Callable[[Callable[[Array], Array], int, int], float], trained: int
) -> dict[str, dict[str, str]]:
    """Return which share of attention each penalty spends beyond the trained length.

    Parameters
    ----------
    share : function of a bias by distance, a length, and the trained length
    trained : int
        Tokens of a training text.
    """
    return {
        name: {
            f"{m} times {trained:,}": f"{share(bias, m * trained, trained):.1%}" for m in (2, 4, 16)
        }
        for name, bias in PENALTIES.items()
    }


def lab_maps(
    found: Mapping[str, Mapping[str, Sequence[float]]],
    lengths: Sequence[int],
    trained: int,
    *,
    columns: int = 3,
    name: str = "fig-length-lab",
) -> None:
    """Show how many answer tokens are right at each length, a panel a task, a row an encoding.

    Parameters
    ----------
    found : mapping from a task to a mapping from an encoding to its accuracy at each length
        Tasks and encodings are shown in the order given, NaN is left empty.
    lengths : sequence of int
        Symbols of the tested sequences.
    trained : int
        Symbols of the longest training sequence.
    columns : int
        Panels in a row; as many rows are drawn as the tasks fill.
    name : str
        The figure's label.
    """
    tasks, names = list(found), list(next(iter(found.values())))
    n_rows = -(-len(tasks) // columns)
    height = n_rows * (0.9 + 0.3 * len(names))
    figure, axes = plots.new(n_rows, columns, height=height, sharey=True, squeeze=False)
    for ax in axes.ravel()[len(tasks) :]:
        ax.set_axis_off()
    for ax, task in zip(axes.ravel(), tasks, strict=False):
        shares = np.array([found[task][one] for one in names], dtype=float)
        image = ax.imshow(shares, vmin=0, vmax=1, aspect="auto")
        ax.axvline(lengths.index(trained) + 0.5, color="white", linewidth=2.4)
        ax.grid(visible=False)
        ax.set(title=task, xlabel="length")
        ticks = range(0, len(lengths), 2)
        ax.set_xticks(ticks, [lengths[i] for i in ticks])
    axes[0, 0].set_yticks(range(len(names)), names)
    bar = figure.colorbar(image, ax=axes.ravel().tolist(), pad=0.02)
    bar.set_label("right answer tokens")
    bar.ax.yaxis.set_major_formatter(PercentFormatter(1, decimals=0))
    beyond = {t: {n: np.mean(row[1:]) for n, row in rows.items()} for t, rows in found.items()}
    easiest = max(beyond, key=lambda task: np.nanmean([*beyond[task].values()]))
    best = max(names, key=lambda one: np.nan_to_num(beyond[easiest][one]))
    plots.show(
        figure,
        name=name,
        caption=f"Right answer tokens of models trained on up to {trained} symbols, left of the "
        f"white line, and tested on up to {max(lengths)}: means over seeds.",
        alt=f"A map for each of {len(tasks)} tasks, encodings in rows and lengths in columns. "
        f"Most of a map is light at length {trained} and darkens to the right of the white line. "
        f"On {easiest} most stays light, with {best} ahead.",
    )
