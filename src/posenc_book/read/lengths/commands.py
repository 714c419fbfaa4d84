"""The command `lab` of `posenc bench`."""

import argparse

from posenc_book.bench.options import add_course


def add_to(commands: argparse._SubParsersAction) -> None:
    """Add the command of this experiment to a command line."""
    _add(commands.add_parser("lab", help="train a tier of the length-generalisation lab"))


def _add(lab: argparse.ArgumentParser) -> None:
    lab.add_argument("--tier", type=int, default=1, help="as its protocol counts them (1)")
    lab.add_argument("--tasks", nargs="+", metavar="NAME", help="these of the tier only")
    lab.add_argument(
        "--encodings", nargs="+", metavar="NAME", help="these only, as 'rotary, random places'"
    )
    lab.add_argument("--seeds", type=int, metavar="N", help="seeds 0 to N - 1 only")
    lab.add_argument(
        "--repairs", action="store_true", help="the second protocol, of what people try first"
    )
    add_course(lab, "results/lab.jsonl")
    lab.set_defaults(command=_run)


def _run(options: argparse.Namespace) -> int:
    from posenc_book.bench import language
    from posenc_book.read.lengths import repairs
    from posenc_book.read.lengths import train as lab

    if options.repairs:
        if options.tier != 1 or options.tasks or options.encodings:
            raise ValueError("--repairs is a protocol without tiers: of its choices only --seeds")
        cells = repairs.protocol_cells(options.seeds)
        return 1 if language.run(cells, options, repairs.train).failed else 0
    cells = lab.tier_cells(options.tier, options.tasks, options.encodings, options.seeds)
    return 1 if language.run(cells, options, lab.train).failed else 0
