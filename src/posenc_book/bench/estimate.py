"""How long a run may take, said before its first cell ends: a few steps are timed."""

import time
from collections.abc import Sequence

import torch

from posenc_book.bench import build, ensemble, parts, stopwatch
from posenc_book.bench.train import Training
from posenc_book.records.settings import Settings

SAMPLES = 6
STEPS = 8  # of one training, at most
SECONDS = 5.0


def at_most(groups: Sequence[Sequence[Settings]], n_workers: int, device: str) -> float | None:
    """Return the seconds that training all cells takes if none stops early, or None if unknown.

    Some groups, evenly spread, take a few steps each, for `SECONDS` in all; the rest is assumed to
    be like them. Of the steps of one the quickest counts: a busy computer delays single ones a lot.
    """
    n_cells = sum(map(len, groups))
    if not n_cells:
        return 0.0
    threads = torch.get_num_threads()
    torch.set_num_threads(1)  # as each worker does
    try:
        each = _each(groups[:: max(1, len(groups) // SAMPLES)], torch.device(device))
    finally:
        torch.set_num_threads(threads)
    return n_cells * sum(each) / len(each) / n_workers if each else None


def _each(groups: Sequence[Sequence[Settings]], device: torch.device) -> list[float]:
    """Return the seconds of one training of each group, as far as there is time to look."""
    started, found = time.monotonic(), []
    for group in groups:
        try:
            found.append(_seconds(group[0], device))
        except (ValueError, RuntimeError):  # it will fail again, and be recorded
            continue
        if time.monotonic() > started + SECONDS:
            break
    return found


def duration_text(seconds: float) -> str:
    """Return a duration in words: "a few seconds", "40 seconds", "25 minutes", "3.5 hours"."""
    if seconds < 10:  # to start a process alone takes some
        return "a few seconds"
    if seconds < 90:
        return f"{seconds:.0f} seconds"
    if seconds < 90 * 60:
        return f"{seconds / 60:.0f} minutes"
    return f"{seconds / 3600:.1f} hours"


def _seconds(cell: Settings, device: torch.device) -> float:
    """Return the seconds of one training that does not stop early."""
    data = parts.load_parts(cell, device)
    model = build.model(cell, data.n_channels, data.n_classes, data.length).to(device)
    training = Training([cell], ensemble.make([model]), data, device)
    training.take_step()  # the first one is slow
    steps: list[float] = []
    while len(steps) < STEPS and sum(steps) < SECONDS / 2:
        start = stopwatch.now()
        training.take_step()
        steps.append(stopwatch.since(start))
    return min(steps) * training.course.most_steps
