"""Every data set of the second edition: accuracy without order, and with each of ten encodings."""

from functools import cached_property
from typing import TypedDict

import numpy as np
from numpy.typing import NDArray

from posenc import _checks
from posenc_book.explorables import drawing
from posenc_book.explorables.base import Explorable, State
from posenc_book.explorables.controls import Choice, Preset
from posenc_book.read.classification import edition2
from posenc_book.read.classification.edition2 import Accuracies
from posenc_book.statistics import counts

TOKENS = {"steps": "a time step", "patches": "a patch of 8 steps"}
FOLLOWED = {
    "sinusoidal": "The sinusoid",
    "learnable": "A learned table",
    "relative": "Shaw’s encoding",
    "tape": "tAPE",
    "erpe": "eRPE",
    "tupe": "TUPE",
    "sine_spe": "SPE",
    "tpe": "T-PE",
    "rotary": "RoPE",
    "dft": "DFT",
}
"""The ten, in the protocol's order, by the names that readers know."""

MUCH, LITTLE = 10, 2  # points
ENDS = 3  # so many are the best of the ten, and as many the worst
_MODELS = {tokens: model for model, tokens in edition2.TOKENS.items()}
_LEFT, _UNIT, _TOP, _HEIGHT, _ROOM = 124, 2.14, 46, 500, 40


class Rows(TypedDict):
    """Data sets, those that gain most on average first, and their accuracies in per cent."""

    sets: list[str]
    none: list[float]
    encodings: list[list[float]]


class Benchmark(Explorable):
    """A row for each data set: a grey dot without order, ten with it, one of them followed."""

    name = "benchmark"
    title = "Does order help, and does it matter which?"
    caption = (
        "A row is a data set, and to the right is more accurate. Grey: the model without order. "
        "Blue: the same model with each of ten encodings, a mean of five training runs each. "
        "Red: the one that you follow. Sets that gain most from order stand on top."
    )
    controls = (
        Choice("tokens", "A token is", TOKENS, "steps"),
        Choice("follow", "Follow", FOLLOWED, "rotary"),
    )
    presets = (
        Preset("Follow eRPE", {"follow": "erpe"}),
        Preset("Follow SPE", {"follow": "sine_spe"}),
        Preset("In patches", {"tokens": "patches"}),
    )
    python = "benchmark.Benchmark().set_counts('{tokens}', '{follow}')"

    def __init__(self, grids: dict[str, Accuracies] | None = None) -> None:
        self._given = grids

    @property
    def alt(self) -> str:  # type: ignore[override]  # it follows from the results
        """What the first frame shows, of as many sets as there are."""
        rows = self.rows["steps"]
        if not rows["sets"]:
            return "An axis from 0 to 100 per cent, and no row yet."
        first, last = (f"{rows['sets'][i]} ({_said_row(rows, i)})" for i in (0, -1))
        return (
            f"A row for each of {len(rows['sets'])} data sets, with one grey dot and ten coloured "
            f"ones. From top to bottom the gap between grey and colour closes, from {first} to "
            f"{last}."
        )

    @cached_property
    def rows(self) -> dict[str, Rows]:
        """The data sets that are whole, by what a token is."""
        if self._given is not None:
            return {tokens: _rows(self._given.get(tokens)) for tokens in TOKENS}
        return {tokens: _rows(_whole(tokens)) for tokens in TOKENS}

    def set_counts(self, tokens: str, follow: str) -> dict[str, int]:
        """Return on how many sets order brings much and little, and where the followed one stands.

        Parameters
        ----------
        tokens : {"steps", "patches"}
        follow : str
            Name of an encoding.
        """
        _checks.choice("tokens", tokens, TOKENS)
        _checks.choice("follow", follow, FOLLOWED)
        rows = self.rows[tokens]
        gained = gains(rows)
        best, worst = standing(rows, list(FOLLOWED).index(follow))
        return {
            "sets": len(gained),
            "much": int((gained >= MUCH).sum()),
            "little": int((gained < LITTLE).sum()),
            "best": best,
            "worst": worst,
        }

    def data(self) -> dict:
        """Return the accuracies, and the names of the encodings."""
        return {"rows": self.rows, "names": FOLLOWED}

    def svg(self, state: State) -> str:
        """Return the axis, a row for each set, and three kinds of dots."""
        rows, follow = self.rows[str(state["tokens"])], list(FOLLOWED).index(str(state["follow"]))
        return drawing.svg(
            360,
            _TOP + _HEIGHT + 8,
            _axis(FOLLOWED[str(state["follow"])]) + _names(rows) + _dots(rows, follow),
            label=self.alt,
        )

    def summary(self, state: State) -> str:
        """Return how much order is worth, and where the followed encoding stands."""
        tokens, follow = str(state["tokens"]), str(state["follow"])
        told = self.set_counts(tokens, follow)
        if not told["sets"]:
            return "No data set has been trained whole yet."
        return (
            f"On {told['much']} of {told['sets']} data sets an encoding brings {MUCH} points or "
            f"more on average, on {told['little']} it brings less than {LITTLE}. "
            f"{FOLLOWED[follow]} is among the best {ENDS} of the ten on {told['best']} sets, and "
            f"among the worst {ENDS} on {told['worst']}."
        )


