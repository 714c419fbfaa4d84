"""Tune thirty cells of the third edition on five deals each, and train what is chosen.

python -m experiments.tuning_luck --sets CBF ERing --seconds 600
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from experiments.edition3 import train as third
from experiments.tuning_luck import train
from posenc._wall import behind
from posenc_book.bench import console
from posenc_book.read import tuning_luck

RESULTS = Path("results/tuning-luck")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; return 0, 1 if some trainings failed, 2 if an argument or file is wrong."""
    return console.run(_parser(), arguments)


def _train(options: argparse.Namespace) -> int:
    failed = third.run(options, {name: train.stages(name, options.out) for name in options.sets})
    whole = tuning_luck.scores(options.out)
    if whole:
        luck = tuning_luck.component(whole)
        print(
            f"{luck.n_cells} whole cells, data sets: {luck.n_sets}; tuning alone moves a cell's "
            f"mean score by {luck.points:.2f} points (standard deviation)"
        )
    return failed


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m experiments.tuning_luck", description=(__doc__ or "").partition("\n")[0]
    )
    third.add_options(parser, train.SETS, RESULTS)
    parser.set_defaults(command=_train)
    return parser


if __name__ == "__main__":
    sys.exit(behind(main))
