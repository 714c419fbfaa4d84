"""Train small transformers on digits, and read them in other shapes.

python -m experiments.pictures
python -m experiments.pictures --later
python -m experiments.pictures --encodings axial none --seeds 2 --out some.json
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from experiments.pictures import train
from posenc._wall import behind
from posenc_book.bench import console


def main(arguments: Sequence[str] | None = None) -> int:
    """Train what is missing; return 0, or 2 if a name or a file is wrong."""
    return console.run(_parser(), arguments)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m experiments.pictures", description=(__doc__ or "").partition("\n")[0]
    )
    known, n_seeds = train.PLAN["encodings"], train.PLAN["seeds"]
    parser.add_argument("--encodings", nargs="+", choices=known, metavar="NAME", help="these only")
    parser.add_argument(
        "--seeds",
        nargs="+",
        type=int,
        choices=range(n_seeds),
        default=range(n_seeds),
        metavar="N",
        help="these only",
    )
    parser.add_argument(
        "--out", type=Path, default=Path("results/pictures.json"), help="the file of readings"
    )
    parser.add_argument("--later", action="store_true", help="the readings that came later")
    parser.set_defaults(command=_run, to_a_file=True)
    return parser


def _run(options: argparse.Namespace) -> int:
    plan = train.LATER if options.later else train.PLAN
    names = options.encodings or plan["encodings"]
    train.run_all(options.out, names, options.seeds, later=options.later)
    return 0


if __name__ == "__main__":
    sys.exit(behind(main))
