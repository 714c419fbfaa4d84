"""The rules of the third edition, with two hashes: a draft, by which nothing may be trained yet."""

import inspect
import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from posenc import data
from posenc.bench import build
from posenc.bench.hashes import hashed
from posenc.bench.settings import Settings
from posenc.bench.tuning import worth
from posenc.experiments.classification import protocol as second
from posenc.experiments.edition3 import sets
from posenc.experiments.edition3.planned import MARGIN
from posenc.experiments.edition3.questions import ENCODINGS, QUESTIONS, TEN, cells

FROZEN = ""  # the day, once all of it is there
MODEL = "time_series"  # a token a step
PROFILE, TRIAL = "third", "third-trial"
RATES = (3e-4, 1e-3, 3e-3, 1e-2)
TRIAL_STEPS = 500
TRIAL_DEAL = 1000  # which shares no deal with what is compared

TRAINING: dict[str, Any] = {
    "edition": 3,
    "model": MODEL,
    "unused": sets.UNUSED,
    "counted": sets.COUNTED,
    "on a gpu": sets.LONG,
    "not tuned": sets.NOT_TUNED,
    "too few test series": sets.TOO_FEW,
    "survey": sets.SURVEY,
    "encodings": {name: list(what) for name, what in ENCODINGS.items()},
    "cells": sorted([*cell, n] for cell, n in cells().items()),
    "settings": second.TRAINING["settings"],
    "tuning": {
        "rates": RATES,
        "fifth": "tables: the other size of rows at the best rate; others: between the two best",
        "steps": TRIAL_STEPS,
        "split": f"unused sets: deal {TRIAL_DEAL} in halves; survey's: official",
    },
    "resamples": {
        "unused": "deals 1 to n in halves, see `deals`",
        "survey": "resamples 1 to n in the official sizes; seeds where the split must be kept",
    },
    "shared": "equal series stay on one side of a deal",
}
HASH = hashed(TRAINING)

ANALYSIS: dict[str, Any] = {
    "training": HASH,
    "outcome": "accuracy on the test part, same set and resample for both",
    "about": "these sets: the mean over them, each alike, learned or not",
    "error": "scatter of resamples within sets, n (r - 1) degrees of freedom",
    "not in the error": "each cell is tuned once, for all of its trainings",
    "difference": "two-sided t test, Holm within a family, level 0.05",
    "equal": "two one-sided t tests at the margin, Holm within a family, level 0.05",
    "margin": MARGIN,
    "power": 0.8,
    "other sets": "mean and t interval over sets, no test: there are too few",
    "chosen": "in each resample the best validation accuracy, of equal ones the lowest loss",
    "depth": "gain over none in four layers less that in two",
    "ten": TEN,
    "families": {
        title: {"words": one.words, "sets": one.datasets, "pairs": [p[:2] for p in one.pairs]}
        for title, one in QUESTIONS.items()
    },
}
ANALYSIS_HASH = hashed(ANALYSIS)


def cell(dataset: str, name: str, layers: int = 2, r: int = 1) -> Settings:
    """Return one training, before its rate is chosen."""
    encoding, options = ENCODINGS[name]
    return Settings(
        encoding,
        MODEL,
        dataset,
        seed=r,
        split_seed=r,
        resample=0 if data.official_only(dataset) else r,
        profile=PROFILE,
        protocol=HASH,
        encoding_options=options,
        # the engine refuses this option until it knows such deals, and so trains on no others
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


def last_trial(one: Settings, records: Mapping[str, dict]) -> Settings | None:
    """Return the fifth trial; None if a trial is missing or all have failed."""
    ranked = _ranked(first_trials(one), records)
    if not ranked:
        return None
    rates = [trial.learning_rate for trial in ranked]
    if "scale" in inspect.signature(build.find_class(one.encoding)).parameters:
        return _trial(one, learning_rate=rates[0], scale=_other_scale(one.encoding))
    between = math.sqrt(rates[0] * rates[1]) if len(rates) > 1 else rates[0] / 2
    return _trial(one, learning_rate=float(f"{between:.2g}"))


def tuned(one: Settings, records: Mapping[str, dict]) -> Settings | None:
    """Return the cell with the rate and size of its best trial; None if a trial is missing."""
    last = last_trial(one, records)
    if last is None:
        return None
    ranked = _ranked([*first_trials(one), last], records)
    if not ranked:
        return None
    best = ranked[0]
    told = f"{len(RATES) + 1} trials of {TRIAL_STEPS} steps"
    return replace(one, learning_rate=best.learning_rate, scale=best.scale, tuned=told)


def _trial(one: Settings, **changes: Any) -> Settings:
    short: dict[str, Any] = dict.fromkeys(("steps", "least_steps", "patience_steps"), TRIAL_STEPS)
    first: dict[str, Any] = dict.fromkeys(("seed", "split_seed"), TRIAL_DEAL)
    first["resample"] = TRIAL_DEAL if one.dataset in sets.UNUSED else 0
    return replace(one, profile=TRIAL, **first, **short, **changes)


def _ranked(trials: list[Settings], records: Mapping[str, dict]) -> list[Settings]:
    """Return those that did not fail, the best first; none if one is missing."""
    if any(trial.key not in records for trial in trials):
        return []
    good = [trial for trial in trials if "error" not in records[trial.key]]
    return sorted(good, key=lambda trial: worth(records[trial.key]), reverse=True)


def _other_scale(encoding: str) -> str:
    return "loud" if encoding in ("dft", "learnable") else "unit"
