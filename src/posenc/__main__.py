"""The command `posenc`, also `python -m posenc`."""

import importlib
import sys
from collections.abc import Sequence

from posenc._wall import behind

COMMANDS = {
    "explain": ("posenc.register.command_line", "what a released model does with positions"),
    "check": ("posenc.testing.command_line", "whether a layer treats positions as it promises"),
    "bench": (
        "posenc.experiments.command_line",
        "what an encoding is worth, on your own data, too",
    ),
}


def main() -> int:
    """Run one command; return its exit status."""
    return behind(_run)


def _run(arguments: Sequence[str]) -> int:
    name, *words = arguments or ["--help"]
    if name in COMMANDS:
        return int(importlib.import_module(COMMANDS[name][0]).main(words))
    print(
        "usage: posenc COMMAND ...\n",
        *(f"  {known:10} {says}" for known, (_, says) in COMMANDS.items()),
        sep="\n",
    )
    if name in ("--help", "-h"):
        return 0
    print(f"posenc: no command {name!r}", file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main())
