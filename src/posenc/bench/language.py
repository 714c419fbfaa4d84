"""What trainings of the language model share: their settings, the loop, and the run of a grid."""

import time
from argparse import Namespace
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from posenc import _checks
from posenc.bench import build, failures, jobs, local, renewed, stopwatch
from posenc.bench.course import learning_rate
from posenc.bench.driver import Cells, Driver, Summary, deadline
from posenc.bench.progress import Progress
from posenc.bench.settings import Settings
from posenc.bench.store import Store
from posenc.bench.train import TrainingError
from posenc.models import LanguageModel

Batch = tuple[Tensor, Tensor]
"""Tokens (batch, length + 1), and which of those behind the first are to be predicted."""

UNFINISHED = "unfinished"
NOTED = 100  # steps whose mean loss is stored, the first ones and the last
_PLACES = ("distance", "clock", "scale")  # what tells apart cells of one encoding and seed
# What the classifiers of time series are trained with, and a language model is not.
_UNUSED = (
    "patch", "epochs", "patience", "validation", "split_seed", "max_cases", "precision", "norm",
    "least_steps", "patience_steps", "check_every", "resample", "tuned",
)  # fmt: skip


@dataclass(frozen=True)
class LanguageSettings(Settings):
    """One training of a `posenc.models.LanguageModel`; it takes exactly `steps` steps.

    Parameters
    ----------
    **settings
        As for `posenc.bench.settings.Settings`; `steps` must be at least 1.
    random_positions : int
        Places to draw from in training, see `LanguageModel`; 0 counts.
    most_seconds : float
        Limit of the processor's time for one training and its tests; beyond it the cell is
        recorded as unfinished.

    Raises
    ------
    ValueError
        If a value is out of range; the message names it.

    Examples
    --------
    >>> cell = LanguageSettings("rotary", "language", "copy", steps=100)
    >>> "epochs" in cell.stored(), cell.stored()["steps"]
    (False, 100)
    """

    random_positions: int = 0
    most_seconds: float = 600.0

    def __post_init__(self) -> None:
        super().__post_init__()
        _checks.count("random_positions", self.random_positions)
        _checks.positive("most_seconds", self.most_seconds)
        _checks.count("steps", self.steps, minimum=1)

    def stored(self) -> dict:
        """Return the settings as records hold them.

        Returns
        -------
        dict
            Without those that mean nothing for a language model.
        """
        return {name: value for name, value in super().stored().items() if name not in _UNUSED}


class Clock:
    """Stops a training whose time is over; busy neighbours on the machine do not count.

    Parameters
    ----------
    most_seconds : float
        Of the processor's time, from now on.

    Raises
    ------
    TrainingError
        From `check`, when the time is over.

    Examples
    --------
    >>> clock = Clock(60.0)
    >>> clock.check("after 3 steps")
    >>> clock.seconds < clock.most_seconds
    True
    """

    def __init__(self, most_seconds: float) -> None:
        self.most_seconds, self._start = most_seconds, time.process_time()

    @property
    def seconds(self) -> float:
        """Seconds of the processor's time since the start."""
        return time.process_time() - self._start

    def check(self, done: str) -> None:
        """Go on, unless the time is over.

        Parameters
        ----------
        done : str
            What was done by now, for the message: "after 3 steps".

        Raises
        ------
        TrainingError
            If the time is over.
        """
        if self.seconds > self.most_seconds:
            raise TrainingError(f"{UNFINISHED}: {self.most_seconds:g} seconds were over {done}")


