"""The command `probes` of `posenc bench`."""

import argparse

from posenc_book.bench.options import add_course


def add_to(commands: argparse._SubParsersAction) -> None:
    """Add the command of this experiment to a command line."""
    _add(commands.add_parser("probes", help="train on the range probe, and read longer"))


def _add(probes: argparse.ArgumentParser) -> None:
    probes.add_argument("--encodings", nargs="+", metavar="NAME", help="these only: 'dft (loud)'")
    probes.add_argument("--distances", nargs="+", type=int, metavar="STEPS", help="these only")
    probes.add_argument("--seeds", type=int, metavar="N", help="seeds 0 to N - 1 only")
    add_course(probes, "results/probes.jsonl")
    probes.set_defaults(command=_run)


def _run(options: argparse.Namespace) -> int:
    from posenc_book.bench import language
    from posenc_book.read.range_probe import extrapolation
    from posenc_book.read.range_probe import protocol as probes

    cells = probes.protocol_cells(options.encodings, options.distances, options.seeds)
    return 1 if language.run(cells, options, probe=extrapolation.probe).failed else 0
