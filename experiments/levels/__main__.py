"""Train on two sets with one thing changed at a time.

python -m experiments.levels --seeds 1
"""

import argparse
import sys
from collections.abc import Sequence

from experiments.levels import train
from posenc._wall import behind
from posenc_book.bench import console, language
from posenc_book.bench.options import add_course


def main(arguments: Sequence[str] | None = None) -> int:
    """Train what a results file lacks; return 0, 1 if some cells failed, 2 if broken."""
    return console.run(_parser(), arguments)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m experiments.levels", description=__doc__.splitlines()[0]
    )
    parser.add_argument("--seeds", type=int, metavar="N", help="seeds 0 to N - 1 only")
    add_course(parser, "results/levels.jsonl")
    parser.set_defaults(command=_run)
    return parser


def _run(options: argparse.Namespace) -> int:
    return 1 if language.run(train.protocol_cells(options.seeds), options).failed else 0


if __name__ == "__main__":
    sys.exit(behind(main))
