"""Does T5's bias fall behind because far distances share a bucket? Asked once the answer was seen.

python -m posenc_book.read.forecasting.buckets --seconds 1800    # train what is missing

T5's bias with a bucket for each distance up to two days, at the learning rate that T5's own trials
chose. No answer of the protocol counts these trainings.
"""

import argparse
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from posenc._wall import behind
from posenc_book.bench import jobs, local
from posenc_book.bench.driver import Driver, deadline
from posenc_book.bench.progress import Progress
from posenc_book.bench.tuning import Cells
from posenc_book.read import results
from posenc_book.read.forecasting import protocol
from posenc_book.read.forecasting import train as training
from posenc_book.read.forecasting.store import UnitStores
from posenc_book.read.forecasting.train import ForecastSettings

FOLDER = "forecasting-buckets"
UNITS = ("etth1", "m4_hourly")  # both have a day of 24 steps
READERS = ("decoder", "steps_mean")
T5 = "t5"
ENOUGH = {"n_buckets": 224}  # one for each distance up to 55 on either side, or up to 111 back
N_SEEDS = 3

Errors = dict[tuple[str, str], NDArray[np.float64]]  # by reader and unit, (n_seeds,)


def cells(unit: str, reader: str, trials: UnitStores) -> list[ForecastSettings]:
    """Return the trainings of a reader on a unit, which belong to no protocol."""
    best = protocol.tuned(protocol.cell(unit, reader, T5), trials.records())
    if best is None:
        raise ValueError(f"the trials of {T5} for {reader} on {unit} must be there: train them")
    aside = replace(best, encoding_options=ENOUGH, profile=FOLDER, protocol="")
    return protocol.seeds(aside)[:N_SEEDS]


def load_enough() -> Errors:
    """Return the stored errors with enough buckets."""
    errors = {
        (record["model"], record["dataset"], record["settings"]["seed"]): record["metrics"]["mase"]
        for record in results.load_records(f"{FOLDER}/*")
    }
    return {
        (reader, unit): np.array([errors[reader, unit, seed] for seed in range(N_SEEDS)])
        for reader in READERS
        for unit in UNITS
    }


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; return 0, 1 if some trainings failed, 2 if an argument or file is wrong."""
    parser = argparse.ArgumentParser(
        prog="python -m posenc_book.read.forecasting.buckets", description=__doc__.split("\n")[0]
    )
    parser.add_argument("--out", type=Path, default=Path("results"), help="folder of the results")
    parser.add_argument("--device", default="auto", help="auto, cpu, cuda, cuda:1 or mps")
    parser.add_argument("--workers", type=int, help="processes; by default one for each core")
    parser.add_argument("--seconds", type=float, help="begin no training after so many seconds")
    options = parser.parse_args(arguments)
    try:
        return _train(options)
    except (ValueError, OSError) as error:
        print(f"posenc_book.read.forecasting.buckets: {error}", file=sys.stderr)
        return 2


def _train(options: argparse.Namespace) -> int:
    trials = UnitStores(options.out / "forecasting", "tuning-", UNITS)
    groups = [[one] for unit in UNITS for r in READERS for one in cells(unit, r, trials)]
    store = UnitStores(options.out / FOLDER, "", UNITS)
    with local.LocalEngine(options.workers) as engine:
        driver = Driver(
            Cells(groups),
            store,
            engine,
            device=jobs.resolve_device(options.device),
            until=deadline(options.seconds),
            train=training.train,
        )
        with Progress(len(groups), stage="buckets") as progress:
            return int(driver.run(progress).failed > 0)


if __name__ == "__main__":
    sys.exit(behind(main))
