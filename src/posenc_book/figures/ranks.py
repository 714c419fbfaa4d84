"""Critical-difference diagrams: average ranks, and which encodings no test tells apart."""

from collections.abc import Mapping, Sequence
from typing import Protocol

import numpy as np
from matplotlib.ticker import MaxNLocator

from posenc_book.atlas import called
from posenc_book.figures.benchmark import NARROW
from posenc_book.teaching import plots


class Ranking(Protocol):
    """Encodings with their average ranks, best first, and the groups that are not told apart."""

    @property
    def encodings(self) -> Sequence[str]: ...
    @property
    def ranks(self) -> Sequence[float]: ...
    @property
    def groups(self) -> Sequence[Sequence[str]]: ...


def draw(ax: plots.Axes, ranking: Ranking) -> None:
    """Draw average ranks, the best on top, and a line beside each group that is not told apart.

    Source: Demšar (2006), section 3.2, for the diagram.
    """
    row = {name: place for place, name in enumerate(ranking.encodings)}
    best, worst = min(ranking.ranks), max(ranking.ranks)
    ax.plot(ranking.ranks, [*row.values()], "o", color=plots.COLORS[0], markersize=6)
    for place, group in enumerate(ranking.groups, 1):
        rows = [row[name] for name in group]
        ends = min(rows) - 0.25, max(rows) + 0.25
        x = worst + 0.1 * (worst - best) * place
        ax.plot([x, x], ends, "-", color=plots.COLORS[1], linewidth=4, solid_capstyle="butt")
    ax.set_yticks([*row.values()], [*map(called, row)])
    ax.set_ylim(len(row) - 0.4, -0.6)
    ax.xaxis.set_major_locator(MaxNLocator(5, integer=True))
    ax.grid(axis="y", visible=False)
    ax.set_xlabel("average rank (1 is best)")


def summary_text(ranking: Ranking) -> str:
    """Return what a diagram shows, in words."""
    ranks = zip(ranking.encodings, ranking.ranks, strict=True)
    listed = ", ".join(f"{called(name)} {rank:.1f}" for name, rank in ranks)
    if not ranking.groups:
        return f"{listed}; all are told apart"
    if len(ranking.groups[0]) == len(ranking.encodings):
        return f"{listed}; one line beside all of them, so no two are told apart"
    groups = " and ".join(f"{called(group[0])} to {called(group[-1])}" for group in ranking.groups)
    return f"{listed}; not told apart are {groups}"


def diagrams(found: Mapping[str, tuple[Ranking, int]]) -> None:
    """Show the diagrams of several comparisons, each with its number of independent sets.

    Parameters
    ----------
    found : mapping of str to (Ranking, int)
        By title.
    """
    rows = max(len(ranking.encodings) for ranking, _ in found.values())
    figure, axes = plots.new(len(found), 1, height=len(found) * (0.8 + 0.2 * rows), width=NARROW)
    for ax, (title, (ranking, n_sets)) in zip(np.atleast_1d(axes), found.items(), strict=True):
        draw(ax, ranking)
        ax.set_title(f"{title} ({n_sets} sets)")
    plots.show(
        figure,
        name="fig-critical-differences",
        caption="Critical-difference diagrams: average ranks over independent data sets. A line "
        "beside encodings joins those of which no pair is told apart by Wilcoxon’s signed ranks, "
        "with Holm’s correction for all pairs.",
        alt=" ".join(f"{title}: {summary_text(ranking)}." for title, (ranking, _) in found.items()),
    )
