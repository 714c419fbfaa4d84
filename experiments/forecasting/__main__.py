"""Train what is missing of the forecasting experiment.

python -m experiments.forecasting --units etth1 --readers patches_flat --seconds 600

On a GPU, `--device cuda --workers 16`. These models are small, so several processes have to share
it to fill it, which NVIDIA's MPS does best (`nvidia-cuda-mps-control -d` before the command).
"""

import argparse
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from experiments.forecasting import cells
from experiments.forecasting.stages import Stage, carry_out
from experiments.forecasting.store import UnitStores
from posenc._wall import behind
from posenc_book.bench import console, jobs
from posenc_book.forecast.train import train
from posenc_book.read.forecasting import plan
from posenc_book.read.forecasting.plan import LINEAR, READERS, UNITS

STACK = 5  # trainings that may share a stack on a processor; on a GPU the groups say it


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; return 0, 1 if some trainings failed, 2 if an argument or file is wrong."""
    return console.run(_parser(), arguments)


def _run(options: argparse.Namespace) -> int:
    device = jobs.resolve_device(options.device)
    stacked = device.startswith("cuda")
    stack = cells.STACKED if stacked else STACK
    return carry_out(options, device, _stages(options, stacked), train, stack)


def _stages(options: argparse.Namespace, stacked: bool) -> Iterator[Stage]:
    """Yield, reader by reader, the trials and then what their best rates train."""
    tried = UnitStores(options.out, "tuning-", options.units)
    trained = UnitStores(options.out, "", options.units)
    for reader in options.readers:
        every = plan.places(cells.cell, options.units, [reader])
        chosen = [one for one in every if one.encoding in options.encodings]
        yield f"{reader}, trials", tried, cells.all_trials(chosen, stacked=stacked)
        seeds = cells.all_seeds(chosen, tried.records(), stacked=stacked)
        yield f"{reader}, training", trained, seeds


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m experiments.forecasting",
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
    encodings = [*plan.ENCODINGS, plan.PLACEBO]
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
    parser.set_defaults(command=_run)
    return parser


if __name__ == "__main__":
    sys.exit(behind(main))
