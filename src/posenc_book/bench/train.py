"""One training: from settings to test scores, for one seed or several at once.

The checkpoint is chosen on the validation part; the test part chooses nothing, and is scored at the
end.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from posenc_book.bench import build, dropout, ensemble, metrics, parts, stopwatch
from posenc_book.bench.course import Best, learning_rate, plan
from posenc_book.bench.ensemble import Ensemble
from posenc_book.bench.memory import PeakMemory
from posenc_book.bench.parts import Part, Parts
from posenc_book.records.settings import Settings
from posenc_book.records.values import WARM_PEAK

Probe = Callable[[Settings, nn.Module], dict[str, Any]]
"""A further test of a fitted model: what it returns joins the scores of that cell."""


class TrainingError(RuntimeError):
    """A training came to nothing, such as by a loss that is not finite."""


def train(
    cells: Sequence[Settings],
    device: str = "cpu",
    *,
    compile: bool = False,
    probe: Probe | None = None,
) -> list[dict[str, float] | TrainingError]:
    """Train cells that differ in their seed only, together, and score them on the test part."""
    first = _alike(cells)
    where = torch.device(device)
    data = parts.load_together(cells, where)
    with (
        exact_convolutions(),
        torch.random.fork_rng(devices=[where] if where.type == "cuda" else []),
    ):
        _warm_up(cells, data, where)
        memory = PeakMemory(where)
        torch.manual_seed(first.seed)  # for encodings that draw noise in training
        models = _models(cells, data, where)
        n_parameters = sum(p.numel() for p in models[0].parameters())
        group = ensemble.make(models, compile=compile)
        run = Training(cells, group, data, where)
        run.fit()
        scores = run.test()
        if probe is not None:
            fitted = zip(cells, scores, _fitted(models, group), strict=True)
            scores = [score | probe(cell, model) for cell, score, model in fitted]
    costs = {
        "parameters": n_parameters,
        "seconds_per_step": run.seconds / max(1, run.step),
        WARM_PEAK: memory.read(),
        "seeds_together": len(cells),
        "n_train": len(data.train) + len(data.validation),
        "n_test": len(data.test),
    }
    return [
        TrainingError(best.error) if best.error else score | _course(best) | run.steps(best) | costs
        for best, score in zip(run.best, scores, strict=True)
    ]


class Training:
    """The state of a training, with a leading seed axis everywhere; `train` drives it.

    A seed that has stopped leaves the stack, so that the others' steps do not carry it along.
    `running` holds the numbers of those that are left; `seconds` are those of one seed.

    Parameters
    ----------
    cells : sequence of Settings
        Differing in their seed, split and resample only.
    group : Ensemble
        Their models, in the same order.
    data : Parts
        What they are trained on.
    device : torch.device
        Where models and data are.
    """

    def __init__(
        self, cells: Sequence[Settings], group: Ensemble, data: Parts, device: torch.device
    ) -> None:
        settings = cells[0]
        self.settings, self.group, self.data, self.device = settings, group, data, device
        self.whole, self.running = (group, data), list(range(len(cells)))
        self.best = [Best(cell) for cell in cells]
        self.step, self.seconds = 0, 0.0
        n_cases = len(data.train)
        self.n_batches = max(1, n_cases // settings.batch_size)
        self.batch_size = n_cases // self.n_batches  # all batches alike; a few series wait
        self.course = plan(settings, self.n_batches)
        self.orders = [torch.Generator().manual_seed(cell.seed) for cell in cells]
        self.noises = [dropout.noise(cell.seed, device) for cell in cells]
        self.batches = self._batches()
        self.shapes = group.dropout_shapes(*data.train.first(self.batch_size))
        torch.manual_seed(settings.seed)
        self.optimizer = _optimizer(group.parameters, settings, device)
        self.kept = {name: t.clone() for name, t in group.state().items()}

    def fit(self) -> None:
        """Train until every seed has stopped, then go back to each seed's best check."""
        for number in range(1, self.course.most_rounds + 1):
            self._judge(number, self._train_round())
            left = [i for i, one in enumerate(self.running) if not self.best[one].done(self.course)]
            if not left:
                break
            if len(left) < len(self.running):
                self._leave(left)
        self.group, self.data = self.whole
        with torch.no_grad():
            for name, tensor in self.group.state().items():
                tensor.copy_(self.kept[name])

    def test(self) -> list[dict[str, float]]:
        """Return the scores of every seed on the test part."""
        predicted = self._logits(self.data.test).argmax(-1).cpu().numpy()
        y = self.data.test.y.expand(self.group.n_seeds, -1).cpu().numpy()
        pairs = zip(y, predicted, strict=True)
        return [metrics.score(true, one, self.data.n_classes) for true, one in pairs]

    def steps(self, best: Best) -> dict[str, int]:
        """Return the steps and epochs of one seed."""
        steps = len(best.losses) * self.course.round_steps
        return {"steps": steps, "epochs": steps // self.n_batches}

    def _leave(self, left: list[int]) -> None:
        """Go on with some of the seeds in the stack."""
        before = self.group
        self.group, self.data = before.only(left), self.data.only(left)
        known, after = self.optimizer.state, self.group.parameters
        self.optimizer = _optimizer(after, self.settings, self.device)
        for old, new in zip(before.parameters, after, strict=True):
            self.optimizer.state[new] = {
                name: value[left] if value.shape == old.shape else value
                for name, value in known[old].items()
            }
        self.running = [self.running[i] for i in left]

    def _batches(self) -> Iterator[Tensor]:
        """Yield the rows (n_seeds, batch) of one batch after the other, epoch after epoch."""
        n_cases = len(self.data.train)
        while True:
            order = torch.stack([torch.randperm(n_cases, generator=g) for g in self.orders])
            order = order[:, : self.n_batches * self.batch_size].to(self.device)
            for batch in order.split(self.batch_size, 1):
                yield batch[self.running]

    def _train_round(self) -> list[float]:
        """Train up to the next check, and return each seed's mean loss."""
        start = stopwatch.now()
        total = torch.zeros(self.group.n_seeds, device=self.device)
        for _ in range(self.course.round_steps):
            total += self.take_step()
        losses = (total / self.course.round_steps).tolist()
        self.seconds += stopwatch.since(start) / len(self.running)
        return losses

    def take_step(self) -> Tensor:
        """Take one optimisation step."""
        x, y, mask = self.data.train.take(next(self.batches))
        for group in self.optimizer.param_groups:
            group["lr"] = learning_rate(self.step, self.course.most_steps, self.settings)
        with self._precision():
            logits = self.group.forward(x, mask, self._masks())
            losses = _losses(logits, y)
        losses.sum().backward()
        self.optimizer.step()
        self.optimizer.zero_grad()
        self.step += 1
        return losses.detach()

    def _masks(self) -> list[Tensor]:
        rate = self.settings.dropout
        drawn = [dropout.draw(self.shapes, rate, self.noises[i]) for i in self.running]
        if len(drawn) == 1:
            return [mask.unsqueeze(0) for mask in drawn[0]]
        return [torch.stack(masks) for masks in zip(*drawn, strict=True)]

    def _judge(self, number: int, train_losses: list[float]) -> None:
        """Note each seed's validation, and keep its weights where they are its best."""
        logits = self._logits(self.data.validation)
        y = self.data.validation.y
        accuracies = (logits.argmax(-1) == y).float().mean(1).tolist()
        losses = _losses(logits, y.expand(self.group.n_seeds, -1)).tolist()
        state = self.group.state()
        for i, one in enumerate(self.running):
            if self.best[one].check(number, train_losses[i], accuracies[i], losses[i]):
                for name, kept in self.kept.items():
                    kept[one].copy_(state[name][i])

    @torch.no_grad()
    def _logits(self, part: Part) -> Tensor:
        size = 4 * self.settings.batch_size
        chunks = []
        for start in range(0, len(part), size):
            with self._precision():
                chunks.append(self.group.predict(*part.rows(slice(start, start + size))))
        return torch.cat(chunks, 1)

    def _precision(self) -> AbstractContextManager:
        if self.settings.precision == "float32":
            return nullcontext()
        if self.device.type != "cuda":
            raise ValueError(f"precision 'bfloat16' needs device 'cuda', got {self.device.type!r}")
        return torch.autocast("cuda", torch.bfloat16)


WARM_STEPS = 3
_warm: set[tuple] = set()  # kinds of training that this process has begun before


def _warm_up(cells: Sequence[Settings], data: Parts, device: torch.device) -> None:
    """Take some steps and predict the test part, and forget them, before memory is measured.

    The first training of a kind in a process pays for what PyTorch loads and sets up once.
    """
    first = cells[0]
    options = repr(sorted(first.encoding_options.items()))
    kind = first.encoding, options, first.model, len(cells) > 1, str(device)
    if kind not in _warm:
        torch.manual_seed(first.seed)
        run = Training(cells, ensemble.make(_models(cells, data, device)), data, device)
        for _ in range(WARM_STEPS):
            run.take_step()
        run.test()
        _warm.add(kind)


def _models(cells: Sequence[Settings], data: Parts, device: torch.device) -> list[nn.Module]:
    sizes = data.n_channels, data.n_classes, data.length
    made: list[nn.Module] = [build.model(cell, *sizes).to(device) for cell in cells]
    return [build.OnTimes(one) for one in made] if data.timed else made


def _alike(cells: Sequence[Settings]) -> Settings:
    if not cells:
        raise ValueError("cells must hold at least one Settings, got none")
    first = cells[0]
    if any(cell.like(first) != first for cell in cells):
        raise ValueError(
            "cells that are trained together must differ in seed, split_seed and resample only"
        )
    return first


@contextmanager
def exact_convolutions() -> Iterator[None]:
    """Keep a GPU's convolutions from rounding float32 to TF32, which is what PyTorch lets them."""
    before = torch.backends.cudnn.allow_tf32
    torch.backends.cudnn.allow_tf32 = False
    try:
        yield
    finally:
        torch.backends.cudnn.allow_tf32 = before


@torch.no_grad()
def _fitted(models: list[nn.Module], group: Ensemble) -> list[nn.Module]:
    """Return the models with the weights that the group has now, in evaluation mode."""
    state = group.state()
    for i, model in enumerate(models):
        for name, tensor in (*model.named_parameters(), *model.named_buffers()):
            tensor.copy_(state[name][i])
        model.eval()
    return models


def _optimizer(
    tensors: Sequence[Tensor], settings: Settings, device: torch.device
) -> torch.optim.Optimizer:
    options: dict[str, Any] = {"lr": settings.learning_rate, "weight_decay": settings.weight_decay}
    if settings.optimizer == "radam":
        return torch.optim.RAdam(tensors, decoupled_weight_decay=True, **options)
    return torch.optim.AdamW(tensors, fused=device.type in ("cpu", "cuda"), **options)


def _losses(logits: Tensor, y: Tensor) -> Tensor:
    """Return the mean cross-entropy of every seed, (n_seeds,)."""
    logits = logits.flatten(0, 1)
    if logits.dtype.itemsize < 4:
        logits = logits.float()
    each = functional.cross_entropy(logits, y.flatten(), reduction="none")
    return each.view(y.shape).mean(1)


def _course(best: Best) -> dict[str, Any]:
    found: dict[str, Any] = {
        "validation_accuracy": best.score[0],
        "validation_loss": -best.score[1] if math.isfinite(best.score[1]) else None,
        "train_loss": [best.losses[0], best.losses[-1]],
    }
    if not best.settings.steps:
        return {"best_epoch": best.at, **found}
    curve = [round(accuracy, 4) for accuracy in best.accuracies]
    at = best.at * best.settings.check_every
    return {"best_step": at, "validation_curve": curve, **found}
