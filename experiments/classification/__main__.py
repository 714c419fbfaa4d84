"""The command of this experiment, `python -m experiments.classification`."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from experiments.classification import train
from posenc._wall import behind
from posenc_book.bench import console
from posenc_book.bench.options import SECONDS


def main(arguments: Sequence[str] | None = None) -> int:
    """Train what a tier lacks; return 0 well, 1 some cells failed, 2 wrong or broken."""
    return console.run(parser(), arguments)


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command."""
    command = argparse.ArgumentParser(
        prog="python -m experiments.classification", description=train.__doc__
    )
    command.add_argument("--tier", type=int, default=1, help="as the protocol counts them (1)")
    command.add_argument("--model", help="one model only")
    command.add_argument("--datasets", nargs="+", metavar="NAME", help="these of the tier only")
    command.add_argument(
        "--encodings",
        "--encoding",
        nargs="+",
        metavar="NAME",
        help="these of the tier only, or MOD:CLASS",
    )
    command.add_argument("--retry-failed", action="store_true", help="try failed cells again")
    command.add_argument(
        "--out", type=Path, default=Path("results"), metavar="FOLDER", help="a file for each set"
    )
    command.add_argument("--device", default="auto", help="auto, cpu, cuda, cuda:1, mps")
    command.add_argument("--workers", type=int, help="processes; by default one per core")
    command.add_argument("--stack", type=int, help="resamples trained together; 1, or 16 on a GPU")
    command.add_argument("--seconds", type=float, help=SECONDS)
    command.set_defaults(command=train.train)
    return command


if __name__ == "__main__":
    sys.exit(behind(main))
