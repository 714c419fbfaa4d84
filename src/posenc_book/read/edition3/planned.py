"""Which questions can be answered either way, computed from edition 2 before anything is trained.

An answer is one of two: a difference is shown, or it is shown to be within the margin. A question
is asked if each of both is reached four times of five where it is true.

python -m posenc_book.read.edition3.planned
"""

import json
import math
import sys
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from posenc._wall import behind
from posenc_book import _files
from posenc_book.data import recorded_facts
from posenc_book.read.classification import afterwards, edition, second
from posenc_book.read.classification.protocol import TRAINING, VARIED
from posenc_book.read.edition3 import claims, sets
from posenc_book.read.edition3.claims import CLAIMS, Claim
from posenc_book.read.edition3.questions import MODEL, QUESTIONS, Question
from posenc_book.statistics.power import (
    Design,
    detectable_effect,
    estimated_design,
    power,
    provable_margin,
    with_sets,
)

FILE = Path("results", "edition-3", "planned.json")
MARGIN = 0.02  # of accuracy; eRPE was two points ahead of the sinusoid in edition 2
N_RUNS = 2000
MOST_SETS = 150


@cache
def differences(contrast: str) -> NDArray[np.float64]:
    """Return the differences that edition 2 stored for a contrast: (sets or units, resamples)."""
    if contrast.startswith("deep, "):
        return _deep(contrast.removeprefix("deep, "))
    if contrast in ("t5", "conv_spe"):
        return _on_varied(contrast, "sine_spe" if contrast == "conv_spe" else "sinusoidal")
    units = _learned_units()
    column = units.encodings.index
    if contrast.startswith("chosen, "):
        picked = afterwards.picked(MODEL).scores[:, 1]
        return picked - units.scores[:, column(contrast.removeprefix("chosen, "))]
    if contrast.startswith("over none, "):
        return units.scores[:, column(contrast.removeprefix("over none, "))] - units.scores[:, 0]
    return units.scores[:, column(contrast)] - units.scores[:, column("sinusoidal")]


@cache
def _learned_units() -> second.Accuracies:
    grid = second.load_grid(MODEL)
    return grid.units().only(second.learned(grid).datasets)


def _on_varied(first: str, other: str) -> NDArray[np.float64]:
    found = edition.by_cell(edition.load_edition(), MODEL)
    return _table(found, first) - _table(found, other)


def _deep(name: str) -> NDArray[np.float64]:
    """Return gains in four layers of twice the width less those in two, with patches.

    Edition 2 has three encodings there; for others the one of most scatter stands.
    """
    name = name if name in ("relative", "rotary", "sinusoidal") else "sinusoidal"
    deep = edition.by_cell(edition.load_edition("large"), "patch")
    flat = edition.by_cell(edition.load_edition(), "patch")
    gains = [_table(found, name) - _table(found, "none") for found in (deep, flat)]
    return gains[0] - gains[1]


def _table(found: dict, name: str) -> NDArray[np.float64]:
    return np.array([[found[d, name, r]["accuracy"] for r in range(5)] for d in VARIED])


def over_sets(one: Question, contrast: str) -> dict[str, Any]:
    """Return what t tests over data sets can decide, as for any other sets like these."""
    seen = differences(contrast)
    pilot = estimated_design(seen)
    design = Design(len(one.datasets), one.resamples, pilot.between, pilot.within)
    n_tests = len(one.pairs)
    needed = _needed(design, n_tests)
    return {
        "seen": _rounded(seen.mean()),
        "between": _rounded(pilot.between),
        "within": _rounded(pilot.within),
        **needed,
        "power for what was seen": round(
            power(float(seen.mean()), design, test="t", n_tests=n_tests, n_runs=N_RUNS).value, 2
        ),
        "sets for the margin": _sets_for(design, n_tests),
    }


def on_these(one: Question, contrast: str) -> dict[str, Any]:
    """Return what t tests over deals and trainings decide about the mean of these very sets.

    A set's resamples are independent deals of its own series; a set that keeps its official split
    has seeds. Sets count alike, and scatter as those of edition 2 did, see `luck`.
    """
    within = estimated_design(differences(contrast)).within
    n, r = len(one.datasets), one.resamples
    return _by_error(within / math.sqrt(n * r), n * (r - 1), len(one.pairs))


def _by_error(error: float, freedom: int, n_tests: int) -> dict[str, float]:
    """Return what t tests decide by an error that is estimated with so many degrees of freedom."""
    units = freedom + 1  # a mean of so many single differences has them
    return _needed(Design(units, 1, 0.0, error * math.sqrt(units)), n_tests)


# What edition 2 trained in place of the survey's definitions; how both scatter should be alike.
ALIKE = {
    "relative, whole": "relative",
    "erpe, one for all heads": "erpe",
    "conv_spe": "sine_spe",
}


def of_claim(one: Claim) -> dict[str, dict[str, float]]:
    """Return what the tests of a claim decide on its sets, by what is tested."""
    units, n, r = _learned_units(), len(one.datasets), one.resamples
    columns = [units.encodings.index(ALIKE.get(name, name)) for name in one.encodings]
    scores = units.scores[:, columns].transpose(0, 2, 1)  # (units, resamples, encodings)
    if one.of == claims.ORDER:
        seen = claims.agreement(scores)
    else:
        seen = claims.weighted(scores, one.weights)
    within = estimated_design(seen).within
    if one.of != claims.TREND:
        return {"mean": _by_error(within / math.sqrt(n * r), n * (r - 1), 1)}
    rows = {}
    for name, x in claims.facts_of_trends(one.datasets).items():
        if np.ptp(x):
            spread = float(np.linalg.norm(claims.slope_weights(x)))
            rows[name] = _by_error(within * spread / math.sqrt(r), n * (r - 1), 3)
    return rows


