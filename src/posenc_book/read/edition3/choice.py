"""What validation chose among ten encodings, and where its choice lands among them."""

from collections import Counter
from collections.abc import Mapping

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from posenc_book.read.edition3 import figure, words
from posenc_book.read.edition3.questions import CHOSEN, QUESTIONS, TEN
from posenc_book.read.edition3.reading import Cell, Scored, accuracies, chosen
from posenc_book.teaching import plots
from posenc_book.teaching.table import Table
from posenc_book.teaching.words import WordTable

ASKED = QUESTIONS["choice"]
RUNS = range(1, ASKED.resamples + 1)
RULES = (*TEN, CHOSEN)
DEFAULT = "sinusoidal"


def choices(found: Mapping[Cell, Scored]) -> dict[str, tuple[str, ...]]:
    """Return the names that validation chose on each data set, one for each run."""
    [layers] = ASKED.layers
    return {d: tuple(chosen(d, layers, r, found) for r in RUNS) for d in ASKED.datasets}


def picks_table(found: Mapping[Cell, Scored]) -> WordTable:
    """Return what was chosen on each data set, one name for each run."""
    rows = {
        dataset: {f"chosen in {len(RUNS)} runs": "; ".join(map(words.name, names))}
        for dataset, names in choices(found).items()
    }
    return WordTable(rows, head="data set")


def over_the_default(found: Mapping[Cell, Scored]) -> dict[str, dict[str, float]]:
    """Return what each of the ten, and the choice, is over the sinusoid, by data set.

    Returns
    -------
    dict of rule to dict of data set to float
        Differences of accuracies, means over runs.
    """
    [layers] = ASKED.layers
    means = {rule: accuracies(ASKED, rule, layers, found).mean(1) for rule in RULES}
    return {
        rule: dict(zip(ASKED.datasets, (mean - means[DEFAULT]).tolist(), strict=True))
        for rule, mean in means.items()
    }


def rules_table(found: Mapping[Cell, Scored]) -> Table:
    """Return the ten and the choice, the best mean first, and how often each was chosen."""
    of_rules = over_the_default(found)
    counts = Counter(name for names in choices(found).values() for name in names)
    means = {rule: float(np.mean([*by_set.values()])) for rule, by_set in of_rules.items()}
    rows = {
        words.name(rule): {
            "points over the sinusoid": f"{100 * means[rule]:+z.1f}",
            "chosen": "" if rule == CHOSEN else str(counts[rule]),
        }
        for rule in sorted(RULES, key=lambda rule: -means[rule])
    }
    caption = (
        f"If you always took the same one: means over {len(ASKED.datasets)} data sets, and how "
        f"often validation chose it in {counts.total()} runs."
    )
    return Table(rows, head="rule", caption=caption)


def draw(found: Mapping[Cell, Scored]) -> Figure:
    """Return a row for each data set with ten encodings and the choice, beside the sinusoid."""
    of_rules = over_the_default(found)
    drawn, ax = plots.new(height=4.2)
    ax.axvline(0, color=plots.COLORS[0], linewidth=1)
    for y, dataset in enumerate(ASKED.datasets):
        _row(ax, y, {rule: by_set[dataset] for rule, by_set in of_rules.items()})
    ax.set_yticks(range(len(ASKED.datasets)), ASKED.datasets, fontsize=8)
    ax.set_ylim(len(ASKED.datasets) - 0.5, -0.5)
    ax.grid(axis="y", visible=False)
    figure.scale(ax, [x for by_set in of_rules.values() for x in by_set.values()])
    ax.set_xlabel("points over the sinusoid")
    drawn.legend(
        ax.lines[1:4], ["another encoding", "eRPE", "validation's choice"],
        loc="outside lower center", ncols=3,
    )  # fmt: skip
    return drawn


def _row(ax: Axes, y: int, of_rules: Mapping[str, float]) -> None:
    others = [of_rules[rule] for rule in TEN if rule not in (DEFAULT, "erpe")]
    ax.plot(others, [y] * len(others), "o", color=plots.GREY, markersize=4)
    ax.plot(of_rules["erpe"], y, "s", color=plots.COLORS[2], markersize=8)
    ax.plot(of_rules[CHOSEN], y, "D", color=plots.COLORS[1], markeredgecolor="black", markersize=6)


def show(found: Mapping[Cell, Scored]) -> None:
    """Show the figure in a notebook, with caption and alt text."""
    chosen_over = over_the_default(found)[CHOSEN]
    plots.show(
        draw(found),
        name="fig-choice",
        caption="Where does the choice of validation land among ten encodings? Each row is a new "
        "data set, and each mark the mean over "
        f"{ASKED.resamples} runs in points of test accuracy; the line is the sinusoid. Validation "
        "chooses anew in each run. Steps of the scale grow with the distance from 0.",
        alt="A row for each data set with ten encodings and the choice of validation, in points "
        "over the sinusoid. The choice: "
        + ", ".join(f"{d} {100 * x:+z.1f}" for d, x in chosen_over.items())
        + ".",
    )
