"""Train what is missing of the third edition, set by set.

python -m posenc_book.read.edition3 --sets CBF ERing --seconds 600
python -m posenc_book.read.edition3 --families shaw S31       # only what these need
python -m posenc_book.read.edition3 --tune --seconds 600      # only the trials that choose rates
python -m posenc_book.read.edition3 --sets RacketSports --rehearse 20 --out /tmp/rehearsal
"""

import argparse
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from posenc import _checks
from posenc._wall import behind
from posenc_book import data
from posenc_book.bench import jobs, local
from posenc_book.bench.driver import Driver, deadline
from posenc_book.bench.progress import Progress, name_place
from posenc_book.bench.tuning import Cells
from posenc_book.read.edition3 import protocol, sets
from posenc_book.read.edition3.questions import FAMILIES, cells, cells_on_gpu
from posenc_book.records.settings import Settings
from posenc_book.records.store import Store, unique

NAMES = (*sets.SURVEY, *sets.COUNTED)
STACKS = {"cpu": 4, "cuda": 16}  # resamples of a cell that share a stack, if they are short
REHEARSAL = "rehearsal"
Place = tuple[Settings, int]  # a cell, and how many trainings it has


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; return 0, 1 if some trainings failed, 2 if an argument or file is wrong."""
    options = _parser().parse_args(arguments)
    try:
        until = deadline(options.seconds)
        chosen = _chosen(options)
        return int(_run(chosen, options, until) > 0)
    except (ValueError, OSError) as error:
        print(f"posenc_book.read.edition3: {error}", file=sys.stderr)
        return 2


def _chosen(options: argparse.Namespace) -> dict[str, list[Place]]:
    """Return the places of the sets that are asked for; what waits for a GPU comes if named."""
    planned = cells(options.families) | cells_on_gpu()
    if options.rehearse is not None:
        steps = _checks.count("rehearse", options.rehearse, minimum=1)
        unused = [name for name in options.sets if name in sets.UNUSED]
        if unused:
            raise ValueError(
                f"sets must be of the survey in a rehearsal, as nothing of an unused set is read "
                f"in one, got {', '.join(unused)}"
            )
        if options.out == _parser().get_default("out"):
            raise ValueError("out must name another folder than the results' in a rehearsal")
        return {name: _rehearsed(places_of(name, planned), steps) for name in options.sets}
    return {name: places_of(name, planned) for name in options.sets}


def places_of(dataset: str, planned: dict[tuple[str, str, int], int]) -> list[Place]:
    """Return the cells of a set, each with the number of its trainings."""
    return [
        (protocol.cell(name, encoding, layers), n)
        for (name, encoding, layers), n in planned.items()
        if name == dataset
    ]


def _rehearsed(places: Sequence[Place], steps: int) -> list[Place]:
    """Return cells of a few steps and one training, which belong to no protocol."""
    short: dict[str, Any] = dict.fromkeys(
        ("steps", "least_steps", "patience_steps", "check_every"), steps
    )
    return [(replace(one, profile=REHEARSAL, protocol="", **short), 1) for one, _ in places]


@dataclass
class _Stage:
    """What the stages of one command share."""

    engine: local.LocalEngine
    device: str
    retry_failed: bool
    until: float
    longest: float = 0.0

    def train(self, title: str, groups: Sequence[list[Settings]], store: Store) -> tuple[int, bool]:
        """Train some groups; return how many trainings failed, and whether time has run out."""
        stack = STACKS["cuda" if self.device.startswith("cuda") else "cpu"]
        driver = Driver(
            Cells(groups),
            store,
            self.engine,
            stack=stack,
            device=self.device,
            retry_failed=self.retry_failed,
            until=self.until,
            longest=self.longest,
        )
        with Progress(len(driver.grid), stage=title) as progress:
            failed = driver.run(progress).failed
        self.longest = driver.longest
        return failed, driver.stopped


def _run(chosen: dict[str, list[Place]], options: argparse.Namespace, until: float) -> int:
    """Train what is missing, and return how many trainings failed."""
    for name in chosen:  # so that a missing set is known before anything is trained
        for split in data.SPLITS:
            data.load(name, split)
    device, n_failed = jobs.resolve_device(options.device), 0
    name_place(options.out)
    with local.LocalEngine(options.workers) as engine:
        stage = _Stage(engine, device, options.retry_failed, until)
        for name, places in chosen.items():
            for title, groups, store in _stages(name, places, options.out, options.tune):
                failed, stopped = stage.train(f"{name}, {title}", groups, store)
                n_failed += failed
                if stopped:
                    print("no time is left; the same command goes on from here")
                    return n_failed
    return n_failed


def _stages(
    dataset: str, places: Sequence[Place], folder: Path, only_trials: bool = False
) -> Iterator[tuple[str, list[list[Settings]], Store]]:
    """Yield the four trials, the fifth, and then what the best of them trains."""
    trials, trained = (Store(folder / f"{kind}{dataset}.jsonl") for kind in ("tuning-", ""))
    first = [[trial] for one, _ in places for trial in protocol.first_trials(one)]
    yield "trials", first, trials
    known = by_key(trials)
    last = [protocol.last_trial(one, known) for one, _ in places]
    yield "last trial", [[trial] for trial in last if trial], trials
    if only_trials:
        return
    known = by_key(trials)
    tuned = [(protocol.tuned(one, known), n) for one, n in places]
    yield "training", [protocol.trainings(one, n) for one, n in tuned if one], trained


def by_key(store: Store) -> dict[str, dict]:
    """Return the records of a file by their keys, those that failed among them."""
    return {record["key"]: record for record in unique(iter(store))}


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m posenc_book.read.edition3",
        description="Train what is missing of the third edition; stop and go on at will.",
    )
    parser.add_argument(
        "--sets", nargs="+", choices=(*NAMES, *sets.LONG), default=list(NAMES), metavar="NAME",
        help=f"all that answers count, or some; those that wait for a GPU: {', '.join(sets.LONG)}",
    )  # fmt: skip
    parser.add_argument(
        "--families", nargs="+", choices=FAMILIES, default=FAMILIES, metavar="NAME",
        help=f"train what all questions and claims need, or some of {', '.join(FAMILIES)}",
    )  # fmt: skip
    parser.add_argument(
        "--out", type=Path, default=Path("results", "edition-3"), help="folder of the results"
    )
    parser.add_argument("--device", default="auto", help="auto, cpu, cuda, cuda:1 or mps")
    parser.add_argument("--workers", type=int, help="processes; by default one for each core")
    parser.add_argument("--seconds", type=float, help="begin no training after so many seconds")
    parser.add_argument("--retry-failed", action="store_true", help="try failed cells again")
    parser.add_argument(
        "--tune", action="store_true", help="stop before the trainings: only choose their rates"
    )
    parser.add_argument(
        "--rehearse", type=int, metavar="STEPS",
        help="train each cell once for so many steps, on sets of the survey, into another folder",
    )  # fmt: skip
    return parser


if __name__ == "__main__":
    sys.exit(behind(main))
