"""The tables of the chapter: shuffles, calendars, longer pasts and the last check, in per cent."""

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from posenc_book.atlas import called
from posenc_book.read.forecasting import plan
from posenc_book.read.forecasting.answers import Repeat, ask
from posenc_book.read.forecasting.buckets import T5, Errors
from posenc_book.read.forecasting.complete import Stored, Way
from posenc_book.read.forecasting.effects import Effect, effect, per_cent
from posenc_book.read.forecasting.figure import TITLES
from posenc_book.read.forecasting.plan import COUNTED, NONE
from posenc_book.read.forecasting.read_out import UNIT_NAMES
from posenc_book.read.forecasting.registered import CALENDAR_UNITS, against
from posenc_book.read.forecasting.show import NOTHING
from posenc_book.teaching.table import Table

SINE = plan.DEFAULT
POSITIONS = {NONE: "no positions", SINE: "sinusoid"}
SHUFFLED = ("patches", "steps")
TOLD_AT = (100, 300, 500, 1000, 1500)  # steps of training


def _change(stored: Stored, way: Way, other: Way, units: Sequence[str] = COUNTED) -> Effect:
    """Return by what one way's error differs from another's."""
    found = effect(stored, against(way, other), units)
    assert found is not None, f"{way} refuses"
    return found


def _shuffle_cost(stored: Stored, reader: str, encoding: str, what: str) -> Effect:
    """Return what it costs to shuffle patches or steps of every window, each in its own order."""
    return _change(stored, Way(reader, encoding, shuffled=what), Way(reader, encoding))


def shuffles_table(stored: Stored) -> Table:
    """Return what a shuffle costs, for each reader with and without the sinusoid."""
    rows = {
        f"{TITLES[reader]}; {said}": {
            f"{what} shuffled": _mean(_shuffle_cost(stored, reader, encoding, what))
            if what in where
            else NOTHING
            for what in SHUFFLED
        }
        for reader, where in _readers_shuffled().items()
        for encoding, said in POSITIONS.items()
    }
    caption = f"By how much the error grows, in per cent: means over {len(COUNTED)} data sets."
    return Table(rows, head="forecaster", caption=caption)


def _readers_shuffled() -> dict[str, list[str]]:
    """Return what is shuffled for each reader."""
    found: dict[str, list[str]] = {}
    for _, what, readers in plan.CONTROLS.values():
        for reader in readers if what else ():
            found.setdefault(reader, []).append(what)
    return found


def calendar_gain(
    stored: Stored, reader: str, *, encoding: str = NONE, calendar: bool = True
) -> dict[str, float]:
    """Return what calendar features change of the error of none, in per cent, by unit."""
    way = Way(reader, encoding, calendar=calendar)
    found = _change(stored, way, Way(reader, NONE), CALENDAR_UNITS)
    return {
        unit: per_cent(x) for unit, x in zip(CALENDAR_UNITS, found.by_unit.tolist(), strict=True)
    }


def calendar_table(stored: Stored) -> Table:
    """Return what sinusoid, calendar and both change, for each reader and unit."""
    columns = {"sinusoid": (SINE, False), "calendar": (NONE, True), "both": (SINE, True)}
    rows = {}
    for reader in plan.CALENDAR_READERS:
        gains = {
            name: calendar_gain(stored, reader, encoding=encoding, calendar=calendar)
            for name, (encoding, calendar) in columns.items()
        }
        for unit in CALENDAR_UNITS:
            row = {name: f"{gain[unit]:+.0f}" for name, gain in gains.items()}
            rows[f"{TITLES[reader]}: {UNIT_NAMES[unit]}"] = row
    caption = "Change of the error in per cent, beside the same forecaster with neither."
    return Table(rows, head="forecaster and data set", caption=caption)


