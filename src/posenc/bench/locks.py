"""Locks that the system drops by itself when their holder dies."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

try:
    import fcntl
except ImportError:  # Windows: no advisory locks; appends are still single writes
    fcntl = None


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


class Claims:
    """Which cells this driver is working on, seen by other drivers on the same results file.

    Each claim locks one byte of a file beside the results, at an offset given by the cell's key.
    A driver that is killed loses its claims, and its cells become free.

    Parameters
    ----------
    results : path
        The results file.
    """

    def __init__(self, results: Path) -> None:
        self._path = results.with_name(results.name + ".claims")
        self._path.parent.mkdir(parents=True, exist_ok=True)
        self._descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT, 0o644)

    def take(self, key: str) -> bool:
        """Claim a cell; return False where another driver holds it."""
        if fcntl is None:
            return True
        try:
            fcntl.lockf(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, _offset(key))
        except OSError:
            return False
        return True

    def release(self, key: str) -> None:
        """Give a claim back."""
        if fcntl is not None:
            fcntl.lockf(self._descriptor, fcntl.LOCK_UN, 1, _offset(key))

    def close(self) -> None:
        """Drop all claims, and remove the file unless another driver holds a claim."""
        alone = True
        if fcntl is not None:
            try:
                fcntl.lockf(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                alone = False
        if alone:
            self._path.unlink(missing_ok=True)
        os.close(self._descriptor)


def _offset(key: str) -> int:
    return int(key[:15], 16)
