"""The engine for more machines: an existing Dask scheduler, given by its address."""

import uuid
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from posenc_book.bench.jobs import Job, died, run

TIMEOUT = 10.0  # seconds to wait for the scheduler


class DaskEngine:
    """Runs jobs on the workers of a Dask scheduler; records come back to this driver's store.

    Dask restarts a job whose worker died, and gives it up after three deaths: its cells are then
    recorded as failed. Where the scheduler dies, `map` raises ConnectionError; what has ended by
    then is stored, and the next run trains the rest. Start workers with `--nthreads 1`, one per
    core or GPU. The scheduler is left at the end of a `with` block; without one, after the last
    job.

    Parameters
    ----------
    address : str
        Of the scheduler, such as "tcp://host:8786".
    sources : sequence of path
        Python files that the workers need: those of a reader's own encodings.
    """

    def __init__(self, address: str, sources: Sequence[Path] = ()) -> None:
        try:
            from distributed import Client
            from distributed.diagnostics.plugin import UploadFile
        except ImportError as error:
            raise ValueError(f"engine {address!r}: {error}") from error
        try:
            self._client = Client(address, timeout=TIMEOUT, set_as_default=False)
        except OSError as error:
            raise ValueError(f"engine {address!r}: no Dask scheduler answers there") from error
        for path in sources:
            # to workers alone: the scheduler, which trains nothing, need not load what they need
            self._client.register_plugin(UploadFile(str(path)), name=f"{path}{uuid.uuid4()}")
        self._address = address
        self.running = 0
        self._held = False

    def __enter__(self) -> "DaskEngine":
        self._held = True
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def n_workers(self) -> int:
        """Threads of all workers, which may come and go."""
        try:
            return max(1, sum(self._client.nthreads().values()))
        except OSError as error:  # of a scheduler that died while it was asked
            raise self._gone() from error

    def _gone(self) -> ConnectionError:
        return ConnectionError(
            f"engine {self._address!r}: the scheduler is gone. Finished cells are safe; start it "
            "again, and the same command goes on from here"
        )

    def close(self) -> None:
        """Leave the scheduler; the engine is of no use afterwards."""
        self._client.close()

    def map(self, jobs: Iterator[Job]) -> Iterator[tuple[Job, list[dict]]]:
        """Yield each job with its records as it ends; few wait at the scheduler at any time."""
        from distributed import as_completed

        waiting = as_completed(loop=self._client.loop)
        futures: dict[Any, Job] = {}
        try:
            self._fill(jobs, waiting, futures)
            while futures:
                future = next(waiting)
                job = futures.pop(future)
                if future.cancelled():  # as all are where the scheduler is gone
                    futures.clear()
                    raise self._gone()
                self.running = sum(len(j.cells) for j in futures.values())
                yield job, _records(future, job)
                self._fill(jobs, waiting, futures)
        finally:
            if futures and self._client.status == "running":
                self._client.cancel(list(futures), force=True)
            if not self._held:
                self.close()

    def _fill(self, jobs: Iterator[Job], waiting: Any, futures: dict) -> None:
        # twice the workers, so that none waits for this driver
        while len(futures) < 2 * self.n_workers:
            job = next(jobs, None)
            if job is None:
                return
            future = self._client.submit(run_on_one_thread, job, pure=False)
            futures[future] = job
            waiting.add(future)
            self.running = sum(len(j.cells) for j in futures.values())


def run_on_one_thread(job: Job) -> list[dict]:
    """Run a job as the workers of this machine do: a worker is started for each core."""
    import torch

    torch.set_num_threads(1)
    return run(job)


def _records(future: Any, job: Job) -> list[dict]:
    if future.status == "finished":
        return future.result()
    error = future.exception()
    why = f"{type(error).__name__}: {error}".split("\n")[0][:500]
    return [died(cell, why, job.device) for cell in job.cells]
