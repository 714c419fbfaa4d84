"""What the benchmark has found so far, gathered for its chapter.

Everything reads the edition (`edition`), so that a new training changes no page. Gains
and accuracies are in points and per cent. The rows of tables that the chapter shows are made of
these in `found_tables`.
"""

from collections import defaultdict
from collections.abc import Collection, Sequence
from functools import lru_cache
from pathlib import Path
from statistics import geometric_mean
from typing import Any

import numpy as np
from numpy.typing import NDArray

from posenc_book.data.measure import recorded_facts
from posenc_book.data.units import share_of_test, unit_of
from posenc_book.read import results
from posenc_book.read.classification import edition, edition2, fair, sanity, variants
from posenc_book.read.classification import protocol as protocols
from posenc_book.read.classification.edition2 import Accuracies
from posenc_book.read.costs import step_costs
from posenc_book.records import tables
from posenc_book.statistics import counts, equality, friedman, mixed
from posenc_book.statistics import summary as statistics

FIXED = ("length", "channels", "train_size")
JOINT = ("set", "encoding", "set:encoding", "set:tokens", "set:tokens:resample")
SHARED = ("set", "encoding", "set:encoding", "set:resample")
TOKENS = edition2.TOKENS


def grids() -> dict[str, Accuracies]:
    """Return the grids of the edition by what a token is, "steps" and "patches".

    Who asks again while the files are as they were gets the same grids: do not change them.
    """
    folder = results.folder()
    paths = sorted((*folder.glob("second-*.jsonl"), *folder.glob("baselines/*.jsonl")))
    paths.append(folder / edition.FILE)
    return dict(_grids_once(tuple(paths), results.seen(*paths)))


@lru_cache(maxsize=2)
def _grids_once(_paths: tuple[Path, ...], _seen: results.Seen) -> dict[str, Accuracies]:
    return {tokens: edition2.load_grid(model) for model, tokens in TOKENS.items()}


def _edition() -> edition.Edition:
    """Return the edition, or raise ValueError where the folder of results has none."""
    now = edition.read_edition()
    if now is None:
        raise ValueError("results must hold edition.json, which says what pages read, got none")
    return now


def progress() -> dict[str, dict[str, Any]]:
    """Return how far the edition has come: a row a model."""
    now = _edition()
    rows = {}
    for model, tokens in TOKENS.items():
        names = now.sets[model]
        records = _records(names, model)
        rows[tokens] = {
            "whole sets": now.share(model),
            "steps in a series": span(names),
            "runs, trials included": len(records),
            "hours": f"{sum(r['seconds'] for r in records) / 3600:.1f}",
        }
    return rows


def span(names: Sequence[str]) -> str:
    lengths = [recorded_facts(name).length for name in names]
    return f"{min(lengths)} to {max(lengths)}"


def _records(names: Sequence[str], model: str) -> list[dict]:
    """Return trainings and trials of one model on some data sets."""
    files = [f"{kind}-{name}" for name in names for kind in ("second", "tuning")]
    known = set(results.names())
    found = (edition.plain(results.load_records(file), model) for file in files if file in known)
    return [record for records in found for record in records]


def gains_by_set() -> dict[tuple[str, str], dict[str, statistics.Interval]]:
    """Return the gain of each encoding over none, by (data set, tokens), then encoding, in points.

    Intervals are those of the correlated t test over five trainings, which allows for the series
    that resamples share. A set with its official split only has seeds: its interval is
    plain, and is of that split. (Of parts above `max_cases` each seed draws other series, those of
    PenDigits among them.) The test share of a set is that of all its series.
    """
    return {
        (name, tokens): {
            encoding: _over_resamples(100 * grid.gains(encoding)[row], name)
            for encoding in grid.encodings[1:]
        }
        for tokens, grid in grids().items()
        for row, name in enumerate(grid.datasets)
    }


def _over_resamples(gains: NDArray[np.float64], dataset: str) -> statistics.Interval:
    share = share_of_test(dataset)
    one = equality.correlated_t(gains, rope=100 * edition2.MARGIN, test_share=share)
    return statistics.Interval(one.mean, one.low, one.high, gains.size)


