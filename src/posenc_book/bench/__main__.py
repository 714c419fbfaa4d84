"""The benchmark's command line; the experiments above add their own commands to it."""

import sys
from collections.abc import Sequence

from posenc._wall import behind
from posenc_book.read import command_line


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command, and return its exit code."""
    return behind(command_line.main, arguments)


if __name__ == "__main__":
    sys.exit(main())
