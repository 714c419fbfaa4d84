"""The command `python -m experiments.lengths`: train what a results file of the lab lacks."""

import argparse
import sys
from collections.abc import Sequence

from experiments.lengths import repairs, train
from posenc._wall import behind
from posenc_book.bench import console, language
from posenc_book.bench.options import add_course


def main(arguments: Sequence[str] | None = None) -> int:
    """Train, and return the exit code: 0 well, 1 some cells failed, 2 wrong or broken."""
    return console.run(_parser(), arguments)


def _parser() -> argparse.ArgumentParser:
    lab = argparse.ArgumentParser(
        prog="python -m experiments.lengths",
        description="train a tier of the length-generalisation lab",
    )
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
    return lab


def _run(options: argparse.Namespace) -> int:
    if options.repairs:
        if options.tier != 1 or options.tasks or options.encodings:
            raise ValueError("--repairs is a protocol without tiers: of its choices only --seeds")
        cells = repairs.protocol_cells(options.seeds)
        return 1 if language.run(cells, options, repairs.train).failed else 0
    cells = train.tier_cells(options.tier, options.tasks, options.encodings, options.seeds)
    return 1 if language.run(cells, options, train.train).failed else 0


if __name__ == "__main__":
    sys.exit(behind(main))