def _needed(design: Design, n_tests: int) -> dict[str, float]:
    options: dict[str, Any] = {"n_tests": n_tests, "n_runs": N_RUNS}
    effect = detectable_effect(design, test="t", **options)
    margin = provable_margin(design, **options)
    return {"effect": _rounded(effect), "margin": _rounded(margin)}


def _sets_for(design: Design, n_tests: int) -> int | None:
    """Return with how many sets both answers are reached at the margin; None above 150."""
    low, high = 3, MOST_SETS
    if not _enough(with_sets(design, high), n_tests):
        return None
    while low < high:
        middle = (low + high) // 2
        enough = _enough(with_sets(design, middle), n_tests)
        low, high = (low, middle) if enough else (middle + 1, high)
    return high


def _enough(design: Design, n_tests: int) -> bool:
    shown = power(MARGIN, design, test="t", n_tests=n_tests, n_runs=N_RUNS)
    equal = power(0.0, design, test="equivalence", margin=MARGIN, n_tests=n_tests, n_runs=N_RUNS)
    return min(shown.value, equal.value) >= 0.8


@cache
def luck() -> NDArray[np.float64]:
    """Return (a, b, c): log variance of a difference = a + b log(train) + c log(test).

    Fitted to the sets of edition 2, of what is left of the accuracies of ten encodings without
    their means and those of resamples; a difference of two encodings has twice that variance.
    """
    grid = second.load_grid(MODEL)
    scores = grid.scores[:, 1:]
    left = scores - scores.mean(2, keepdims=True) - scores.mean(1, keepdims=True)
    left += scores.mean((1, 2), keepdims=True)
    n_encodings, n_resamples = scores.shape[1:]
    variance = 2 * (left**2).sum((1, 2)) / ((n_encodings - 1) * (n_resamples - 1))
    rows = np.array([_sizes(name) for name in grid.datasets])
    return np.linalg.lstsq(rows, np.log(variance), rcond=None)[0]


def _sizes(name: str) -> tuple[float, float, float]:
    facts = recorded_facts(name)
    return 1.0, math.log(min(facts.train, 2000)), math.log(min(facts.test, 2000))


def each_set() -> dict[str, dict[str, Any]]:
    """Return for each set how far one difference scatters, and what one set can decide alone."""
    rows: dict[str, dict[str, Any]] = {}
    for name in (*sets.UNUSED, *sets.SURVEY):
        facts = recorded_facts(name)
        within = math.exp(np.dot(luck(), _sizes(name)) / 2)
        # two encodings that are right nine times of ten and wrong on different series
        test_error = math.sqrt(2 * 0.9 * 0.1 / min(facts.test, 2000))
        rows[name] = {
            "train": facts.train,
            "test": facts.test,
            "steps": facts.length,
            "within": _rounded(within),
            "of the test part": _rounded(test_error),
            "alone": max(_needed(Design(5, 1, 0.0, within), 1).values()),
            "validation": _held_out(facts.train),
            "validation, halves": _held_out(min((facts.train + facts.test) // 2, 2000)),
        }
    return rows


def _held_out(n_train: int) -> int:
    """Return about how many series of a training part are for validation."""
    return round(TRAINING["settings"]["validation"] * min(n_train, 2000))


VALIDATION = (4, 8, 16, 32, 64, 128, 256)


def chosen_by(n_validation: int, *, n_draws: int = 200) -> float:
    """Return what the best of ten by so many validation series is ahead of the sinusoid.

    Of edition 2's ten encodings, each with its own accuracy on a unit and resample, that is picked
    which is right most often among so many series drawn at random; of equal ones any. Luck of the
    encodings is independent here, which one validation part for all would lessen.
    """
    units, rng = _learned_units(), np.random.default_rng(0)
    scores = units.scores[:, 1:].transpose(0, 2, 1)  # (units, resamples, encodings)
    expected = scores.mean(1, keepdims=True)
    drawn = rng.binomial(n_validation, expected, size=(n_draws, *scores.shape))
    best = (drawn + rng.random(drawn.shape)).argmax(axis=-1)
    picked = np.take_along_axis(np.broadcast_to(expected, drawn.shape), best[..., None], axis=-1)
    return float((picked[..., 0] - expected[..., units.encodings.index("sinusoidal") - 1]).mean())


def planned() -> dict[str, Any]:
    """Return what can be decided: by question and pair, and by set."""
    rows: dict[str, Any] = {}
    for title, one in QUESTIONS.items():
        rows[title] = {}
        for first, other, contrast in one.pairs:
            every, these = over_sets(one, contrast), on_these(one, contrast)
            rows[title][f"{first} - {other}"] = {
                "pilot": contrast,
                "over sets": every | {"answerable": _answerable(every)},
                "on these": these | {"answerable": _answerable(these)},
            }
    chosen = {str(n): _rounded(chosen_by(n)) for n in VALIDATION}
    claimed = {
        name: {
            what: row | {"answerable": _answerable(row, one.margin)}
            for what, row in of_claim(one).items()
        }
        for name, one in CLAIMS.items()
    }
    return {
        "margin": MARGIN,
        "questions": rows,
        "claims": claimed,
        "sets": each_set(),
        "chosen by": chosen,
    }


def _answerable(row: dict[str, Any], margin: float = MARGIN) -> bool:
    return max(row["effect"], row["margin"]) <= margin


def _rounded(value: float) -> float:
    return round(float(value), 4)


def _main(_: Sequence[str]) -> None:
    _files.replace(FILE, json.dumps(planned(), indent=1) + "\n")


if __name__ == "__main__":
    sys.exit(behind(_main))
