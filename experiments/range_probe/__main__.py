"""Train on the range probe, and test beyond the trained length.

python -m experiments.range_probe --distances 1 4 --seconds 3600
"""

import argparse
import sys
from collections.abc import Sequence

from experiments.range_probe import train
from posenc._wall import behind
from posenc_book.bench import console, extrapolation, language
from posenc_book.bench.options import add_course


def main(arguments: Sequence[str] | None = None) -> int:
    """Train what a results file lacks; return 0, 1 if some cells failed, 2 if broken."""
    return console.run(_parser(), arguments)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m experiments.range_probe", description=__doc__.splitlines()[0]
    )
    parser.add_argument("--encodings", nargs="+", metavar="NAME", help="these only: 'dft (loud)'")
    parser.add_argument("--distances", nargs="+", type=int, metavar="STEPS", help="these only")
    parser.add_argument("--seeds", type=int, metavar="N", help="seeds 0 to N - 1 only")
    add_course(parser, "results/probes.jsonl")
    parser.set_defaults(command=_run)
    return parser


def _run(options: argparse.Namespace) -> int:
    cells = train.protocol_cells(options.encodings, options.distances, options.seeds)
    return 1 if language.run(cells, options, probe=extrapolation.probe).failed else 0


if __name__ == "__main__":
    sys.exit(behind(main))
