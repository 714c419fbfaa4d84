"""What stored results say of the ways in which a comparison misleads.

The chapter on fair comparisons asks how many points of accuracy appear between two models that are
alike: on another split, with another seed, untuned, stopped early, or picked from ten. All numbers
are accuracies in per cent, from trainings of the second edition's protocol.
"""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from posenc import _checks
from posenc_book import data
from posenc_book.read import results
from posenc_book.read.classification import edition, edition2, sanity
from posenc_book.read.classification import protocol as protocols
from posenc_book.read.classification.analysis import ANALYSIS
from posenc_book.read.classification.baselines import load_baselines
from posenc_book.records.records import worth
from posenc_book.statistics import equality, power

DEFAULT_RATE = 1e-3  # of a rival that nobody tuned, with the scale of its authors


def random_windows() -> pd.DataFrame:
    """Return balanced accuracies of a random forest, by how windows of recordings were split.

    Means over seeds, as recorded in the package. MSL was also split by time.
    """
    scores = data.recorded()["leakage"]["scores"]
    means = {
        name: {split: np.mean(runs) for split, runs in by.items()} for name, by in scores.items()
    }
    table = pd.DataFrame(means).T[["protocol", "random", "time"]]
    table.columns = ["whole groups", "at random", "by time"]
    return table.map(lambda mean: "" if np.isnan(mean) else f"{mean:.2f}")


def twins() -> pd.DataFrame:
    """Return what a nearest neighbour scores where test series stand in training too, in per cent.

    As recorded in the package by `posenc_book.data.measure.twins`.
    """
    rows = {}
    for name, found in data.recorded()["twins"].items():
        shares = {
            "official split": found["official"],
            "on twins": found["on_twins"],
            "on the others": found["on_others"],
            "mean of five other splits": np.mean(found["resampled"]),
        }
        rows[name] = {"twins": f"{found['twins']} of {found['test']}"}
        rows[name] |= {split: f"{100 * share:.1f}" for split, share in shares.items()}
    return pd.DataFrame(rows).T


def accuracies(dataset: str, model: str) -> dict[str, NDArray[np.float64]]:
    """Return the test accuracies in per cent, encoding -> (n_resamples,).

    Parameters
    ----------
    dataset : str
        A set whose trainings of tier 1 are stored.
    model : str
        "patch" or "time_series".

    Raises
    ------
    ValueError
        If a training is lacking.
    """
    found = {(r["encoding"], r["seed"]): r for r in _records(f"second-{dataset}", model)}
    n = int(protocols.TRAINING["resamples"])
    wanted = [(name, seed) for name in protocols.ENCODINGS for seed in range(n)]
    missing = [cell for cell in wanted if cell not in found]
    if missing:
        name, seed = missing[0]
        raise ValueError(
            f"dataset must have all training runs of model {model!r} stored, {dataset} lacks "
            f"{len(missing)}, such as {name} with seed {seed}"
        )
    scores = [100 * found[cell]["metrics"]["accuracy"] for cell in wanted]
    return dict(zip(protocols.ENCODINGS, np.reshape(scores, (-1, n)), strict=True))


def trials(dataset: str, model: str) -> pd.DataFrame:
    """Return what tuning gains: a row an encoding, test accuracies in per cent.

    "untuned" is the trial at a learning rate of 0.001 with the scale of the encoding's authors,
    "tuned" the best of its four trials by validation. Test accuracies choose nothing.
    """
    by_encoding = defaultdict(list)
    for record in _records(f"tuning-{dataset}", model):
        by_encoding[record["encoding"]].append(record)
    rows = {}
    for name in protocols.ENCODINGS:
        best = max(by_encoding[name], key=worth)
        plain = next(one for one in by_encoding[name] if _is_default(one["settings"]))
        rows[name] = {"untuned": _test(plain), "tuned": _test(best)}
    table = pd.DataFrame(rows).T
    table["gain"] = table["tuned"] - table["untuned"]
    return table


def validation_curves(dataset: str, model: str) -> tuple[NDArray, dict[str, NDArray]]:
    """Return steps (n_checks,) and the best validation accuracy so far, in per cent, by encoding.

    The mean over seeds. A training that has ended keeps its best.
    """
    found = defaultdict(list)
    for record in _records(f"second-{dataset}", model):
        found[record["encoding"]].append(record["metrics"]["validation_curve"])
    n_checks = max(len(curve) for curves in found.values() for curve in curves)
    steps = int(protocols.TRAINING["settings"]["check_every"]) * np.arange(1, n_checks + 1)
    return steps, {name: 100 * _so_far(found[name], n_checks) for name in protocols.ENCODINGS}


