"""The command `levels` of `posenc bench`."""

import argparse

from posenc_book.bench.options import add_course


def add_to(commands: argparse._SubParsersAction) -> None:
    """Add the command of this experiment to a command line."""
    levels = commands.add_parser("levels", help="train with one thing changed at a time")
    levels.add_argument("--seeds", type=int, metavar="N", help="seeds 0 to N - 1 only")
    add_course(levels, "results/levels.jsonl")
    levels.set_defaults(command=_run)


def _run(options: argparse.Namespace) -> int:
    from posenc_book.bench import language
    from posenc_book.read.levels import protocol

    return 1 if language.run(protocol.protocol_cells(options.seeds), options).failed else 0
