"""What the command `protocol` does: train what a tier lacks, set by set."""

import argparse
import time
from collections.abc import Sequence

from posenc import _checks
from posenc_book import data
from posenc_book.bench import commands, jobs, stages
from posenc_book.bench.driver import deadline
from posenc_book.bench.progress import Plan, name_place
from posenc_book.read.classification import protocol as protocols
from posenc_book.records.settings import Settings
from posenc_book.records.store import Store


def train(options: argparse.Namespace) -> int:
    """Train what a tier of the book's protocol lacks, set by set; return 0, or 1 after failures.

    What is stored is not trained again, so a run that was stopped, or that had `--seconds` only,
    goes on where it was.
    """
    until = deadline(options.seconds)
    for name in options.datasets or []:
        _checks.choice("dataset", name, protocols.DATASETS)
    blocks = [
        block
        for block in protocols.blocks(options.tier, options.model, options.encodings)
        if not options.datasets or block.dataset in options.datasets
    ]
    if not blocks:
        raise ValueError(
            f"tier must have training runs of what is asked for, tier {options.tier} has none"
            f"{_asked(options)}"
        )
    named = [name for block in blocks for name in block.encodings]
    plan = Plan(len(named) * (commands.TRIALS + protocols.TRAINING["resamples"]))
    device = jobs.resolve_device(options.device)
    with commands.engine(options, device, named) as trains:
        return _train(blocks, options, commands.Trainer(options, trains, device, until, plan))


def _train(
    blocks: Sequence[protocols.Block], options: argparse.Namespace, trainer: commands.Trainer
) -> int:
    for name in {block.dataset for block in blocks}:
        for split in data.SPLITS:
            data.load(name, split)
    planned = [
        (block, _groups(block), protocols.files(options.out, block.dataset, block.variant))
        for block in blocks
    ]
    lacking = [
        group
        for _, groups, files in planned
        for group in commands.lacking_tuned(groups, files, again=options.retry_failed)
    ]
    name_place(options.out)
    commands.print_estimate(lacking, trainer)
    failed = []
    for block, groups, files in planned:
        print(", ".join([block.dataset, f"model {block.model}", *filter(None, [block.variant])]))
        commands.print_changes(groups, files.results, tuned=True)
        commands.staged(groups, files, trainer)
        failed += commands.failed_cells(groups, files)
        left = trainer.until - time.monotonic()
        if left < 0:
            _print_overrun(-left, files, block.model)
            break
        if trainer.stopped:
            print(
                f"{left:.0f} s are left, and the longest training so far took "
                f"{trainer.longest:.0f} s: no other is begun; the same command goes on from here"
            )
            break
    return commands.exit_code(failed)


def _groups(block: protocols.Block) -> list[list[Settings]]:
    """Return the cells of a block, those of one encoding together."""
    return [
        protocols.cells(block.dataset, block.model, name, **block.changes)
        for name in block.encodings
    ]


def _asked(options: argparse.Namespace) -> str:
    """Return what a command asks a tier for, such as " of model patch on Libras"."""
    said = f" of model {options.model}" if options.model else ""
    return said + (f" on {', '.join(options.datasets)}" if options.datasets else "")


def _print_overrun(seconds: float, files: stages.Files, model: str) -> None:
    """Say by how much a slice was longer than asked, and by how much it may be."""
    stored = [r for path in (files.trials, files.results) for r in Store(path)]
    took = [_seconds_of_its_job(r) for r in stored if r["model"] == model]
    longest = f" (of those stored here, up to {max(took):.0f} s)" if took else ""
    print(
        f"the time is over, by {seconds:.0f} s: what has begun is trained to its end, so it may "
        f"overrun by as long as one training takes{longest}; the same command goes on from here"
    )


def _seconds_of_its_job(record: dict) -> float:
    """Return the wall time of a training with the seeds that were trained together with it."""
    return record["seconds"] * record["metrics"].get("seeds_together", 1)