def beside(dataset: str, model: str) -> dict[str, float]:
    """Return mean accuracies in per cent: baselines, no encoding, and the best encoding."""
    scores = accuracies(dataset, model)
    means = {name: float(values.mean()) for name, values in scores.items()}
    stored = defaultdict(list)
    for record in load_baselines():
        if record["dataset"] == dataset:
            stored[record["baseline"]].append(100 * record["metrics"]["accuracy"])
    floors = {shown: float(np.mean(stored[name])) for name, shown in sanity.NAMES.items()}
    encoded = {name: mean for name, mean in means.items() if name != "none"}
    return {**floors, "no encoding": means["none"], "best encoding": max(encoded.values())}


def by_split(scores: Mapping[str, NDArray[np.float64]]) -> dict[str, dict[str, str]]:
    """Return rows of accuracies, or of differences, on the official split, on the others, and mean.

    Parameters
    ----------
    scores : mapping from a row's name to an array of shape (n_resamples,), in per cent
    """
    rows = {}
    for name, values in scores.items():
        columns = {"official": values[0]}
        columns |= {str(n): value for n, value in enumerate(values[1:], 1)}
        columns["mean"] = values.mean()
        rows[name] = {column: f"{value:.1f}" for column, value in columns.items()}
    return rows


def mean_column(
    scores: Mapping[str, ArrayLike], heading: str, digits: int = 1
) -> dict[str, dict[str, str]]:
    """Return rows of one column, the mean of each row's scores.

    Parameters
    ----------
    scores : mapping from a row's name to its scores, of any shape
    heading : str
        Of the column, with the unit.
    digits : int
        After the point.
    """
    return {
        name: {heading: f"{np.mean(np.asarray(runs)):.{digits}f}"} for name, runs in scores.items()
    }


def scatter(scores: Mapping[str, NDArray[np.float64]]) -> float:
    """Return the standard deviation of one method's resamples, pooled over methods."""
    return float(np.sqrt(np.mean([values.var(ddof=1) for values in scores.values()])))


def scatter_over_sets(model: str) -> float:
    """Return the standard deviation of one training, in points, pooled over all sets and methods.

    Over the data sets of the edition and the encodings of its first tier, none among them.

    Parameters
    ----------
    model : str
        "patch" or "time_series".
    """
    return 100 * float(np.sqrt(edition2.load_grid(model).scores.var(axis=-1, ddof=1).mean()))


def gains_of_nothing(
    rng: np.random.Generator, spread: float, n_sets: int, n_encodings: int = 10
) -> NDArray[np.float64]:
    """Return the gains over no encoding of encodings that do nothing, (n_encodings, n_sets).

    Each mean is one of as many resamples as the protocol has; all gains share the trainings
    without an encoding, as they do in a real study.

    Parameters
    ----------
    rng : numpy.random.Generator
    spread : float
        Standard deviation of one training, in points.
    n_sets, n_encodings : int
    """
    shape = (_checks.count("n_encodings", n_encodings, minimum=1) + 1, n_sets)
    resamples = int(protocols.TRAINING["resamples"])
    means = rng.normal(0, spread, size=(*shape, resamples)).mean(axis=-1)
    return means[1:] - means[0]


def points_from_nothing() -> dict[str, float]:
    """Return six gains in points of accuracy between models that do not differ in their worth."""
    twins = data.recorded()["twins"]["Libras"]
    smooth = accuracies("SmoothSubspace", "patch")
    rooms = accuracies("RoomOccupancy", "time_series")  # its seeds share one split, uncapped
    tuning = trials("PenDigits", "time_series")
    steps, curves = validation_curves("PenDigits", "time_series")
    early = int(np.flatnonzero(steps == 200)[0])
    rng, spread = np.random.default_rng(0), scatter_over_sets("patch")
    luck = [gains_of_nothing(rng, spread, n_sets=1).max() for _ in range(2000)]
    return {
        "a leak: test series seen in training": 100 * (twins["official"] - twins["on_others"]),
        "another split, same model": float(np.ptp(smooth["none"])),
        "another seed, same split": float(np.ptp(rooms["none"])),
        "four trials for one, none for the other": float(tuning.loc["learnable", "gain"]),
        "both stopped at 200 steps": float(curves["learnable"][early] - curves["tape"][early]),
        "the best of ten that do nothing": float(np.mean(luck)),
    }


