"""A line that says how far a run is: cells done, running, failed, and the time left."""

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

from tqdm import tqdm


def name_place(results: Path, trials: Path | None = None) -> None:
    """Say where results go, and trials that choose a rate, before anything is trained."""
    beside = f", trials to {trials}" if trials else ""
    print(f"results go to {results}{beside}", file=sys.stderr, flush=True)


class Progress:
    """Progress of `total` cells on `stream`, of which `done` were done before this `stage`.

    On a terminal one line is redrawn; in a log file a line is written every ten seconds at most.
    """

    def __init__(
        self, total: int, stream: TextIO | None = None, *, done: int = 0, stage: str = ""
    ) -> None:
        stream = stream or sys.stderr
        interval = 0.2 if stream.isatty() else 10.0
        # smoothing 0: time left from the mean over the run, as cells differ much in length
        self._bar = tqdm(
            desc=stage or None,
            total=total,
            initial=done,
            unit="cell",
            file=stream,
            mininterval=interval,
            smoothing=0,
            leave=True,
        )
        self._failed = 0

    @property
    def done(self) -> int:
        """Cells that need no more training, those of earlier stages included."""
        return self._bar.n

    def skip(self, n: int) -> None:
        """Count cells that need no training; they do not speed the estimate up."""
        self._bar.initial += n
        self._bar.n += n

    def add(self, n: int, failed: int, running: int) -> None:
        """Count `n` cells that ended, `failed` of them with an error."""
        self._failed += failed
        self._bar.set_postfix(running=running, failed=self._failed, refresh=False)
        self._bar.update(n)

    def __enter__(self) -> "Progress":
        return self

    def __exit__(self, *error: object) -> None:
        """Leave the last state on the screen."""
        self._bar.close()


@dataclass
class Plan:
    """All cells of a command: each of its stages has a line, which goes on where the last one was.

    Parameters
    ----------
    total, done : int
        Cells of all stages, and how many of them need no more training.
    stage : str
        What is being done.
    """

    total: int = 0
    done: int = 0
    stage: str = "training"

    def begin(self, stage: str, absent: int = 0) -> None:
        """Begin a stage, of which so many cells turned out not to be."""
        self.stage = stage
        self.total -= absent

    def progress(self) -> Progress:
        """Return the line of the stage that has begun."""
        return Progress(self.total, done=self.done, stage=self.stage)
