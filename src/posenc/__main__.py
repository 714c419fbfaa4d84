"""The command `posenc`, also `python -m posenc`."""

import importlib
import sys
from collections.abc import Sequence
from importlib.util import find_spec

from posenc._wall import behind

COMMANDS = {
    "explain": ("posenc.register.command_line", "what a released model does with positions"),
    "extend": ("posenc.register.command_line:extend", "how to run a model on longer texts"),
    "check": ("posenc.testing.command_line", "whether a layer treats positions as it promises"),
    "bench": ("posenc_book.command_line", "what an encoding is worth, on your own data, too"),
    "data": ("posenc_book.data.__main__", "the data sets of the benchmark, and how to get them"),
}
BOOK = "posenc_book"


def main() -> int:
    """Run one command; return its exit status."""
    return behind(_run)


def _run(arguments: Sequence[str]) -> int:
    name, *words = arguments or ["--help"]
    if name in COMMANDS and COMMANDS[name][0].startswith(BOOK) and find_spec(BOOK) is None:
        print(f"posenc {name} needs the book's code: pip install posenc-book", file=sys.stderr)
        return 2
    if name in COMMANDS:
        module, _, function = COMMANDS[name][0].partition(":")
        return int(getattr(importlib.import_module(module), function or "main")(words))
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
