"""By which rules forecasting is trained, frozen before any test error was read."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import Any

from posenc import _checks
from posenc_book.bench import seeded
from posenc_book.bench.tuning import Cells
from posenc_book.read.forecasting.readers import LINEAR, READERS, n_tokens
from posenc_book.read.forecasting.train import TRIAL, ForecastSettings
from posenc_book.read.forecasting.units import UNITS, load_unit
from posenc_book.records.hashes import hashed

PLACEBO = "posenc.experiments.forecasting.placebo:Placebo"
ENCODINGS = (
    "none", "sinusoidal", "learnable", "rotary", "alibi", "t5", "erpe", "tpe", "fire",
)  # fmt: skip
DEFAULT = "sinusoidal"
# Calendar features join the values, alone and beside each of four, where the times are known.
WITH_CALENDAR = ("none", "sinusoidal", "learnable", "rotary", "alibi")
CALENDARS = ("etth1", "etth2", "vic_electricity", "bike_sharing", "air_quality")
# One yearly, one quarterly, one weekly and one hourly unit wait for a last check: nothing trained
# on them is read before the answer of the others is written down.
KEPT_APART = ("tourism_yearly", "m1_quarterly", "m4_weekly", "etth2")
# From names to encodings, to what is shuffled in each window, and to the readers.
CONTROLS = {
    "shuffled steps": (("none", DEFAULT), "steps", ("patches_flat", "patches_mean", "steps_mean")),
    "shuffled patches": (("none", DEFAULT), "patches", ("patches_flat", "patches_mean")),
    "placebo": ((PLACEBO,), "", ("patches_flat", "patches_mean", "steps_mean")),
}
CALENDAR_READERS = ("patches_flat", "patches_mean", "decoder")
TRIAL_SEED = 1000  # of the trials, which share no weights or batches with what is compared
TRIAL_STEPS = 750
RATES = (3e-4, 1e-3, 3e-3, 1e-2)
STACKED = 500  # tokens of a series each, over all models of a stack: several stacks fill a GPU

TRAINING: dict[str, Any] = {
    "edition": 1,
    "units": {name: list(vars(shape).values()) for name, (shape, _) in UNITS.items()},
    "kept_apart": KEPT_APART,
    "readers": {name: list(vars(reader).values()) for name, reader in READERS.items()},
    "encodings": ENCODINGS,
    "calendar": {"encodings": WITH_CALENDAR, "units": CALENDARS, "readers": CALENDAR_READERS},
    "controls": {name: list(what) for name, what in CONTROLS.items()},
    "baselines": list(LINEAR),
    "seeds": 5,
    "control_seeds": 3,
    "settings": {
        "d_model": 64,
        "n_heads": 4,
        "n_layers": 2,
        "d_ff": 128,
        "dropout": 0.0,
        "optimizer": "adamw",
        "weight_decay": 0.01,
        "warmup": 0.05,
        "batch_size": 64,
        "steps": 1500,
        "check_every": 100,
        "scale": "paper",
    },
    "tuning": {"rates": RATES, "steps": TRIAL_STEPS, "seed": TRIAL_SEED},
}

HASH = hashed(TRAINING)

MARGIN = 0.03  # of the logarithm of two errors: three per cent
QUESTIONS = {
    "worth": "Which encodings forecast better than none, for each reader?",
    "default": "Which forecast better than the sinusoid, for each reader?",
    "read-out": "Is the sinusoid worth less where a flattened head knows the places by itself?",
    "calendar": "Do calendar features do what positions do, and do both help together?",
    "longer": "Which mean-pooled readers and decoders stand a context four times as long?",
}
ANALYSIS: dict[str, Any] = {
    "training": HASH,
    "outcome": "log(MASE of an encoding / MASE of none), same reader, unit, seed; mean over seeds",
    "counted": [name for name in UNITS if name not in KEPT_APART],
    "difference": "exact two-sided Wilcoxon signed-rank test over units, Holm within a family",
    "interval": "Student's t over units, 95 per cent",
    "equivalence": "two one-sided t tests at the margin, Holm within a family; not asked of none "
    "under a mean, where no margin that matters can be reached",
    "margin": MARGIN,
    "families": {
        "worth": "for each reader, the eight encodings against none",
        "default": "for each reader, the seven others against the sinusoid",
        "read-out": "steps and patches: effect under a mean less effect under a flattened head",
        "calendar": "for each of three readers, calendar against none, and with each of four "
        "encodings against that encoding; four units count, so intervals only, no test",
        "longer": "error at four contexts over error at one, same windows; intervals only, no test",
    },
    "last_check": "signs and intervals of every difference shown, on the four units kept apart",
    "questions": QUESTIONS,
}
ANALYSIS_HASH = hashed(ANALYSIS)


def cell(
    unit: str, reader: str, encoding: str, *, calendar: bool = False, shuffled: str = "", **changes
) -> ForecastSettings:
    """Return one cell of the protocol, or one that differs from it and so belongs to none.

    Whoever names the sources of encoding and unit among the changes needs no files of the unit.
    """
    shape, _ = UNITS[_checks.choice("unit", unit, UNITS)]
    planned = {
        "profile": "forecasting",
        "patch": shape.patch,
        "protocol": HASH,
        **TRAINING["settings"],
        **changes,
    }
    if "encoding_source" not in changes:
        planned["encoding_source"] = seeded.encoding_source(encoding)
    if "dataset_source" not in changes:
        planned["dataset_source"] = unit_fingerprint(unit)
    return ForecastSettings(encoding, reader, unit, calendar=calendar, shuffled=shuffled, **planned)


@cache
def unit_fingerprint(unit: str) -> str:
    """Return the hash of a unit's values and splits."""
    return load_unit(unit).fingerprint


