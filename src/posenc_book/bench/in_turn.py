"""Several commands share a slice of time, such as ten minutes of a GPU that somebody lends.

python -m posenc_book.bench.in_turn 540 "python -m A --device cuda" "python -m B --device cuda"

Each is told by `--seconds` how much is left, as commands that train begin no training that would
end too late. The same line goes on from there in another slice.
"""

import argparse
import shlex
import subprocess
import sys
import time
from collections.abc import Sequence

from posenc._wall import behind
from posenc_book.bench import console
from posenc_book.bench.driver import deadline


def run(commands: Sequence[str], seconds: float) -> int:
    """Run commands one after another while time is left; return the largest exit code."""
    until, code = deadline(seconds), 0
    for command in commands:
        left = until - time.monotonic()
        if left <= 0:
            print(f"no time is left for {command}; the same line goes on from here")
            break
        code = max(code, abs(subprocess.call([*shlex.split(command), "--seconds", str(left)])))
    return code


def _main(arguments: Sequence[str]) -> int:
    said, _, more = (__doc__ or "").partition("\n\n")
    parser = argparse.ArgumentParser(
        prog="python -m posenc_book.bench.in_turn",
        description=said,
        epilog=more,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("seconds", type=float, help="of all commands together")
    parser.add_argument("lines", nargs="+", metavar="COMMAND", help="takes --seconds as an option")
    parser.set_defaults(command=lambda options: run(options.lines, options.seconds))
    return console.run(parser, arguments)


if __name__ == "__main__":
    sys.exit(behind(_main))