def buckets_table(stored: Stored, enough: Errors) -> Table:
    """Return the errors of the sinusoid, of T5's bias, and of T5's bias with enough buckets."""
    rows = {}
    for (reader, unit), errors in enough.items():
        row = {}
        for encoding in (SINE, T5):
            known = stored.scores(Way(reader, encoding), unit)
            assert known is not None
            row[called(encoding)] = known[: len(errors)]
        row["T5 bias, a bucket an hour"] = errors
        told = {name: f"{some.mean():.3f}" for name, some in row.items()}
        rows[f"{TITLES[reader]}: {UNIT_NAMES[unit]}"] = told
    n_seeds = {len(errors) for errors in enough.values()}
    caption = f"MASE on the test parts, means over {n_seeds.pop()} seeds."
    return Table(rows, head="forecaster and data set", caption=caption)


def longer_table(stored: Stored) -> Table:
    """Return what a past four times as long changes, for each encoding and reader."""
    families = ask(stored, "longer")
    rows: dict[str, dict[str, str]] = {}
    for one in families:
        for answer in one.answers:
            told = NOTHING if answer.effect is None else _with_interval(answer.effect)
            row = rows.setdefault(called(answer.comparison.label), {})
            row[TITLES[one.family.name]] = told
    n = len(families[0].family.units)
    caption = (
        f"Change of the error in per cent, mean over {n} data sets with its 95 % interval. "
        f"{NOTHING}: refuses."
    )
    return Table(rows, head="encoding", caption=caption)


def gain_along(stored: Stored, reader: str, units: Sequence[str] = COUNTED) -> NDArray[np.float64]:
    """Return what the sinusoid changes of the validation error, after each check of the training.

    In per cent, mean over units; the error is the smallest that was reached so far.
    """
    logarithms = {name: _reached(stored, Way(reader, name), units) for name in POSITIONS}
    return 100 * np.expm1((logarithms[SINE] - logarithms[NONE]).mean((0, 1)))


def _reached(stored: Stored, way: Way, units: Sequence[str]) -> NDArray[np.float64]:
    """Return the logarithm of the smallest error so far, (n_units, n_seeds, n_checks)."""
    found = [stored.scores(way, unit, "validation_errors") for unit in units]
    return np.log(np.minimum.accumulate(np.array(found, dtype=float), axis=2))


def training_table(stored: Stored) -> Table:
    """Return how the sinusoid's worth moves with the length of training, a row for each reader."""
    every = plan.TRAINING["settings"]["check_every"]
    rows = {}
    for reader in plan.READERS:
        along = gain_along(stored, reader)
        rows[TITLES[reader]] = {f"{n:,} steps": f"{along[n // every - 1]:+z.1f}" for n in TOLD_AT}
    caption = (
        "What the sinusoid changes of the smallest validation error so far, in per cent: means "
        f"over {len(COUNTED)} data sets and five seeds."
    )
    return Table(rows, head="forecaster", caption=caption)


def last_check_table(repeats: Sequence[Repeat]) -> Table:
    """Return every difference that was shown, and what became of it on the units kept apart."""
    rows = dict(_repeated(repeats))
    caption = "Change of the error in per cent, means over data sets, and on each put aside."
    return Table(rows, head="forecaster and comparison", caption=caption)


def _repeated(repeats: Sequence[Repeat]) -> Iterator[tuple[str, dict[str, str]]]:
    for one in repeats:
        before, again = one.shown.effect, one.again.effect
        assert before is not None
        assert again is not None
        row = {f"{len(before.units)} that count": _mean(before, 1)}
        row[f"{len(again.units)} put aside"] = _mean(again, 1)
        by_unit = zip(again.units, again.by_unit, strict=True)
        yield _named(one), row | {UNIT_NAMES[u]: f"{per_cent(x):+z.1f}" for u, x in by_unit}


def _named(one: Repeat) -> str:
    label = called(one.shown.comparison.label)
    beside = {"worth": "none", "default": "the sinusoid"}.get(one.family.question)
    if beside is None:
        return f"{label}: the sinusoid, {one.family.name}"
    return f"{TITLES[one.family.name]}: {label} beside {beside}"


def _mean(one: Effect, digits: int = 0) -> str:
    return f"{per_cent(one.interval.mean):+.{digits}f}"


def _with_interval(one: Effect) -> str:
    low, high = (f"{per_cent(x):+.0f}" for x in (one.interval.low, one.interval.high))
    return f"{_mean(one)} [{low}, {high}]"
