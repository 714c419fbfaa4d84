"""The cells of the third edition: the trials that tune one, and its trainings at the best rate."""

import inspect
import math
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from posenc import _checks
from posenc_book import data
from posenc_book.bench import build, commands, jobs, local
from posenc_book.bench.driver import deadline
from posenc_book.bench.progress import Plan, name_place
from posenc_book.bench.tuning import Cells
from posenc_book.read.edition3 import plan
from posenc_book.records.records import worth
from posenc_book.records.settings import Settings
from posenc_book.records.store import Store, unique

TUNING = plan.TRAINING["tuning"]
TRIAL = "third-trial"
STACKS = {"cpu": 4, "cuda": 16}  # resamples of a cell that share a stack, if they are short
TRIAL_DEAL = 1000  # which shares no deal with what is compared
Place = tuple[Settings, int]  # a cell, and how many trainings it has
Stage = tuple[str, list[list[Settings]], Store]  # its title, its groups of cells, their file


def cell(dataset: str, name: str, layers: int = 2, r: int = 1) -> Settings:
    """Return one training, before its rate is chosen."""
    encoding, options = plan.ENCODINGS[name]
    return Settings(
        encoding,
        plan.MODELS.get(name, plan.MODEL),
        dataset,
        seed=r,
        split_seed=r,
        resample=0 if data.official_only(dataset) else r,
        profile=plan.PROFILE,
        protocol=plan.HASH,
        encoding_options=options,
        dataset_options={"deal": "halves"} if dataset in plan.UNUSED else {},
        encoding_source=build.encoding_fingerprint(encoding),
        dataset_source=data.fingerprint(dataset),
        **{**plan.TRAINING["settings"], "n_layers": layers},
    )


def places_of(dataset: str, planned: Mapping[tuple[str, str, int], int]) -> list[Place]:
    """Return the cells of a set, each with the number of its trainings."""
    return [
        (cell(name, encoding, layers), n)
        for (name, encoding, layers), n in planned.items()
        if name == dataset
    ]


def stages(
    dataset: str, places: Sequence[Place], folder: Path, *, only_trials: bool = False
) -> Iterator[Stage]:
    """Yield the four trials, the fifth, and then what the best of them trains."""
    trials, trained = (Store(folder / f"{kind}{dataset}.jsonl") for kind in ("tuning-", ""))
    first = [[trial] for one, _ in places for trial in first_trials(one)]
    yield "trials", first, trials
    known = by_key(trials)
    last = [last_trial(one, known) for one, _ in places]
    yield "last trial", [[trial] for trial in last if trial], trials
    if only_trials:
        return
    known = by_key(trials)
    best = [(tuned(one, known), n) for one, n in places]
    yield "training", [trainings(one, n) for one, n in best if one], trained


def add_options(
    parser: ArgumentParser, sets: Sequence[str], out: Path | None, named_alone: Sequence[str] = ()
) -> None:
    """Let a command ask for sets, for a folder, by default `out`, and for how to train."""
    more = f"; only when named: {', '.join(named_alone)}" if named_alone else ""
    parser.add_argument(
        "--sets", nargs="+", choices=(*sets, *named_alone), default=list(sets), metavar="NAME",
        help=f"all, or some{more}",
    )  # fmt: skip
    parser.add_argument(
        "--out", type=Path, default=out, required=out is None, help="folder of the results"
    )
    parser.add_argument("--device", default="auto", help="auto, cpu, cuda, cuda:1 or mps")
    parser.add_argument("--workers", type=int, help="processes; by default one for each core")
    parser.add_argument("--seconds", type=float, help="begin no training after so many seconds")
    parser.add_argument("--retry-failed", action="store_true", help="try failed cells again")


def rehearsed(one: Settings, steps: int) -> Settings:
    """Return a cell of a few steps, which belongs to no protocol."""
    steps = _checks.count("rehearse", steps, minimum=1)
    names = ("steps", "least_steps", "patience_steps", "check_every")
    short: dict[str, Any] = dict.fromkeys(names, steps)
    return replace(one, profile="rehearsal", protocol="", **short)


def load_both(name: str) -> None:
    """Load both parts of a set, so that a missing one is known before anything is trained."""
    for split in data.SPLITS:
        data.load(name, split)


