"""Figures of the chapter on graphs."""

from collections.abc import Mapping

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import NDArray

from posenc_book.teaching import plots

POSITIVE, NEGATIVE = plots.COLORS[2], plots.COLORS[1]
LARGEST = 130  # square points of the disc for the largest entry of a column


def on_a_line(n: int) -> NDArray[np.float64]:
    """Return where n people in a line are drawn, (n, 2)."""
    return np.column_stack([np.arange(n) / 2, np.zeros(n)])


def on_a_circle(n: int, sides_of_one: bool = True) -> NDArray[np.float64]:
    """Return the corners of a regular polygon, (n, 2), the first one on the left."""
    angles = np.pi - 2 * np.pi * np.arange(n) / n
    radius = 1 / (2 * np.sin(np.pi / n)) if sides_of_one else 1.0
    return radius * np.column_stack([np.cos(angles), np.sin(angles)])


def two_hexagons() -> NDArray[np.float64]:
    """Return where the ten atoms of two rings that share a bond are drawn: a ring, and 0 to 5."""
    angles = np.pi * (5 - 2 * np.arange(6)) / 6
    right = np.column_stack([np.cos(angles) + np.sqrt(3) / 2, np.sin(angles)])
    return np.concatenate([right, right[4:0:-1] * (-1, 1)])


def two_pentagons() -> NDArray[np.float64]:
    """Return where the ten atoms of two rings with a bond between them, 0 to 5, are drawn."""
    right = on_a_circle(5)
    right[:, 0] += 0.5 - right[0, 0]
    return np.concatenate([right, right * (-1, 1)])


def two_molecules(decalin: NDArray[np.float64], bicyclopentyl: NDArray[np.float64]) -> None:
    """Show two molecules of ten atoms and eleven bonds by their adjacency matrices."""
    figure, axes = plots.new(1, 2, height=2.0, width=4.8)
    drawn = {
        "decalin": (two_hexagons(), decalin),
        "bicyclopentyl": (two_pentagons(), bicyclopentyl),
    }
    for ax, (name, (places, adjacency)) in zip(axes, drawn.items(), strict=True):
        _bonds(ax, places, adjacency)
        ax.plot(*places.T, "o", color="white", markersize=13)
        for x, y in places:
            ax.text(x, y, "C", ha="center", va="center_baseline")
        ax.set_title(name)
    plots.show(
        figure,
        name="fig-two-molecules",
        caption="Two molecules, drawn without their hydrogen: ten atoms of carbon and eleven bonds "
        "each. In both, two atoms have three neighbours and eight have two.",
        alt="On the left two rings of six C that share a side, on the right two rings of five C "
        "with a line from one to the other.",
    )


def slowest_waves(
    drawn: Mapping[str, tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]],
) -> None:
    """Show the first columns of tables of eigenvectors on the graphs that they belong to.

    Parameters
    ----------
    drawn : mapping from a graph's name to its nodes' places (n, 2), adjacency and table (n, k)
    """
    n_columns = next(iter(drawn.values()))[2].shape[1]
    figure, axes = plots.new(
        len(drawn), n_columns, height=4.8, width=4.8, height_ratios=[0.4] + [1] * (len(drawn) - 1)
    )
    for row, (name, (places, adjacency, table)) in zip(axes, drawn.items(), strict=True):
        for k, ax in enumerate(row):
            _bonds(ax, places, adjacency)
            _discs(ax, places, table[:, k])
            ax.set_ylim(places[:, 1].min() - 0.5, places[:, 1].max() + 0.5)
        row[0].set_title(name)
    plots.show(
        figure,
        name="fig-slowest-waves",
        caption="The slowest eigenvectors on a line, on a ring and on decalin. A disc is as large "
        "as the node's number; full discs are positive, hollow ones negative. The slower the wave, "
        "the fewer bonds lead from full to hollow.",
        alt="Three rows of three drawings. On the line the discs change from full to hollow once, "
        "twice and three times. On the ring opposite halves are full and hollow, twice in two "
        "directions, then four quarters. On the molecule the left ring is full and the right one "
        "hollow, then upper and lower atoms differ.",
    )


def _bonds(ax: Axes, places: NDArray[np.float64], adjacency: NDArray[np.float64]) -> None:
    for one, other in np.argwhere(np.triu(adjacency)):
        ax.plot(*places[[one, other]].T, "-", color="0.6", linewidth=1.2, zorder=1)
    ax.set_aspect("equal")
    ax.axis("off")
    ax.margins(0.12)


def _discs(ax: Axes, places: NDArray[np.float64], column: NDArray[np.float64]) -> None:
    size = LARGEST * (np.abs(column) / np.abs(column).max()) ** 2
    for sign, face in ((1, POSITIVE), (-1, "white")):
        of_sign = sign * column > 1e-9
        edge = POSITIVE if sign > 0 else NEGATIVE
        x, y = places[of_sign].T
        ax.scatter(x, y, s=size[of_sign], facecolor=face, edgecolor=edge, zorder=2)
