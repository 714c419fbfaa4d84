"""The answers of the third edition, as its protocol registers them, from stored trainings.

python -m posenc_book.read.edition3.reading          # what is there, and what it says
python -m posenc_book.read.edition3.reading --lock   # and lock the scores by their digests
"""

import argparse
import json
import math
import sys
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats

from posenc._wall import behind
from posenc_book.data import recorded_facts
from posenc_book.read import digests, results
from posenc_book.read.edition3 import claims, plan
from posenc_book.read.edition3.claims import CLAIMS, Claim
from posenc_book.read.edition3.questions import CHOSEN, QUESTIONS, TEN, Question
from posenc_book.records import tables
from posenc_book.records.records import worth
from posenc_book.records.settings import complete
from posenc_book.records.store import Store, unique
from posenc_book.statistics.friedman import holm
from posenc_book.statistics.summary import t_interval

LEVEL = 0.05
COMMAND = "python -m posenc_book.read.edition3.reading --lock"
Cell = tuple[str, str, int, int]  # data set, encoding, layers, resample from 1
NAMES = {
    (encoding, json.dumps(options, sort_keys=True), plan.MODELS.get(name, plan.MODEL)): name
    for name, (encoding, options) in plan.ENCODINGS.items()
}


@dataclass(frozen=True)
class Scored:
    """One training.

    Parameters
    ----------
    accuracy : float
        On the test part; a guess where the training failed.
    validated : tuple of float
        What validation compares it by, the larger the better.
    failed : bool
    """

    accuracy: float
    validated: tuple[float, float]
    failed: bool = False


@dataclass(frozen=True)
class Answer:
    """What one test of a family says, as `plan.ANALYSIS` has it.

    Parameters
    ----------
    title : str
    estimate, low, high : float
        The mean over sets, each alike, and Student's interval of 95 per cent by the scatter of
        resamples within sets.
    p_value, p_equal : float
        Of a difference and of equality within the margin, corrected for the family; not-a-number
        where no test is registered.
    outcome : str
        In words, see `said`.
    over_sets : tuple of (mean, low, high)
        As for any other sets like these: Student's interval over the means of the sets.
    by_set : tuple of float
        The means of the sets, in their order.
    failed : int
        Trainings that count as a guess.
    """

    title: str
    estimate: float
    low: float
    high: float
    p_value: float
    p_equal: float
    outcome: str
    over_sets: tuple[float, float, float]
    by_set: tuple[float, ...] = ()
    failed: int = 0


@dataclass(frozen=True)
class Family:
    """The answers of a question or a claim, or what is missing for them.

    Parameters
    ----------
    answers : tuple of Answer
        Empty as long as anything is missing.
    missing : tuple of Cell
    """

    answers: tuple[Answer, ...]
    missing: tuple[Cell, ...] = ()

    def answer(self, title: str) -> Answer:
        """Return the answer to one pair, such as "erpe - sinusoidal".

        Raises
        ------
        ValueError
            If nothing is answered under that title.
        """
        titles = {one.title: one for one in self.answers}
        if title not in titles:
            said = ", ".join(titles) or "none, as trainings are missing"
            raise ValueError(f"title must be that of an answer ({said}), got {title!r}")
        return titles[title]


def scored(records: Iterable[dict]) -> dict[Cell, Scored]:
    """Return the trainings of this protocol by their cells, failed ones as a guess.

    Raises
    ------
    ValueError
        If records hold several versions of an encoding or a set, or two trainings of a cell.
    """
    kept = [r for r in unique(iter(records)) if _counts(r)]
    tables.check_one_version(kept)
    found: dict[Cell, Scored] = {}
    for record in kept:
        cell = _cell(record)
        if cell in found:
            raise ValueError(
                f"records must hold one training of a cell, got two of {cell[1]} on {cell[0]}, "
                f"{cell[2]} layers, resample {cell[3]}, which differ in other settings"
            )
        found[cell] = _scored(record)
    return found


