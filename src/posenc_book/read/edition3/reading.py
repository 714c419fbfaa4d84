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
from posenc_book.statistics import answers as engine
from posenc_book.statistics import friedman
from posenc_book.statistics.answers import ESTIMANDS, LARGEST_SHARE, LEVEL, of_runs

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
    test_share : float
        Test cases over all cases, by which resamples go together.
    failed : bool
    """

    accuracy: float
    validated: tuple[float, float]
    test_share: float = LARGEST_SHARE
    failed: bool = False


@dataclass(frozen=True)
class Answer(engine.Answer):
    """What one test of a family says on these very series, as `plan.ANALYSIS` has it.

    Beside it the same difference on new series and on new data sets: nobody registered those, and
    they are corrected for the same family.

    Parameters
    ----------
    alone : Answer
        On these very series, and not corrected.
    on_new_series, on_new_sets : Answer
    by_set : tuple of float
        The means of the sets, in their order.
    carried : tuple of float
        Of the variance of the mean on these very series, the share of each set.
    failed : int
        Trainings that count as a guess.
    """

    alone: engine.Answer
    on_new_series: engine.Answer
    on_new_sets: engine.Answer
    by_set: tuple[float, ...]
    carried: tuple[float, ...]
    failed: int = 0

    @property
    def tested(self) -> bool:
        """Whether a test is registered."""
        return not math.isnan(self.p_value)

    @property
    def about(self) -> dict[str, engine.Answer]:
        """The answers by `ESTIMANDS`."""
        return dict(zip(ESTIMANDS, (self, self.on_new_series, self.on_new_sets), strict=True))


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
        titles = {one.contrast: one for one in self.answers}
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
        found[cell] = score_of(record)
    return found


def _counts(record: dict) -> bool:
    """Return whether a record is a training of this protocol, and no trial."""
    return record.get("protocol") == plan.HASH and record["profile"] == plan.PROFILE


def _cell(record: dict) -> Cell:
    settings = complete(record["settings"])
    options = json.dumps(settings["encoding_options"], sort_keys=True)
    name = NAMES[record["encoding"], options, record["model"]]
    return record["dataset"], name, settings["n_layers"], record["seed"]


def score_of(record: dict) -> Scored:
    """Return what a training scored, a failed one as a guess."""
    if "error" in record:
        guess = 1 / recorded_facts(record["dataset"]).n_classes
        return Scored(guess, (-math.inf, -math.inf), failed=True)
    metrics = record["metrics"]
    share = metrics["n_test"] / (metrics["n_train"] + metrics["n_test"])
    return Scored(metrics["accuracy"], worth(record), share)


def question(one: Question, found: Mapping[Cell, Scored]) -> Family:
    """Return the answers of a question, or what is missing."""
    wanted = _wanted(one.datasets, sorted(one.names), one.layers, one.resamples)
    missing = tuple(cell for cell in wanted if cell not in found)
    if missing:
        return Family((), missing)
    pairs = zip(one.titles, one.pairs, strict=True)
    differences = {title: _differences(one, *pair, found) for title, pair in pairs}
    # those of a chosen encoding are counted in whatever was chosen
    names = [TEN if CHOSEN in pair else pair for pair in one.pairs]
    failed = [sum(found[c].failed for c in wanted if c[1] in some) for some in names]
    shares = _shares(wanted, found)
    return Family(answered(differences, plan.MARGIN, test_share=shares, failed=failed))


def _shares(wanted: Sequence[Cell], found: Mapping[Cell, Scored]) -> NDArray[np.float64]:
    """Return the share of the test part of each set, (n_sets,)."""
    of_sets = {cell[0]: found[cell].test_share for cell in wanted if not found[cell].failed}
    return np.array(
        [
            of_sets.get(dataset, LARGEST_SHARE)
            for dataset in dict.fromkeys(cell[0] for cell in wanted)
        ]
    )


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
    differences: Mapping[str, ArrayLike],
    margin: float,
    *,
    test_share: ArrayLike = LARGEST_SHARE,
    failed: Sequence[int] = (),
) -> tuple[Answer, ...]:
    """Return the answers of one family.

    Parameters
    ----------
    differences : mapping of a title to an array (n_sets, n_resamples)
    margin : float
    test_share : float or array of shape (n_sets,)
        Of each set.
    failed : sequence of int, optional
        How many trainings of each counted as a guess.
    """
    family = engine.Family("asked", tuple(differences), margin)
    alone, of_new = (
        {c: of_runs(c, x, margin, test_share=share) for c, x in differences.items()}
        for share in (0.0, test_share)
    )
    here, series, sets = *map(family.answers, (alone, of_new)), family.over_sets(differences)
    n_failed = dict(zip(differences, failed, strict=True)) if failed else {}
    return tuple(
        Answer(
            **vars(here[c]),
            alone=alone[c],
            on_new_series=series[c],
            on_new_sets=sets[c],
            by_set=_by_set(table),
            carried=_carried(table),
            failed=n_failed.get(c, 0),
        )
        for c, table in differences.items()
    )


def _by_set(table: ArrayLike) -> tuple[float, ...]:
    return tuple(np.asarray(table, float).mean(1).tolist())


def _carried(table: ArrayLike) -> tuple[float, ...]:
    variance = np.asarray(table, float).var(axis=1, ddof=1)
    return tuple((variance / (variance.sum() or 1.0)).tolist())


def claim(one: Claim, found: Mapping[Cell, Scored]) -> Family:
    """Return what the trainings say of a source's statement, or what is missing."""
    wanted = _wanted(one.datasets, one.encodings, (2,), one.resamples)
    missing = tuple(cell for cell in wanted if cell not in found)
    if missing:
        return Family((), missing)
    scores = np.array([found[cell].accuracy for cell in wanted])
    shape = len(one.datasets), len(one.encodings), one.resamples
    by_set = np.moveaxis(scores.reshape(shape), 1, 2)  # (n_sets, n_resamples, n_encodings)
    failed, shares = sum(found[cell].failed for cell in wanted), _shares(wanted, found)
    if one.of == claims.TREND:
        return Family(_trends(one, claims.weighted(by_set, one.weights), shares, failed))
    order = one.of == claims.ORDER
    measured = claims.agreement(by_set) if order else claims.weighted(by_set, one.weights)
    title = one.of if order else one.asked
    return Family(answered({title: measured}, one.margin, test_share=shares, failed=[failed]))


