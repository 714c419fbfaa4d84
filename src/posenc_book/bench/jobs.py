"""What a worker does: train some cells, and turn every outcome, good or bad, into a record."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from posenc_book.bench import stopwatch
from posenc_book.records import records
from posenc_book.records.settings import Settings

# Stacked attention forms its scores; beyond this many tokens training one by one is faster. (On an
# H200 with 16 workers five resamples of 200 to 315 tokens took half the time in a stack.)
MOST_STACKED_TOKENS = {"cpu": 40, "cuda": 320}


@dataclass(frozen=True)
class Job:
    """Cells that differ in their seed only, and how to run them (which changes no result).

    Parameters
    ----------
    cells : tuple of Settings
    device : str
        "auto" takes a GPU where the worker has one.
    compile : bool
        Whether to compile the models.
    probe : callable, optional
        A further test of each fitted model, see `train.train`. It must be a function of a module,
        so that workers can import it; what it tests must be part of the cells' settings.
    train : callable, optional
        Takes the place of `train.train`, with its arguments and results; a function of a module.
        It gets all cells of the job at once.
    """

    cells: tuple[Settings, ...]
    device: str = "auto"
    compile: bool = False
    probe: Callable | None = None
    train: Callable | None = None


def run(job: Job) -> list[dict]:
    """Return one record per cell. Never raises for what a cell does wrong."""
    device = resolve_device(job.device)
    try:
        groups = [list(job.cells)] if _stackable(job, device) else [[c] for c in job.cells]
    except Exception as error:
        return [died(cell, _text(error), device_name(device)) for cell in job.cells]
    return [record for group in groups for record in _run_group(group, job, device)]


def resolve_device(device: str) -> str:
    """Return "cuda" or "cpu" for "auto", else the device as named."""
    import torch

    n_here = {
        "cpu": 1,
        "cuda": torch.cuda.device_count() if torch.cuda.is_available() else 0,
        "mps": int(torch.backends.mps.is_available()),
    }
    if device == "auto":
        return "cuda" if n_here["cuda"] else "cpu"
    kind, colon, number = device.partition(":")
    if kind not in n_here or (colon and not number.isdecimal()):
        raise ValueError(f"device must be auto, cpu, cuda, cuda:1 or mps, got {device!r}")
    if int(number or 0) >= n_here[kind]:
        raise ValueError(
            f"device {device!r} is not here, torch finds {n_here[kind]} of that kind; use "
            "--device auto or --device cpu, or a machine that has it with a torch built for it"
        )
    return device


def device_name(device: str) -> str:
    """Return the device for the record, a GPU with its model."""
    import torch

    if device.startswith("cuda") and torch.cuda.is_available():
        return f"{device} ({torch.cuda.get_device_name(device)})"
    return device


def died(cell: Settings, why: str, device: str) -> dict:
    """Return the record of a cell whose worker could not finish it."""
    return records.failed(cell, why, device=device, seconds=0.0)


def _stackable(job: Job, device: str) -> bool:
    import torch

    from posenc_book.bench import build, parts

    if len(job.cells) == 1 or job.train is not None:  # which decides by itself
        return True
    length = parts.load_parts(job.cells[0], torch.device(device)).length
    most = MOST_STACKED_TOKENS["cuda" if device.startswith("cuda") else "cpu"]
    return build.n_tokens(job.cells[0], length) <= most


def _run_group(cells: Sequence[Settings], job: Job, device: str) -> list[dict]:
    from posenc_book.bench import train

    start = stopwatch.now()
    try:
        outcomes = (job.train or train.train)(cells, device, compile=job.compile, probe=job.probe)
    except Exception as error:
        if len(cells) > 1:  # out of memory, or an encoding with random numbers of its own
            return [r for cell in cells for r in _run_group([cell], job, device)]
        outcomes = [error]
    seconds = stopwatch.since(start) / len(cells)
    where: dict[str, Any] = {"device": device_name(device), "seconds": seconds}
    return [
        _stored(cell, outcome, where)
        if isinstance(outcome, dict)
        else records.failed(cell, _text(outcome, train.TrainingError), **where)
        for cell, outcome in zip(cells, outcomes, strict=True)
    ]


def _stored(cell: Settings, metrics: dict, where: Mapping[str, Any]) -> dict:
    """Return the record of a training; of a failed one if a store would not take its metrics."""
    record = records.finished(cell, metrics, **where)
    try:
        records.line(record)
    except (TypeError, ValueError) as error:
        why = f"metrics must be finite numbers and other JSON values: {_text(error)}"
        return records.failed(cell, why, **where)
    return record


def _text(error: Exception, plain: type[Exception] | tuple = ()) -> str:
    message = str(error).strip().split("\n")[0][:500]
    return message if isinstance(error, plain) else f"{type(error).__name__}: {message}"