def run(
    options: Namespace,
    planned: Mapping[str, Iterator[Stage]],
    load: Callable[[str], object] = load_both,
) -> int:
    """Train what is missing of each set's stages; return 0, or 1 after failures."""
    until = deadline(options.seconds)
    for name in planned:
        load(name)
    device = jobs.resolve_device(options.device)
    options.stack = STACKS["cuda" if device.startswith("cuda") else "cpu"]
    name_place(options.out)
    with local.LocalEngine(options.workers) as engine:
        trainer = commands.Trainer(options, engine, device, until)
        return int(_carry_out(planned, trainer) > 0)


def _carry_out(planned: Mapping[str, Iterator[Stage]], trainer: commands.Trainer) -> int:
    """Train until all is there or no time is left, and return how many trainings failed."""
    n_failed = 0
    for name, some_stages in planned.items():
        for title, groups, store in some_stages:
            some = Cells(groups)
            trainer.plan = Plan(len(some), stage=f"{name}, {title}")
            n_failed += trainer(some, store).failed
            if trainer.stopped:
                print("no time is left; the same command goes on from here")
                return n_failed
    return n_failed


def by_key(store: Store) -> dict[str, dict]:
    """Return the records of a file by their keys, those that failed among them."""
    return {record["key"]: record for record in unique(iter(store))}


def trainings(one: Settings, n: int) -> list[Settings]:
    """Return a cell on each of its resamples, with as many seeds."""
    only = data.official_only(one.dataset)
    return [replace(one, seed=r, split_seed=r, resample=0 if only else r) for r in range(1, n + 1)]


def first_trials(one: Settings, deal: int = TRIAL_DEAL) -> list[Settings]:
    """Return the four trials that differ in their rate."""
    return [trial(one, deal, learning_rate=rate) for rate in plan.RATES]


def last_trial(
    one: Settings, records: Mapping[str, dict], deal: int = TRIAL_DEAL
) -> Settings | None:
    """Return the fifth trial; None if one of the four is missing, or all have failed."""
    ranked = _ranked(first_trials(one, deal), records)
    if not ranked:
        return None
    return trial(one, deal, **fifth(one.encoding, [some.learning_rate for some in ranked]))


def fifth(encoding: str, rates: Sequence[float]) -> dict[str, Any]:
    """Return what the fifth trial changes, from the rates that have worked, the best first."""
    if "scale" in inspect.signature(build.find_class(encoding)).parameters:
        return {"learning_rate": rates[0], "scale": _other_scale(encoding)}
    between = math.sqrt(rates[0] * rates[1]) if len(rates) > 1 else rates[0] / 2
    return {"learning_rate": float(f"{between:.2g}")}


def tuned(one: Settings, records: Mapping[str, dict], deal: int = TRIAL_DEAL) -> Settings | None:
    """Return the cell with the rate and size of its best trial; None if a trial is missing.

    Where all have failed it is trained as it is, so that its failures are stored, too.
    """
    tried = first_trials(one, deal)
    if not _ended(tried, records):
        return None
    last = last_trial(one, records, deal)
    if last is None:
        return replace(one, learning_rate=TUNING["if all fail"], tuned="all trials failed")
    if not _ended([last], records):
        return None
    best = _ranked([*tried, last], records)[0]
    told = f"{len(tried) + 1} trials of {best.steps} steps"
    return replace(one, learning_rate=best.learning_rate, scale=best.scale, tuned=told)


def trial(one: Settings, deal: int, **changes: Any) -> Settings:
    """Return a short training of a cell on a deal."""
    steps = min(TUNING["steps"], one.steps)
    short: dict[str, Any] = dict.fromkeys(("steps", "least_steps", "patience_steps"), steps)
    first: dict[str, Any] = dict.fromkeys(("seed", "split_seed"), deal)
    first["resample"] = deal if one.dataset in plan.UNUSED else 0
    return replace(one, profile=TRIAL, **first, **short, **changes)


def _ended(trials: Sequence[Settings], records: Mapping[str, dict]) -> bool:
    """Return whether all trials are stored, finished or failed."""
    return all(trial.key in records for trial in trials)


def _ranked(trials: Sequence[Settings], records: Mapping[str, dict]) -> list[Settings]:
    """Return those that did not fail, the best first; none if one is missing."""
    if not _ended(trials, records):
        return []
    good = [trial for trial in trials if "error" not in records[trial.key]]
    return sorted(good, key=lambda trial: worth(records[trial.key]), reverse=True)


def _other_scale(encoding: str) -> str:
    return "loud" if encoding in ("dft", "learnable") else "unit"
