"""The command `python -m experiments.published_code`: ask published classes, or train."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from experiments.published_code import checkout, train
from posenc._wall import behind
from posenc_book.bench import console


def main(arguments: Sequence[str] | None = None) -> int:
    """Ask or train, and return the exit code: 0 well, 2 wrong or broken."""
    return console.run(_parser(), arguments)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m experiments.published_code",
        description="what published code does, and what two of its habits do to a score",
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    modules = commands.add_parser("modules", help="ask the classes of a public repository")
    modules.add_argument("--checkout", type=Path, required=True, help="folder of a git checkout")
    modules.set_defaults(command=lambda given: checkout.store(given.checkout, given.out) or 0)
    for name in train.EXPERIMENTS:
        training = commands.add_parser(name, help="train what a file of results lacks")
        training.set_defaults(command=lambda given, name=name: train.run(name, given.out) or 0)
    for one in commands.choices.values():
        one.add_argument("--out", type=Path, required=True, help="file of results")
        one.set_defaults(to_a_file=True)
    return parser


if __name__ == "__main__":
    sys.exit(behind(main))
