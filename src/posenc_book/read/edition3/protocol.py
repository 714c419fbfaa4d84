"""The rules of the third edition, with two hashes, fixed before any unused set was read."""

import inspect
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from posenc_book import data
from posenc_book.bench import build
from posenc_book.bench.tuning import worth
from posenc_book.read.classification import protocol as second
from posenc_book.read.edition3 import sets
from posenc_book.read.edition3.claims import CLAIMS, PRINTED_ORDER
from posenc_book.read.edition3.planned import MARGIN
from posenc_book.read.edition3.questions import (
    ENCODINGS,
    MODEL,
    MODELS,
    QUESTIONS,
    TEN,
    cells,
    cells_on_gpu,
)
from posenc_book.records.hashes import hashed
from posenc_book.records.settings import Settings

FROZEN = "2026-11-27"
PROFILE, TRIAL = "third", "third-trial"
RATES = (3e-4, 1e-3, 3e-3, 1e-2)
TRIAL_STEPS = 500
UNTUNED = 1e-3  # where all trials have failed
TRIAL_DEAL = 1000  # which shares no deal with what is compared

TRAINING: dict[str, Any] = {
    "edition": 3,
    "model": MODEL,
    "other models": MODELS,
    "unused": sets.UNUSED,
    "counted": sets.COUNTED,
    "on a gpu": sets.LONG,
    "not tuned": sets.NOT_TUNED,
    "too few test series": sets.TOO_FEW,
    "survey": sets.SURVEY,
    "encodings": {name: list(what) for name, what in ENCODINGS.items()},
    "cells": sorted([*cell, n] for cell, n in cells().items()),
    "cells on a gpu": sorted([*cell, n] for cell, n in cells_on_gpu().items()),
    "settings": second.TRAINING["settings"],
    "tuning": {
        "rates": RATES,
        "fifth": "tables: the other size of rows at the best rate; others: between the two best",
        "steps": TRIAL_STEPS,
        "split": f"unused sets: deal {TRIAL_DEAL} in halves; survey's: official",
        "if all fail": UNTUNED,
    },
    "resamples": {
        "unused": "deals 1 to n in halves, see `posenc.data.resamples`",
        "survey": "resamples 1 to n in the official sizes; seeds where the split must be kept",
    },
    "shared": "equal series stay on one side of a deal",
}
HASH = hashed(TRAINING)

ANALYSIS: dict[str, Any] = {
    "training": HASH,
    "outcome": "accuracy on the test part, same set and resample for both",
    "about": "these sets and the series that they hold: the mean over all deals and seeds, each "
    "set alike, learned or not",
    "error": "scatter of resamples within sets, which are independent draws of a deal and a seed, "
    "n (r - 1) degrees of freedom",
    "not in the error": "each cell is tuned once, for all of its trainings",
    "difference": "two-sided t test, Holm within a family, level 0.05",
    "equal": "two one-sided t tests at the margin, Holm within a family, level 0.05",
    "both": "a difference may be shown and be within the margin: then both are said",
    "neither": "undecided, whatever the mean is",
    "margin": MARGIN,
    "power": 0.8,
    "interval": "Student's t, 95 per cent, by the same error, not corrected for the family",
    "other sets": "mean and t interval over sets, no test: there are too few",
    "chosen": "in each resample the best validation accuracy, of equal ones the lowest loss",
    "depth": "gain over none in four layers less that in two",
    "failed": "a training that fails when tried twice counts as a guess, one in as many as there "
    "are classes; choosing passes over it",
    "missing": "a family is answered once all of its trainings are there, and not in part",
    "longest sets": "the pairs of ahead on the sets that wait for a GPU: means and intervals, no "
    "test, counted by no answer",
    "rates": "how many cells were tuned to the highest rate is told beside the answers",
    "ten": TEN,
    "families": {
        title: {
            "words": one.words,
            "sets": one.datasets,
            "pairs": [p[:2] for p in one.pairs],
            "resamples": one.resamples,
            "layers": one.layers,
        }
        for title, one in QUESTIONS.items()
    },
    "claims": {
        name: {
            "words": one.words,
            "asked": one.asked,
            "of": one.of,
            "margin": one.margin,
            "resamples": one.resamples,
            "weights": dict(one.weights),
            "sets": one.datasets,
        }
        for name, one in CLAIMS.items()
    },
    "printed order": PRINTED_ORDER,
    "verdicts": "each claim is a family of its own; shown as said: confirmed with a condition, "
    "these sets and models; shown otherwise, equal, or shown but within the margin: not "
    "reproduced; undecided: the present verdict stays; trends are shown with intervals and change "
    "no verdict",
}
ANALYSIS_HASH = hashed(ANALYSIS)


