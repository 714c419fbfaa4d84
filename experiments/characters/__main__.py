"""The command `python -m experiments.characters`: train what a results file of theirs lacks."""

import argparse
import sys
from collections.abc import Sequence

from experiments.characters import train
from posenc._wall import behind
from posenc_book.bench import console, language
from posenc_book.bench.options import add_course
from posenc_book.read.characters.plan import LATER, PROTOCOL


def main(arguments: Sequence[str] | None = None) -> int:
    """Train, and return the exit code: 0 well, 1 some cells failed, 2 wrong or broken."""
    return console.run(_parser(), arguments)


def _parser() -> argparse.ArgumentParser:
    text = argparse.ArgumentParser(
        prog="python -m experiments.characters",
        description="train the model of characters, and read farther",
    )
    text.add_argument("--encodings", nargs="+", metavar="NAME", help="rotary, none, alibi")
    text.add_argument("--seeds", type=int, metavar="N", help="seeds 0 to N - 1 only")
    add_course(text, "results/text.jsonl")
    text.set_defaults(command=_run)
    return text


def _run(options: argparse.Namespace) -> int:
    planned = [train.protocol_cells(options.encodings, options.seeds)]
    for schedule, plan in LATER.items():
        if plan["encoding"] in (options.encodings or PROTOCOL["encodings"]):
            planned.append(train.later_cells(schedule, options.seeds))
    done = [language.run(cells, options, train.train) for cells in planned]
    return 1 if any(one.failed for one in done) else 0


if __name__ == "__main__":
    sys.exit(behind(main))
