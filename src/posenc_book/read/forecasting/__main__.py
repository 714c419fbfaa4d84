"""Train what is missing of the forecasting experiment.

python -m posenc_book.read.forecasting --units etth1 --readers patches_flat --seconds 600

On a GPU, `--device cuda --workers 16`. These models are small, so several processes have to share
it to fill it, which NVIDIA's MPS does best (`nvidia-cuda-mps-control -d` before the command).
"""

import argparse
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from posenc._wall import behind
from posenc_book.bench import jobs, local
from posenc_book.bench.driver import Driver, deadline
from posenc_book.bench.progress import Progress, name_place
from posenc_book.bench.tuning import Cells
from posenc_book.read.forecasting import protocol
from posenc_book.read.forecasting import train as training
from posenc_book.read.forecasting.readers import LINEAR, READERS
from posenc_book.read.forecasting.store import UnitStores
from posenc_book.read.forecasting.units import UNITS

STACK = 5  # trainings that may share a stack on a processor; on a GPU the groups say it


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; return 0, 1 if some trainings failed, 2 if an argument or file is wrong."""
    options = _parser().parse_args(arguments)
    try:
        return _run(options)
    except (ValueError, OSError) as error:
        print(f"posenc_book.read.forecasting: {error}", file=sys.stderr)
        return 2


def _run(options: argparse.Namespace) -> int:
    device = jobs.resolve_device(options.device)
    until, failed, stacked = deadline(options.seconds), 0, device.startswith("cuda")
    name_place(options.out)
    with local.LocalEngine(options.workers) as engine:
        for name, store, cells in _stages(options, stacked):
            driver = Driver(
                cells,
                store,
                engine,
                stack=protocol.STACKED if stacked else STACK,
                device=device,
                retry_failed=options.retry_failed,
                until=until,
                train=training.train,
            )
            with Progress(len(cells), stage=name) as progress:
                failed += driver.run(progress).failed
            if driver.stopped:
                print("no time is left; the same command goes on from here")
                break
    return int(failed > 0)


def _stages(options: argparse.Namespace, stacked: bool) -> Iterator[tuple[str, UnitStores, Cells]]:
    """Yield, reader by reader, the trials and then what their best rates train."""
    tried = UnitStores(options.out, "tuning-", options.units)
    trained = UnitStores(options.out, "", options.units)
    for reader in options.readers:
        every = protocol.places(options.units, [reader])
        chosen = [one for one in every if one.encoding in options.encodings]
        yield f"{reader}, trials", tried, protocol.all_trials(chosen, stacked=stacked)
        seeds = protocol.all_seeds(chosen, tried.records(), stacked=stacked)
        yield f"{reader}, training", trained, seeds


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m posenc_book.read.forecasting",
        description="Train what is missing of the forecasting experiment; stop and go on at will.",
    )
    parser.add_argument(
        "--units", nargs="+", choices=UNITS, default=list(UNITS), metavar="NAME",
        help=f"all, or some of {', '.join(UNITS)}",
    )  # fmt: skip
    every = [*READERS, *LINEAR]
    parser.add_argument(
        "--readers", nargs="+", choices=every, default=every, metavar="NAME",
        help=f"all, or some of {', '.join(every)}",
    )  # fmt: skip
    encodings = [*protocol.ENCODINGS, protocol.PLACEBO]
    parser.add_argument(
        "--encodings", nargs="+", choices=encodings, default=encodings, metavar="NAME",
        help=f"all, or some of {', '.join(encodings)}",
    )  # fmt: skip
    parser.add_argument(
        "--out", type=Path, default=Path("results", "forecasting"), help="folder of the results"
    )
    parser.add_argument("--device", default="auto", help="auto, cpu, cuda, cuda:1 or mps")
    parser.add_argument("--workers", type=int, help="processes; by default one for each core")
    parser.add_argument("--seconds", type=float, help="begin no training after so many seconds")
    parser.add_argument("--retry-failed", action="store_true", help="try failed cells again")
    return parser


if __name__ == "__main__":
    sys.exit(behind(main))
