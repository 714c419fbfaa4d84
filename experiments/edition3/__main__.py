"""Train what is missing of the third edition, set by set; stop and go on at will.

python -m experiments.edition3 --sets CBF ERing --seconds 600
python -m experiments.edition3 --families shaw S31       # only what these need
python -m experiments.edition3 --tune --seconds 600      # only the trials that choose rates
python -m experiments.edition3 --sets RacketSports --rehearse 20 --out /tmp/rehearsal
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from experiments.edition3 import train
from posenc._wall import behind
from posenc_book.bench import console
from posenc_book.read.edition3 import plan
from posenc_book.read.edition3.questions import FAMILIES, cells

NAMES = (*plan.SURVEY, *plan.COUNTED)
RESULTS = Path("results", "edition-3")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; return 0, 1 if some trainings failed, 2 if an argument or file is wrong."""
    return console.run(_parser(), arguments)


def _train(options: argparse.Namespace) -> int:
    """Train what is missing; return 0, or 1 after failures."""
    planned = {
        name: train.stages(name, places, options.out, only_trials=options.tune)
        for name, places in _chosen(options).items()
    }
    return train.run(options, planned)


def _chosen(options: argparse.Namespace) -> dict[str, list[train.Place]]:
    """Return the places of the sets that are asked for; what waits for a GPU comes if named."""
    planned = cells(options.families) | plan.CELLS_ON_GPU
    if options.rehearse is None:
        return {name: train.places_of(name, planned) for name in options.sets}
    unused = [name for name in options.sets if name in plan.UNUSED]
    if unused:
        raise ValueError(
            "sets must be of the survey in a rehearsal, as nothing of an unused set is read in "
            f"one, got {', '.join(unused)}"
        )
    if options.out == RESULTS:
        raise ValueError("out must name another folder than the results' in a rehearsal")
    return {
        name: [(train.rehearsed(one, options.rehearse), 1) for one, _ in places]
        for name, places in ((name, train.places_of(name, planned)) for name in options.sets)
    }


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m experiments.edition3", description=(__doc__ or "").partition("\n")[0]
    )
    train.add_options(parser, NAMES, RESULTS, named_alone=plan.LONG)
    parser.add_argument(
        "--families", nargs="+", choices=FAMILIES, default=FAMILIES, metavar="NAME",
        help=f"train what all questions and claims need, or some of {', '.join(FAMILIES)}",
    )  # fmt: skip
    parser.add_argument(
        "--tune", action="store_true", help="stop before the trainings: only choose their rates"
    )
    parser.add_argument(
        "--rehearse", type=int, metavar="STEPS",
        help="train each cell once for so many steps, on sets of the survey, into another folder",
    )  # fmt: skip
    parser.set_defaults(command=_train)
    return parser


if __name__ == "__main__":
    sys.exit(behind(main))
