"""Train T5's bias with a bucket for each distance up to two days, asked once the answer was seen.

    python -m experiments.forecasting.buckets --seconds 1800

Each takes the learning rate that T5's own trials chose. They belong to no protocol.
"""

import argparse
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from experiments.forecasting import cells
from experiments.forecasting.store import UnitStores
from posenc._wall import behind
from posenc_book.bench import console, jobs, local
from posenc_book.bench.driver import Driver, deadline
from posenc_book.bench.progress import Progress
from posenc_book.bench.tuning import Cells
from posenc_book.forecast.train import train
from posenc_book.read.forecasting import plan
from posenc_book.read.forecasting.buckets import FOLDER, N_SEEDS, READERS, T5, UNITS
from posenc_book.records.forecasts import ForecastSettings

ENOUGH = {"n_buckets": 224}  # one for each distance up to 55 on either side, or up to 111 back


def seeds(unit: str, reader: str, trials: UnitStores) -> list[ForecastSettings]:
    """Return the trainings of a reader on a unit."""
    best = plan.tuned(cells.cell(unit, reader, T5), trials.records())
    if best is None:
        raise ValueError(f"the trials of {T5} for {reader} on {unit} must be there: train them")
    aside = replace(best, encoding_options=ENOUGH, profile=FOLDER, protocol="")
    return plan.seeds(aside)[:N_SEEDS]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; return 0, 1 if some trainings failed, 2 if an argument or file is wrong."""
    parser = argparse.ArgumentParser(
        prog="python -m experiments.forecasting.buckets", description=__doc__.split("\n")[0]
    )
    parser.add_argument("--out", type=Path, default=Path("results"), help="folder of the results")
    parser.add_argument("--device", default="auto", help="auto, cpu, cuda, cuda:1 or mps")
    parser.add_argument("--workers", type=int, help="processes; by default one for each core")
    parser.add_argument("--seconds", type=float, help="begin no training after so many seconds")
    parser.set_defaults(command=_train)
    return console.run(parser, arguments)


def _train(options: argparse.Namespace) -> int:
    trials = UnitStores(options.out / "forecasting", "tuning-", UNITS)
    groups = [[one] for unit in UNITS for r in READERS for one in seeds(unit, r, trials)]
    store = UnitStores(options.out / FOLDER, "", UNITS)
    with local.LocalEngine(options.workers) as engine:
        driver = Driver(
            Cells(groups),
            store,
            engine,
            device=jobs.resolve_device(options.device),
            until=deadline(options.seconds),
            train=train,
        )
        with Progress(len(groups), stage="buckets") as progress:
            return int(driver.run(progress).failed > 0)


if __name__ == "__main__":
    sys.exit(behind(main))
