"""One command of a command line that trains: what is wrong is said in a line, before it starts."""

import argparse
import errno
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from posenc_book import _files


def run(parser: argparse.ArgumentParser, arguments: Sequence[str] | None = None) -> int:
    """Run one command, and return its exit code: 0 well, 1 some cells failed, 2 wrong or broken."""
    options = parser.parse_args(arguments)
    try:
        if out := getattr(options, "out", None):
            _check_writable(out, out.parent if getattr(options, "to_a_file", False) else out)
        return options.command(options)
    except BrokenPipeError:
        raise
    except (ValueError, OSError, ModuleNotFoundError) as error:
        print(f"{parser.prog}: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print(f"{parser.prog}: stopped; the same command goes on from here", file=sys.stderr)
        return 130


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
