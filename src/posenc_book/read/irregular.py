"""What are real times worth, where readings of stars lie minutes to months apart?"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from posenc_book.read import plans, results
from posenc_book.records.hashes import hashed
from posenc_book.records.store import by_cell
from posenc_book.statistics.answers import Answer, Family, of_runs
from posenc_book.statistics.friedman import Effect

PLAN: dict[str, Any] = plans.load("irregular")
HASH = hashed(PLAN)
PROFILE = "irregular"
TUNING = PLAN["tuning"]
SURVEYS = tuple(PLAN["surveys"])
ARMS: dict[str, tuple[str, str]] = {arm: (one, clock) for arm, (one, clock) in PLAN["arms"].items()}
CONTRASTS = {f"{first} - {other}": (first, other) for first, other, _ in PLAN["contrasts"]}
MARGIN: float = PLAN["margin"]
SHARE: float = PLAN["stars"]["test"]
SCORES = ("accuracy", "balanced_accuracy")
_NAMES = {pair: arm for arm, pair in ARMS.items()}
Cell = tuple[str, str, int]  # survey, arm, deal from 1


@dataclass(frozen=True)
class Scored:
    """What a training scored on new stars; where it failed, as if it named the commonest kind."""

    accuracy: float
    balanced_accuracy: float
    failed: bool = False


def scored(records: Iterable[dict]) -> dict[Cell, Scored]:
    """Return the trainings of this plan by their cells; ValueError if there are two of one."""
    ours = (one for one in records if one["protocol"] == HASH and one["profile"] == PROFILE)
    return {cell: _score(one) for cell, one in by_cell(ours, _cell).items()}


def _cell(record: dict) -> Cell:
    return record["dataset"], _arm(record), record["seed"]


def _arm(record: dict) -> str:
    return _NAMES[record["encoding"], record["settings"]["dataset_options"]["clock"]]


def _score(record: dict) -> Scored:
    if "error" in record:
        survey = record["dataset"]
        return Scored(commonest(survey), 1 / PLAN["surveys"][survey]["kinds"], failed=True)
    return Scored(*(record["metrics"][name] for name in SCORES))


def missing(found: Mapping[Cell, Scored]) -> list[Cell]:
    """Return the trainings of the plan that are not there."""
    return [cell for cell in product(SURVEYS, ARMS, _deals()) if cell not in found]


def _deals() -> range:
    return range(1, PLAN["deals"] + 1)


def stored() -> dict[Cell, Scored]:
    """Return the trainings that the book keeps."""
    return scored(one for name in SURVEYS for one in results.load_records(f"irregular/{name}"))


def commonest(survey: str) -> float:
    """Return the share of a survey's commonest kind."""
    told = PLAN["surveys"][survey]
    return told["commonest"] / told["stars"]


def table(found: Mapping[Cell, Scored], survey: str) -> dict[str, dict[str, Effect]]:
    """Return mean and interval on new stars of each score by arm; arms that lack a deal are out."""
    rows = {arm: {score: _scores(found, survey, arm, score) for score in SCORES} for arm in ARMS}
    return {
        arm: {s: of_runs(s, [deals], MARGIN, test_share=SHARE).effect for s, deals in row.items()}
        for arm, row in rows.items()
        if not any(np.isnan(deals).any() for deals in row.values())
    }


def answers(found: Mapping[Cell, Scored]) -> dict[str, Answer]:
    """Return the answers about new stars of both surveys; a contrast that lacks a deal is out."""
    tables = {
        arm: np.array([_scores(found, survey, arm, "accuracy") for survey in SURVEYS])
        for arm in ARMS
    }
    differences = {title: tables[a] - tables[b] for title, (a, b) in CONTRASTS.items()}
    return Family(PROFILE, tuple(CONTRASTS), MARGIN).answers(
        {
            title: of_runs(title, one, MARGIN, test_share=SHARE)
            for title, one in differences.items()
            if not np.isnan(one).any()
        }
    )


def _scores(found: Mapping[Cell, Scored], survey: str, arm: str, score: str) -> NDArray[np.float64]:
    """Return a score of each deal, NaN where a training is missing."""
    some = [found.get((survey, arm, r)) for r in _deals()]
    return np.array([np.nan if one is None else getattr(one, score) for one in some])
