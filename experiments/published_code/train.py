"""What two habits of published code do to a score: choosing by the test part, and batches mixed up.

`checkpoints` notes after every epoch which test series are right, so that rules for choosing the
checkpoint can be compared afterwards. `across` lets trained models classify the same test series
in batches of other sizes and orders, which a sound model does not notice.
"""

import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn

from posenc_book.audit import published
from posenc_book.bench import build, ensemble, parts, train
from posenc_book.records import records, settings
from posenc_book.records.settings import Settings
from posenc_book.records.store import Store

CPU = torch.device("cpu")
N_ORDERS = 20
BATCH_SIZES = (1, 8, 32, 1000)
CHECKPOINT_SETS = {"RacketSports": 20, "NATOPS": 10, "FingerMovements": 10}
ACROSS_SETS = ("RacketSports", "NATOPS", "BasicMotions")
ACROSS_ENCODINGS = {  # whether the model attends across the batch
    "sinusoidal": False,
    "posenc.audit.published:BatchIndexed": False,
    "posenc.audit.published:InputOnlyTPE": True,
}
PROBE = {  # as the re-enacted encodings are trained on it
    "dataset_options": {"distance": 3, "length": 16, "n": 2000, "noise": 0.02},
    "d_model": 16,
    "d_ff": 64,
    "dropout": 0.0,
    "learning_rate": 3e-3,
    "epochs": 30,
    "patience": 30,
    "max_cases": 0,
}


class Watched(train.Training):
    """A training that notes after every epoch which test series it classifies rightly."""

    def __init__(self, cell: Settings, group: ensemble.Ensemble, data: parts.Parts) -> None:
        super().__init__([cell], group, data, CPU)
        self.validation: list[float] = []
        self.correct: list[str] = []

    def _judge(self, number: int, train_losses: list[float]) -> None:
        super()._judge(number, train_losses)
        kept, test = self.data.validation, self.data.test
        self.validation.append(_right(self._logits(kept), kept.y).mean().item())
        right = _right(self._logits(test), test.y).numpy().astype(bool)
        self.correct.append(np.packbits(right).tobytes().hex())


def _right(logits: Tensor, y: Tensor) -> Tensor:
    return (logits[0].argmax(-1) == y[0]).double()


def trained(cell: Settings, change: Callable[[nn.Module], None] | None = None) -> train.Training:
    """Return the finished training of a cell, at its best validation."""
    data = parts.load_parts(cell, CPU)
    model = build.model(cell, data.n_channels, data.n_classes, data.length)
    if change is not None:
        change(model)
    run = Watched(cell, ensemble.make([model]), data)
    run.fit()
    return run


def checkpoints(cell: Settings) -> dict:
    """Return the course of one training: validation accuracy and right test series per epoch."""
    run = trained(cell)
    return _summary(run) | {
        "validation_curve": run.validation,
        "correct": run.correct,
        "n_test": len(run.data.test),
    }


def across(cell: Settings) -> dict:
    """Return how one trained model's answers depend on the batches in which it is asked."""
    wrong_axis = ACROSS_ENCODINGS[cell.encoding]
    run = trained(cell, published.attend_across_batch if wrong_axis else None)
    y = run.data.test.y[0].numpy()
    asked = {size: _answers(run, size) for size in BATCH_SIZES}
    batches = asked[32]
    changes = np.mean([np.mean(a != b) for a, b in pairwise(batches)])
    return _summary(run) | {
        "across_batch": wrong_axis,
        "changed_between_orders": float(changes),
        "changed_in_any_order": float((batches != batches[0]).any(axis=0).mean()),
        "accuracy_by_order": (batches == y).mean(axis=1).tolist(),
        "accuracy_by_batch_size": {
            str(min(size, len(y))): float((found == y).mean()) for size, found in asked.items()
        },
    }


@torch.no_grad()
def _answers(run: train.Training, size: int) -> np.ndarray:
    """Return the predicted classes, (N_ORDERS, n_series), each order cut into batches of `size`."""
    test, rng = run.data.test, np.random.default_rng(0)
    answers = np.empty((N_ORDERS, len(test)), dtype=int)
    for row in answers:
        for batch in _batches(rng.permutation(len(test)), size):
            row[batch] = run.group.predict(test.x[:, batch], None)[0].argmax(-1).numpy()
    return answers


def _batches(order: np.ndarray, size: int) -> Iterator[np.ndarray]:
    return (order[start : start + size] for start in range(0, len(order), size))


def _summary(run: train.Training) -> dict:
    found = {"epochs": run.step // run.n_batches, "steps": run.step}
    return run.test()[0] | train._course(run.best[0]) | found


def checkpoint_cells() -> Iterator[Settings]:
    laptop = settings.profile("laptop")
    for name, n_seeds in CHECKPOINT_SETS.items():
        for seed in range(n_seeds):
            yield Settings("sinusoidal", "time_series", name, seed, **laptop | {"patience": 40})


def across_cells() -> Iterator[Settings]:
    laptop = settings.profile("laptop")
    for encoding in ACROSS_ENCODINGS:
        source = {"encoding_source": build.encoding_fingerprint(encoding)}
        for seed in range(5):
            cell = Settings(encoding, "time_series", "RacketSports", seed, **laptop | source)
            yield from (replace(cell, dataset=name) for name in ACROSS_SETS)
            yield replace(cell, dataset="range_probe", **PROBE)


EXPERIMENTS = {"checkpoints": (checkpoint_cells, checkpoints), "across": (across_cells, across)}


def run(experiment: str, out: Path) -> None:
    """Train the cells of an experiment that a file does not hold yet."""
    cells, measure = EXPERIMENTS[experiment]
    store = Store(out)
    store.refresh()
    for cell in cells():
        if not store.finished(cell.key):
            start = time.perf_counter()
            metrics = measure(cell)
            seconds = time.perf_counter() - start
            store.append(records.finished(cell, metrics, device="cpu", seconds=seconds))
