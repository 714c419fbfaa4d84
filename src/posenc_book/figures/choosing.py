"""The figures of the guide."""

from collections.abc import Mapping
from typing import Any

from posenc_book.teaching import plots

NARROW = 5.6  # inches: words stay readable on a phone
SAME = 0.02  # steps of none, and per cent of the axis, within which marks are one

NEAR, WIDE = 0.025, 0.35  # a mark that close to the right makes a name stand below its own


def cost_and_reach(found: Mapping[str, tuple[float, float]], *, trained: int, far: int) -> None:
    """Show what a training step costs against what is right far beyond the trained length.

    Parameters
    ----------
    found : mapping of an encoding's name to two numbers
        The time of a step in steps without positions, and the accuracy at `far` steps, 0 to 1.
    trained, far : int
        Steps of the series of training and of the test.
    """
    figure, ax = plots.new(height=3.9, width=NARROW)
    points = merged(found)
    for names, (cost, right) in points.items():
        far_enough = right >= 0.9
        color = plots.COLORS[1 if far_enough else 0]
        ax.plot(cost, 100 * right, "D" if far_enough else "o", color=color, markersize=6)
        crowded = any(0 < x - cost < WIDE and abs(y - right) < NEAR for x, y in points.values())
        beside: dict[str, Any] = {"xytext": (7, 0), "va": "center", "ha": "left"}
        if cost > 2:
            beside = {"xytext": (-7, 0), "va": "center", "ha": "right"}
        elif crowded:
            beside = {"xytext": (0, -6), "va": "top", "ha": "left"}
        ax.annotate(names, (cost, 100 * right), textcoords="offset points", **beside)
    ax.axhline(50, color="#888888", linestyle=":", linewidth=1.2)
    end = max(cost for cost, _ in points.values()) + 0.1
    ax.annotate("a coin", (end, 50), (-3, 3), textcoords="offset points", ha="right", va="bottom")
    ax.set(xlim=(0.95, end), ylim=(45, 101))
    ax.set_xlabel("time of a training step (without positions: 1)")
    ax.set_ylabel(f"right at {far} steps (%)")
    plots.show(
        figure,
        name="fig-cost-and-reach",
        caption=f"The time of a training step, and how often models are right at {far} steps after "
        f"training at {trained}, on one synthetic task. Upper left is best. Diamonds: at least "
        "90 % right. Numbers in brackets: how many training runs learned the task, where not "
        "all did.",
        alt="Scatter plot. "
        + "; ".join(
            f"{names}: {cost:.2f} times the step, {100 * right:.0f} %"
            for names, (cost, right) in points.items()
        )
        + ".",
    )


def mended(found: Mapping[str, float], *, trained: int, far: int) -> None:
    """Show what a model of characters loses on long texts, by what was done to it.

    Parameters
    ----------
    found : mapping of what was done to a loss in nats
    trained, far : int
        Characters of context in training and here.
    """
    figure, ax = plots.new(height=0.9 + 0.32 * len(found), width=NARROW)
    rows = range(len(found))
    ax.barh(rows, list(found.values()), color=plots.COLORS[0], height=0.62)
    for row, loss in enumerate(found.values()):
        ax.annotate(f"{loss:.2f}", (loss, row), (4, 0), textcoords="offset points", va="center")
    ax.set_yticks(rows, list(found))
    ax.invert_yaxis()
    ax.set_xlim(0, 1.12 * max(found.values()))
    ax.grid(axis="y", visible=False)
    ax.set_xlabel(f"loss on texts of {far} characters (nats); shorter is better")
    said = ", ".join(f"{name} {loss:.2f}" for name, loss in found.items())
    plots.show(
        figure,
        name="fig-mended",
        caption=f"A small model of characters, trained on {trained} characters and read at {far}.",
        alt=f"Bars of the loss in nats: {said}.",
    )


def merged(found: Mapping[str, tuple[float, float]]) -> dict[str, tuple[float, float]]:
    """Return the points with names of those that would cover each other joined."""
    groups: list[tuple[list[str], tuple[float, float]]] = []
    for name, (cost, right) in sorted(found.items(), key=lambda one: -one[1][1]):
        for names, (x, y) in groups:
            if abs(x - cost) < SAME and abs(y - right) < SAME:
                names.append(name)
                break
        else:
            groups.append(([name], (cost, right)))
    return {", ".join(names): point for names, point in groups}