def chances(
    design: power.Design, n_sets: Sequence[int], gains: Sequence[float], n_tests: int
) -> dict[str, dict[str, str]]:
    """Return how often studies of different sizes show a true gain, a row for each size.

    Parameters
    ----------
    design : Design
        Its number of sets is replaced.
    n_sets : sequence of int
    gains : sequence of float
        True gains in points.
    n_tests : int
        Encodings that are compared with none.
    """
    rows = {}
    for n in n_sets:
        sized = power.with_sets(design, n)
        shown = {gain: power.power(gain, sized, n_tests=n_tests).value for gain in gains}
        rows[f"{n} sets"] = {f"gain {gain:g}": f"{value:.0%}" for gain, value in shown.items()}
    return rows


def judged(
    gains: Mapping[str, NDArray[np.float64]],
    differ: Mapping[str, float],
    equal: Mapping[str, equality.Equivalence],
    answer: Callable[[float, float], str],
    margin: float = 1.0,
) -> dict[str, dict[str, str]]:
    """Return what three methods say of each study, and the answer that its two p-values give.

    Parameters
    ----------
    gains : mapping from a study to the gains on its sets, in points
    differ : mapping from a study to the p-value of its test of difference
    equal : mapping from a study to its test of equality
    answer : function of the two p-values
    margin : float
        Differences up to this, in points, count as none.
    """
    return {
        name: {
            "p, differ": f"{differ[name]:.3f}",
            "p, equal (TOST)": f"{equal[name].p_value:.3f}",
            "worse / equal / better": str(equality.signed_rank(one, rope=margin)),
            "answer": answer(differ[name], equal[name].p_value),
        }
        for name, one in gains.items()
    }


def rules() -> dict[str, dict[str, str]]:
    """Return what the protocol of the second edition does about each way to be misled, in words."""
    course, tuning = protocols.TRAINING["settings"], protocols.TRAINING["tuning"]
    n, margin = protocols.TRAINING["resamples"], 100 * float(ANALYSIS["margin"])
    words = {
        "a leak": "identical series and whole groups stay on one side of a resample (not of every "
        "official split: Libras and PowerCons have twins); channels are standardised by the "
        "training part; the test part of a split chooses nothing on that split (tuning, done "
        "once on the official one, has seen series that other resamples test on)",
        "one split, one seed": f"{n} resamples; resample and seed go together and are the same for "
        "all encodings",
        "an untuned rival": f"{tuning['trials']} trials of {tuning['steps']} steps for every "
        "encoding and for none, chosen by validation",
        "too few steps": f"from {course['least_steps']} to {course['steps']:,} steps; a training "
        f"ends after {course['patience_steps']} steps without progress",
        "no baseline": f"{', '.join(sanity.NAMES.values())} and no encoding for every set; a "
        "set where nothing is learned does not count",
        "chance among many": f"Friedman's test counted or drawn, Wilcoxon's corrected by Holm over "
        f"{len(protocols.ENCODINGS) - 1} encodings, level {ANALYSIS['alpha']:g}",
        "silence for equality": f"two one-sided tests within ±{margin:g} point, the probability of "
        f"equal, the power for {margin:g} and {2 * margin:g} points",
    }
    return {name: {"what the protocol does": does} for name, does in words.items()}


def n_units() -> int:
    """Return how many independent units the data sets of the protocol are."""
    families: Mapping[str, list[str]] = ANALYSIS["families"]
    return len(protocols.DATASETS) - sum(len(sets) - 1 for sets in families.values())


def _records(name: str, model: str) -> list[dict]:
    """Return the finished records of this protocol, of one model and of the encodings of tier 1."""
    _checks.choice("model", model, ("patch", "time_series"))
    return edition.plain(results.load_records(name), model)


def _is_default(settings: Mapping[str, Any]) -> bool:
    return settings["learning_rate"] == DEFAULT_RATE and settings["scale"] == "paper"


def _test(record: Mapping[str, Mapping[str, float]]) -> float:
    return 100 * record["metrics"]["accuracy"]


def _so_far(curves: list[list[float]], n_checks: int) -> NDArray[np.float64]:
    """Return the mean of the highest values so far, each kept to the end, (n_checks,)."""
    best = [np.maximum.accumulate(curve) for curve in curves]
    return np.mean([np.pad(one, (0, n_checks - len(one)), mode="edge") for one in best], axis=0)
