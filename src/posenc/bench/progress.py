"""A line that says how far a run is: cells done, running, failed, and the time left."""

import sys
from typing import TextIO

from tqdm import tqdm


class Progress:
    """Progress of `total` cells on `stream`.

    On a terminal one line is redrawn; in a log file a line is written every ten seconds at most.
    """

    def __init__(self, total: int, stream: TextIO | None = None) -> None:
        stream = stream or sys.stderr
        interval = 0.2 if stream.isatty() else 10.0
        # smoothing 0: time left from the mean over the run, as cells differ much in length
        self._bar = tqdm(
            total=total, unit="cell", file=stream, mininterval=interval, smoothing=0, leave=True
        )
        self._failed = 0

    def skip(self, n: int) -> None:
        """Count cells that need no training; they do not speed the estimate up."""
        self._bar.initial += n
        self._bar.n += n

    def add(self, n: int, failed: int, running: int) -> None:
        """Count `n` cells that ended, `failed` of them with an error."""
        self._failed += failed
        self._bar.set_postfix(running=running, failed=self._failed, refresh=False)
        self._bar.update(n)

    def close(self) -> None:
        """Leave the last state on the screen."""
        self._bar.close()
