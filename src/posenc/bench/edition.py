"""The command `python -m posenc.bench protocol`: a tier of the book's protocol, set by set.

What is stored is not trained again, so a run that was stopped, or that had `--seconds` only, goes
on where it was. Results of a data set stand in `second-SET.jsonl`, its trials in
`tuning-SET.jsonl`.
"""

import argparse
import math
import time
from pathlib import Path

from posenc import _checks
from posenc.bench import jobs, protocol, stages
from posenc.bench.driver import Cells, Driver, Summary
from posenc.bench.local import LocalEngine
from posenc.bench.progress import Progress
from posenc.bench.stages import Files
from posenc.bench.store import Store


def run(options: argparse.Namespace) -> int:
    """Train what a tier lacks; return 0, or 1 if some cells failed."""
    device = jobs.resolve_device(options.device)
    on_gpu = device.startswith("cuda")
    stack = options.stack or (16 if on_gpu else 1)
    until = math.inf if options.seconds is None else time.monotonic() + options.seconds
    failed = 0

    def train(cells: Cells, store: Store) -> Summary:
        engine = LocalEngine(options.workers or (1 if on_gpu else None))
        driver = Driver(cells, store, engine, stack=stack, device=device, until=until)
        progress = Progress(len(cells))
        try:
            return driver.run(progress)
        finally:
            progress.close()

    for model, dataset, encodings in protocol.blocks(options.tier, options.model):
        if options.datasets and dataset not in options.datasets:
            continue
        if time.monotonic() > until:
            break
        groups = [protocol.cells(dataset, model, encoding) for encoding in encodings]
        for summary in stages.run(groups, files(options.out, dataset), train):
            failed += summary.failed
            print(f"{dataset} {model}: {summary.trained} trained, {summary.skipped} were there")
    return 1 if failed else 0


def files(folder: Path, dataset: str) -> Files:
    """Return the files of a data set in a folder of results."""
    _checks.choice("dataset", dataset, protocol.DATASETS)
    return Files(folder / f"tuning-{dataset}.jsonl", folder / f"second-{dataset}.jsonl")
