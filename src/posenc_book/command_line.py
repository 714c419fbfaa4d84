"""The command line: `posenc bench run | baselines | report | ...`."""

import argparse
import sys
from collections.abc import Sequence

from posenc._wall import behind
from posenc_book.bench import console
from posenc_book.bench import options as of_the_engine
from posenc_book.forecast import commands as of_forecasting

ROOMS = (of_the_engine, of_forecasting)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command, and return its exit code: 0 well, 1 some cells failed, 2 wrong or broken."""
    return console.run(parser(), arguments)


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    top = argparse.ArgumentParser(prog="posenc bench", description=__doc__)
    commands = top.add_subparsers(required=True, metavar="COMMAND")
    for room in ROOMS:
        room.add_to(commands)
    return top


if __name__ == "__main__":
    sys.exit(behind(main))
