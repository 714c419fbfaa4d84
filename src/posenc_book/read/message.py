"""Does position in the message explain eRPE's lead? The contrasts that are planned, by lines."""

import json
from collections.abc import Iterable, Mapping, Sequence
from statistics import fmean

import numpy as np
from numpy.typing import ArrayLike, NDArray

from posenc_book.read import plans
from posenc_book.read.edition3.reading import Scored, score_of
from posenc_book.records.hashes import hashed
from posenc_book.records.store import by_cell
from posenc_book.statistics.answers import ESTIMANDS, Answer, Family, of_runs

PLAN, LATER = (plans.load("message", name) for name in ("plan", "later"))
HASH, LATER_HASH = hashed(PLAN), hashed(LATER)
PROFILE = "message"
SETS = tuple(PLAN["sets"])
PARTS: dict[str, tuple[dict[str, tuple[str, dict]], str]] = {
    "arms": (PLAN["arms"], HASH),
    "partners": (PLAN["partners"], HASH),
    "later": (LATER["arms"], LATER_HASH),
}
ALL = PLAN["arms"] | PLAN["partners"] | LATER["arms"]
Contrasts = Mapping[str, tuple[str, str]]
CONTRASTS, OF_THE_START = (
    {f"{first} - {other}": (first, other) for first, other, _ in plan["contrasts"]}
    for plan in (PLAN, LATER)
)
TITLES = tuple(CONTRASTS)
MARGIN: float = PLAN["share of the room"] * fmean(1 - one for one, _ in PLAN["sets"].values())
"""What counts as equal: a share of what the sinusoid leaves to be gained, by its validation."""
_NAMES = {(name, json.dumps(options, sort_keys=True)): arm for arm, (name, options) in ALL.items()}
Cell = tuple[str, str, int]  # data set, arm, deal from 1


def scored(records: Iterable[dict]) -> dict[Cell, Scored]:
    """Return the trainings of both plans by their cells, failed ones as a guess.

    ValueError if there are two of one cell.
    """
    ours = (r for r in records if r["protocol"] in (HASH, LATER_HASH) and r["profile"] == PROFILE)
    return {cell: score_of(one) for cell, one in by_cell(ours, _cell).items()}


def _cell(record: dict) -> Cell:
    return record["dataset"], _NAMES[record["encoding"], _text(record)], record["seed"]


def _text(record: dict) -> str:
    return json.dumps(record["settings"]["encoding_options"], sort_keys=True)


def answers(
    found: Mapping[Cell, Scored], luck: float, contrasts: Contrasts = CONTRASTS
) -> dict[str, dict[str, Answer]]:
    """Return the answers by `ESTIMANDS` and contrast; what lacks a training is left out.

    `luck` is the variance that `tuning_luck.component` returns, in squared points. Contrasts are
    `CONTRASTS` or, corrected by themselves, `OF_THE_START`.
    """
    tables = {arm: _accuracies(arm, found) for arm in ALL}
    differences = {title: tables[a] - tables[b] for title, (a, b) in contrasts.items()}
    whole = {title: one for title, one in differences.items() if not np.isnan(one).any()}
    shares = dict.fromkeys(SETS, 0.0) | {cell[0]: one.test_share for cell, one in found.items()}
    return answered(whole, [shares[name] for name in SETS], luck, tuple(contrasts))


def _accuracies(arm: str, found: Mapping[Cell, Scored]) -> NDArray[np.float64]:
    """Return accuracies (n_sets, n_trainings), NaN where a training is missing."""
    cells = [[(name, arm, r + 1) for r in range(PLAN["trainings"])] for name in SETS]
    return np.array([[found[c].accuracy if c in found else np.nan for c in row] for row in cells])


def answered(
    differences: Mapping[str, ArrayLike],
    test_share: ArrayLike,
    luck: float,
    titles: Sequence[str] = TITLES,
) -> dict[str, dict[str, Answer]]:
    """Return answers from arrays (n_sets, n_trainings), corrected for all contrasts of a plan.

    Both arms are tuned, so twice the luck is added for each set; but not over data sets, a t test
    whose runs are their means: their spread holds it already.
    """
    family = Family("message", tuple(titles), MARGIN)
    alone: list[dict[str, Answer]] = [{} for _ in ESTIMANDS]
    for title, one in differences.items():
        table = np.asarray(one, float)
        both = 2 * luck / 1e4 / len(table)
        of_each = (table, 0.0, both), (table, test_share, both), (table.mean(1)[None], 0.0, 0.0)
        for some, (runs, share, more) in zip(alone, of_each, strict=True):
            some[title] = of_runs(title, runs, MARGIN, test_share=share, more=more)
    return dict(zip(ESTIMANDS, map(family.answers, alone), strict=True))
