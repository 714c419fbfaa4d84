"""One command at a time writes what is built: another one waits, and says so.

The lock lies on the repository's folder itself, so a killed command leaves no file behind: the
system drops the lock when the last process that holds it has ended.
"""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

try:
    import fcntl
except ImportError:  # Windows has no such lock
    fcntl = None

ROOT = Path(__file__).resolve().parent.parent


@contextmanager
def alone(root: Path = ROOT) -> Iterator[int]:
    """Hold a folder's lock, waiting as long as another command holds it, and yield what holds it.

    A process that is started with it in `pass_fds` holds it as well, so what a killed command
    leaves running is waited for, too.
    """
    folder = os.open(root, os.O_RDONLY)
    try:
        if not _locked(folder, wait=False):
            print(f"Another command builds in {root}. Waiting for its end.", file=sys.stderr)
            _locked(folder, wait=True)
        yield folder
    finally:
        os.close(folder)  # closing releases


def _locked(folder: int, wait: bool) -> bool:
    """Take the lock; return False where another process has it and we are not to wait."""
    try:
        if fcntl is not None:
            fcntl.flock(folder, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except BlockingIOError:
        return False
    except OSError:  # some network drives lock no folders
        pass
    return True