def _counts(record: dict) -> bool:
    """Return whether a record is a training of this protocol, and no trial."""
    return record.get("protocol") == plan.HASH and record["profile"] == plan.PROFILE


def _cell(record: dict) -> Cell:
    settings = complete(record["settings"])
    options = json.dumps(settings["encoding_options"], sort_keys=True)
    name = NAMES[record["encoding"], options, record["model"]]
    return record["dataset"], name, settings["n_layers"], record["seed"]


def _scored(record: dict) -> Scored:
    if "error" in record:
        guess = 1 / recorded_facts(record["dataset"]).n_classes
        return Scored(guess, (-math.inf, -math.inf), failed=True)
    return Scored(record["metrics"]["accuracy"], worth(record))


def question(one: Question, found: Mapping[Cell, Scored]) -> Family:
    """Return the answers of a question, or what is missing."""
    wanted = _wanted(one.datasets, sorted(one.names), one.layers, one.resamples)
    missing = tuple(cell for cell in wanted if cell not in found)
    if missing:
        return Family((), missing)
    differences = [_differences(one, first, other, found) for first, other in one.pairs]
    # those of a chosen encoding are counted in whatever was chosen
    names = [TEN if CHOSEN in pair else pair for pair in one.pairs]
    failed = [sum(found[c].failed for c in wanted if c[1] in some) for some in names]
    return Family(answered(dict(zip(one.titles, differences, strict=True)), plan.MARGIN, failed))


def _wanted(
    datasets: Sequence[str], names: Sequence[str], layers: Sequence[int], n: int
) -> list[Cell]:
    return [(d, e, k, r) for d in datasets for e in names for k in layers for r in range(1, n + 1)]


def _differences(
    one: Question, first: str, other: str, found: Mapping[Cell, Scored]
) -> NDArray[np.float64]:
    """Return the differences of a pair, (n_sets, n_resamples)."""
    of_layers = [
        accuracies(one, first, layers, found) - accuracies(one, other, layers, found)
        for layers in one.layers
    ]
    return of_layers[0] if len(of_layers) == 1 else of_layers[1] - of_layers[0]


def accuracies(
    one: Question, name: str, layers: int, found: Mapping[Cell, Scored]
) -> NDArray[np.float64]:
    """Return the accuracies of an encoding, or of the choice among ten: (n_sets, n_resamples)."""
    resamples = range(1, one.resamples + 1)
    return np.array(
        [[_accuracy(d, name, layers, r, found) for r in resamples] for d in one.datasets]
    )


def _accuracy(dataset: str, name: str, layers: int, r: int, found: Mapping[Cell, Scored]) -> float:
    """Return the accuracy of an encoding, or of whichever of the ten validation chooses."""
    if name == CHOSEN:
        name = chosen(dataset, layers, r, found)
    return found[dataset, name, layers, r].accuracy


def chosen(dataset: str, layers: int, r: int, found: Mapping[Cell, Scored]) -> str:
    """Return the name of the one of the ten that validation chooses in a resample."""
    return max(TEN, key=lambda name: found[dataset, name, layers, r].validated)


def answered(
    differences: Mapping[str, ArrayLike], margin: float, failed: Sequence[int] = ()
) -> tuple[Answer, ...]:
    """Return the answers of one family.

    Parameters
    ----------
    differences : mapping of a title to an array (n_sets, n_resamples)
    margin : float
    failed : sequence of int, optional
        How many trainings of each counted as a guess.
    """
    every = [_Mean.of(np.asarray(one, float)) for one in differences.values()]
    p_values = holm([one.p_value() for one in every])
    p_equal = holm([one.p_equal(margin) for one in every])
    answers = []
    for i, (title, table) in enumerate(differences.items()):
        mean, (low, high) = every[i], every[i].interval()
        p, equal = float(p_values[i]), float(p_equal[i])
        outcome = said(mean.value, p < LEVEL, equal < LEVEL)
        by_set = _by_set(table)
        over, n_failed = _over_sets(table), failed[i] if failed else 0
        answers.append(
            Answer(title, mean.value, low, high, p, equal, outcome, over, by_set, n_failed)
        )
    return tuple(answers)