def cell(dataset: str, name: str, layers: int = 2, r: int = 1) -> Settings:
    """Return one training, before its rate is chosen."""
    encoding, options = ENCODINGS[name]
    return Settings(
        encoding,
        MODELS.get(name, MODEL),
        dataset,
        seed=r,
        split_seed=r,
        resample=0 if data.official_only(dataset) else r,
        profile=PROFILE,
        protocol=HASH,
        encoding_options=options,
        dataset_options={"deal": "halves"} if dataset in sets.UNUSED else {},
        encoding_source=build.encoding_fingerprint(encoding),
        dataset_source=data.fingerprint(dataset),
        **{**TRAINING["settings"], "n_layers": layers},
    )


def trainings(one: Settings, n: int) -> list[Settings]:
    """Return a cell on each of its resamples, with as many seeds."""
    only = data.official_only(one.dataset)
    return [replace(one, seed=r, split_seed=r, resample=0 if only else r) for r in range(1, n + 1)]


def first_trials(one: Settings) -> list[Settings]:
    """Return the four trials that differ in their rate."""
    return [_trial(one, learning_rate=rate) for rate in RATES]


def ended(trials: Sequence[Settings], records: Mapping[str, dict]) -> bool:
    """Return whether all trials are stored, finished or failed."""
    return all(trial.key in records for trial in trials)


def last_trial(one: Settings, records: Mapping[str, dict]) -> Settings | None:
    """Return the fifth trial; None if one of the four is missing, or all have failed."""
    ranked = _ranked(first_trials(one), records)
    if not ranked:
        return None
    rates = [trial.learning_rate for trial in ranked]
    if "scale" in inspect.signature(build.find_class(one.encoding)).parameters:
        return _trial(one, learning_rate=rates[0], scale=_other_scale(one.encoding))
    between = math.sqrt(rates[0] * rates[1]) if len(rates) > 1 else rates[0] / 2
    return _trial(one, learning_rate=float(f"{between:.2g}"))


def tuned(one: Settings, records: Mapping[str, dict]) -> Settings | None:
    """Return the cell with the rate and size of its best trial; None if a trial is missing.

    Where all have failed it is trained as it is, so that its failures are stored, too.
    """
    tried = first_trials(one)
    if not ended(tried, records):
        return None
    last = last_trial(one, records)
    if last is None:
        return replace(one, learning_rate=UNTUNED, tuned="all trials failed")
    if not ended([last], records):
        return None
    best = _ranked([*tried, last], records)[0]
    told = f"{len(RATES) + 1} trials of {best.steps} steps"
    return replace(one, learning_rate=best.learning_rate, scale=best.scale, tuned=told)


def _trial(one: Settings, **changes: Any) -> Settings:
    steps = min(TRIAL_STEPS, one.steps)
    short: dict[str, Any] = dict.fromkeys(("steps", "least_steps", "patience_steps"), steps)
    first: dict[str, Any] = dict.fromkeys(("seed", "split_seed"), TRIAL_DEAL)
    first["resample"] = TRIAL_DEAL if one.dataset in sets.UNUSED else 0
    return replace(one, profile=TRIAL, **first, **short, **changes)


def _ranked(trials: Sequence[Settings], records: Mapping[str, dict]) -> list[Settings]:
    """Return those that did not fail, the best first; none if one is missing."""
    if not ended(trials, records):
        return []
    good = [trial for trial in trials if "error" not in records[trial.key]]
    return sorted(good, key=lambda trial: worth(records[trial.key]), reverse=True)


def _other_scale(encoding: str) -> str:
    return "loud" if encoding in ("dft", "learnable") else "unit"
