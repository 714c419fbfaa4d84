"""What the command `run` does: cells, an engine, a driver, and what is printed."""

import argparse
import math
import sys
from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, fields
from pathlib import Path

from posenc import _checks, encodings
from posenc_book.bench import build, estimate, failures, jobs, local, stages, staleness, tuning
from posenc_book.bench import grid as grids
from posenc_book.bench.driver import Cells, Driver, Engine, Summary
from posenc_book.bench.progress import Plan, name_place
from posenc_book.records.settings import MOST_SEEDS, NAMED, PROTOCOL, RESAMPLES, Settings
from posenc_book.records.store import Store

TRIALS = len(tuning.RATES) + 1


@dataclass
class Trainer:
    """Trains what a results file lacks of some cells, as the options of a command say.

    What one stage has found out holds for the next: the seconds of the `longest` job, and whether
    it `stopped` for want of time. A wrong option is a ValueError, before anything is read.
    """

    options: argparse.Namespace
    engine: Engine
    device: str
    until: float = math.inf
    plan: Plan = field(default_factory=Plan)
    longest: float = 0.0
    stopped: bool = False

    def __post_init__(self) -> None:
        self._stack()

    def __call__(self, cells: Cells, store: Store) -> Summary:
        driver = Driver(
            cells,
            store,
            self.engine,
            stack=self._stack(),
            device=self.device,
            compile=getattr(self.options, "compile", False),
            retry_failed=self.options.retry_failed,
            until=self.until,
            longest=self.longest,
        )
        with self.plan.progress() as progress:
            try:
                return driver.run(progress)
            finally:
                self.plan.done = progress.done
                self.longest = driver.longest
                self.stopped = self.stopped or driver.stopped

    def _stack(self) -> int:
        usual = 16 if self.device.startswith("cuda") else 1
        stack = self.options.stack
        return _checks.count("stack", usual if stack is None else stack, minimum=1)


def engine(
    options: argparse.Namespace, device: str, encodings: Sequence[str]
) -> AbstractContextManager[Engine]:
    """Return what trains, to be held in a `with` block for all stages of a command."""
    named = getattr(options, "engine", "local")
    if named == "serial":
        return local.SerialEngine()
    if named == "local":
        usual = 1 if device.startswith("cuda") else None
        workers = options.workers
        return local.LocalEngine(usual if workers is None else workers)
    if "://" not in named:
        _checks.choice("engine", named, ("local", "serial", "tcp://HOST:PORT"))
    from posenc_book.bench.cluster import DaskEngine

    sources = [build.source_file(name) for name in encodings]
    return DaskEngine(named, [path for path in sources if path])


def run(options: argparse.Namespace) -> int:
    """Train a grid that the options name; return 0, or 1 if some cells failed."""
    if options.profile == PROTOCOL:
        _follow_protocol(options)
    device = options.device if options.engine not in ("local", "serial") else None
    device = device or jobs.resolve_device(options.device)
    grid = _grid(options)
    named = [spec.name for spec in grid.encodings]
    with engine(options, device, named) as trains:
        return _run(grid, options, Trainer(options, trains, device))


def _follow_protocol(options: argparse.Namespace) -> None:
    """Let a run be tuned, on resamples unless seeds are asked for, with `none` beside the rest."""
    options.tune = True
    if options.seeds is None and options.resamples is None:
        options.resamples = RESAMPLES
    if options.encodings and "none" not in options.encodings:
        options.encodings = ["none", *options.encodings]


def _run(grid: grids.Grid, options: argparse.Namespace, train: Trainer) -> int:
    grid = grid.fetch()
    for sentence in grid.exclusions():
        print(sentence, file=sys.stderr)
    if not len(grid):
        raise ValueError("encodings must be such as can stand at the sets' times, got none of them")
    train.plan.total = len(grid)
    print_changes(grid.groups(), options.out, tuned=options.tune)
    groups, files = list(grid.groups()), stages.beside(options.out) if options.tune else None
    if options.engine in ("local", "serial") and options.profile != "smoke":
        again = options.retry_failed
        lacking = (
            lacking_tuned(groups, files, again=again)
            if files
            else _lacking(groups, options.out, again=again)
        )
        print_estimate(lacking, train)
    cells: Cells
    name_place(Store(options.out).path, files.trials if files else None)
    if files is not None:
        train.plan.total += TRIALS * len(groups)
        summary = staged(groups, files, train)
        cells = tuning.Cells(stages.final(groups, files.trials))
        failed = failed_cells(groups, files)
    else:
        cells, summary = grid, train(grid, Store(options.out))
        failed = [(options.out, failures.of(grid.groups(), options.out))]
    _print_summary(summary, options.out)
    if options.profile != "smoke":
        _warn_of_short_trainings(options.out, cells)
    return exit_code(failed)