def model(cell: LanguageSettings, n_tokens: int, max_length: int) -> LanguageModel:
    """Return the model of a cell, with the initial weights of its seed.

    Parameters
    ----------
    cell : LanguageSettings
    n_tokens : int
        Symbols of the vocabulary.
    max_length : int
        Tokens of the longest sequence.

    Returns
    -------
    posenc.models.LanguageModel

    Raises
    ------
    ValueError
        If the encoding is unknown, or a size does not fit it.

    Examples
    --------
    >>> net = model(LanguageSettings("rotary", "language", "copy", steps=1), 28, 42)
    >>> net(torch.zeros(1, 5, dtype=torch.long)).shape
    torch.Size([1, 5, 28])
    """
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(cell.seed)
        return LanguageModel(
            n_tokens,
            cell.d_model,
            cell.n_heads,
            cell.n_layers,
            position=build.position(cell),
            max_length=max_length,
            d_ff=cell.d_ff,
            dropout=cell.dropout,
            random_positions=cell.random_positions or None,
        )


Cell = TypeVar("Cell", bound=LanguageSettings)


def one_by_one(
    train_one: Callable[[Cell, torch.device], dict[str, Any]],
    cells: Sequence[Cell],
    device: str,
    *,
    compile: bool = False,  # noqa: ARG001 - the engine hands it on
    probe: object = None,  # noqa: ARG001
) -> list[dict[str, Any] | TrainingError]:
    """Return what each cell's training gave, or the TrainingError that ended it.

    Parameters
    ----------
    train_one : callable
        From a cell and a device to the scores of its training.
    cells : sequence of LanguageSettings
    device : str
        "cpu", "cuda", "cuda:1", "mps".
    compile, probe
        What an engine hands on; not used.

    Returns
    -------
    list of dict or TrainingError, one per cell

    Raises
    ------
    RuntimeError
        If `device` is none of torch's; besides whatever `train_one` raises but TrainingError.

    Examples
    --------
    >>> cells = [LanguageSettings("none", "language", "copy", seed, steps=1) for seed in (0, 1)]
    >>> one_by_one(lambda cell, device: {"seed": cell.seed}, cells, "cpu")
    [{'seed': 0}, {'seed': 1}]
    """
    found: list[dict[str, Any] | TrainingError] = []
    for cell in cells:
        try:
            found.append(train_one(cell, torch.device(device)))
        except TrainingError as error:
            found.append(error)
    return found


def fit(
    cell: LanguageSettings, net: nn.Module, draw: Callable[[], Batch], clock: Clock
) -> dict[str, Any]:
    """Train a model for `cell.steps` steps.

    Parameters
    ----------
    cell : LanguageSettings
        Its learning rate, schedule, weight decay and steps count.
    net : nn.Module
        From tokens (batch, length) to logits (batch, length, n_tokens); left in evaluation mode.
    draw : callable
        Returns the next batch, see `Batch`.
    clock : Clock
        What limits the time.

    Returns
    -------
    dict
        `train_loss`, the mean of the first and of the last 100 steps, in nats; `steps`; and the
        costs `parameters` and `seconds_per_step`.

    Raises
    ------
    TrainingError
        If the time is over, or the loss is not finite.

    Examples
    --------
    >>> cell = LanguageSettings("none", "language", "copy", steps=2)
    >>> batch = torch.zeros(4, 6, dtype=torch.long), torch.ones(4, 5, dtype=torch.bool)
    >>> course = fit(cell, model(cell, n_tokens=3, max_length=5), lambda: batch, Clock(60.0))
    >>> course["steps"], len(course["train_loss"])
    (2, 2)
    """
    net.train()
    rates: dict[str, Any] = {"lr": cell.learning_rate, "weight_decay": cell.weight_decay}
    optimizer = torch.optim.AdamW(net.parameters(), fused=True, **rates)
    losses, start = [], stopwatch.now()
    for step in range(cell.steps):
        clock.check(f"after {step:,} of {cell.steps:,} steps")
        for group in optimizer.param_groups:
            group["lr"] = learning_rate(step, cell.steps, cell)
        loss = _loss(net, *draw())
        losses.append(loss.item())
        if not np.isfinite(losses[-1]):
            raise TrainingError(f"the training loss became {losses[-1]} in step {step + 1}")
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    net.eval()
    return {
        "train_loss": [float(np.mean(part)) for part in (losses[:NOTED], losses[-NOTED:])],
        "steps": cell.steps,
        "parameters": sum(p.numel() for p in net.parameters()),
        "seconds_per_step": stopwatch.since(start) / cell.steps,
    }


