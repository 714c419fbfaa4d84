"""Is an encoding ahead of the sinusoid on new data sets? Two editions, with a token a step.

An independent data set is a unit, whatever its size: the ten that the third edition brought, and
those of the second on which something is learned. Both train all encodings alike.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from matplotlib.axes import Axes
from scipy import stats

from posenc_book.read.classification import edition2
from posenc_book.read.edition3 import figure, plan, reading, words
from posenc_book.read.edition3.questions import QUESTIONS
from posenc_book.statistics import equality, friedman
from posenc_book.statistics.summary import t_interval
from posenc_book.teaching import plots

SINUSOID = "sinusoidal"
ASKED = ("erpe", "tpe", "rotary", "tape")
PANELS = {"new": "data sets that were new", "every": "independent data sets, old and new"}


@dataclass(frozen=True)
class Beside:
    """Accuracies less those of the sinusoid, one for each independent data set.

    Parameters
    ----------
    new : dict of str to float
        By data set of the third edition.
    known : dict of str to float
        By unit of the second, on which the best of ten encodings had been picked.
    """

    new: dict[str, float]
    known: dict[str, float]

    @property
    def every(self) -> dict[str, float]:
        """All of them."""
        return self.known | self.new


def load() -> dict[str, Beside]:
    """Return what each of `ASKED` is beside the sinusoid."""
    known = edition2.learned(edition2.load_grid("time_series")).compare((SINUSOID, *ASKED))
    found = reading.scored(reading.load_trainings())
    return {
        name: Beside(
            _on_new_sets(name, found),
            dict(zip(known.datasets, known.gains(name).mean(1).tolist(), strict=True)),
        )
        for name in ASKED
    }


def _on_new_sets(name: str, found: Mapping[reading.Cell, reading.Scored]) -> dict[str, float]:
    """Return the differences of as many runs as were trained of both."""
    title = "ahead" if name in QUESTIONS["ahead"].names else "choice"
    asked, [layers] = replace(QUESTIONS[title], datasets=plan.COUNTED), QUESTIONS[title].layers
    ours, default = (reading.accuracies(asked, one, layers, found) for one in (name, SINUSOID))
    return dict(zip(asked.datasets, (ours - default).mean(1).tolist(), strict=True))


def p_of_signs(differences: Sequence[float]) -> float:
    """Return the exact two-sided p-value of a mean, had a coin chosen the sign of each difference.

    All ways in which the coins can fall are tried, so this is for twenty differences or fewer.
    """
    ways = {"n_resamples": np.inf, "permutation_type": "samples", "vectorized": True}
    return float(stats.permutation_test((differences,), np.mean, **ways).pvalue)


def p_values(found: Mapping[str, Beside]) -> dict[str, float]:
    """Return those of Wilcoxon's exact test over all units, by Holm over the encodings."""
    raw = [friedman.wilcoxon([*one.every.values()]).p_value for one in found.values()]
    return dict(zip(found, friedman.holm(raw).tolist(), strict=True))


def p_equal(found: Mapping[str, Beside]) -> dict[str, float]:
    """Return those of equality within the third edition's margin, likewise."""
    raw = [equality.tost([*one.every.values()], plan.MARGIN).p_value for one in found.values()]
    return dict(zip(found, friedman.holm(raw).tolist(), strict=True))


def show(found: Mapping[str, Beside]) -> None:
    """Show a mark for each data set, and the means with their intervals, in a notebook."""
    drawn, axes = plots.new(2, 1, height=5.6, width=5.6, sharex=True)
    for ax, (which, said) in zip(axes, PANELS.items(), strict=True):
        for y, one in enumerate(found.values()):
            _row(ax, y, one, which)
        plots.draw_band(ax, plan.MARGIN)
        ax.grid(axis="y", visible=False)
        ax.set_title(f"{len(getattr(found['erpe'], which))} {said}", fontsize=9)
        ax.set_yticks(range(len(found)), map(words.name, found))
        ax.set_ylim(len(found) - 0.5, -0.5)
    figure.scale(axes[-1], [x for one in found.values() for x in one.every.values()])
    axes[-1].set_xlabel("points of accuracy over the sinusoid")
    plots.show(
        drawn,
        name="fig-over-sets",
        caption="Four encodings beside the sinusoid, with a token a step. Each mark is an "
        "independent data set, the mean of its training runs: a dot if it was new when eRPE was "
        "asked about, a square if it belongs to the benchmark. A diamond is the mean over sets, "
        "and its bar the 95 % interval by Student's t. Grey band: "
        f"±{100 * plan.MARGIN:g} points, which count as equal. Steps of the scale grow with the "
        "distance from 0.",
        alt=" ".join(_summary_text(which, said, found) for which, said in PANELS.items()),
    )


def _row(ax: Axes, y: int, one: Beside, which: str) -> None:
    """Draw the sets of an encoding, and below them their mean."""
    mean = t_interval([*getattr(one, which).values()])
    if which == "every":
        ax.plot([*one.known.values()], [y - 0.22] * len(one.known), "s", color=plots.GREY, ms=4)
    ax.plot([*one.new.values()], [y - 0.08] * len(one.new), "o", color=plots.COLORS[2], ms=4)
    ax.plot([mean.low, mean.high], [y + 0.15] * 2, "-", color=plots.COLORS[0], linewidth=3)
    ax.plot(mean.mean, y + 0.15, "D", color=plots.COLORS[1], markeredgecolor="black", ms=6)


def _summary_text(which: str, said: str, found: Mapping[str, Beside]) -> str:
    means = {words.name(n): t_interval([*getattr(one, which).values()]) for n, one in found.items()}
    listed = ", ".join(f"{name} {points(one)}" for name, one in means.items())
    return f"Four rows, {said}: {listed}."


def points(found: object) -> str:
    """Return a mean with its interval in points, such as "+1.6 [+0.2, +3.0]"."""
    mean, low, high = (100 * getattr(found, name) for name in ("mean", "low", "high"))
    return f"{mean:+.1f} [{low:+.1f}, {high:+.1f}]"
