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
from posenc.models import LanguageModel
from posenc_book.bench import build, failures, jobs, local, staleness, stopwatch
from posenc_book.bench.course import learning_rate
from posenc_book.bench.driver import Cells, Driver, Summary, deadline
from posenc_book.bench.progress import Progress, name_place
from posenc_book.bench.train import TrainingError
from posenc_book.records.labels import UNFINISHED, label_of
from posenc_book.records.settings import Settings
from posenc_book.records.store import Store

Batch = tuple[Tensor, Tensor]
"""Tokens (batch, length + 1), and which of those behind the first are to be predicted."""

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
        As for `posenc_book.records.settings.Settings`; `steps` must be at least 1.
    random_positions : int
        Places to draw from in training, see `LanguageModel`; 0 counts.
    most_seconds : float
        Limit of the processor's time for one training and its tests; beyond it the cell is
        recorded as unfinished.
    """

    random_positions: int = 0
    most_seconds: float = 600.0

    def __post_init__(self) -> None:
        super().__post_init__()
        _checks.count("random_positions", self.random_positions)
        _checks.positive("most_seconds", self.most_seconds)
        _checks.count("steps", self.steps, minimum=1)

    def stored(self) -> dict:
        """Return the settings as records hold them."""
        return {name: value for name, value in super().stored().items() if name not in _UNUSED}


class Clock:
    """Stops a training whose time is over; busy neighbours on the machine do not count.

    Parameters
    ----------
    most_seconds : float
        Of the processor's time, from now on.
    """

    def __init__(self, most_seconds: float) -> None:
        self.most_seconds, self._start = most_seconds, time.process_time()

    @property
    def seconds(self) -> float:
        """Seconds of the processor's time since the start."""
        return time.process_time() - self._start

    def check(self, done: str) -> None:
        """Go on, unless the time is over."""
        if self.seconds > self.most_seconds:
            raise TrainingError(f"{UNFINISHED}: {self.most_seconds:g} seconds were over {done}")


def model(cell: LanguageSettings, n_tokens: int, max_length: int) -> LanguageModel:
    """Return the model of a cell, with the initial weights of its seed."""
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
    """Return what each cell's training gave, or the TrainingError that ended it."""
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
    """Train a model for `cell.steps` steps."""
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
    """Train what the results file lacks of some cells, one at a time in each worker."""
    device = jobs.resolve_device(options.device)
    until = deadline(options.seconds)
    name_place(options.out)
    for sentence in staleness.staleness_lines(cells.groups(), options.out):
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
    with Progress(len(cells)) as progress:
        summary = driver.run(progress)
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
    """Return a cell in words."""
    settings = record["settings"]
    told = {**settings.get("dataset_options", {}), "scale": settings.get("scale", "paper")}
    places = [f"{name} {told[name]}" for name in _PLACES if told.get(name, "paper") != "paper"]
    return ", ".join([record["dataset"], label_of(record), *places, f"seed {record['seed']}"])
