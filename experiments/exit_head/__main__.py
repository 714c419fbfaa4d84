"""Name the series by their leads, then train the encodings; go on at will.

python -m experiments.exit_head --sets london_bikes --rehearse 20 --out /tmp/rehearsal
python -m experiments.exit_head --seconds 540 --out FOLDER      # a folder outside the repository
"""

import argparse
import sys
from collections.abc import Sequence

from experiments.edition3 import train as third
from experiments.exit_head import train
from experiments.forecasting.stages import carry_out
from posenc import _checks
from posenc._wall import behind
from posenc_book.bench import console, jobs
from posenc_book.read.exit_head import SERIES

STACK = 5  # trials or seeds that are trained as one


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; return 0, 1 if some trainings failed, 2 if an argument or file is wrong."""
    return console.run(_parser(), arguments)


def _train(options: argparse.Namespace) -> int:
    if options.rehearse is not None:
        _checks.count("rehearse", options.rehearse, minimum=1)
    planned = train.stages(options.sets, options.out, options.rehearse)
    device = jobs.resolve_device(options.device)
    return carry_out(options, device, planned, train.train, STACK)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m experiments.exit_head", description=(__doc__ or "").partition("\n")[0]
    )
    third.add_options(parser, SERIES, None)
    parser.add_argument("--rehearse", type=int, metavar="STEPS", help="only so many steps a cell")
    parser.set_defaults(command=_train)
    return parser


if __name__ == "__main__":
    sys.exit(behind(main))
