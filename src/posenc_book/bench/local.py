"""The default engine: one single-threaded process per core on this machine."""

import multiprocessing
import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess

from posenc import _checks
from posenc_book.bench.jobs import Job, died, run

# One thread each, and none that spins while it waits: on a shared machine two spinning threads
# make a step of milliseconds last a hundred times longer.
ENVIRONMENT = {
    "OMP_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "OMP_WAIT_POLICY": "PASSIVE",
}
ATTEMPTS = 2


@dataclass(eq=False)
class _Worker:
    process: SpawnProcess
    pipe: Connection
    job: Job | None = None
    attempt: int = 0


class LocalEngine:
    """Runs jobs in several processes on this machine, and replaces a process that dies.

    A job whose worker died is tried once more; then its cells are recorded as failed. In a `with`
    block idle processes wait for further jobs; otherwise they end with the last one.

    Parameters
    ----------
    workers : int, optional
        By default one per core that this process may use.
    """

    def __init__(self, workers: int | None = None) -> None:
        self.n_workers = _checks.count(
            "workers", available_cores() if workers is None else workers, minimum=1
        )
        self._context = multiprocessing.get_context("spawn")
        self._workers: list[_Worker] = []
        self._held = False

    def __enter__(self) -> "LocalEngine":
        self._held = True
        return self

    def __exit__(self, *_: object) -> None:
        self._held = False
        self._stop()

    @property
    def running(self) -> int:
        """Number of cells that are being trained."""
        return sum(len(w.job.cells) for w in self._workers if w.job)

    def map(self, jobs: Iterator[Job]) -> Iterator[tuple[Job, list[dict]]]:
        """Yield each job with its records as it ends; jobs are taken only when a worker is free."""
        try:
            self._fill(jobs)
            while busy := [w for w in self._workers if w.job]:
                for pipe in wait([w.pipe for w in busy]):
                    worker = next(w for w in busy if w.pipe is pipe)
                    done = self._collect(worker)
                    if done:
                        yield done
                self._fill(jobs)
        finally:
            if self.running or not self._held:  # who left early wants no more of the rest
                self._stop()

    def _fill(self, jobs: Iterator[Job]) -> None:
        for worker in self._workers:
            if worker.job is None:
                job = next(jobs, None)
                if job is None:
                    return
                self._send(worker, job)
        while len(self._workers) < self.n_workers:
            job = next(jobs, None)
            if job is None:
                return
            self._workers.append(self._start())
            self._send(self._workers[-1], job)

    def _send(self, worker: _Worker, job: Job, attempt: int = 1) -> None:
        worker.job, worker.attempt = job, attempt
        with suppress(OSError):  # where it has died, the pipe is at its end: `_collect` sees that
            worker.pipe.send(job)

    def _collect(self, worker: _Worker) -> tuple[Job, list[dict]] | None:
        job = worker.job
        assert job is not None  # it has answered
        try:
            records = worker.pipe.recv()
        except (EOFError, OSError):
            return self._replace(worker, job)
        worker.job = None
        return job, records

    def _replace(self, worker: _Worker, job: Job) -> tuple[Job, list[dict]] | None:
        worker.process.join()
        worker.pipe.close()
        fresh = self._start()
        self._workers[self._workers.index(worker)] = fresh
        if worker.attempt < ATTEMPTS:
            self._send(fresh, job, worker.attempt + 1)
            return None
        why = f"the worker died {ATTEMPTS} times, at last with code {worker.process.exitcode}"
        return job, [died(cell, why, job.device) for cell in job.cells]

    def _start(self) -> _Worker:
        ours, theirs = self._context.Pipe()
        process = self._context.Process(target=_serve, args=(theirs,), daemon=True)
        with _environment():
            process.start()
        theirs.close()
        return _Worker(process, ours)

    def _stop(self) -> None:
        for worker in self._workers:
            worker.pipe.close()
            worker.process.terminate()
        for worker in self._workers:
            worker.process.join()
        self._workers.clear()


class SerialEngine:
    """Runs jobs in this process, one after the other: for notebooks and for debugging.

    Like the workers it uses one thread while it trains. A `with` block changes nothing.
    """

    n_workers = 1

    def __init__(self) -> None:
        self.running = 0

    def __enter__(self) -> "SerialEngine":
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def map(self, jobs: Iterator[Job]) -> Iterator[tuple[Job, list[dict]]]:
        """Yield each job with its records."""
        import torch

        for job in jobs:
            threads = torch.get_num_threads()
            torch.set_num_threads(1)
            self.running = len(job.cells)
            try:
                records = run(job)
            finally:
                torch.set_num_threads(threads)
                self.running = 0
            yield job, records


def available_cores() -> int:
    """Return the number of cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _serve(pipe: Connection) -> None:
    """Run jobs until the driver closes the pipe or dies."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the driver decides what Ctrl-C means
    threading.Thread(target=_die_with_driver, daemon=True).start()
    import torch

    torch.set_num_threads(1)
    try:
        while True:
            pipe.send(run(pipe.recv()))
    except (EOFError, OSError):
        return


def _die_with_driver() -> None:
    if (driver := multiprocessing.parent_process()) is not None:
        driver.join()
    os._exit(1)


@contextmanager
def _environment() -> Iterator[None]:
    """Set the variables that a worker must find when it starts."""
    before = {name: os.environ.get(name) for name in ENVIRONMENT}
    os.environ.update(ENVIRONMENT)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
