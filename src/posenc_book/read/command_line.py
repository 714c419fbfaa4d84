"""The command line: `python -m posenc_book.bench run | protocol | baselines | report | ...`."""

import argparse
import errno
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from posenc_book import _files
from posenc_book.bench import options as of_the_engine
from posenc_book.read.characters import commands as of_characters
from posenc_book.read.classification import commands as of_classification
from posenc_book.read.forecasting.own import commands as of_forecasting
from posenc_book.read.gaps import commands as of_gaps
from posenc_book.read.lengths import commands as of_lengths
from posenc_book.read.levels import commands as of_levels
from posenc_book.read.range_probe import commands as of_the_range_probe

ROOMS = (
    of_the_engine, of_classification, of_lengths, of_characters, of_the_range_probe, of_gaps,
    of_levels, of_forecasting,
)  # fmt: skip


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command, and return its exit code: 0 well, 1 some cells failed, 2 wrong or broken."""
    options = parser().parse_args(arguments)
    try:
        if out := getattr(options, "out", None):
            _check_writable(out, out.parent if getattr(options, "to_a_file", False) else out)
        return options.command(options)
    except BrokenPipeError:
        raise
    except (ValueError, OSError, ModuleNotFoundError) as error:
        print(f"posenc bench: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("posenc bench: stopped; the same command goes on from here", file=sys.stderr)
        return 130


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    top = argparse.ArgumentParser(prog="posenc bench", description=__doc__)
    commands = top.add_subparsers(required=True, metavar="COMMAND")
    for room in ROOMS:
        room.add_to(commands)
    return top


def _check_writable(out: Path, folder: Path) -> None:
    """Raise ValueError, before anything is read or trained, if `out` cannot be written.

    No folder is made: a command that is refused for another reason leaves nothing behind.
    """
    try:
        if folder != out and out.is_dir():
            raise IsADirectoryError(errno.EISDIR, "a folder; name a file in it")
        if folder != out:
            _files.check_regular(out, lambda path, _, why: ValueError(f"--out {path} {why}"))
        nearest = next(path for path in (folder, *folder.parents) if path.exists())
        with tempfile.TemporaryFile(dir=nearest):
            pass
    except OSError as error:
        raise ValueError(f"--out {out} cannot be written: {error.strerror}") from error
