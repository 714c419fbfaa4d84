"""What the sinusoid is worth under a flattened head and under a mean, unit by unit."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from posenc_book.read.forecasting import plan
from posenc_book.read.forecasting.complete import Stored, Way
from posenc_book.read.forecasting.effects import Effect, effect, per_cent
from posenc_book.read.forecasting.plan import COUNTED, NONE
from posenc_book.read.forecasting.registered import against
from posenc_book.teaching import plots
from posenc_book.teaching.table import Table

HEADS = ("flat", "mean")
TOKENS = ("patches", "steps")
CALLED = {"flat": "flattened head", "mean": "mean of the tokens"}
UNIT_NAMES = {
    "m1_yearly": "M1, years",
    "m1_monthly": "M1, months",
    "m3_yearly": "M3, years",
    "m3_quarterly": "M3, quarters",
    "m3_monthly": "M3, months",
    "m3_other": "M3, others",
    "tourism_quarterly": "tourism, quarters",
    "tourism_monthly": "tourism, months",
    "m4_hourly": "M4, hours",
    "etth1": "power transformer, hours",
    "exchange": "exchange rates, days",
    "vic_electricity": "Victoria, half hours",
    "bike_sharing": "hired bikes, hours",
    "air_quality": "Valencia's air, hours",
    "tourism_yearly": "tourism, years",
    "m1_quarterly": "M1, quarters",
    "m4_weekly": "M4, weeks",
    "etth2": "second power transformer, hours",
}
_TICKS = (-60, -40, -20, -10, -3, 0, 3, 10)  # per cent


@dataclass(frozen=True, eq=False)
class ReadOut:
    """What the sinusoid changes with one kind of token.

    Parameters
    ----------
    tokens : {"patches", "steps"}
    whole : dict of str to tuple of str
        Units on which the models with each head are trained.
    effects : dict of str to Effect
        By head, over all units that count; empty as long as some are not whole.
    """

    tokens: str
    whole: Mapping[str, tuple[str, ...]]
    effects: Mapping[str, Effect]

    @property
    def completeness(self) -> str:
        """How much is trained, such as "not whole: 9 and 14 of 14 units"."""
        if self.effects:
            return f"{len(COUNTED)} units"
        counts = " and ".join(str(len(units)) for units in self.whole.values())
        return f"not whole: {counts} of {len(COUNTED)} units"


def read_out(stored: Stored, tokens: str) -> ReadOut:
    """Return what the sinusoid changes of the error of none, under either head."""
    asked = {
        head: against(Way(f"{tokens}_{head}", plan.DEFAULT), Way(f"{tokens}_{head}", NONE))
        for head in HEADS
    }
    whole = {head: stored.whole([*one.over, *one.under], COUNTED) for head, one in asked.items()}
    if any(len(units) < len(COUNTED) for units in whole.values()):
        return ReadOut(tokens, whole, {})
    found = {head: effect(stored, one, COUNTED) for head, one in asked.items()}
    return ReadOut(tokens, whole, {head: one for head, one in found.items() if one is not None})


def effects_of_sinusoid(stored: Stored) -> dict[str, Effect]:
    """Return what the sinusoid changes, by the readers that are whole, such as "patches_flat"."""
    return {
        f"{tokens}_{head}": one
        for tokens in TOKENS
        for head, one in read_out(stored, tokens).effects.items()
    }


def draw_read_out(stored: Stored) -> Figure:
    """Return the figure: a panel for each kind of token that is whole, a row for each unit.

    As long as nothing is whole, both kinds have a panel that says so.
    """
    found = _drawn(stored)
    drawn, grid = plots.new(1, len(found), height=4.4, sharex=True, sharey=True, squeeze=False)
    order, axes = _order(found), grid[0]
    for ax, (tokens, one) in zip(axes, found.items(), strict=True):
        _panel(ax, one, order)
        ax.set_title(f"tokens are {tokens}")
        ax.set_xlabel("change of the error (%)")
    axes[0].set_yticks(range(len(order)), [UNIT_NAMES[unit] for unit in order])
    axes[0].set_ylim(len(order) - 0.4, -0.6)
    drawn.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=2)
    return drawn


def _drawn(stored: Stored) -> dict[str, ReadOut]:
    """Return what has a panel: the kinds of tokens that are whole, or all of them if none is."""
    every = {tokens: read_out(stored, tokens) for tokens in TOKENS}
    return {tokens: one for tokens, one in every.items() if one.effects} or every


def show_read_out(stored: Stored, *, name: str = "fig-read-out") -> None:
    """Show the figure in a notebook, with caption and alt text."""
    plots.show(
        draw_read_out(stored),
        name=name,
        caption="What a sinusoid changes of the error of the same forecaster without positions, on "
        f"{len(COUNTED)} data sets, in per cent. Large: the mean of five seeds; small: each of "
        "them. To the left is better. Grey: changes of at most "
        f"{100 * plan.MARGIN:g} %. Steps of the scale grow with the distance from 0.",
        alt="A panel for each kind of token, with a row for each data set. "
        + " ".join(map(_summary_text, _drawn(stored).values())),
    )


def errors_table(stored: Stored, tokens: str, naive: Mapping[str, float]) -> Table:
    """Return the MASE behind the figure, a row for each unit: means over seeds.

    Parameters
    ----------
    stored : Stored
    tokens : {"patches", "steps"}
    naive : mapping of str to float
        The error of the seasonal naive forecast, by unit.
    """
    columns = {"linear map": Way("linear", NONE)} | {
        f"{head}, {said}": Way(f"{tokens}_{head}", encoding)
        for head in HEADS
        for encoding, said in ((NONE, "none"), (plan.DEFAULT, "sinusoid"))
    }
    rows = {
        UNIT_NAMES[unit]: {"naive": f"{naive[unit]:.3f}"}
        | {name: f"{stored.mean_score(way, unit):.3f}" for name, way in columns.items()}
        for unit in COUNTED
    }
    return Table(
        rows,
        head="MASE",
        caption=f"Errors on the test parts with {tokens} as tokens, means over five seeds.",
    )


def _order(found: Mapping[str, ReadOut]) -> list[str]:
    """Return the units, those first where a mean gains most; as registered if nothing is whole."""
    whole = [one.effects["mean"].by_unit for one in found.values() if one.effects]
    if not whole:
        return list(COUNTED)
    return [COUNTED[i] for i in np.argsort(np.mean(whole, axis=0))]


def _panel(ax: Axes, one: ReadOut, order: list[str]) -> None:
    plots.draw_band(ax, plan.MARGIN)
    ax.set_xscale("asinh", linear_width=4 * plan.MARGIN)
    ax.set_xticks(np.log1p(np.array(_TICKS) / 100), [f"{t:+d}" if t else "0" for t in _TICKS])
    ax.set_xticks([], minor=True)
    if not one.effects:
        plots.say_in_middle(ax, one.completeness)
        return
    rows, y = [COUNTED.index(unit) for unit in order], np.arange(len(order))
    flat, mean = (one.effects[head].by_unit[rows] for head in HEADS)
    ax.hlines(y, flat, mean, color="#c3cad5", linewidth=1.2)
    for head, colour, marker in (("flat", plots.COLORS[2], "o"), ("mean", plots.COLORS[1], "s")):
        seeds = one.effects[head].differences[rows]
        ax.plot(seeds, y, ".", color=colour, markersize=3, alpha=0.5)
        ax.plot(seeds.mean(1), y, marker, color=colour, label=CALLED[head])


def _summary_text(one: ReadOut) -> str:
    if not one.effects:
        return f"{one.tokens}: {one.completeness}."
    said = []
    for head, found in one.effects.items():
        values = zip(COUNTED, found.by_unit, strict=True)
        listed = ", ".join(f"{UNIT_NAMES[unit]} {per_cent(x):+z.1f}" for unit, x in values)
        said.append(f"{CALLED[head]}: {listed}")
    return f"{one.tokens}, " + "; ".join(said) + "."
