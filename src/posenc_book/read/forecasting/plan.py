"""What is compared in forecasting, and how it is judged: the plan that was frozen before.

It stands in `experiments/forecasting`: `plan.json` says what is trained, `analysis.json` what is
asked of it.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from posenc import _checks
from posenc_book.read import plans
from posenc_book.records.forecasts import TRIAL, ForecastSettings
from posenc_book.records.hashes import hashed

TRAINING = plans.load("forecasting")
ANALYSIS = plans.load("forecasting", "analysis")
HASH, ANALYSIS_HASH = hashed(TRAINING), hashed(ANALYSIS)

# From names to season, context, horizon and patch, in steps.
UNITS: dict[str, list[int]] = TRAINING["units"]
# One yearly, one quarterly, one weekly and one hourly unit wait for a last check: nothing trained
# on them is read before the answer of the others is written down.
KEPT_APART = tuple(TRAINING["kept_apart"])
COUNTED = tuple(ANALYSIS["counted"])
# From names to tokens, read-out, and whether a token sees earlier ones only.
READERS: dict[str, list[Any]] = TRAINING["readers"]
LINEAR = tuple(TRAINING["baselines"])
ENCODINGS = tuple(TRAINING["encodings"])
NONE, DEFAULT = "none", "sinusoidal"
# Calendar features join the values, alone and beside each of four, where the times are known.
WITH_CALENDAR = tuple(TRAINING["calendar"]["encodings"])
CALENDARS = tuple(TRAINING["calendar"]["units"])
CALENDAR_READERS = tuple(TRAINING["calendar"]["readers"])
# From names to encodings, to what is shuffled in each window, and to the readers.
CONTROLS: dict[str, list[Any]] = TRAINING["controls"]
(PLACEBO,) = CONTROLS["placebo"][0]
RATES: list[float] = TRAINING["tuning"]["rates"]
MARGIN: float = ANALYSIS["margin"]  # of the logarithm of two errors: three per cent


def cell(
    unit: str,
    reader: str,
    encoding: str,
    *,
    encoding_source: str,
    dataset_source: str,
    **changes: Any,
) -> ForecastSettings:
    """Return a cell of the plan, or one that differs from it; the sources are fingerprints."""
    *_, patch = UNITS[_checks.choice("unit", unit, UNITS)]
    planned = {"profile": "forecasting", "patch": patch, "protocol": HASH, **TRAINING["settings"]}
    sources = {"encoding_source": encoding_source, "dataset_source": dataset_source}
    return ForecastSettings(encoding, reader, unit, **{**planned, **sources, **changes})


def places(
    make: Callable[..., ForecastSettings],
    units: Sequence[str] = (),
    readers: Sequence[str] = (),
) -> Iterator[ForecastSettings]:
    """Yield what is compared, with seed 0: grid, calendars, controls, linear maps.

    `make` is called as `cell` is, without sources.
    """
    for unit in units or UNITS:
        for reader in readers or (*READERS, *LINEAR):
            if reader in LINEAR:
                yield make(unit, reader, NONE)
                continue
            for encoding in ENCODINGS:
                yield make(unit, reader, encoding)
            if unit in CALENDARS and reader in CALENDAR_READERS:
                for encoding in WITH_CALENDAR:
                    yield make(unit, reader, encoding, calendar=True)
            for encodings, shuffled, where in CONTROLS.values():
                for encoding in encodings if reader in where else ():
                    yield make(unit, reader, encoding, shuffled=shuffled)


def n_seeds(one: ForecastSettings) -> int:
    """Return how many seeds of a cell are trained: fewer of a control."""
    control = one.shuffled or one.encoding == PLACEBO
    return TRAINING["control_seeds" if control else "seeds"]


def trials(one: ForecastSettings) -> list[ForecastSettings]:
    """Return the trials of a cell, one for each learning rate.

    Their seed is their own, so they share no weights or batches with what is compared.
    """
    steps, seed = TRAINING["tuning"]["steps"], TRAINING["tuning"]["seed"]
    short = replace(one, steps=steps, seed=seed, split_seed=seed, profile=TRIAL)
    return [replace(short, learning_rate=rate) for rate in RATES]


def tuned(one: ForecastSettings, records: Mapping[str, dict]) -> ForecastSettings | None:
    """Return the cell with the rate of its best trial by validation; None if one is missing."""
    tried = {trial.key: trial for trial in trials(one)}
    if any(key not in records for key in tried):
        return None
    good = [key for key in tried if "error" not in records[key]]
    if not good:
        return None
    best = tried[min(good, key=lambda key: records[key]["metrics"]["validation_mase"])]
    return replace(one, learning_rate=best.learning_rate, tuned=f"{len(RATES)} trials")


def seeds(one: ForecastSettings) -> list[ForecastSettings]:
    """Return a cell with each of its seeds, which decide weights, batches and held-out series."""
    return [replace(one, seed=seed, split_seed=seed) for seed in range(n_seeds(one))]
