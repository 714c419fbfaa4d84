"""Gather the prose, or train the model that lives in the page.

python -m experiments.living_model prose
python -m experiments.living_model train --encodings rope
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from experiments.living_model import prose, train
from posenc._wall import behind
from posenc_book import _files
from posenc_book.bench import console
from posenc_book.explorables import living


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; return 0, or 2 if an argument or a file is wrong."""
    return console.run(_parser(), arguments)


def _gather(options: argparse.Namespace) -> int:
    _files.replace(options.out, prose.gather(train.PLAN["letters"]))
    return 0


def _train(options: argparse.Namespace) -> int:
    train.run_all(options.encodings, options.out, options.scripts)
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m experiments.living_model", description=(__doc__ or "").partition("\n")[0]
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    gather = commands.add_parser("prose", help="gather the text from the book as it is now")
    gather.add_argument("--out", type=Path, default=prose.FILE, help="file that is written")
    gather.set_defaults(command=_gather, to_a_file=True)
    training = commands.add_parser("train", help="train, and write weights and readings")
    known = train.PLAN["encodings"]
    training.add_argument(
        "--encodings", nargs="+", choices=known, default=known, metavar="NAME", help="some of five"
    )
    training.add_argument("--out", type=Path, help="by default results/living-model.json")
    training.add_argument(
        "--scripts", type=Path, default=living.SCRIPTS, help="folder of the weights"
    )
    training.set_defaults(command=_train, to_a_file=True)
    return parser


if __name__ == "__main__":
    sys.exit(behind(main))
