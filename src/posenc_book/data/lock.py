"""One process at a time: a lock that the operating system drops when its holder dies.

Written here because neither pooch nor aeon brings a lock, and a dozen lines are enough.
"""

import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from posenc_book.data.errors import DataError

if sys.platform == "win32":
    import msvcrt

    def _try_lock(descriptor: int) -> None:
        msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
else:
    import fcntl

    def _try_lock(descriptor: int) -> None:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)


@contextmanager
def hold(path: Path, timeout: float = 3600.0) -> Iterator[None]:
    """Hold the lock file `path`, waiting up to `timeout` seconds for another holder to finish."""
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT)
    try:
        _wait(path, descriptor, timeout)
        yield
    finally:
        os.close(descriptor)  # closing releases


def _wait(path: Path, descriptor: int, timeout: float) -> None:
    end = time.monotonic() + timeout
    while True:
        try:
            return _try_lock(descriptor)
        except OSError as error:
            if time.monotonic() > end:
                raise DataError(
                    f"another process has held {path} for {timeout:g} seconds; wait for it"
                ) from error
            time.sleep(0.05)
