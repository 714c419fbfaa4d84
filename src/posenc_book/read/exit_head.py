"""What position is worth under a flattened head, by how far attention is ahead of a linear map."""

import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats

from posenc_book import _files
from posenc_book.read import plans
from posenc_book.records.hashes import hashed
from posenc_book.records.store import by_cell
from posenc_book.statistics.answers import LEVEL, Answer, Family
from posenc_book.statistics.friedman import Effect, effect

PLAN: dict[str, Any] = plans.load("exit_head")
HASH = hashed(PLAN)
PROFILE = "exit head"
SERIES = tuple(name for name in PLAN["series"] if name not in PLAN["left out"])
NONE, *OTHERS = PLAN["encodings"]
FLAT, MEAN = PLAN["readers"]
LEADS_FROM = -math.log(1 - PLAN["leads from"])
"""The lead of a transformer whose error is smaller by a tenth."""
_SEEDS = range(PLAN["seeds"])
Cell = tuple[str, str, str, int]  # series, reader, encoding, seed


def named(naive: float, linear: float | None, flat: float | None) -> dict[str, Any]:
    """Return a series' lead and whether it is learned, from validation errors; None if failed."""
    told = {"naive": naive, "linear": linear, "flat": flat}
    if linear is None or flat is None:
        return told | {"lead": None, "learned": False}
    return told | {"lead": math.log(linear / flat), "learned": min(linear, flat) < naive}


def leads(path: Path) -> dict[str, float]:
    """Return the leads of the series learned, as they were written down before anything tested."""
    told = json.loads(_files.text(path))
    if told["protocol"] != HASH:
        raise ValueError(f"{path} must hold the leads of plan {HASH}, got {told['protocol']!r}")
    return {name: one["lead"] for name, one in told["leads"].items() if one["learned"]}


def errors(records: Iterable[dict]) -> dict[Cell, float]:
    """Return the test errors of this plan; of a failed training what the plan counts.

    ValueError if there are two of one cell.
    """
    ours = (one for one in records if one["protocol"] == HASH and one["profile"] == PROFILE)
    return {
        cell: PLAN["failed counts as"] if "error" in one else one["metrics"]["mase"]
        for cell, one in by_cell(ours, _cell).items()
    }


def _cell(record: dict) -> Cell:
    return record["dataset"], record["model"], record["encoding"], record["seed"]


def gains(
    found: Mapping[Cell, float], names: Iterable[str], reader: str, encoding: str
) -> NDArray[np.float64]:
    """Return the logarithms of none's error over an encoding's, (n_series, n_seeds).

    Raises ValueError as long as a training is missing.
    """
    every = [(n, reader, e, s) for n in names for e in (NONE, encoding) for s in _SEEDS]
    lacking = [one for one in every if one not in found]
    if lacking:
        first = " ".join(map(str, lacking[0]))
        raise ValueError(f"{len(lacking)} of {len(every)} trainings are missing, first {first}")
    logs = np.log([found[one] for one in every]).reshape(-1, 2, len(_SEEDS))
    return logs[:, 0] - logs[:, 1]


@dataclass(frozen=True)
class Line:
    """What the gain of an encoding does along the lead.

    Parameters
    ----------
    slope : Answer
        Of the gain on the work; "ahead" if it rises.
    at : dict of float to Effect
        The gain that the line has at a lead of 0, and of ten per cent.
    without_one : tuple of float
        The smallest and the largest slope without one series.
    on_lead : float
        The slope on leads as they are, also where the linear map is ahead.
    """

    slope: Answer
    at: dict[float, Effect]
    without_one: tuple[float, float]
    on_lead: float


def lines(by_lead: Mapping[str, float], found: Mapping[Cell, float]) -> dict[str, Line]:
    """Return the line of each encoding under the flattened head, its tests corrected for both.

    Where too few series lead no test is asked: p is 1.
    """
    lead = list(by_lead.values())
    alone = {e: line(e, lead, gains(found, by_lead, FLAT, e)) for e in OTHERS}
    family = Family("exit head", tuple(OTHERS), PLAN["margin"])
    asked = sum(one >= LEADS_FROM for one in lead) >= PLAN["fewest that lead"]
    corrected = family.answers({e: one.slope for e, one in alone.items()} if asked else {})
    return {
        e: replace(one, slope=corrected.get(e, replace(one.slope, p_value=1.0, p_equal=1.0)))
        for e, one in alone.items()
    }


def under_a_mean(names: Iterable[str], found: Mapping[Cell, float]) -> dict[str, Effect]:
    """Return what each encoding gains under a mean of the tokens, over series; not tested."""
    some = list(names)
    return {e: effect(gains(found, some, MEAN, e)) for e in OTHERS}


def line(encoding: str, lead: ArrayLike, gain: ArrayLike) -> Line:
    """Return one line by itself, from gains (n_series, n_seeds); a lead below 0 is no work."""
    x, table = np.maximum(lead, 0.0), np.asarray(gain, float)
    (slope, error, freedom), y = fitted(x, table.mean(1), (0, 1)), table.mean(1)
    p_value = 2 * stats.t.sf(abs(slope) / error, freedom)
    p_equal = stats.t.sf((PLAN["margin"] - abs(slope)) / error, freedom)
    at = {place: _effect(*fitted(x, y, (1, place)), table) for place in (0.0, LEADS_FROM)}
    others = [np.polyfit(np.delete(x, i), np.delete(y, i), 1)[0] for i in range(len(x))]
    answer = Answer(encoding, _effect(slope, error, freedom, table), float(p_value), float(p_equal))
    on_lead = float(np.polyfit(np.asarray(lead, float), y, 1)[0])
    return Line(answer, at, (float(min(others)), float(max(others))), on_lead)


def fitted(x: NDArray, y: NDArray, of: tuple[float, float]) -> tuple[float, float, float]:
    """Return a combination of a line's intercept and slope, its error, its degrees of freedom.

    Each series may have a spread of its own, and few may decide the slope: errors are HC2's, and
    degrees of freedom those of Bell and McCaffrey (2002; Imbens and Kolesár 2016).
    """
    design = np.stack([np.ones_like(x), x], 1)
    solved = np.linalg.pinv(design)
    hat = design @ solved
    weights = np.asarray(of, float) @ solved / np.sqrt(1 - hat.diagonal())
    apart = np.eye(len(x)) - hat
    spread = (apart * np.abs(weights)).T @ (apart * np.abs(weights))
    error = float(np.sqrt(weights**2 @ (apart @ y) ** 2))
    return float(of @ solved @ y), error, float(spread.trace() ** 2 / (spread**2).sum())


def _effect(mean: float, error: float, freedom: float, table: NDArray) -> Effect:
    half = float(stats.t.isf(LEVEL / 2, freedom)) * error
    return Effect(mean, mean - half, mean + half, 1 - LEVEL, *table.shape)
