"""The command `gaps` of `posenc bench`."""

import argparse

from posenc_book.bench.options import add_course


def add_to(commands: argparse._SubParsersAction) -> None:
    """Add the command of this experiment to a command line."""
    _add(commands.add_parser("gaps", help="train with and without the times of lost steps"))


def _add(gaps: argparse.ArgumentParser) -> None:
    gaps.add_argument("--datasets", nargs="+", metavar="NAME", help="these only")
    gaps.add_argument("--encodings", nargs="+", metavar="NAME", help="these only")
    gaps.add_argument("--seeds", type=int, metavar="N", help="seeds 0 to N - 1 only")
    add_course(gaps, "results/gaps.jsonl")
    gaps.set_defaults(command=_run)


def _run(options: argparse.Namespace) -> int:
    from posenc_book.bench import language
    from posenc_book.read.gaps import protocol as gaps

    cells = gaps.protocol_cells(options.datasets, options.encodings, options.seeds)
    return 1 if language.run(cells, options).failed else 0
