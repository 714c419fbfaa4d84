"""Figures of the chapter on inputs longer than in training."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import PercentFormatter
from numpy.typing import NDArray

from posenc import frequencies, schedules
from posenc_book.explorables.rope_schedules import LONG_FACTOR
from posenc_book.teaching import plots

Array = NDArray[np.float64]
PENALTIES: dict[str, Callable[[Array], Array]] = {  # by distance
    "no bias": lambda d: 0.0 * d,
    "T5, last bucket (from 113) at -3, others 0": lambda d: np.where(d < 113, 0.0, -3.0),
    "ALiBi, flattest of 8 heads": lambda d: -(2.0**-8) * d,
    "ALiBi, steepest of 8 heads": lambda d: -0.5 * d,
}

PHI: dict[str, Any] = {
    "trained": 4096,
    "factor": 32.0,
}  # what the list of LongRoPE was searched for
MARKERS = "osv^DxP*h"  # beside the dashes, where there are more lines than colours


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
    plots.show(
        figure,
        name="fig-longer-and-later",
        caption="Trained on series of 32 steps, tested on 128: each mark is one training that "
        "learned the task. Longer: the series has 128 steps. Later: it has 32, at the end of a "
        "frame of 128.",
        alt="A row of marks for each encoding, on a scale of accuracy. "
        + " ".join(_told(test, {name: one[test] for name, one in found.items()}) for test in tests)
        + f" {', '.join(refusing)} have no marks and refuse.",
    )


def _told(test: str, found: Mapping[str, Sequence[float]]) -> str:
    """Return between which accuracies the marks of a test lie, the best encoding first."""
    at_one = [name for name, marks in found.items() if min(marks) > 0.9995]
    ranges = [
        f"{name} {min(marks):.2f} to {max(marks):.2f}"
        for name, marks in sorted(found.items(), key=lambda one: -np.mean(one[1]))
        if name not in at_one
    ]
    ones = [f"all marks of {', '.join(at_one)} stand at 1"] if at_one else []
    return f"{test.capitalize()}: {'; '.join(ones + [', '.join(ranges)] * bool(ranges))}."


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
    """Return how many pairs a schedule leaves alone, slows fully, or lets meet new angles."""
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


def schedule_family(omega: Array, trained: int, factor: float) -> None:
    """Show what each schedule divides each frequency by, and LongRoPE's list beside YaRN's.

    The right panel has a head and a factor of its own: those of the model whose list it is.

    Parameters
    ----------
    omega : array of shape (n_pairs,)
        Frequencies of training in radians per token.
    trained : int
        Tokens of a training text.
    factor : float
        How many times longer the input is, at least 2; dynamic NTK is shown at twice the length.
    """
    n_left = len(omega)
    figure, (left, right) = plots.new(1, 2, height=2.7, width_ratios=(5, 4))
    slowed = {
        "linear": (schedules.linear(omega, factor), factor),
        "NTK": (schedules.ntk(omega, factor), factor),
        "dynamic NTK, 2 times": (schedules.dynamic_ntk(omega, 1, 2 * trained, trained), 2.0),
        "YaRN": (schedules.yarn(omega, factor, trained), factor),
        "Llama 3": (schedules.llama3(omega, factor, trained), factor),
    }
    of_128 = _divisors(left, omega, trained, slowed, colors=(2, 1, 3, 0, 4))
    omega = frequencies.geometric(2 * len(LONG_FACTOR))
    slowed = {
        "LongRoPE": (omega / LONG_FACTOR, PHI["factor"]),
        "YaRN": (schedules.yarn(omega, PHI["factor"], PHI["trained"]), PHI["factor"]),
    }
    of_phi = _divisors(right, omega, PHI["trained"], slowed, colors=(5, 0))
    left.set_title(f"{factor:g} times {trained:,} tokens")
    right.set_title(f"Phi-3.5-mini, {PHI['factor']:g} times")
    left.set_ylabel("divisor")
    right.plot([], alpha=0, label=" ")  # a third row, so that both legends begin at one height
    style: dict[str, Any] = {
        "handlelength": 2.3,
        "handletextpad": 0.5,
        "labelspacing": 0.3,
        "borderpad": 0,
    }
    for ax, side, n in ((left, "left", 2), (right, "right", 1)):
        handles, labels = ax.get_legend_handles_labels()
        style["loc"] = f"outside lower {side}"
        figure.legend(handles, labels, ncols=n, columnspacing=0.8, **style)
    plots.show(
        figure,
        name="fig-schedule-family",
        caption="What a frequency is divided by; in the legend, pairs left alone and with new "
        f"angles. Left: a head of {2 * n_left}, right: {2 * len(omega)}; base 10,000, trained on "
        f"{trained:,} tokens.",
        alt=f"Two panels of lines over pairs, fast to slow. Left, {n_left} pairs; {of_128}. The "
        "line of linear is flat, those of NTK rise evenly from the first pair on, YaRN and Llama 3 "
        f"stay at 1 and rise late to {factor:g}. Right, {len(omega)} pairs; {of_phi}. LongRoPE’s "
        f"divisors rise earlier than YaRN, and to {max(LONG_FACTOR):g} where YaRN ends at "
        f"{PHI['factor']:g}.",
    )


def _divisors(
    ax: Axes,
    omega: Array,
    trained: int,
    slowed: Mapping[str, tuple[Array, float]],
    colors: Sequence[int],
) -> str:
    """Draw what frequencies are divided by, a line a schedule; return the counts in words.

    Each schedule comes with the factor by which the input is longer. Colours go by number.
    """
    counts = []
    for (name, (new, factor)), k in zip(slowed.items(), colors, strict=True):
        row = schedule_rows({"as trained": omega, name: new}, trained, factor)[name]
        counts.append(f"{name}: {row['left alone']} alone, {row['meet new angles']} new")
        ax.plot(omega / new, color=plots.COLORS[k], linestyle=plots.DASHES[k], label=counts[-1])
    new, factor = slowed["YaRN"]
    divisor = omega / new
    ramp = np.flatnonzero((divisor > 1 + 1e-9) & (divisor < factor - 1e-9))
    ax.axvspan(ramp[0] - 1, ramp[-1] + 1, color="#e4e8ee", linewidth=0)
    top: dict[str, Any] = {"transform": ax.get_xaxis_transform(), "ha": "center", "va": "top"}
    ax.text(ramp.mean(), 0.97, "YaRN’s ramp", fontsize=9, **top)
    ax.set_yscale("log", base=2)
    most = max((omega / one).max() for one, _ in slowed.values())
    ticks = 2 ** np.arange(0, np.log2(most) + 0.1, 1 if most < 8 else 2).round()
    ax.set_yticks(ticks, [f"{tick:g}" for tick in ticks])
    ax.minorticks_off()
    ax.set(xlabel="pair, fast to slow", xlim=(0, len(omega) - 1), ylim=(0.92, most**1.25))
    return "; ".join(counts)


def loss_by_context(
    found: Mapping[str, Mapping[str, Array]],
    contexts: Sequence[int],
    trained: int,
    python: str,
) -> None:
    """Show the loss of a model of characters by its context, a panel a kind, a line a schedule.

    Parameters
    ----------
    found : mapping from a kind to a mapping from words to an array of shape (n_seeds, n_contexts)
        Loss in nats a character. Lines are means over seeds, bands reach from the lowest to the
        highest; what has no seed has no line.
    contexts : sequence of int
        Characters of context, ascending.
    trained : int
        Characters of a training text.
    python : str
        The version of Python whose text it is.
    """
    size = {"height": 1.0 + 2.4 * len(found), "width": 5.6}
    figure, axes = plots.new(len(found), 1, **size, sharex=True, sharey=True)
    colors = [*plots.COLORS, "#777777", "#b5651d", "#111111"]
    dashes = [*plots.DASHES, "-", "--", "-."]
    said = []
    for ax, (kind, lines) in zip(axes, found.items(), strict=True):
        drawn = {name: seeds for name, seeds in lines.items() if len(seeds)}
        for name, seeds in drawn.items():
            k = list(lines).index(name)
            style = {"linestyle": dashes[k], "marker": MARKERS[k], "markersize": 4}
            ax.plot(contexts, seeds.mean(0), color=colors[k], label=name, **style)
            ax.fill_between(contexts, seeds.min(0), seeds.max(0), color=colors[k], alpha=0.15, lw=0)
        ax.axvline(trained, color="#555555", linestyle=":", linewidth=1.2)
        ax.set_xscale("log", base=2)
        ax.set_xticks(contexts, [str(one) for one in contexts])
        ax.minorticks_off()
        ax.set(title=kind, ylabel="loss, nats a character")
        last = {name: seeds.mean(0) for name, seeds in drawn.items()}
        most = max(last, key=lambda name: last[name][-1] - last[name][0])
        least = min(last, key=lambda name: last[name][-1])
        first, end = last[most][[0, -1]]
        said.append(
            f"{kind.capitalize()}, {most} rises most, from {first:.2f} to {end:.2f} nats, and "
            f"{least} is lowest at the end with {last[least][-1]:.2f}."
        )
    axes[-1].set_xlabel("characters of context")
    across = axes[0].get_xaxis_transform()
    axes[0].text(trained * 1.05, 0.8, "trained length", transform=across, fontsize=9)
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=2)
    counts = {len(seeds) for lines in found.values() for seeds in lines.values()}
    n_seeds = " to ".join(str(n) for n in sorted({min(counts), max(counts)}))
    plots.show(
        figure,
        name="fig-text-context",
        caption=f"Loss by context of a model trained on {trained} characters: means of {n_seeds} "
        f"seeds, bands from the lowest to the highest. One text: the help topics of Python "
        f"{python}.",
        alt=f"Two panels of {len(lines)} lines over {', '.join(map(str, contexts))} characters of "
        f"context, the trained {trained} marked. {' '.join(said)}",
    )


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
    size = {"height": height, "width": 6.0 if columns < 3 else plots.WIDTH}
    figure, axes = plots.new(n_rows, columns, **size, sharey=True, squeeze=False)
    for ax in axes.ravel()[len(tasks) :]:
        ax.set_axis_off()
    for ax, task in zip(axes.ravel(), tasks, strict=False):
        shares = np.array([found[task][one] for one in names], dtype=float)
        image = ax.imshow(shares, vmin=0, vmax=1, aspect="auto")
        ax.axvline(lengths.index(trained) + 0.5, color="white", linewidth=2.4)
        ax.grid(visible=False)
        ax.set(title=task, xlabel="length")
        ticks = range(0, len(lengths), 2 if columns < 4 else 4)
        ax.set_xticks(ticks, [lengths[i] for i in ticks])
    axes[0, 0].set_yticks(range(len(names)), names)
    bar = figure.colorbar(image, ax=axes.ravel().tolist(), pad=0.02)
    bar.set_label("right answer tokens")
    bar.ax.yaxis.set_major_formatter(PercentFormatter(1, decimals=0))
    plots.show(
        figure,
        name=name,
        caption=f"Right answer tokens of models trained on up to {trained} symbols, left of the "
        f"white line, and tested on up to {max(lengths)}: means over seeds.",
        alt=f"A map for each of {len(tasks)} tasks, encodings in rows and lengths in columns. "
        f"Most of a map is light at length {trained}. Beyond it, on average: "
        + "; ".join(_farthest(task, found[task]) for task in tasks)
        + ".",
    )


def _farthest(task: str, found: Mapping[str, Sequence[float]]) -> str:
    """Return which encoding is best beyond the trained length, how good, and how many come near."""
    beyond = {name: 100 * np.mean(row[1:]) for name, row in found.items()}
    run = {name: share for name, share in beyond.items() if not np.isnan(share)}
    best = max(run, key=run.__getitem__)
    near = sum(share > run[best] - 10 for share in run.values()) - 1
    return (
        f"{task}: {run[best]:.0f} % with {best}, {near or 'no'} more within 10 points, the lowest "
        f"{min(run.values()):.0f} %"
    )


def score_by_age(curves: Mapping[str, Mapping[int, float]], known: int, name: str) -> None:
    """Show what a model thinks of a name, by how long ago the name was said.

    Parameters
    ----------
    curves : mapping from a model to a mapping from an age to a mean score
    known : int
        The largest age of training.
    name : str
        Of the figure.
    """
    figure, ax = plots.new(height=2.7, width=6.4)
    ax.axvspan(0, known, color="0.9", label="ages of training")
    for curve, color, style in zip(curves.items(), plots.COLORS[1::-1], ("-", "--"), strict=False):
        words, scores = curve
        ax.plot(list(scores), list(scores.values()), style, color=color, linewidth=1.6, label=words)
    ax.set(xlabel="letters since the name was said", ylabel="mean score", xlim=(0, 120))
    ax.legend(loc="upper center", bbox_to_anchor=(0.5, 1.2), ncols=3)
    plots.show(
        figure,
        name=name,
        caption="What the second layer thinks of a name, by how many letters ago it was said: mean "
        "score over texts of 128 letters and all heads.",
        alt=" ".join(_wave(words, scores, known) for words, scores in curves.items()),
    )


def _wave(words: str, scores: Mapping[int, float], known: int) -> str:
    """Return how a curve runs over the ages of training and beyond them."""
    later = {age: score for age, score in scores.items() if age > known}
    low, high = min(scores, key=scores.__getitem__), max(later, key=later.__getitem__)
    return (
        f"The curve {words} falls from {scores[1]:.1f} at age 1 to {scores[known]:.1f} at age "
        f"{known}. Its lowest score is {scores[low]:.1f} at age {low}; beyond training its highest "
        f"is {later[high]:.1f} at age {high}."
    )
