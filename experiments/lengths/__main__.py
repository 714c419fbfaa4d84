"""The command `python -m experiments.lengths`: train what a results file of the lab lacks."""

import argparse
import sys
from collections.abc import Callable, Sequence

from experiments.lengths import repairs, train
from posenc._wall import behind
from posenc_book.bench import console, language
from posenc_book.bench.options import add_course
from posenc_book.bench.seeded import SeedBySeed


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
    lab.add_argument(
        "--message", action="store_true", help="the third protocol, of values that turn, too"
    )
    add_course(lab, "results/lab.jsonl")
    lab.set_defaults(command=_run)
    return lab


def _run(options: argparse.Namespace) -> int:
    cells, train_them = _asked(options)
    return 1 if language.run(cells, options, train_them).failed else 0


def _asked(options: argparse.Namespace) -> tuple[SeedBySeed, Callable]:
    """Return the cells that are asked for, and what trains them."""
    if not (options.repairs or options.message):
        tier, tasks, encodings = options.tier, options.tasks, options.encodings
        return train.tier_cells(tier, tasks, encodings, options.seeds), train.train
    if options.repairs and options.message:
        raise ValueError("--repairs and --message are two protocols: give one of them")
    if options.tier != 1 or options.tasks or options.encodings:
        name = "--repairs" if options.repairs else "--message"
        raise ValueError(f"{name} is a protocol without tiers: of its choices only --seeds")
    if options.repairs:
        return repairs.protocol_cells(options.seeds), repairs.train
    return train.message_cells(options.seeds), train.train


if __name__ == "__main__":
    sys.exit(behind(main))