def places(
    units: Sequence[str] = (),
    readers: Sequence[str] = (),
    make: Callable[..., ForecastSettings] = cell,
) -> Iterator[ForecastSettings]:
    """Yield what the protocol compares, with seed 0: grid, calendars, controls, linear maps."""
    for unit in units or UNITS:
        for reader in readers or (*READERS, *LINEAR):
            if reader in LINEAR:
                yield make(unit, reader, "none")
                continue
            for encoding in ENCODINGS:
                yield make(unit, reader, encoding)
            if unit in CALENDARS and reader in CALENDAR_READERS:
                for encoding in WITH_CALENDAR:
                    yield make(unit, reader, encoding, calendar=True)
            for encodings, shuffled, where in CONTROLS.values():
                for encoding in encodings if reader in where else ():
                    yield make(unit, reader, encoding, shuffled=shuffled)


def is_control(one: ForecastSettings) -> bool:
    """Return whether a cell is a control, which fewer seeds are trained of."""
    return bool(one.shuffled) or one.encoding == PLACEBO


def trials(one: ForecastSettings) -> list[ForecastSettings]:
    """Return the trials of a cell: one for each learning rate, with a seed of their own."""
    short: dict[str, Any] = {"steps": TRIAL_STEPS, "seed": TRIAL_SEED, "split_seed": TRIAL_SEED}
    return [replace(one, learning_rate=r, profile=TRIAL, **short) for r in RATES]


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
    n = TRAINING["control_seeds" if is_control(one) else "seeds"]
    return [replace(one, seed=seed, split_seed=seed) for seed in range(n)]


def all_trials(chosen: Sequence[ForecastSettings], *, stacked: bool = False) -> Cells:
    """Return the trials of several places; see `grouped`."""
    return Cells(grouped([trials(one) for one in chosen], stacked=stacked))


def all_seeds(
    chosen: Sequence[ForecastSettings], records: Mapping[str, dict], *, stacked: bool = False
) -> Cells:
    """Return the seeds of those places whose trials are there; see `grouped`."""
    found = [tuned(one, records) for one in chosen]
    return Cells(grouped([seeds(one) for one in found if one is not None], stacked=stacked))


def grouped(
    groups: Sequence[list[ForecastSettings]], *, stacked: bool
) -> list[list[ForecastSettings]]:
    """Return groups of cells whose models may be trained as one stack.

    They are those of one place or, if `stacked`, of all units of one shape, those with most tokens
    first, so that no long training is left for the end.
    """
    if not stacked:
        return list(groups)
    joined: dict[tuple, list[ForecastSettings]] = {}
    for group in groups:
        one = group[0]
        shape, _ = UNITS[one.dataset]
        alike = (shape.context, shape.horizon, shape.patch, one.dataset == "air_quality")
        same = (one.model, one.encoding, one.calendar, one.shuffled, one.steps)
        joined.setdefault((*alike, *same), []).extend(group)
    parts = [part for group in joined.values() for part in _parted(group)]
    return sorted(parts, key=lambda part: -_tokens(part[0]))


def _parted(group: list[ForecastSettings]) -> list[list[ForecastSettings]]:
    """Return a group in parts of about one size, none of which holds more than `STACKED` tokens."""
    n_parts = -(-len(group) * _tokens(group[0]) // STACKED)
    size = -(-len(group) // n_parts)
    return [group[start : start + size] for start in range(0, len(group), size)]


def _tokens(one: ForecastSettings) -> int:
    shape, _ = UNITS[one.dataset]
    return n_tokens(one.model, shape.context, shape.patch)