def said(estimate: float, differs: bool, equal: bool) -> str:
    """Return an outcome in words."""
    side = "ahead" if estimate > 0 else "behind"
    if differs:
        return f"{side}, within the margin" if equal else side
    return "equal" if equal else "undecided"


@dataclass(frozen=True)
class _Mean:
    """A mean over sets with its error by the scatter of resamples within sets."""

    value: float
    error: float
    freedom: int

    @classmethod
    def of(cls, table: NDArray[np.float64]) -> "_Mean":
        return cls.weighted(table, np.full(len(table), 1 / len(table)))

    @classmethod
    def weighted(cls, table: NDArray[np.float64], weights: NDArray[np.float64]) -> "_Mean":
        """Return a weighted sum of the means of the sets, which all scatter alike."""
        n, r = table.shape
        within = table.var(axis=1, ddof=1).mean()
        error = math.sqrt(within / r) * float(np.linalg.norm(weights))
        return cls(float(weights @ table.mean(1)), error, n * (r - 1))

    def _beyond(self, distance: float) -> float:
        """Return the upper tail of Student's t; without scatter it is all or nothing."""
        if not self.error:
            return 0.0 if distance > 0 else 1.0 if distance < 0 else 0.5
        return float(stats.t.sf(distance / self.error, self.freedom))

    def p_value(self) -> float:
        return min(1.0, 2 * self._beyond(abs(self.value)))

    def p_equal(self, margin: float) -> float:
        return self._beyond(margin - abs(self.value))

    def interval(self) -> tuple[float, float]:
        half = float(stats.t.isf(LEVEL / 2, self.freedom)) * self.error
        return self.value - half, self.value + half


def _by_set(table: ArrayLike) -> tuple[float, ...]:
    return tuple(np.asarray(table, float).mean(1).tolist())


def _over_sets(table: ArrayLike) -> tuple[float, float, float]:
    found = t_interval(np.asarray(table, float).mean(1))
    return found.mean, found.low, found.high


def claim(one: Claim, found: Mapping[Cell, Scored]) -> Family:
    """Return what the trainings say of a source's statement, or what is missing."""
    wanted = _wanted(one.datasets, one.encodings, (2,), one.resamples)
    missing = tuple(cell for cell in wanted if cell not in found)
    if missing:
        return Family((), missing)
    scores = np.array([found[cell].accuracy for cell in wanted])
    shape = len(one.datasets), len(one.encodings), one.resamples
    by_set = np.moveaxis(scores.reshape(shape), 1, 2)  # (n_sets, n_resamples, n_encodings)
    failed = sum(found[cell].failed for cell in wanted)
    if one.of == claims.TREND:
        return Family(_trends(one, claims.weighted(by_set, one.weights), failed))
    if one.of == claims.ORDER:
        return Family(answered({one.of: claims.agreement(by_set)}, one.margin, [failed]))
    return Family(answered({one.asked: claims.weighted(by_set, one.weights)}, one.margin, [failed]))


def _trends(one: Claim, gains: NDArray[np.float64], failed: int) -> tuple[Answer, ...]:
    """Return slopes of lines through the sets' gains, with intervals and no test."""
    answers = []
    for name, x in claims.facts_of_trends(one.datasets).items():
        if not np.ptp(x):
            continue
        slope = _Mean.weighted(gains, claims.slope_weights(x))
        low, high = slope.interval()
        line = stats.linregress(x, gains.mean(1))
        half = float(stats.t.isf(LEVEL / 2, len(x) - 2)) * line.stderr
        over = line.slope, line.slope - half, line.slope + half
        none = math.nan
        by_set = _by_set(gains)
        answers.append(
            Answer(name, slope.value, low, high, none, none, "shown", over, by_set, failed)
        )
    return tuple(answers)