def answers() -> dict[str, tuple[NDArray[np.float64], list[edition2.Gain]]]:
    """Return gains in points, (n_encodings, n_units), and the frozen answers, by tokens.

    Units are sets on which anything is learned, those that share series made one. Encodings come
    with the largest mean gain first.
    """
    return {tokens: edition2.judged(edition2.learned(grid)) for tokens, grid in grids().items()}


def by_tokens() -> list[tuple[str, str, int, float, float, float]]:
    """Return data set, what a token is, their number, and mean, lowest, highest gain in points."""
    rows = []
    for (name, tokens), by_encoding in gains_by_set().items():
        means = [one.mean for one in by_encoding.values()]
        n = n_tokens(name, tokens)
        rows.append((name, tokens, n, float(np.mean(means)), min(means), max(means)))
    return rows


def depends(tokens: str) -> mixed.MixedModel:
    """Return the mixed model of the gain over none, in points, of one model.

    A row is a training; fixed effects are length, channels and training series. The protocol names
    one model for both kinds of tokens, with norms: their gains scatter too differently to share
    variances, and in tier 1 norms go with what a token is. Sets that share series count as one.
    """
    return mixed.gain_model(_trainings(tokens), fixed=FIXED, random=SHARED)


def jointly() -> mixed.MixedModel:
    """Return the one mixed model that the protocol names, of both kinds of tokens together.

    Norms are not among its effects: in tier 1 they go with what a token is. A training without an
    encoding is shared by the gains of one set, kind of token and resample.
    """
    rows = defaultdict(list)
    for tokens in TOKENS.values():
        some = _trainings(tokens)
        for column, values in (some | _repeated({"tokens": tokens}, len(some["gain"]))).items():
            rows[column] += values
    return mixed.gain_model(rows, fixed=(*FIXED, "tokens"), random=JOINT)


def with_norms(*, every: bool = False) -> mixed.MixedModel | None:
    """Return the one mixed model with norms among its effects, in points; None before tier 3.

    A row is a training of the plain models or of those with the other norm, on the sets that both
    have for steps and for patches, with the encodings that were trained in both.
    """
    pairs = {
        model: pair
        for (variant, model), pair in variants.whole(every=every).items()
        if variant == "other-norm"
    }
    if pairs.keys() != TOKENS.keys():
        return None
    both = set.intersection(*({*plain.datasets} for plain, _ in pairs.values()))
    rows = defaultdict(list)
    for model, pair in pairs.items():
        for variant, grid in zip(("", "other-norm"), pair, strict=True):
            of_model = {"tokens": TOKENS[model], "norm": variants.norm(model, variant)}
            some = _rows(grid.only(both))
            for column, values in (some | _repeated(of_model, len(some["gain"]))).items():
                rows[column] += values
    return mixed.gain_model(rows)


def _repeated(values: dict[str, str], n: int) -> dict[str, list[str]]:
    return {name: [value] * n for name, value in values.items()}


def spreads(tokens: str, *, without: Collection[str] = ()) -> dict[str, float]:
    """Return by how much gains differ, in points: standard deviations without fixed effects."""
    rows = _trainings(tokens, without)
    return dict(mixed.gain_model(rows, fixed=(), random=SHARED).spreads)


def farthest(tokens: str, n: int) -> list[str]:
    """Return the data sets with the largest mean gain over all encodings and resamples."""
    grid = grids()[tokens]
    order = mean_gains(grid).argsort()[::-1]
    return [grid.datasets[i] for i in order[:n]]


def mean_gains(grid: Accuracies) -> NDArray[np.float64]:
    """Return the mean gain over encodings and resamples in points, (n_datasets,).

    Rounded as tests round (`friedman.DECIMALS`), so that ties are equal.
    """
    gains = 100 * (grid.scores[:, 1:].mean((1, 2)) - grid.scores[:, 0].mean(1))
    return gains.round(friedman.DECIMALS)


def _trainings(tokens: str, without: Collection[str] = ()) -> dict[str, list]:
    grid = grids()[tokens]
    return _rows(grid.only(set(grid.datasets) - set(without)))


