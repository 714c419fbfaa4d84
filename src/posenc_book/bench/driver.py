"""From a grid to a file of results: whatever is not there yet is trained and appended."""

import math
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from posenc import _checks
from posenc_book.bench.jobs import Job
from posenc_book.records.locks import Claims
from posenc_book.records.settings import Settings
from posenc_book.records.store import Store, StoreError


def deadline(seconds: float | None) -> float:
    """Return the moment of `time.monotonic` so many seconds from now; infinity for None."""
    if seconds is None:
        return math.inf
    return time.monotonic() + _checks.positive("seconds", seconds)


class Engine(Protocol):
    """What runs jobs somewhere, such as `local.LocalEngine`.

    Attributes
    ----------
    n_workers : int
        Jobs that may run at once.
    running : int
        Cells that are being trained.
    """

    @property
    def n_workers(self) -> int: ...
    @property
    def running(self) -> int: ...

    def map(self, jobs: Iterator[Job]) -> Iterator[tuple[Job, list[dict]]]:
        """Yield each job with its records as it ends."""


class Stores(Protocol):
    """A store, or what stands in for one where results go to several files."""

    @property
    def path(self) -> Path:
        """The file whose name the claims of several drivers share."""

    def refresh(self) -> None:
        """Read what others have added."""

    def finished(self, key: str) -> bool:
        """Return whether a cell has a result."""

    def failed(self, key: str) -> bool:
        """Return whether a cell has an error and no result."""

    def append(self, record: dict, /) -> None:
        """Write one record."""


class Cells(Protocol):
    """What is to be trained: a length, and groups of cells that may be trained together."""

    def __len__(self) -> int: ...

    def groups(self) -> Iterable[Sequence[Settings]]:
        """Return the groups."""


class Listener(Protocol):
    """A listener, told how far a run is; `posenc_book.bench.progress.Progress` is one."""

    def skip(self, n: int) -> None:
        """Count cells that need no training."""

    def add(self, n: int, failed: int, running: int) -> None:
        """Count cells that ended."""


@dataclass
class Summary:
    """What a run did.

    Parameters
    ----------
    trained, failed : int
        Cells that were trained, and how many of them failed.
    skipped : int
        Cells that were found finished, or failed before.
    elsewhere : int
        Cells that were left to another run.
    waiting : int
        Cells that were left as trials that choose their settings are not there yet.
    failed_before : int
        Of the skipped ones, those that had failed before.
    """

    trained: int = 0
    failed: int = 0
    skipped: int = 0
    elsewhere: int = 0
    waiting: int = 0
    failed_before: int = 0


@dataclass
class Driver:
    """Trains what a results file lacks of a grid.

    Memory does not grow with the grid: cells are made one group at a time, records are written
    and forgotten, and of each finished cell only a number of 64 bits is kept.

    Parameters
    ----------
    grid : Cells
        Anything with a length and `groups`, such as `grid.Grid`.
    store : Store
        The results file.
    engine : Engine
        What trains.
    stack : int
        Most seeds that are trained together.
    device : str
        "auto", "cpu", "cuda", "cuda:1" or "mps".
    compile : bool
        Whether to compile the models.
    retry_failed : bool
        Whether cells that failed before are tried again.
    probe : callable, optional
        A further test of each fitted model, see `jobs.Job`.
    train : callable, optional
        Takes the place of `train.train`, see `jobs.Job`.
    until : float, optional
        Time (`time.monotonic`, in seconds) after which no training is begun, nor one that would
        end later if it took as long as the longest job so far.
    summary : Summary
        What was done so far.
    longest : float
        Seconds of the longest job so far; 0 where none has ended.
    stopped : bool
        Whether a cell was left as there was no time for it.
    """

    grid: Cells
    store: Stores
    engine: Engine
    stack: int = 1
    device: str = "auto"
    compile: bool = False
    retry_failed: bool = False
    probe: Callable | None = None
    until: float = math.inf
    train: Callable | None = None
    summary: Summary = field(default_factory=Summary)
    longest: float = 0.0
    stopped: bool = False
    _begun: dict[str, float] = field(default_factory=dict, init=False, repr=False)

    def run(self, listener: Listener) -> Summary:
        """Train every cell that is neither in the store nor being trained by another driver."""
        claims = Claims(self.store.path)
        try:
            for job, records in self.engine.map(self._jobs(claims, listener)):
                now = time.monotonic()
                took = now - self._begun.pop(job.cells[0].key, now)
                self.longest = max(self.longest, took)
                self._keep(records)
                for cell in job.cells:
                    claims.release(cell.key)
                failed = sum("error" in record for record in records)
                self.summary.trained += len(records)
                self.summary.failed += failed
                listener.add(len(records), failed, self.engine.running)
        finally:
            claims.close()
        return self.summary

    def _jobs(self, claims: Claims, listener: Listener) -> Iterator[Job]:
        for group in self.grid.groups():
            # no more is claimed than one job takes, so that other drivers find work
            for start in range(0, len(group), self.stack):
                some = group[start : start + self.stack]
                cells = self._free(some, claims)
                listener.skip(len(some) - len(cells))
                if not cells:
                    continue
                now = time.monotonic()
                if now + self.longest > self.until:
                    self.stopped = True
                    for cell in cells:
                        claims.release(cell.key)
                    return
                self._begun[cells[0].key] = now
                yield Job(tuple(cells), self.device, self.compile, self.probe, self.train)

    def _free(self, group: Sequence[Settings], claims: Claims) -> list[Settings]:
        """Return the cells that are left to do, claimed."""
        self.store.refresh()
        open_cells = [cell for cell in group if not self._skips(cell)]
        claimed = [cell for cell in open_cells if claims.take(cell.key)]
        self.summary.elsewhere += len(open_cells) - len(claimed)
        self.store.refresh()  # another driver may have finished one just before we claimed it
        free = []
        for cell in claimed:
            if self._skips(cell):
                claims.release(cell.key)
            else:
                free.append(cell)
        return free

    def _skips(self, cell: Settings) -> bool:
        """Return whether a cell needs no training, and count it if so."""
        failed = self.store.failed(cell.key) and not self.retry_failed
        skipped = failed or self.store.finished(cell.key)
        self.summary.skipped += skipped
        self.summary.failed_before += failed
        return skipped

    def _keep(self, records: list[dict]) -> None:
        for i, record in enumerate(records):
            try:
                self.store.append(record)
            except StoreError as error:
                raise self._rescued(error, records[i:]) from error

    def _rescued(self, error: StoreError, records: list[dict]) -> StoreError:
        """Write what could not be stored elsewhere, and return an error that says where."""
        rescue = Store(Path(tempfile.mkdtemp(prefix="posenc-rescued-")) / "results.jsonl")
        try:
            for record in records:
                rescue.append(record)
        except StoreError:
            return error
        what = f"{len(records)} results that were ready are in {rescue.path}: merge them"
        return StoreError(error.errno, f"{error.strerror}; {what}")
