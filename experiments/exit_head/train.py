"""The cells: trials that name each series by its lead, then trials and seeds of all encodings."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from experiments.exit_head import series
from experiments.forecasting.stages import Stage
from experiments.forecasting.store import UnitStores
from posenc_book import _files
from posenc_book.bench import seeded
from posenc_book.bench.tuning import Cells
from posenc_book.forecast import baselines
from posenc_book.forecast import train as training
from posenc_book.forecast.windows import cut
from posenc_book.read.exit_head import FLAT, HASH, NONE, PLAN, PROFILE, SERIES, named
from posenc_book.read.forecasting import plan as before
from posenc_book.records.forecasts import TRIAL, ForecastSettings

LINEAR = "linear"
Change = Callable[[ForecastSettings], ForecastSettings]


def cell(name: str, reader: str, encoding: str = NONE) -> ForecastSettings:
    """Return one training, before its rate is chosen."""
    unit = series.unit(name)
    return ForecastSettings(
        encoding,
        reader,
        name,
        profile=PROFILE,
        protocol=HASH,
        patch=unit.shape.patch,
        encoding_source=seeded.encoding_source(encoding),
        dataset_source=unit.fingerprint,
        **before.TRAINING["settings"],
    )


def rehearsed(one: ForecastSettings, steps: int) -> ForecastSettings:
    """Return a cell of a few steps, which belongs to no plan and is never tested."""
    return replace(one, profile=TRIAL, protocol="", steps=steps, check_every=steps)


def stages(names: Sequence[str], folder: Path, rehearse: int | None = None) -> Iterator[Stage]:
    """Yield the trials that name the series and, once they are named, all others and the seeds.

    The call that writes the names down ends there, so that they can be stored elsewhere first. In a
    rehearsal some series are named by themselves, else all of the plan are needed.
    """
    every = SERIES if rehearse is None else names
    tried, trained = (UnitStores(folder, kind, every) for kind in ("tuning-", ""))

    def made(name: str, reader: str, encoding: str = NONE) -> ForecastSettings:
        one = cell(name, reader, encoding)
        return one if rehearse is None else rehearsed(one, rehearse)

    pairs = {name: (made(name, LINEAR), made(name, FLAT)) for name in every}
    yield "trials that name", tried, Cells([naming(one) for n in names for one in pairs[n]])
    leads = leads_of(pairs, tried.records())
    if leads is None:
        print("trials of some series are missing, so none is named yet")
    if leads is None or write_down(folder / "leads.json", leads, rehearse is None):
        return
    learned = [name for name in names if leads[name]["learned"]]
    places = [
        made(name, reader, encoding)
        for name in learned
        for reader in PLAN["readers"]
        for encoding in PLAN["encodings"]
    ]
    yield "trials", tried, Cells([trials(one) for one in places])
    known = tried.records()
    best = [tuned(one, known) for one in places]
    yield "training", trained, Cells([before.seeds(one) for one in best if one])


def naming(one: ForecastSettings) -> list[ForecastSettings]:
    """Return the trials of four rates that take as many steps as what is compared."""
    return [replace(trial, steps=one.steps) for trial in before.trials(one)]


def trials(one: ForecastSettings) -> list[ForecastSettings]:
    """Return the trials of four rates, as before; of a rehearsal they are no longer than it."""
    return [replace(trial, steps=min(trial.steps, one.steps)) for trial in before.trials(one)]


def tuned(one: ForecastSettings, known: Mapping[str, dict[str, Any]]) -> ForecastSettings | None:
    """Return the cell with the rate of its best trial; None if a trial is missing.

    Where all have failed it is trained all the same, so that its failures are stored.
    """
    tried = trials(one)
    if not all(trial.key in known for trial in tried):
        return None
    good = [trial for trial in tried if "error" not in known[trial.key]]
    if not good:
        return replace(one, learning_rate=PLAN["if all trials fail"], tuned="all trials failed")
    best = min(good, key=lambda trial: validation(known[trial.key]))
    return replace(one, learning_rate=best.learning_rate, tuned=f"{len(tried)} trials")


def validation(record: Mapping[str, Any]) -> float:
    """Return the validation error of a training."""
    return record["metrics"]["validation_mase"]


def leads_of(
    pairs: Mapping[str, Sequence[ForecastSettings]], known: Mapping[str, dict[str, Any]]
) -> dict[str, dict[str, Any]] | None:
    """Return each series' name by its lead, from a linear map and a transformer.

    None if a trial is missing.
    """
    of_each = {name: [naming(one) for one in pair] for name, pair in pairs.items()}
    if not all(t.key in known for pair in of_each.values() for tried in pair for t in tried):
        return None
    found = {}
    for name, pair in of_each.items():
        good = [[known[t.key] for t in tried if "error" not in known[t.key]] for tried in pair]
        linear, flat = (min(map(validation, some), default=None) for some in good)
        found[name] = named(naive(name), linear, flat)
    return found


def naive(name: str) -> float:
    """Return the validation error of the seasonal naive forecast."""
    unit = series.unit(name)
    choosing = cut(unit).validation
    return baselines.score(choosing, baselines.seasonal_naive(unit, choosing))["mase"]


def write_down(path: Path, leads: Mapping[str, dict[str, Any]], planned: bool) -> bool:
    """Write the leads and return True, or return False if they stand there already.

    Raises ValueError if others stand there.
    """
    told = {"protocol": HASH if planned else "", "leads": leads}
    if path.is_file():
        if json.loads(_files.text(path)) != told:
            raise ValueError(f"{path}: the leads were named otherwise; take another --out")
        return False
    _files.replace(path, json.dumps(told, indent=1) + "\n")
    for name, one in leads.items():
        lead = "none" if one["lead"] is None else f"{one['lead']:+.3f}"
        print(f"{name}: lead {lead}{'' if one['learned'] else ', not learned'}")
    print(f"named in {path}; store it elsewhere, then the same command goes on")
    return True


def train(cells: Sequence[ForecastSettings], device: str = "cpu", **options: Any) -> list[Any]:
    """Train cells as the book's forecasters are, on a series that the worker reads itself."""
    series.unit(cells[0].dataset)
    return training.train(cells, device, **options)
