"""Which trainings are there: only what is whole is read at all.

A place is a reader with an encoding on a unit. It is whole if all of its trials are there, and all
of its seeds with the learning rate that these trials chose.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from posenc_book.read import results
from posenc_book.read.forecasting import plan
from posenc_book.read.forecasting.plan import COUNTED, LINEAR, READERS
from posenc_book.records import store, tables
from posenc_book.records.forecasts import ForecastSettings

FILES = "forecasting/*"


@dataclass(frozen=True)
class Way:
    """How a unit is forecast.

    Parameters
    ----------
    reader, encoding : str
        As the protocol names them.
    calendar : bool
        Whether calendar features join the values.
    shuffled : {"", "steps", "patches"}
        What stands in an order of its own.
    """

    reader: str
    encoding: str
    calendar: bool = False
    shuffled: str = ""

    @property
    def part(self) -> str:
        """Which part of the protocol it belongs to."""
        if self.reader in LINEAR:
            return "linear maps"
        if self.shuffled or self.encoding == plan.PLACEBO:
            return "controls"
        return "calendar" if self.calendar else "encodings"


@dataclass(frozen=True)
class State:
    """How far a place is.

    Parameters
    ----------
    trials, seeds : int
        Trainings that are there; no seed counts before all trials are there.
    planned : int
        Seeds that the protocol asks for.
    failed : int
        Seeds that were tried in vain.
    devices : frozenset of str
        Kinds of devices that trained its seeds.
    rate : float or None
        The learning rate that the trials chose; None before all of them are there.
    """

    trials: int
    seeds: int
    planned: int
    failed: int = 0
    devices: frozenset[str] = frozenset()
    rate: float | None = None
    # of the seeds, in their order, if the place is whole; `Stored.scores` guards them
    _metrics: tuple[dict[str, Any], ...] = field(default=(), repr=False)

    @property
    def whole(self) -> bool:
        """Whether all trials and seeds are there."""
        return len(self._metrics) == self.planned


@dataclass(frozen=True)
class Stored:
    """What is stored of the protocol.

    Parameters
    ----------
    states : mapping of (Way, str) to State
        By way and unit, all that the protocol plans.
    unused : int
        Trainings of the protocol that count nowhere: their rate is not the one that was chosen, or
        not all trials are there yet.
    """

    states: Mapping[tuple[Way, str], State] = field(repr=False)
    unused: int = 0

    def whole(self, ways: Iterable[Way], units: Iterable[str]) -> tuple[str, ...]:
        """Return those of some units on which every one of some ways is whole."""
        needed = tuple(ways)
        return tuple(u for u in units if all(self.states[way, u].whole for way in needed))

    def scores(
        self, way: Way, unit: str, score: str = "mase", *, last_check: bool = False
    ) -> NDArray[np.float64] | None:
        """Return a score of each seed, (n_seeds,); None where the models refused to give it.

        Raises ValueError if the place is not whole, or the unit is kept apart and `last_check` is
        False.
        """
        refuse_kept_apart([unit], last_check=last_check)
        state = self.states[way, unit]
        if not state.whole:
            raise ValueError(f"{way} on {unit} must be whole, got {state_text(state)}")
        found = [one.get(score) for one in state._metrics]
        return None if None in found else np.array(found, dtype=float)

    def mean_score(self, way: Way, unit: str, score: str = "mase") -> float:
        """Return the mean of a score over seeds, of a place whose models gave it.

        Raises ValueError as `scores` does.
        """
        found = self.scores(way, unit, score)
        assert found is not None, f"{way} on {unit} has no {score}"
        return float(found.mean())


def refuse_kept_apart(units: Iterable[str], *, last_check: bool) -> None:
    """Raise ValueError if some units are kept apart, unless this is their last check."""
    apart = [unit for unit in units if unit in plan.KEPT_APART]
    if apart and not last_check:
        raise ValueError(
            f"units must be counted ones, got {', '.join(apart)}, kept apart for the last check: "
            "write down the answer of the others first, then say last_check=True"
        )


def load_stored(records: Iterable[dict] | None = None) -> Stored:
    """Return what is stored of the protocol; by default of the folder of results.

    Raises ValueError if there is no file, or records are of several versions of a unit or an
    encoding.
    """
    found = results.load_records(FILES) if records is None else records
    known = {r["key"]: r for r in store.unique(iter(found)) if r.get("protocol") == plan.HASH}
    tables.check_one_version(list(known.values()))
    begun = {_place(record["settings"]) for record in known.values()}
    states = {}
    for one in plan.places(partial(_cell, _sources(known.values()))):
        place = _place(vars(one))
        states[place] = _state(one, known) if place in begun else State(0, 0, plan.n_seeds(one))
    used = sum(state.trials + state.seeds + state.failed for state in states.values())
    return Stored(states, len(known) - used)


def _cell(
    sources: Mapping[str, str], unit: str, reader: str, encoding: str, **options: Any
) -> ForecastSettings:
    """Return a cell as it was trained, so that neither files nor code of that time are needed."""
    options["encoding_source"] = sources.get(encoding, "")
    options["dataset_source"] = sources.get(unit, "")
    return plan.cell(unit, reader, encoding, **options)


def _sources(records: Iterable[dict]) -> dict[str, str]:
    """Return the fingerprints of units and encodings, by their names."""
    sources = {}
    for record in records:
        settings = record["settings"]
        sources[record["encoding"]] = settings["encoding_source"]
        sources[record["dataset"]] = settings["dataset_source"]
    return sources


def _place(settings: Mapping[str, Any]) -> tuple[Way, str]:
    way = Way(*(settings[name] for name in ("model", "encoding", "calendar", "shuffled")))
    return way, settings["dataset"]


def _state(one: ForecastSettings, known: Mapping[str, dict]) -> State:
    best = plan.tuned(one, known)
    if best is None:
        return State(sum(t.key in known for t in plan.trials(one)), 0, plan.n_seeds(one))
    keys = [cell.key for cell in plan.seeds(best)]
    records = [known[key] for key in keys if key in known]
    good = [record for record in records if "error" not in record]
    devices = frozenset(_kind(record["device"]) for record in good)
    whole = len(good) == plan.n_seeds(one)
    metrics = tuple(record["metrics"] for record in good) if whole else ()
    failed = len(records) - len(good)
    seeds = len(good), plan.n_seeds(one)
    return State(len(plan.RATES), *seeds, failed, devices, best.learning_rate, metrics)


def _kind(device: str) -> str:
    """Return "cuda" of "cuda:1" and of "cuda (a name)"."""
    return device.partition(" ")[0].partition(":")[0]


def state_text(state: State) -> str:
    """Return how far a place is, such as "4 of 4 trials and 2 of 5 seeds"."""
    of_trials = f"{state.trials} of {len(plan.RATES)} trials"
    failed = f", {state.failed} failed" * bool(state.failed)
    return f"{of_trials} and {state.seeds} of {state.planned} seeds{failed}"


def missing(
    stored: Stored, units: Sequence[str] = COUNTED, *, last_check: bool = False
) -> dict[tuple[Way, str], State]:
    """Return the places on some units that are not whole."""
    refuse_kept_apart(units, last_check=last_check)
    chosen = set(units)
    return {at: s for at, s in stored.states.items() if at[1] in chosen and not s.whole}


def completeness_rows(
    stored: Stored,
    by: Callable[[Way, str], str] = lambda way, _: f"{way.reader}, {way.part}",
    units: Sequence[str] = COUNTED,
    *,
    last_check: bool = False,
) -> dict[str, dict[str, str]]:
    """Return how many trials, seeds and places are there, a row for each part.

    Parameters
    ----------
    stored : Stored
    by : callable (way, unit) -> str
        Names the row that a place belongs to; by default readers and parts of the protocol.
    units : sequence of str
    last_check : bool
        Whether units kept apart may be counted.

    Raises ValueError if some unit is kept apart and `last_check` is False.
    """
    refuse_kept_apart(units, last_check=last_check)
    counts: dict[str, Counter] = {}
    for (way, unit), state in stored.states.items():
        if unit in units:
            counts.setdefault(by(way, unit), Counter()).update(_counted(state))
    names = ("trials", "seeds", "places whole")
    return {
        row: {name: f"{count[name]:,} of {count[f'{name}, all']:,}" for name in names}
        for row, count in counts.items()
    }


def _counted(state: State) -> dict[str, int]:
    return {
        "trials": state.trials,
        "trials, all": len(plan.RATES),
        "seeds": state.seeds,
        "seeds, all": state.planned,
        "places whole": int(state.whole),
        "places whole, all": 1,
    }


def units_rows(
    stored: Stored, units: Sequence[str] = COUNTED, *, last_check: bool = False
) -> dict[str, dict[str, str]]:
    """Return a row for each unit: how many places of each reader are whole."""
    refuse_kept_apart(units, last_check=last_check)
    rows: dict[str, dict[str, str]] = {}
    for unit in units:
        of = [(way.reader, s.whole) for (way, there), s in stored.states.items() if there == unit]
        rows[unit] = {
            reader: f"{sum(w for r, w in of if r == reader)} of {sum(r == reader for r, _ in of)}"
            for reader in dict.fromkeys(reader for reader, _ in of)
        }
    return rows


def encodings_rows(
    stored: Stored, units: Sequence[str] = COUNTED, *, last_check: bool = False
) -> dict[str, dict[str, str]]:
    """Return a row for each encoding: on how many units each reader is whole with it."""
    refuse_kept_apart(units, last_check=last_check)
    return {
        encoding: {
            reader: f"{len(stored.whole([Way(reader, encoding)], units))} of {len(units)}"
            for reader in READERS
        }
        for encoding in plan.ENCODINGS
    }


def completeness_sentences(stored: Stored) -> list[str]:
    """Return sentences: how much is whole, also of the units kept apart, and what is amiss."""
    told = []
    for where, some in (
        ("the units that count", COUNTED),
        ("those kept apart", plan.KEPT_APART),
    ):
        states = [state for (_, unit), state in stored.states.items() if unit in some]
        n = sum(state.whole for state in states)
        told.append(f"On {where} {n:,} of {len(states):,} places are whole.")
    if stored.unused:
        told.append(
            f"{stored.unused:,} stored trainings count nowhere: their learning rate is not the one "
            "that the trials chose, or not all trials are there."
        )
    if mixed := mixed_devices(stored):
        named = "; ".join(f"{reader} on {unit}" for reader, unit in mixed)
        told.append(f"Trained on more than one kind of device: {named}.")
    return told


def mixed_devices(stored: Stored) -> list[tuple[str, str]]:
    """Return reader and unit where seeds were trained on several kinds of devices."""
    kinds: dict[tuple[str, str], set[str]] = {}
    for (way, unit), state in stored.states.items():
        kinds.setdefault((way.reader, unit), set()).update(state.devices)
    return [place for place, some in kinds.items() if len(some) > 1]
