"""What the command `forecast` does: read, cut, tune, train, and say what came out."""

import argparse
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

from posenc import _checks
from posenc_book.bench import failures, jobs, local, stages
from posenc_book.bench import progress as lines
from posenc_book.bench.driver import Driver, deadline
from posenc_book.bench.tuning import Cells
from posenc_book.forecast import blocks, cells, verdict
from posenc_book.forecast.cells import Plan
from posenc_book.forecast.grid import frequency, on_grid
from posenc_book.forecast.readers import READERS
from posenc_book.forecast.table import Form, read_tracks
from posenc_book.records.settings import MOST_SEEDS
from posenc_book.records.store import Store, unique

STACK = {"cpu": 5, "cuda": 10}  # seeds or trials that are trained as one stack


def run(options: argparse.Namespace) -> int:
    """Run the command; return 0, or 1 if some cells failed."""
    until, device = deadline(options.seconds), jobs.resolve_device(options.device)
    plan = make_plan(options)
    files = stages.beside(options.out)
    lines.name_place(files.results, files.trials)
    print(_course(plan), file=sys.stderr)
    with local.LocalEngine(options.workers) as engine:
        for name, path, some in _stages(plan, files):
            driver = Driver(
                some,
                Store(path),
                engine,
                stack=STACK["cuda" if device.startswith("cuda") else "cpu"],
                device=device,
                retry_failed=options.retry_failed,
                until=until,
                train=plan.train,
            )
            with lines.Progress(len(some), stage=name) as progress:
                summary = driver.run(progress)
            if driver.stopped or summary.elsewhere:
                why = "no time is left" if driver.stopped else "another run is at some of it"
                left = f"{len(some) - summary.trained - summary.skipped} cells of {name}"
                print(f"{why}: {left} are to be trained; the same command goes on from here")
                return 0
    return report(plan, files, options.margin)


def make_plan(options: argparse.Namespace) -> Plan:
    """Return what the options ask for, after looking for all that is wrong with them."""
    profile = _checks.choice("profile", options.profile, cells.PROFILES)
    for reader in options.readers:
        _checks.choice("reader", reader, READERS)
    encodings = [name for name in options.encodings or cells.USUAL if name != cells.NONE]
    cells.check_names(options.readers, encodings)
    _checks.probability("margin", _checks.positive("margin", options.margin))
    n_blocks = cells.BLOCKS[profile] if options.blocks is None else options.blocks
    seeds = cells.SEEDS[profile] if options.seeds is None else options.seeds
    _checks.count("seeds", seeds, minimum=1, maximum=MOST_SEEDS)
    every = frequency(options.frequency)
    season = every.season if options.season is None else options.season
    shape = blocks.shape(season, options.horizon, options.context)
    form = Form(
        options.time,
        options.value,
        options.series,
        options.separator.replace("\\t", "\t"),
        options.decimal,
        options.time_format,
        options.known_ahead,
    )
    grid = on_grid(options.file, read_tracks(options.file, form), every)
    how = {"calendar": options.calendar, "context": options.context}
    layout = blocks.lay_out(options.file, grid, shape, n_blocks, **how)
    for note in grid.notes:
        print(note, file=sys.stderr)
    return Plan(layout, options.readers, encodings, _rivals(), profile, seeds, form.known)


def _rivals() -> list[str]:
    """Return the baselines that can be computed here; say what is missing for the others."""
    if find_spec("statsforecast") is not None:
        return list(cells.BASELINES)
    needs = "it needs statsforecast, which pip install 'posenc-book[forecasting]' brings"
    print(f"theta is left out: {needs}", file=sys.stderr)
    return [name for name in cells.BASELINES if name != "theta"]


def _course(plan: Plan) -> str:
    """Return how the file is looked at, in two sentences."""
    layout, shape = plan.layout, plan.layout.shape
    n, first = len(layout.names), layout.unit(0)
    series = "one series" if n == 1 else f"{n:,} series"
    dropped = f" ({first.dropped:,} of them too short or constant)" if first.dropped else ""
    ahead = f" Known ahead: {', '.join(plan.known)}." if plan.known else ""
    how = "other series choose" if layout.panel else f"{layout.choosing:,} steps before each choose"
    return (
        f"{layout.stem}: {series}{dropped} of {layout.n_steps:,} steps; {shape.context} steps are "
        f"seen, {shape.horizon} forecast, the season has {shape.season}. {layout.n_blocks} blocks "
        f"of {layout.length:,} steps test, from step {layout.begin(0) + 1:,} on; {how}.{ahead}"
    )


def _stages(plan: Plan, files: stages.Files) -> Iterator[tuple[str, Path, Cells]]:
    """Yield the trials, and then what the best of them train."""
    yield "tuning", files.trials, plan.all_trials()
    yield "training", files.results, plan.all_cells(known(files.trials))


def known(path: Path) -> dict[str, dict]:
    """Return the records of a file by their keys; none if there is no file."""
    return {r["key"]: r for r in unique(iter(Store(path)))} if path.is_file() else {}


def report(plan: Plan, files: stages.Files, margin: float) -> int:
    """Print the table and what it says; return 1 if some cells failed."""
    rates = known(files.trials)
    errors = verdict.errors(plan, known(files.results), rates)
    found = verdict.effects(plan, errors, margin)
    print(verdict.table(plan, errors, found))
    print()
    print(_explained(plan, margin))
    print()
    if plan.profile == "smoke":
        print("The profile smoke only tries whether all runs: its numbers say nothing.")
    else:
        print("\n".join(verdict.verdict_sentences(plan, errors, found)))
    print(f"results in {files.results}", file=sys.stderr)
    trained = plan.all_cells(rates)
    failed = [
        (path, failures.of(some.groups(), path))
        for path, some in ((files.trials, plan.all_trials()), (files.results, trained))
        if path.is_file()
    ]
    told = failures.summary_lines(failed)
    for line in told:
        print(line)
    return 1 if told else 0


def _explained(plan: Plan, margin: float) -> str:
    seeds = "seed" if plan.seeds == 1 else "seeds"
    return (
        "MASE: the mean absolute error, over that of the seasonal naive forecast where one learns. "
        f"Changes are means over {plan.layout.n_blocks} blocks and {plan.seeds} {seeds}, against "
        f"none with {plan.readers[0]}; minus is better. Intervals are Student's t over blocks. "
        "Answers are corrected for the number of encodings (Holm), and up to "
        f"{100 * margin:g} % counts as equal. They are about this file's further course, not about "
        "other data."
    )
