"""Train what is missing of irregular time, survey by survey; go on at will.

python -m experiments.irregular --sets rr_lyrae --rehearse 20 --out /tmp/rehearsal
python -m experiments.irregular --seconds 540 --out FOLDER      # a folder outside the repository
"""

import argparse
import sys
from collections.abc import Sequence

from experiments.edition3 import train as third
from experiments.irregular import train
from posenc._wall import behind
from posenc_book.bench import console
from posenc_book.data import stars
from posenc_book.read.irregular import PLAN


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; return 0, 1 if some trainings failed, 2 if an argument or file is wrong."""
    return console.run(_parser(), arguments)


def _train(options: argparse.Namespace) -> int:
    planned = {}
    for survey in options.sets:
        places = train.cells(survey)
        if options.rehearse is not None:
            places = [third.rehearsed(one, options.rehearse) for one in places]
        planned[survey] = train.stages(survey, places, options.out)
    return third.run(options, planned, stars.load_stars)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m experiments.irregular", description=(__doc__ or "").partition("\n")[0]
    )
    third.add_options(parser, [*PLAN["surveys"]], None)
    parser.add_argument("--rehearse", type=int, metavar="STEPS", help="only so many steps a cell")
    parser.set_defaults(command=_train)
    return parser


if __name__ == "__main__":
    sys.exit(behind(main))