def staged(groups: Sequence[Sequence[Settings]], files: stages.Files, train: Trainer) -> Summary:
    """Tune and train, and return what the last stage did."""
    for title, summary in stages.run(groups, files, train, train.plan.begin):
        done = f"{summary.trained} trained ({summary.failed} failed)"
        print(f"{title}: {done}, {summary.skipped} were there{_left(summary)}")
    return summary


def failed_cells(
    groups: Sequence[Sequence[Settings]], files: stages.Files
) -> list[tuple[Path, list[dict]]]:
    """Return the failed records of tuned trainings and of their trials, by their files."""
    planned = (_trials(groups, files.trials), files.trials)
    final = (stages.final(groups, files.trials), files.results)
    return [(path, failures.of(cells, path)) for cells, path in (planned, final)]


def exit_code(failed: Sequence[tuple[Path, list[dict]]]) -> int:
    """Say which cells have failed, now or before, and return the exit code."""
    lines = failures.summary_lines(failed)
    for line in lines:
        print(line)
    return 1 if lines else 0


def _left(summary: Summary) -> str:
    """Return which of the cells that were there had failed, and which were left, and why."""
    elsewhere, waiting = summary.elsewhere, summary.waiting
    said = f" ({summary.failed_before} of them failed)" if summary.failed_before else ""
    said += f", {elsewhere} are being trained by another run" if elsewhere else ""
    return said + (f", {waiting} wait for trials that have not ended" if waiting else "")


def _grid(options: argparse.Namespace) -> grids.Grid:
    if options.seeds is not None and options.resamples is not None:
        raise ValueError("--seeds and --resamples exclude each other: each resample has its seed")
    resampled = options.resamples is not None
    name, asked = ("resamples", options.resamples) if resampled else ("seeds", options.seeds)
    n = _checks.count(name, 5 if asked is None else asked, minimum=1, maximum=MOST_SEEDS)
    changes = {n.name: getattr(options, n.name) for n in fields(Settings) if n.name not in NAMED}
    return grids.make(
        grids.both_clocks(options.datasets),
        options.encodings or encodings.names(),
        options.models or list(build.MODELS),
        range(n),
        options.profile,
        resampled=resampled,
        **{name: value for name, value in changes.items() if value is not None},
    )


def print_changes(groups: Iterable[Sequence[Settings]], out: Path, *, tuned: bool) -> None:
    """Say what is trained anew because an encoding's code or the series have changed."""
    from posenc_book.records import tables

    for sentence in staleness.staleness_lines(groups, out, label=tables.label, tuned=tuned):
        print(sentence, flush=True)  # before what the training writes elsewhere


def print_estimate(groups: Sequence[Sequence[Settings]], train: Trainer) -> None:
    """Say how many trainings are lacking, and how long they take at most."""
    seconds = estimate.at_most(groups, train.engine.n_workers, train.device)
    if seconds:
        n = sum(map(len, groups))
        runs = "training run" if n == 1 else "training runs"
        print(f"{n} {runs}, {estimate.duration_text(seconds)} if none stops early", file=sys.stderr)


def lacking_tuned(
    groups: Sequence[Sequence[Settings]], files: stages.Files, *, again: bool
) -> list[list[Settings]]:
    """Return the trials and the trainings that are lacking."""
    trials = _lacking(_trials(groups, files.trials), files.trials, again=again)
    return trials + _lacking(stages.final(groups, files.trials), files.results, again=again)


def _trials(groups: Sequence[Sequence[Settings]], path: Path) -> list[list[Settings]]:
    """Return all trials; a fourth that is not chosen yet costs as the first does."""
    records, found = stages.finished(path), []
    for cell, *_ in groups:
        first = tuning.first_trials(cell)
        found += [[trial] for trial in (*first, tuning.last_trial(cell, records) or first[0])]
    return found


def _lacking(
    groups: Sequence[Sequence[Settings]], path: Path, *, again: bool
) -> list[list[Settings]]:
    """Return the groups of which a file lacks a cell; a failed one as well if it is tried again."""
    store = Store(path)
    store.refresh()

    def is_there(key: str) -> bool:
        return store.finished(key) or (store.failed(key) and not again)

    return [list(some) for some in groups if not all(is_there(cell.key) for cell in some)]


def _print_summary(summary: Summary, out: Path) -> None:
    waiting = f", {summary.waiting} wait for trials" if summary.waiting else ""
    before = f" ({summary.failed_before} of them failed)" if summary.failed_before else ""
    print(
        f"{summary.trained} cells trained, {summary.failed} of them failed; {summary.skipped} were "
        f"there{before}, {summary.elsewhere} are being trained by another run{waiting}; "
        f"results in {out}"
    )


def _warn_of_short_trainings(path: Path, cells: Cells) -> None:
    from posenc_book.records import tables

    keys = _keys(cells.groups())
    note = tables.short_trainings(r for r in Store(path) if r["key"] in keys)
    if note:
        print(note)


def _keys(groups: Iterable[Sequence[Settings]]) -> set[str]:
    return {cell.key for group in groups for cell in group}
