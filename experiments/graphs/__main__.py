"""Train small transformers on graphs, with positions of nodes and without.

python -m experiments.graphs --out results/graphs.json
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from experiments.graphs import train
from posenc._wall import behind
from posenc_book.bench import console


def main(arguments: Sequence[str] | None = None) -> int:
    """Train what is missing; return 0, or 2 if a name or a file is wrong."""
    return console.run(_parser(), arguments)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m experiments.graphs", description=__doc__.splitlines()[0]
    )
    parser.add_argument("--out", type=Path, required=True, help="file that is written and resumed")
    parser.set_defaults(command=_run, to_a_file=True)
    return parser


def _run(options: argparse.Namespace) -> int:
    train.run_all(options.out)
    return 0


if __name__ == "__main__":
    sys.exit(behind(main))
