"""Gains over no encoding and average ranks of the second edition, for a choice of sets."""

from functools import cached_property
from itertools import product

import numpy as np
from numpy.typing import NDArray

from posenc import _checks
from posenc.experiments.classification import edition, second
from posenc.experiments.classification import protocol as protocols
from posenc.experiments.classification.second import Accuracies
from posenc.statistics import friedman
from posenc.teaching.explorables import drawing
from posenc.teaching.explorables.base import Explorable, State
from posenc.teaching.explorables.controls import Choice, Preset

MODELS = {"patch": "patch model", "time_series": "time series model"}
SETS = {
    "whole": "all that are whole",
    "learned": "where something is learned",
    "deciding": "that decide rankings",
}
ADDED = ("sinusoidal", "learnable", "tape", "dft")
CHOICES = {
    "all": "all",
    "added": "added to the tokens",
    "inside": "inside attention",
}
LIMITS = (1, 2, 5, 10)  # points from which a gain is drawn in the next darker shade
SHADES = (0.25, 0.45, 0.7, 1.0)
N_ENCODINGS = len(protocols.ENCODINGS) - 1
_LEFT, _WIDTH = 112, 244
_AXIS, _NAME, _HEADS = 30, 17, 70


class Benchmark(Explorable):
    """A heat map of gains, and a critical-difference diagram of the same sets."""

    name = "benchmark"
    title = "What the benchmark says"
    caption = (
        "Top: average ranks, best on the left; a bar joins encodings of which no two are told "
        "apart (Wilcoxon, Holm, 5 %). Below: gains in accuracy over no encoding, one row a set or "
        "family of sets, columns by rank. Empty is less than one point, shades begin at 1, 2, 5 "
        "and 10 points, and a dash marks losses. Look whether columns differ as much as rows do."
    )
    controls = (
        Choice("model", "Model", MODELS, "patch"),
        Choice("sets", "Sets", SETS, "whole"),
        Choice("encodings", "Encodings", CHOICES, "all"),
    )
    presets = (
        Preset("Only sets that decide", {"sets": "deciding"}),
        Preset("Inside attention", {"encodings": "inside"}),
    )
    python = "benchmark.Benchmark().chosen('{model}', '{sets}', '{encodings}')"

    def __init__(self, grids: dict[str, Accuracies] | None = None) -> None:
        self._given = grids

    @property
    def alt(self) -> str:  # type: ignore[override]  # it follows from the results
        """What the first frame shows, of as many sets as there are."""
        n = len(self._rows)
        return (
            f"An axis of average ranks with the names of {N_ENCODINGS} encodings, and below it a "
            f"table of shaded cells, {n} rows of sets by {N_ENCODINGS} columns of encodings."
        )

    @cached_property
    def _grids(self) -> dict[str, Accuracies]:
        """The models that have a whole set."""
        if self._given is not None:
            return self._given
        found = {}
        for model in MODELS:
            try:
                found[model] = second.load_grid(model)
            except ValueError:  # no set is whole yet
                continue
        return found

    def chosen(self, model: str, sets: str, encodings: str) -> Accuracies | None:
        """Return the units and encodings of a choice; None where there is no such unit."""
        _checks.choice("model", model, MODELS)
        _checks.choice("sets", sets, SETS)
        _checks.choice("encodings", encodings, CHOICES)
        grid = self._parts.get((model, sets))
        return None if grid is None else _columns(grid, encodings)

    @cached_property
    def _parts(self) -> dict[tuple[str, str], Accuracies]:
        """The units of each model and choice of sets that has any."""
        found = {}
        for model, grid in self._grids.items():
            judged = second.decides(grid)
            kept = {
                "whole": grid.datasets,
                "learned": [one.dataset for one in judged if one.learned],
                "deciding": [one.dataset for one in judged if one.yes],
            }
            found |= {
                (model, sets): grid.only(names).units() for sets, names in kept.items() if names
            }
        return found

    @cached_property
    def _ranked(self) -> dict[tuple[str, str, str], list[list[int]]]:
        """The first and last places of each group that is not told apart, by choice."""
        found = {}
        for choice in product(MODELS, SETS, CHOICES):
            grid = self.chosen(*choice)
            if grid is not None and len(grid.datasets) > 1:
                found[choice] = groups(points(grid))
        return found

    def data(self) -> dict:
        """Return rows of gains in points, and what each choice shows of them and says."""
        rows: dict[tuple, int] = {}
        shown = {}
        for choice in product(MODELS, SETS, CHOICES):
            part = self._parts.get(choice[:2])
            gains = [] if part is None else points(part).tolist()
            names = () if part is None else part.datasets
            at = [
                rows.setdefault((name, *gain), len(rows))
                for name, gain in zip(names, gains, strict=True)
            ]
            said = self.summary(dict(zip(("model", "sets", "encodings"), choice, strict=True)))
            shown[" ".join(choice)] = {
                "rows": at, "groups": self._ranked.get(choice, []), "say": said,
            }  # fmt: skip
        every = protocols.ENCODINGS[1:]
        columns = {c: [i for i, e in enumerate(every) if _belongs(e, c)] for c in CHOICES}
        return {
            "shown": shown,
            "sets": [short(row[0]) for row in rows],
            "gains": [[round(gain, 4) for gain in row[1:]] for row in rows],
            "names": every,
            "columns": columns,
            "room": len(self._rows),
            "headings": {sets: heading(sets) for sets in SETS},
        }

    @cached_property
    def _rows(self) -> list[str]:
        """The names of the largest choice's rows, for the size of the drawing."""
        units = [list(grid.units().datasets) for grid in self._grids.values()]
        return max(units, key=len, default=[])

    def svg(self, state: State) -> str:
        """Return the ranks above, the gains below."""
        rows = len(self._rows)
        top = _top()
        model, sets, some = (str(state[key]) for key in ("model", "sets", "encodings"))
        choice = model, sets, some
        grid = self.chosen(*choice)
        frame = drawing.element(
            "line", x1=20, x2=340, y1=_AXIS, y2=_AXIS, class_="axis", data_part="axis"
        ) + drawing.text(20, 12, heading(str(state["sets"])), data_part="heading")
        return drawing.svg(
            360,
            round(top + step(rows) * rows + 8),
            frame + self._ranks(grid, self._ranked.get(choice, [])) + self._map(grid, top),
            label=self.alt,
        )

    def _ranks(self, grid: Accuracies | None, found: list[list[int]]) -> str:
        ranks = average_ranks(points(grid)) if grid is not None else np.empty(0)
        order = np.argsort(ranks, kind="stable")
        lines = "".join(_connector(i, float(ranks[j]), len(order)) for i, j in enumerate(order))
        bars = "".join(
            _bar(i, float(ranks[order[first]]), float(ranks[order[last]]), len(order))
            for i, (first, last) in enumerate(found)
        )
        names = ""
        for i in range(N_ENCODINGS):
            said = (
                label(i, ranks, order, grid.encodings[1:])
                if grid is not None and i < len(order)
                else ""
            )
            x, y, kind = name_place(i, len(order) or N_ENCODINGS)
            names += drawing.text(x, y, said, class_=kind, data_part=f"name-{i}")
        ticks = "".join(
            drawing.text(
                rank_x(rank, len(order)) if rank <= len(order) else 0.0,
                24, str(rank) if rank <= len(order) else "", class_="label",
                data_part=f"tick-{rank}",
            )
            for rank in range(1, N_ENCODINGS + 1)
        )  # fmt: skip
        return (
            ticks
            + drawing.element("path", d=lines, class_="thin", data_part="lines")
            + drawing.element("path", d=bars, class_="bar", data_part="bars")
            + names
        )

    def _map(self, grid: Accuracies | None, top: float) -> str:
        gains = points(grid) if grid is not None else np.empty((0, 0))
        order = np.argsort(average_ranks(gains), kind="stable") if gains.size else []
        found = shades(gains[:, order] if gains.size else gains, top, len(self._rows))
        paths = "".join(
            drawing.element("path", d=found.get(part, ""), class_=part.split("-")[0],
                            data_part=part, **_shade(part))
            for part in PARTS
        )  # fmt: skip
        height = step(len(self._rows))
        names = [short(name) for name in grid.datasets] if grid is not None else []
        rows = "".join(
            drawing.text(
                _LEFT - 6, top + height * (i + 0.5) + 4, names[i] if i < len(names) else "",
                class_="end small", data_part=f"set-{i}",
            )
            for i in range(len(self._rows))
        )  # fmt: skip
        columns = ""
        for i in range(N_ENCODINGS):
            x = _LEFT + _WIDTH * (i + 0.5) / (len(order) or N_ENCODINGS)
            said = grid.encodings[1:][order[i]] if grid is not None and i < len(order) else ""
            columns += drawing.text(
                0, 0, said, class_="small", data_part=f"column-{i}",
                transform=f"translate({x + 3:.1f} {top - 6:g}) rotate(-90)",
            )  # fmt: skip
        tall = {"height": height * len(names), "data_part": "frame"}
        frame = drawing.element(
            "rect", class_="quiet", x=_LEFT - 1, y=top - 1, width=_WIDTH + 0.5, **tall
        )
        return paths + frame + rows + columns

    def summary(self, state: State) -> str:
        """Return how much there is, who ranks first, and whether it is told apart."""
        model, sets = str(state["model"]), str(state["sets"])
        there = self._grids[model].datasets if model in self._grids else ()
        planned, whole = len(edition.planned(model, there)), len(there)
        said = f"{whole} of {planned} sets planned are whole for the {MODELS[model]}"
        grid = self.chosen(model, sets, str(state["encodings"]))
        if grid is None:
            return f"{said}, and there is none of this kind."
        gains = points(grid).mean(0)
        n = len(grid.datasets)
        rows = f"{n} row{'s' if n > 1 else ''}, {len(gains)} encodings"
        about = (
            f"{said}; shown: {rows}. Mean gains reach from {gains.min():+.1f} to "
            f"{gains.max():+.1f} points."
        )
        choice = model, sets, str(state["encodings"])
        if choice not in self._ranked:
            return f"{about} A ranking takes two rows or more."
        first = grid.encodings[1:][int(average_ranks(points(grid)).argmin())]
        told = _told(len(gains), self._ranked[choice])
        return f"{about} {first} has the best average rank, and {told}."


