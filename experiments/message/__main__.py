"""Train what is missing of the message, set by set; go on at will.

python -m experiments.message --sets LSST --rehearse 20 --out /tmp/rehearsal
python -m experiments.message --seconds 540 --out FOLDER      # a folder outside the repository
"""

import argparse
import sys
from collections.abc import Sequence

from experiments.edition3 import train as third
from experiments.message import train
from posenc._wall import behind
from posenc_book.bench import console
from posenc_book.read.message import PARTS, PLAN


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; return 0, 1 if some trainings failed, 2 if an argument or file is wrong."""
    return console.run(_parser(), arguments)


def _train(options: argparse.Namespace) -> int:
    planned = {}
    for name in options.sets:
        places = train.cells(name, options.part)
        if options.rehearse is not None:
            places = [third.rehearsed(one, options.rehearse) for one in places]
        planned[name] = train.stages(name, places, options.out)
    return third.run(options, planned)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m experiments.message", description=(__doc__ or "").partition("\n")[0]
    )
    third.add_options(parser, [*PLAN["sets"]], None, named_alone=PLAN["new sets"]["names"])
    parser.add_argument("--part", choices=PARTS, default="arms", help="what is trained")
    parser.add_argument("--rehearse", type=int, metavar="STEPS", help="only so many steps a cell")
    parser.set_defaults(command=_train)
    return parser


if __name__ == "__main__":
    sys.exit(behind(main))
