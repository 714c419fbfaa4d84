"""Train what a tier of the benchmark's protocol lacks, set by set."""

import argparse
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from posenc import _checks
from posenc_book import data
from posenc_book.bench import build, commands, jobs
from posenc_book.bench.driver import deadline
from posenc_book.bench.progress import Plan, name_place
from posenc_book.bench.stages import Files
from posenc_book.read.classification import protocol
from posenc_book.read.classification.protocol import Block
from posenc_book.records.settings import Settings
from posenc_book.records.store import Store


def train(options: argparse.Namespace) -> int:
    """Train what a tier of the book's protocol lacks, set by set; return 0, or 1 after failures.

    What is stored is not trained again, so a run that was stopped, or that had `--seconds` only,
    goes on where it was.
    """
    until = deadline(options.seconds)
    for name in options.datasets or []:
        _checks.choice("dataset", name, protocol.DATASETS)
    found = [
        block
        for block in blocks(options.tier, options.model, options.encodings)
        if not options.datasets or block.dataset in options.datasets
    ]
    if not found:
        raise ValueError(
            f"tier must have training runs of what is asked for, tier {options.tier} has none"
            f"{_asked(options)}"
        )
    named = [name for block in found for name in block.encodings]
    plan = Plan(len(named) * (commands.TRIALS + protocol.TRAINING["resamples"]))
    device = jobs.resolve_device(options.device)
    with commands.engine(options, device, named) as trains:
        return _train(found, options, commands.Trainer(options, trains, device, until, plan))


def _train(found: Sequence[Block], options: argparse.Namespace, trainer: commands.Trainer) -> int:
    for name in {block.dataset for block in found}:
        for split in data.SPLITS:
            data.load(name, split)
    planned = [
        (block, _groups(block), files(options.out, block.dataset, block.variant)) for block in found
    ]
    lacking = [
        group
        for _, groups, stored in planned
        for group in commands.lacking_tuned(groups, stored, again=options.retry_failed)
    ]
    name_place(options.out)
    commands.print_estimate(lacking, trainer)
    failed = []
    for block, groups, stored in planned:
        print(", ".join([block.dataset, f"model {block.model}", *filter(None, [block.variant])]))
        commands.print_changes(groups, stored.results, tuned=True)
        commands.staged(groups, stored, trainer)
        failed += commands.failed_cells(groups, stored)
        left = trainer.until - time.monotonic()
        if left < 0:
            _print_overrun(-left, stored, block.model)
            break
        if trainer.stopped:
            print(
                f"{left:.0f} s are left, and the longest training so far took "
                f"{trainer.longest:.0f} s: no other is begun; the same command goes on from here"
            )
            break
    return commands.exit_code(failed)


def cells(dataset: str, model: str, encoding: str, **changes: Any) -> list[Settings]:
    """Return the cells of one encoding in one model on one data set, a cell a resample.

    Resample and seed go together. A set that has its official split only gets as many seeds, each
    with a validation part of its own and, of a part above `max_cases`, series of its own.
    """
    only = data.official_only(dataset)
    common = {**protocol.TRAINING["settings"], **changes}
    common["encoding_source"] = build.encoding_fingerprint(encoding)
    common["dataset_source"] = data.fingerprint(dataset)
    return [
        Settings(
            encoding,
            model,
            dataset,
            seed=r,
            split_seed=r,
            resample=0 if only else r,
            profile=protocol.PROFILE,
            protocol=protocol.HASH,
            **common,
        )
        for r in range(protocol.TRAINING["resamples"])
    ]


def blocks(tier: int, model: str | None = None, names: Sequence[str] | None = None) -> list[Block]:
    """Return the blocks of a tier, with all of its encodings or with those that are named."""
    found = protocol.blocks(tier, model)
    return found if names is None else _with_encodings(found, names)


def _with_encodings(found: Sequence[Block], names: Sequence[str]) -> list[Block]:
    """Return the blocks with these encodings only, without those that have none of them."""
    names = list(dict.fromkeys(names))
    for name in names:
        build.find_class(name)
    planned = {name for block in found for name in block.encodings}
    later = [name for name in names if name not in planned]
    kept, seen = [], set()
    for block in found:
        place = block.model, block.dataset, block.variant
        own = [name for name in names if name in block.encodings]
        takes_later = place not in seen and block.variant not in protocol.CONTROLS
        chosen = [*own, *later] if takes_later else own
        seen.add(place)
        if chosen:
            kept.append(replace(block, encodings=tuple(chosen)))
    return kept


def files(folder: Path, dataset: str, variant: str = "") -> Files:
    """Return the files of a data set in a folder of results."""
    results = f"variant-{variant}-{dataset}" if variant else f"second-{dataset}"
    return Files(folder / f"tuning-{dataset}.jsonl", folder / f"{results}.jsonl")


def _groups(block: Block) -> list[list[Settings]]:
    """Return the cells of a block, those of one encoding together."""
    return [cells(block.dataset, block.model, name, **block.changes) for name in block.encodings]


def _asked(options: argparse.Namespace) -> str:
    """Return what a command asks a tier for, such as " of model patch on Libras"."""
    said = f" of model {options.model}" if options.model else ""
    return said + (f" on {', '.join(options.datasets)}" if options.datasets else "")


def _print_overrun(seconds: float, files: Files, model: str) -> None:
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