def _belongs(encoding: str, choice: str) -> bool:
    return choice == "all" or (encoding in ADDED) == (choice == "added")


def _columns(grid: Accuracies, choice: str) -> Accuracies:
    """Return the part of "none" and some encodings."""
    kept = [i for i, e in enumerate(grid.encodings) if not i or _belongs(e, choice)]
    names = tuple(grid.encodings[i] for i in kept)
    return Accuracies(grid.model, grid.datasets, names, grid.scores[:, kept], grid.largest_class)


def groups(gains: NDArray[np.float64]) -> list[list[int]]:
    """Return the first and last place, by average rank, of encodings that no pair tells apart."""
    order = list(np.argsort(average_ranks(gains), kind="stable"))
    found = friedman.cliques(gains, alpha=second.ALPHA)
    return [[order.index(group[0]), order.index(group[-1])] for group in found]


def _told(n: int, found: list[list[int]]) -> str:
    """Return how far the first of n encodings is told apart from those behind it."""
    like_first = max((last for first, last in found if first == 0), default=0)
    if like_first == n - 1:
        return "no pair is told apart"
    return f"it is told apart from {n - 1 - like_first} of the others"


def points(grid: Accuracies) -> NDArray[np.float64]:
    """Return mean gains over "none" in points, (n_units, n_encodings)."""
    gains = 100 * (grid.scores[:, 1:] - grid.scores[:, :1]).mean(2)
    return gains.round(friedman.DECIMALS)  # no coarser: fewer digits tie otherwise than the tests