def _loss(net: nn.Module, tokens: Tensor, answers: Tensor) -> Tensor:
    """Return the mean cross-entropy of the tokens that are to be predicted."""
    return cross_entropy(net(tokens[:, :-1])[answers], tokens[:, 1:][answers])


def run(
    cells: Cells,
    options: Namespace,
    train: Callable | None = None,
    *,
    probe: Callable | None = None,
) -> Summary:
    """Train what the results file lacks of some cells, one at a time in each worker.

    Parameters
    ----------
    cells : Cells
        Anything with a length and `groups`.
    options : argparse.Namespace
        `out`, the results file; `device`; `workers` or None; `retry_failed`; and `seconds` after
        which no training is begun, or None.
    train, probe : callable, optional
        What trains cells, and a further test of each fitted model, see `jobs.Job`.

    Returns
    -------
    Summary
        What was done; printed, too.

    Raises
    ------
    ValueError
        If the device is not here, or `out` is not a results file.
    StoreError
        If a result cannot be written.
    """
    device = jobs.resolve_device(options.device)
    until = deadline(options.seconds)
    for sentence in renewed.told(cells.groups(), options.out):
        print(sentence, flush=True)
    driver = Driver(
        cells,
        Store(options.out),
        local.LocalEngine(options.workers),
        device=device,
        retry_failed=options.retry_failed,
        until=until,
        probe=probe,
        train=train,
    )
    progress = Progress(len(cells))
    try:
        summary = driver.run(progress)
    finally:
        progress.close()
    left = len(cells) - summary.trained - summary.skipped - summary.elsewhere
    print(
        f"{summary.trained} cells trained, {summary.failed} of them failed or unfinished; "
        f"{summary.skipped} were there, {left} are left; results in {options.out}"
    )
    failed = failures.of(cells.groups(), options.out)
    for record in failed:
        print(f"{named(record)}: {record['error']}")
    if failed:
        print(failures.AGAIN)
    return summary


def named(record: dict) -> str:
    """Return a cell in words.

    Parameters
    ----------
    record : dict
        Of a training of one of the small protocols.

    Returns
    -------
    str

    Examples
    --------
    >>> from posenc.bench.records import failed
    >>> cell = LanguageSettings("rotary", "language", "copy", steps=1, random_positions=512)
    >>> named(failed(cell, "too long", device="cpu", seconds=0.1))
    'copy, rotary, random places, seed 0'
    """
    settings = record["settings"]
    told = {**settings.get("dataset_options", {}), "scale": settings.get("scale", "paper")}
    places = [f"{name} {told[name]}" for name in _PLACES if told.get(name, "paper") != "paper"]
    return ", ".join([record["dataset"], label_of(record), *places, f"seed {record['seed']}"])


def label_of(record: dict) -> str:
    """Return the encoding of a record in words, see `label`.

    Parameters
    ----------
    record : dict
        Of a training of a language model.

    Returns
    -------
    str

    Examples
    --------
    >>> label_of({"encoding": "rotary", "settings": {"random_positions": 512}})
    'rotary, random places'
    """
    return label(record["encoding"], record["settings"].get("random_positions", 0))


def label(encoding: str, random_positions: int) -> str:
    """Return an encoding in words.

    Parameters
    ----------
    encoding : str
        Its name.
    random_positions : int
        Places to draw from in training; 0 counts.

    Returns
    -------
    str

    Examples
    --------
    >>> label("rotary", 0), label("rotary", 512)
    ('rotary', 'rotary, random places')
    """
    return encoding + ", random places" * bool(random_positions)
