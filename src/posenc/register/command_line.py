"""The command `posenc explain`."""

import argparse
import sys
from collections.abc import Sequence

from posenc import register
from posenc.register.words import printable


def main(arguments: Sequence[str]) -> int:
    """Print what a model does with positions; return 2 where its configuration cannot be read."""
    asked = parser().parse_args(arguments)
    try:
        print(register.read(asked.config).explain(asked.length))
    except (ValueError, OSError) as error:
        said = printable(str(error)).replace("\n", "\\n")
        print(f"posenc explain: {said}", file=sys.stderr)
        return 2
    return 0


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    top = argparse.ArgumentParser(
        prog="posenc explain", description="Say what a model does with positions."
    )
    top.add_argument(
        "config", help="a config.json, or an architecture's name as configurations call it"
    )
    top.add_argument("--length", type=int, help="tokens of the input asked about")
    return top