def average_ranks(gains: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return mean ranks, 1 is best, ties share; of a single row as well."""
    better = (gains[:, None, :] > gains[:, :, None]).sum(2)
    equal = (gains[:, None, :] == gains[:, :, None]).sum(2)
    return (better + (equal + 1) / 2).mean(0)


def _top() -> float:
    return _AXIS + 24 + _NAME * ((N_ENCODINGS + 1) // 2) + _HEADS


def step(rows: int) -> float:
    """Return the height of a row: with many sets they are lower."""
    return float(min(24, max(12, 456 / max(rows, 1))))


def rank_x(rank: float, n: int) -> float:
    """Return where a rank stands on the axis from 1 to n."""
    return 20 + 320 * (rank - 1) / max(n - 1, 1)


def name_place(i: int, n: int) -> tuple[float, float, str]:
    """Return where the i-th of n names stands: the better half left, the others right."""
    left = (n + 1) // 2
    row = i if i < left else n - 1 - i
    return (4.0 if i < left else 356.0), float(_AXIS + 34 + _NAME * row), "" if i < left else "end"


def label(i: int, ranks: NDArray, order: NDArray, names: tuple[str, ...]) -> str:
    """Return a name with its rank."""
    return f"{names[order[i]]} {ranks[order[i]]:.1f}"


def _connector(i: int, rank: float, n: int) -> str:
    x, y, _ = name_place(i, n)
    end = 104 if x < 100 else 256
    return f"M{rank_x(rank, n):.1f} {_AXIS}V{y - 4:g}H{end}"


def _bar(i: int, best: float, worst: float, n: int) -> str:
    y = _AXIS + 6 + 4 * (i % 4)
    return f"M{rank_x(best, n) - 3:.1f} {y}H{rank_x(worst, n) + 3:.1f}"


PARTS = [f"{kind}-{i}" for kind in ("gain", "loss") for i in range(len(LIMITS))] + ["minus"]


def _shade(part: str) -> dict[str, float]:
    return {} if part == "minus" else {"fill_opacity": SHADES[int(part[-1])]}


def heading(sets: str) -> str:
    """Return what the ranks are of."""
    return f"average rank; sets: {SETS[sets]}"


def short(name: str) -> str:
    """Return the name of a set, cut where it has no room."""
    return name if len(name) <= 17 else f"{name[:15]}…"


def level(gain: float) -> int:
    """Return the shade of a gain in points, -1 for less than one point either way."""
    return sum(abs(gain) >= limit for limit in LIMITS) - 1


def shades(gains: NDArray[np.float64], top: float, rows: int) -> dict[str, str]:
    """Return one path for each shade of gain and of loss, and one of the marks of losses."""
    found: dict[str, str] = dict.fromkeys(PARTS, "")
    height = step(rows)
    for r, row in enumerate(gains):
        width = _WIDTH / len(row)
        for c, gain in enumerate(row):
            shade = level(gain)
            if shade < 0:
                continue
            x, y = _LEFT + c * width, top + r * height
            kind = "gain" if gain > 0 else "loss"
            found[f"{kind}-{shade}"] += (
                f"M{x:.1f} {y:.1f}h{width - 1.5:.1f}v{height - 1.5:.1f}h{1.5 - width:.1f}z"
            )
            if gain < 0:
                found["minus"] += f"M{x + width / 2 - 4.5:.1f} {y + height / 2 - 0.8:.1f}h7"
    return found
