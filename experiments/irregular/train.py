"""The cells of irregular time: on each deal an arm tries eight settings and trains the best."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

from experiments.edition3 import train as third
from posenc_book.bench import seeded
from posenc_book.data import stars
from posenc_book.read.irregular import ARMS, HASH, PLAN, PROFILE, TUNING
from posenc_book.records.records import worth
from posenc_book.records.settings import Settings
from posenc_book.records.store import Store


def cells(survey: str) -> list[Settings]:
    """Return a training of each arm on each deal, before its setting is chosen."""
    deals = range(1, PLAN["deals"] + 1)
    return [cell(survey, arm, r) for r in deals for arm in ARMS]


def cell(survey: str, arm: str, r: int) -> Settings:
    """Return a training of an arm on a deal, as the first of its trials has it."""
    encoding, clock = ARMS[arm]
    options = {**PLAN["stars"], "clock": clock}
    one = Settings(
        encoding,
        "time_series",
        survey,
        seed=r,
        split_seed=r,
        resample=r,
        profile=PROFILE,
        protocol=HASH,
        dataset_options=options,
        encoding_source=seeded.encoding_source(encoding),
        dataset_source=stars.fingerprint(survey, **options),
        **PLAN["settings"],
    )
    return replace(one, **_tried(one)[0])


def trials(one: Settings) -> list[Settings]:
    """Return the short trainings of a cell, as many for all: of units and rates, or of rates."""
    short: dict[str, Any] = dict.fromkeys(
        ("steps", "least_steps", "patience_steps"), min(TUNING["steps"], one.steps)
    )
    return [replace(one, profile=f"{one.profile}, trial", **short, **some) for some in _tried(one)]


def _tried(one: Settings) -> list[dict[str, Any]]:
    """Return what each trial changes."""
    options: dict[str, Any] = {**one.dataset_options}
    if options["clock"] == "numbers":
        return [{"learning_rate": rate} for rate in TUNING["rates without a clock"]]
    return [
        {"learning_rate": rate, "dataset_options": {**options, "unit": unit}}
        for unit, rate in product(TUNING["units"], TUNING["rates"])
    ]


def tuned(one: Settings, known: Mapping[str, dict[str, Any]]) -> Settings | None:
    """Return the cell as its best trial has it; None if a trial is missing.

    Where all have failed it is trained as the first trial has it, so that its failure is stored.
    """
    tried = trials(one)
    if not all(trial.key in known for trial in tried):
        return None
    good = [trial for trial in tried if "error" not in known[trial.key]]
    if not good:
        return replace(one, tuned="all trials failed")
    best = max(good, key=lambda trial: worth(known[trial.key]))
    told = f"{len(tried)} trials of {best.steps} steps"
    return replace(
        one, learning_rate=best.learning_rate, dataset_options=best.dataset_options, tuned=told
    )


def stages(survey: str, places: list[Settings], folder: Path) -> Iterator[third.Stage]:
    """Yield the trials of all cells, and then what the best of each trains."""
    tried, trained = (Store(folder / f"{kind}{survey}.jsonl") for kind in ("tuning-", ""))
    yield "trials", [[trial] for one in places for trial in trials(one)], tried
    known = third.by_key(tried)
    best = [tuned(one, known) for one in places]
    yield "training", [[one] for one in best if one], trained