def _whole(tokens: str) -> Accuracies | None:
    """Return what the edition has, or None where no set is whole yet."""
    try:
        return edition2.load_grid(_MODELS[tokens])
    except ValueError:
        return None


def _rows(grid: Accuracies | None) -> Rows:
    if grid is None:
        return {"sets": [], "none": [], "encodings": []}
    none = grid.encodings.index(edition2.BASELINE)
    kept = [grid.encodings.index(name) for name in FOLLOWED]
    means = (100 * counts.mean(grid.scores)).round(2)
    order = np.argsort(means[:, none] - means[:, kept].mean(1), kind="stable")
    return {
        "sets": [grid.datasets[i] for i in order],
        "none": means[order, none].tolist(),
        "encodings": means[order][:, kept].tolist(),
    }


def gains(rows: Rows) -> NDArray[np.float64]:
    """Return what an encoding brings on each set, in points, in the mean of the ten."""
    means = np.reshape(rows["encodings"], (-1, len(FOLLOWED))).mean(1)
    return means - np.array(rows["none"])


def standing(rows: Rows, follow: int) -> tuple[int, int]:
    """Return on how many sets an encoding is among the best of the ten, and among the worst.

    Those that tie with it stand neither before it nor behind it.
    """
    found = np.reshape(rows["encodings"], (-1, len(FOLLOWED)))
    own = found[:, [follow]]
    before, behind = (found > own).sum(1), (found < own).sum(1)
    return int((before < ENDS).sum()), int((behind < ENDS).sum())


def _said_row(rows: Rows, i: int) -> str:
    """Return a row in words."""
    several = rows["encodings"][i]
    return f"{rows['none'][i]:.1f} % without, {min(several):.1f} to {max(several):.1f} with"


def place(accuracy: float) -> float:
    """Return where a per cent stands."""
    return _LEFT + _UNIT * accuracy


def height(i: int, n: int) -> float:
    """Return where the i-th of n rows stands."""
    return _TOP + _HEIGHT * (i + 0.5) / n


def dot(accuracy: float, y: float) -> str:
    """Return the path of a dot; its line is as wide as the dot, with round ends."""
    return f"M{place(accuracy):.1f} {y:.1f}h.01"


def _axis(followed: str) -> str:
    """Return the axis with its ticks, and what the three kinds of dots are."""
    ticks = "".join(
        drawing.text(place(value), 36, f"{value} %", class_="label small")
        + drawing.element(
            "line", x1=place(value), x2=place(value), y1=_TOP - 4, y2=_TOP + _HEIGHT,
            class_="axis", stroke_opacity=0.4,
        )
        for value in (0, 50, 100)
    )  # fmt: skip
    legend = ""
    for x, kind, said in ((8, "without", "no order"), (92, "with", "ten encodings")):
        legend += drawing.element("path", class_=f"spot {kind}", d=f"M{x} 8h.01")
        legend += drawing.text(x + 8, 12, said)
    legend += drawing.element("path", class_="spot followed", d="M198 8h.01")
    return ticks + legend + drawing.text(206, 12, followed, data_part="followed-name")


def _names(rows: Rows) -> str:
    """Return the names of the sets, and empty ones for which there is room."""
    n = len(rows["sets"])
    names = ""
    for i in range(_ROOM):
        at = {"y": height(i, n) + 3.5 if i < n else _TOP}
        said = short(rows["sets"][i]) if i < n else ""
        names += drawing.text(_LEFT - 8, at["y"], said, class_="end small", data_part=f"set-{i}")
    return names


def _dots(rows: Rows, follow: int) -> str:
    found = paths(rows, follow)
    kinds = {"gaps": "thin", "with": "spot with", "without": "spot without"}
    kinds["followed"] = "spot followed"
    return "".join(
        drawing.element("path", class_=kind, d=found[part], data_part=part)
        for part, kind in kinds.items()
    )


def paths(rows: Rows, follow: int) -> dict[str, str]:
    """Return a path for each kind of dots, and one of the lines that join grey and colour."""
    found = {"gaps": "", "with": "", "without": "", "followed": ""}
    n = len(rows["sets"])
    for i, (none, several) in enumerate(zip(rows["none"], rows["encodings"], strict=True)):
        y = height(i, n)
        found["gaps"] += f"M{place(none):.1f} {y:.1f}H{place(float(np.mean(several))):.1f}"
        found["without"] += dot(none, y)
        found["with"] += "".join(dot(one, y) for one in several)
        found["followed"] += dot(several[follow], y)
    return found


def short(name: str) -> str:
    """Return the name of a set, cut where it has no room."""
    return name if len(name) <= 19 else f"{name[:17]}…"
