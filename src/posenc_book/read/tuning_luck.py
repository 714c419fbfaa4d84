"""How far a cell's mean score moves when only its tuning is done again: the luck of tuning."""

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from statistics import fmean, stdev, variance
from typing import Any, NamedTuple

from scipy import stats

from posenc_book.read import plans, results
from posenc_book.read.edition3 import plan as of_the_edition
from posenc_book.read.edition3 import words
from posenc_book.read.edition3.questions import CHOSEN, QUESTIONS
from posenc_book.read.edition3.reading import Family
from posenc_book.read.edition3.tables import points
from posenc_book.records.hashes import hashed
from posenc_book.records.records import worth
from posenc_book.records.store import Store, unique
from posenc_book.statistics.friedman import Effect
from posenc_book.teaching.table import Table

PLAN: dict[str, Any] = plans.load("tuning_luck")
HASH = hashed(PLAN)
Cell = tuple[str, str]  # a data set and an encoding
Choice = tuple[float, str]  # a learning rate and the size of the rows


class Luck(NamedTuple):
    """The variance of a cell's mean score over its tunings, in squared points."""

    variance: float
    """Its mean over the cells."""
    spread: float
    """The standard deviation of that mean over the data sets, one value a set."""
    n_cells: int
    n_sets: int

    @property
    def points(self) -> float:
        """The standard deviation of a cell's mean score over its tunings, in points."""
        return self.variance**0.5


def component(scores: Mapping[Cell, Mapping[int, float]]) -> Luck:
    """Return the luck of tuning over cells, each with its mean score by the deal that tuned it."""
    by_set = defaultdict(list)
    for (dataset, _), by_deal in scores.items():
        by_set[dataset].append(1e4 * variance(by_deal.values()))
    means = [fmean(some) for some in by_set.values()]
    every = [one for some in by_set.values() for one in some]
    return Luck(fmean(every), stdev(means) if len(means) > 1 else 0.0, len(every), len(means))


def widened(effect: Effect, luck: Luck) -> Effect:
    """Return a difference of two tuned encodings with the luck of both tunings in its interval.

    Parameters
    ----------
    effect : Effect
        On these very series, by the scatter of runs within sets, as `answers.of_runs` has it.
    luck : Luck
    """
    n, freedom = effect.n_sets, effect.n_sets * (effect.n_resamples - 1)
    t = float(stats.t.isf((1 - effect.level) / 2, freedom))
    error = math.hypot((effect.high - effect.low) / 2 / t, math.sqrt(2 * luck.variance / n) / 100)
    return replace(effect, low=effect.mean - t * error, high=effect.mean + t * error)


def sets_table(found: Mapping[Cell, Mapping[int, float]]) -> Table:
    """Return the lowest and the highest mean score over five tunings, a row for each set."""
    rows: dict[str, dict[str, str]] = defaultdict(dict)
    for (dataset, encoding), by_deal in found.items():
        low, high = 100 * min(by_deal.values()), 100 * max(by_deal.values())
        rows[dataset][words.name(encoding)] = f"{low:.1f} to {high:.1f}"
    caption = "Accuracy in per cent, mean over five deals, by the least and the most lucky tuning."
    return Table(dict(rows), head="data set", caption=caption)


def answers_table(families: Mapping[str, Family], luck: Luck) -> Table:
    """Return what is shown of two encodings on these very series, without that luck and with it.

    Parameters
    ----------
    families : mapping
        As `reading.answers` returns them.
    luck : Luck
    """
    rows = {}
    for title, question in QUESTIONS.items():
        for one in families[title].answers:
            tuned = set(question.layers) == {2} and CHOSEN not in one.contrast
            if tuned and one.shown:
                wider = replace(one, effect=widened(one.effect, luck))
                texts = {"as registered": points(one), "with the luck of tuning": points(wider)}
                rows[words.pair(one.contrast)] = texts
    caption = "Differences on these very series in points of accuracy, with 95 % intervals."
    return Table(rows, head="question", caption=caption)


def scores(folder: Path | None = None) -> dict[Cell, dict[int, float]]:
    """Return the mean test accuracy of each whole cell, by the deal on which it was tuned."""
    folder = results.folder() / "tuning-luck" if folder is None else folder
    found: dict[Cell, dict[int, float]] = {}
    for path in sorted(folder.glob("tuning-*.jsonl")):
        dataset = path.stem.removeprefix("tuning-")
        known = _accuracies(_trainings(folder, dataset))
        for encoding, by_deal in _choices(_finished(path)).items():
            means = {deal: _mean(known[encoding, one]) for deal, one in by_deal.items()}
            whole = {deal: mean for deal, mean in means.items() if mean is not None}
            if set(whole) == set(PLAN["trial deals"]):
                found[dataset, encoding] = whole
    return found


def _choices(trials: Iterable[dict]) -> dict[str, dict[int, Choice]]:
    """Return what validation chose for each encoding on each deal that has its five trials."""
    by_place = defaultdict(list)
    for trial in trials:
        by_place[trial["encoding"], trial["seed"]].append(trial)
    chosen: dict[str, dict[int, Choice]] = defaultdict(dict)
    for (encoding, deal), some in by_place.items():
        if len(some) == len(of_the_edition.RATES) + 1:
            chosen[encoding][deal] = _choice(max(some, key=worth))
    return chosen


def _accuracies(trainings: Iterable[dict]) -> dict[tuple[str, Choice], dict[int, float]]:
    """Return test accuracies by encoding, choice and seed."""
    found: dict[tuple[str, Choice], dict[int, float]] = defaultdict(dict)
    for one in trainings:
        found[one["encoding"], _choice(one)][one["seed"]] = one["metrics"]["accuracy"]
    return found


def _mean(by_seed: Mapping[int, float]) -> float | None:
    seeds = range(1, PLAN["trainings"] + 1)
    return fmean(by_seed[seed] for seed in seeds) if {*seeds} <= {*by_seed} else None


def _trainings(folder: Path, dataset: str) -> list[dict]:
    """Return what the choices trained, and what the edition had trained at the same settings."""
    name, layers = f"{dataset}.jsonl", of_the_edition.TRAINING["settings"].get("n_layers", 2)
    stored = [*_finished(results.folder() / "edition-3" / name), *_finished(folder / name)]
    return [
        one
        for one in stored
        if one["settings"]["n_layers"] == layers
        and one["model"] == of_the_edition.MODEL
        and not one["settings"]["encoding_options"]
    ]


def _finished(path: Path) -> list[dict]:
    return [one for one in unique(iter(Store(path))) if "error" not in one] if path.exists() else []


def _choice(record: dict) -> Choice:
    settings = record["settings"]
    return settings["learning_rate"], settings["scale"]