def _rows(grid: Accuracies) -> dict[str, list]:
    """Return the gain of each training over that without encoding, and what it shares.

    Sets that share series are one: by the means of their gains, and of their sizes on a log scale.
    """
    rows = defaultdict(list)
    most = int(protocols.TRAINING["settings"]["max_cases"])
    units = grid.units()
    for place, unit in enumerate(units.datasets):
        known = [recorded_facts(name) for name in grid.datasets if unit_of(name) == unit]
        of_set = {
            "set": unit,
            "length": geometric_mean(one.length for one in known),
            "channels": geometric_mean(one.n_channels for one in known),
            "train_size": geometric_mean(min(one.train, most) for one in known),
        }
        for name in units.encodings[1:]:
            for resample, gain in enumerate(100 * units.gains(name)[place]):
                row = {"encoding": name, "resample": resample, "gain": gain, **of_set}
                for column, value in row.items():
                    rows[column].append(value)
    return rows


def steps_over_patches() -> NDArray[np.float64]:
    """Return gains with steps minus gains with patches, in points, by independent set with both.

    Means over encodings and resamples, (n_units,).
    """
    both = grids()
    shared = set(both["steps"].datasets) & set(both["patches"].datasets)
    steps, patches = (mean_gains(grid.only(shared).units()) for grid in both.values())
    return steps - patches


def n_tokens(dataset: str, tokens: str) -> int:
    """Return how many tokens a series of a data set has, as "steps" or as "patches"."""
    length = recorded_facts(dataset).length
    return length if tokens == "steps" else -(-length // protocols.TRAINING["settings"]["patch"])


def levels() -> dict[tuple[str, str], dict[str, Any]]:
    """Return accuracies by (data set, tokens): baselines, none, and those of all encodings.

    "encodings" is an array of shape (n_encodings,), "best" names its highest, as in
    `sanity.sanity_table`, and "the best of ten" is its accuracy; "the sinusoid" that of an
    encoding which is the same on all sets. All are made of counts
    (`posenc_book.statistics.counts.mean`), so that what ties is equal.
    """
    rows = {}
    for tokens, grid in grids().items():
        table = sanity.sanity_table(grid)
        for name, scores in zip(grid.datasets, 100 * counts.mean(grid.scores), strict=True):
            floors = {shown: table.loc[name, shown] for shown in sanity.NAMES.values()}
            rows[name, tokens] = {
                **floors,
                "none": scores[0],
                "encodings": scores[1:],
                "best": table.loc[name, "best encoding"],
                "the best of ten": scores[1:].max(),
                "the sinusoid": scores[grid.encodings.index("sinusoidal")],
            }
    return rows


def n_units(model: str) -> int:
    """Return how many independent units the edition's tiers plan: families count once."""
    planned = edition.planned(model, edition2.load_grid(model).datasets)
    return len({unit_of(name) for name in planned})


def gains_by_length(dataset: str, model: str) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return steps (n_checks,) and gains in validation accuracy, (n_encodings, n_checks).

    What each encoding would have gained over none had all trainings been stopped at that step.
    """
    steps, best = fair.validation_curves(dataset, model)
    return steps, np.array([best[name] - best["none"] for name in protocols.ENCODINGS[1:]])


def best_steps() -> dict[str, NDArray[np.int64]]:
    """Return the step of the best validation of every training of the edition, by tokens."""
    now = _edition()
    return {
        tokens: np.array(
            [
                record["metrics"]["best_step"]
                for name in now.sets[model]
                for record in edition.plain(results.load_records(f"second-{name}"), model)
            ]
        )
        for model, tokens in TOKENS.items()
    }


def costs() -> dict[str, dict[str, float]]:
    """Return what each encoding costs: time of a step, none = 1, and parameters that it adds.

    Times are medians over lengths of ratios to none, parameters medians over the edition's sets,
    both with steps as tokens.
    """
    times, added = step_costs(), defaultdict(list)
    for name in _edition().sets["time_series"]:
        size = {
            r["encoding"]: r["metrics"]["parameters"]
            for r in tables.finished(results.load_records(f"second-{name}"))
            if r["model"] == "time_series"
        }
        for encoding in protocols.ENCODINGS[1:]:
            added[encoding].append(size[encoding] - size["none"])
    return {
        name: {
            "time of a step": float(np.median([*times[name].values()])),
            "parameters added": float(np.median(one)),
        }
        for name, one in added.items()
    }
