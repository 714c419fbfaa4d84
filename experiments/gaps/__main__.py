"""Train with and without the times of lost steps.

python -m experiments.gaps --datasets RacketSports --out gaps.jsonl
"""

import argparse
import sys
from collections.abc import Sequence

from experiments.gaps import train
from posenc._wall import behind
from posenc_book.bench import console, language
from posenc_book.bench.options import add_course


def main(arguments: Sequence[str] | None = None) -> int:
    """Train what a results file lacks; return 0, 1 if some cells failed, 2 if broken."""
    return console.run(_parser(), arguments)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m experiments.gaps", description=__doc__.splitlines()[0]
    )
    parser.add_argument("--datasets", nargs="+", metavar="NAME", help="these only")
    parser.add_argument("--encodings", nargs="+", metavar="NAME", help="these only")
    parser.add_argument("--seeds", type=int, metavar="N", help="seeds 0 to N - 1 only")
    add_course(parser, "results/gaps.jsonl")
    parser.set_defaults(command=_run)
    return parser


def _run(options: argparse.Namespace) -> int:
    cells = train.protocol_cells(options.datasets, options.encodings, options.seeds)
    return 1 if language.run(cells, options).failed else 0


if __name__ == "__main__":
    sys.exit(behind(main))