def longest(found: Mapping[Cell, Scored]) -> Family:
    """Return the pairs of `ahead` on the sets that wait for a GPU, shown and not tested."""
    asked = QUESTIONS["ahead"]
    [n] = set(plan.CELLS_ON_GPU.values())
    here = replace(asked, datasets=plan.LONG, resamples=n)
    family = question(here, found)
    shown = (
        replace(one, p_value=math.nan, p_equal=math.nan, outcome="shown") for one in family.answers
    )
    return replace(family, answers=tuple(shown))


def answers(records: Iterable[dict]) -> dict[str, Family]:
    """Return all families by their titles: the questions, the claims, and what no answer counts."""
    found = scored(records)
    asked = {title: question(one, found) for title, one in QUESTIONS.items()}
    claimed = {name: claim(one, found) for name, one in CLAIMS.items()}
    return asked | claimed | {"ahead, on the longest sets": longest(found)}


@cache
def load_answers() -> dict[str, Family]:
    """Return all families from the stored trainings, read once."""
    return answers(load_trainings())


def at_top(records: Iterable[dict]) -> tuple[int, int]:
    """Return how many tuned cells stand at the highest rate of the grid, and how many there are."""
    rates = {_cell(r)[:3]: r["settings"]["learning_rate"] for r in records if _counts(r)}
    return sum(rate == max(plan.RATES) for rate in rates.values()), len(rates)


def load_trainings(folder: Path | None = None) -> list[dict]:
    """Return the stored trainings of all sets, whose scores must be those that were locked.

    Parameters
    ----------
    folder : pathlib.Path, optional
        By default `results/edition-3`.
    """
    folder = folder or results.folder() / "edition-3"
    paths = [p for p in sorted(folder.glob("*.jsonl")) if not p.name.startswith("tuning-")]
    for path in paths:
        digests.check(path, folder)
    return [record for path in paths for record in Store(path)]


def lock(folder: Path) -> Path:
    """Write the digests of all files of a folder, and return where they stand."""
    hashes = {"training": plan.HASH, "analysis": plan.ANALYSIS_HASH}
    return digests.lock(folder, "3", COMMAND, **hashes)


def _lines(title: str, family: Family) -> list[str]:
    """Return what a reader is told of a family, a line for each answer."""
    if family.missing:
        by_set = Counter(dataset for dataset, *_ in family.missing)
        listed = ", ".join(f"{name} {n}" for name, n in by_set.items())
        return [f"{title}: not answered, {len(family.missing)} trainings are missing ({listed})"]
    return [
        f"{title}, {a.title}: {a.outcome}, {a.estimate:+.4f} [{a.low:+.4f}, {a.high:+.4f}]; "
        f"over sets {a.over_sets[0]:+.4f} [{a.over_sets[1]:+.4f}, {a.over_sets[2]:+.4f}]"
        + (f"; {a.failed} failed" if a.failed else "")
        for a in family.answers
    ]


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the answers."""
    parser = argparse.ArgumentParser(prog="python -m posenc_book.read.edition3.reading")
    parser.add_argument(
        "--folder",
        type=Path,
        default=results.folder() / "edition-3",
        help="where the trainings are stored",
    )
    parser.add_argument("--lock", action="store_true", help="write the digests of the scores")
    options = parser.parse_args(arguments)
    try:
        if options.lock:
            print(f"written: {lock(options.folder)}")
        records = load_trainings(options.folder)
        found = answers(records)
    except (ValueError, OSError) as error:
        print(f"posenc_book.read.edition3.reading: {error}", file=sys.stderr)
        return 2
    for title, family in found.items():
        print("\n".join(_lines(title, family)))
    n_top, n_cells = at_top(records)
    print(f"{n_top} of {n_cells} cells were tuned to the highest rate of the grid")
    return 0


if __name__ == "__main__":
    sys.exit(behind(main))
