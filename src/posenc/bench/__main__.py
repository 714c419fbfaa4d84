"""The benchmark's command line; the experiments above add their own commands to it."""

import sys
from collections.abc import Sequence

from posenc._pipes import piped
from posenc.experiments import command_line


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command, and return its exit code; a reader of its output may leave early."""
    return piped(lambda: command_line.main(arguments))


if __name__ == "__main__":
    sys.exit(main())
