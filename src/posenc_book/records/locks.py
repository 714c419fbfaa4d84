"""Locks that the system drops by itself when their holder dies."""

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

try:
    import fcntl
except ImportError:  # Windows: no advisory locks; appends are still single writes
    fcntl = None  # type: ignore[assignment]


@contextmanager
def exclusive(descriptor: int) -> Iterator[None]:
    """Hold the file's lock; another process that asks for it waits."""
    if fcntl is None:
        yield
        return
    fcntl.flock(descriptor, fcntl.LOCK_EX)
    try:
        yield
    finally:
        fcntl.flock(descriptor, fcntl.LOCK_UN)


@contextmanager
def exclusive_folder(folder: Path) -> Iterator[None]:
    """Hold a folder's lock, for files in it that are replaced; nothing where folders have none."""
    if fcntl is None:
        yield
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        with suppress(OSError):  # some network drives lock no folders
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


class Claims:
    """Which cells this driver is working on, seen by other drivers on the same results file.

    Each claim locks one byte of a file beside the results, at an offset given by the cell's key.
    A driver that is killed loses its claims, and its cells become free. The file is empty, and it
    stays: a driver that took it away would part those that have it open from those to come.

    Parameters
    ----------
    results : path
        The results file.
    """

    def __init__(self, results: Path) -> None:
        path = results.with_name(results.name + ".claims")
        path.parent.mkdir(parents=True, exist_ok=True)
        self._descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)

    def take(self, key: str) -> bool:
        """Claim a cell; return False where another driver holds it."""
        if fcntl is None:
            return True
        try:
            fcntl.lockf(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, _offset(key))
        except OSError as error:
            if error.errno in (errno.EACCES, errno.EAGAIN):
                return False
            raise
        return True

    def release(self, key: str) -> None:
        """Give a claim back."""
        if fcntl is not None:
            fcntl.lockf(self._descriptor, fcntl.LOCK_UN, 1, _offset(key))

    def close(self) -> None:
        """Drop all claims."""
        os.close(self._descriptor)


def _offset(key: str) -> int:
    return int(key[:15], 16)
