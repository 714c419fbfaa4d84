"""What a leak does to the anomaly windows: the same trainings on windows dealt out at random.

The benchmark splits SMD by time and MSL by channel. Here the windows of both parts are put together
and dealt out anew, with a test part of the same size and class counts, another deal for each seed.
Windows of one recording, and of one long anomaly, then stand on both sides. Everything else is as
in `windows-SMD.jsonl` and `windows-MSL.jsonl`.

    python benchmarks/random_windows.py --out results/windows-random.jsonl

Cells that the file holds are skipped. The sets are named SMD-random and MSL-random there.
"""

import argparse
import time
from collections.abc import Iterator
from functools import cache

import torch

from posenc_book import data
from posenc_book.bench import build, train
from posenc_book.data import measure
from posenc_book.data.synthetic import FAMILIES
from posenc_book.records import records
from posenc_book.records.settings import Settings
from posenc_book.records.store import Store

SETS = ("MSL", "SMD")
ENCODINGS = ("none", "sinusoidal", "dft")
SEEDS = range(5)


@cache
def dealt(name: str, seed: int) -> dict[str, data.Dataset]:
    """Return both parts of a set's windows, dealt out at random."""
    parts = measure.deal_at_random(data.load(name, "train"), data.load(name, "test"), seed)
    return dict(zip(("train", "test"), parts, strict=True))


def register(name: str) -> str:
    """Make the random windows of a set loadable, and return the name of the new set."""

    def load(split: str, seed: int = 0) -> data.Dataset:
        return dealt(name, seed)[split]

    FAMILIES[f"{name}-random"] = load
    return f"{name}-random"


def cells() -> Iterator[Settings]:
    """Return what is to be trained, set after set."""
    for name in map(register, SETS):
        for seed in SEEDS:
            for encoding in ENCODINGS:
                yield Settings(
                    encoding,
                    "time_series",
                    name,
                    seed=seed,
                    dataset_options={"seed": seed},
                    dataset_source=data.fingerprint(name, seed=seed),
                    encoding_source=build.encoding_fingerprint(encoding),
                )


def main() -> None:
    """Train what is missing, one cell after another."""
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument(
        "--out", required=True, help="results file, which the same command goes on with"
    )
    store = Store(arguments.parse_args().out)
    store.refresh()
    torch.set_num_threads(1)
    for cell in cells():
        if store.finished(cell.key):
            continue
        start = time.perf_counter()
        [scores] = train.train([cell])
        seconds = time.perf_counter() - start
        store.append(records.finished(cell, scores, device="cpu", seconds=seconds))
        print(f"{cell.dataset} {cell.encoding} {cell.seed}: F1 {scores['f1']:.3f}", flush=True)


if __name__ == "__main__":
    main()