def _trends(
    one: Claim, gains: NDArray[np.float64], shares: NDArray[np.float64], failed: int
) -> tuple[Answer, ...]:
    """Return slopes of lines through the sets' gains, with intervals and no test."""
    answers = []
    for name, x in claims.facts_of_trends(one.datasets).items():
        if not np.ptp(x):
            continue
        weights = claims.slope_weights(x)
        here, series = (
            of_runs(name, gains, one.margin, weights=weights, test_share=s) for s in (0.0, shares)
        )
        line = stats.linregress(x, gains.mean(1))
        half = float(stats.t.isf(LEVEL / 2, len(x) - 2)) * line.stderr
        bounds = line.slope, line.slope - half, line.slope + half
        sets = replace(here, effect=friedman.Effect(*bounds, 1 - LEVEL, *gains.shape))
        answers.append(
            Answer(
                **vars(replace(here, p_value=math.nan, p_equal=math.nan)),
                alone=here,
                on_new_series=series,
                on_new_sets=sets,
                by_set=_by_set(gains),
                carried=_carried(gains),
                failed=failed,
            )
        )
    return tuple(answers)


def longest(found: Mapping[Cell, Scored]) -> Family:
    """Return the pairs of `ahead` on the sets that wait for a GPU, shown and not tested."""
    asked = QUESTIONS["ahead"]
    [n] = set(plan.CELLS_ON_GPU.values())
    here = replace(asked, datasets=plan.LONG, resamples=n)
    family = question(here, found)
    shown = (replace(one, p_value=math.nan, p_equal=math.nan) for one in family.answers)
    return replace(family, answers=tuple(shown))


def answers(records: Iterable[dict]) -> dict[str, Family]:
    """Return all families by their titles: the questions, the claims, and what no answer counts."""
    found = scored(records)
    asked = {title: question(one, found) for title, one in QUESTIONS.items()}
    claimed = {name: claim(one, found) for name, one in CLAIMS.items()}
    return asked | claimed | {"ahead, on the longest sets": longest(found)}


def among_all(families: Mapping[str, Family]) -> dict[str, engine.Answer]:
    """Return the answers on these very series as if all questions were one family.

    Their names are such as "ahead: erpe - sinusoidal".
    """
    alone = {f"{t}: {a.contrast}": a.alone for t in QUESTIONS for a in families[t].answers}
    return engine.Family("all questions", tuple(alone), plan.MARGIN).answers(alone)


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
        f"{title}, {a.contrast}: "
        + "; ".join(f"{about} {_verdict_text(a.tested, one)}" for about, one in a.about.items())
        + (f"; {a.failed} failed" if a.failed else "")
        for a in family.answers
    ]


def _verdict_text(tested: bool, one: engine.Answer) -> str:
    return f"{one.answer + ', ' if tested else ''}{one.effect}"


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
