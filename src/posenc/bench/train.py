"""One training: from settings to test scores, for one seed or several at once.

The checkpoint is chosen on the validation part; the test part is used once, at the end.
"""

import math
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field

import torch
from torch import Tensor, nn
from torch.nn import functional

from posenc.bench import build, dropout, ensemble, metrics, parts
from posenc.bench.ensemble import Ensemble
from posenc.bench.memory import PeakMemory
from posenc.bench.parts import Part, Parts
from posenc.bench.settings import Settings

Probe = Callable[[Settings, nn.Module], dict[str, object]]
"""A further test of a fitted model: what it returns joins the scores of that cell."""


@dataclass
class Best:
    """What one seed has reached so far: its best validation, and when it failed if it did."""

    score: tuple[float, float] = (-math.inf, -math.inf)
    epoch: int = 0
    waiting: int = 0
    losses: list[float] = field(default_factory=list)
    error: str = ""

    def done(self, patience: int) -> bool:
        """Return whether further epochs cannot change this seed's result."""
        return bool(self.error) or self.waiting >= patience


class TrainingError(RuntimeError):
    """A training came to nothing, such as by a loss that is not finite."""


def train(
    cells: Sequence[Settings],
    device: str = "cpu",
    *,
    compile: bool = False,
    probe: Probe | None = None,
) -> list[dict[str, float] | TrainingError]:
    """Train cells that differ in their seed only, together, and score them on the test part.

    Parameters
    ----------
    cells : sequence of Settings
        One trains a plain model, several a stack; each gets what it would get alone, up to the
        rounding of sums.
    device : str
        "cpu", "cuda", "cuda:1", "mps".
    compile : bool
        Whether to compile the model; pays for long trainings only.
    probe : callable, optional
        Called at the end with each cell and its fitted model, which is in evaluation mode.

    Returns
    -------
    list of dict or TrainingError, one per cell
        Test scores of `metrics.score` and costs: `parameters`, `seconds_per_step` (of one seed),
        `peak_memory` (bytes, all seeds; None where unknown), `steps`, `epochs`, `best_epoch`,
        `validation_accuracy`, `train_loss` (first and last epoch), `seeds_together`; and what
        `probe` returns.

    Raises
    ------
    ValueError
        If the cells differ in more than their seed, or a name or size is wrong.
    """
    first = _alike(cells)
    where = torch.device(device)
    data = parts.load(first, where)
    memory = PeakMemory(where)
    with torch.random.fork_rng(devices=[where] if where.type == "cuda" else []):
        torch.manual_seed(first.seed)  # for encodings that draw noise in training
        models = [
            build.model(cell, data.n_channels, data.n_classes, data.length).to(where)
            for cell in cells
        ]
        n_parameters = sum(p.numel() for p in models[0].parameters())
        group = ensemble.make(models, compile=compile)
        run = _Run(first, cells, group, data, where)
        run.fit()
        scores = run.test()
        if probe is not None:
            fitted = zip(cells, scores, _fitted(models, group), strict=True)
            scores = [score | probe(cell, model) for cell, score, model in fitted]
    costs = {
        "parameters": n_parameters,
        "seconds_per_step": run.seconds / max(1, run.step) / len(cells),
        "peak_memory": memory.read(),
        "steps": run.step,
        "epochs": run.epoch,
        "seeds_together": len(cells),
    }
    return [
        TrainingError(best.error) if best.error else score | _course(best) | costs
        for best, score in zip(run.best, scores, strict=True)
    ]


def learning_rate(step: int, n_steps: int, settings: Settings) -> float:
    """Return the rate at `step` of `n_steps`: a linear rise, then half a cosine down to 0."""
    rise = max(1, round(settings.warmup * n_steps))
    if step < rise:
        return settings.learning_rate * (step + 1) / rise
    share = (step - rise) / max(1, n_steps - rise)
    return settings.learning_rate * 0.5 * (1 + math.cos(math.pi * share))


class _Run:
    """The state of a training, with a leading seed axis everywhere."""

    def __init__(
        self,
        settings: Settings,
        cells: Sequence[Settings],
        group: Ensemble,
        data: Parts,
        device: torch.device,
    ) -> None:
        self.settings, self.group, self.data, self.device = settings, group, data, device
        self.best = [Best() for _ in cells]
        self.step, self.epoch, self.seconds = 0, 0, 0.0
        n_cases = len(data.train)
        self.n_batches = max(1, n_cases // settings.batch_size)
        self.batch_size = n_cases // self.n_batches  # all batches alike; a few series wait
        self.orders = [_generator(cell.seed, "cpu") for cell in cells]
        self.noises = [_generator(cell.seed, device) for cell in cells]
        x, _, mask = data.train.take(torch.arange(self.batch_size, device=device))
        self.shapes = group.dropout_shapes(x, mask)
        torch.manual_seed(settings.seed)
        self.optimizer = _optimizer(group.parameters, settings, device)
        self.kept = {name: t.clone() for name, t in group.state().items()}

    def fit(self) -> None:
        """Train until every seed has stopped, then go back to each seed's best epoch."""
        while self.epoch < self.settings.epochs:
            losses = self._train_epoch()
            self.epoch += 1
            self._judge(losses)
            if all(best.done(self.settings.patience) for best in self.best):
                break
        with torch.no_grad():
            for name, tensor in self.group.state().items():
                tensor.copy_(self.kept[name])

    def test(self) -> list[dict[str, float]]:
        """Return the scores of every seed on the test part."""
        predicted = self._logits(self.data.test).argmax(-1).cpu().numpy()
        y = self.data.test.y.cpu().numpy()
        return [metrics.score(y, one, self.data.n_classes) for one in predicted]

    def _train_epoch(self) -> list[float]:
        start = time.perf_counter()
        n_cases = len(self.data.train)
        order = torch.stack([torch.randperm(n_cases, generator=g) for g in self.orders])
        order = order.to(self.device)
        total = torch.zeros(self.group.n_seeds, device=self.device)
        for batch in range(self.n_batches):
            rows = order[:, batch * self.batch_size : (batch + 1) * self.batch_size]
            total += self._train_step(rows)
        losses = (total / self.n_batches).tolist()
        self.seconds += time.perf_counter() - start
        return losses

    def _train_step(self, rows: Tensor) -> Tensor:
        x, y, mask = self.data.train.take(rows)
        n_steps = self.settings.epochs * self.n_batches
        for group in self.optimizer.param_groups:
            group["lr"] = learning_rate(self.step, n_steps, self.settings)
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
        drawn = [dropout.draw(self.shapes, rate, g, self.device) for g in self.noises]
        if len(drawn) == 1:
            return [mask.unsqueeze(0) for mask in drawn[0]]
        return [torch.stack(masks) for masks in zip(*drawn, strict=True)]

    def _judge(self, train_losses: list[float]) -> None:
        """Note each seed's validation, and keep its weights where they are its best."""
        logits = self._logits(self.data.validation)
        y = self.data.validation.y
        accuracies = (logits.argmax(-1) == y).float().mean(1).tolist()
        losses = _losses(logits, y.expand(self.group.n_seeds, -1)).tolist()
        state = self.group.state()
        for i, best in enumerate(self.best):
            if best.done(self.settings.patience):
                continue
            best.losses.append(train_losses[i])
            if not math.isfinite(train_losses[i]):
                best.error = f"the training loss became {train_losses[i]} in epoch {self.epoch}"
                continue
            score = (accuracies[i], -losses[i] if math.isfinite(losses[i]) else -math.inf)
            best.waiting += 1
            if score > best.score:
                best.score, best.epoch, best.waiting = score, self.epoch, 0
                for name, kept in self.kept.items():
                    kept[i].copy_(state[name][i])

    @torch.no_grad()
    def _logits(self, part: Part) -> Tensor:
        size = 4 * self.settings.batch_size
        chunks = []
        for start in range(0, len(part), size):
            rows = slice(start, start + size)
            mask = None if part.mask is None else part.mask[rows]
            with self._precision():
                chunks.append(self.group.predict(part.x[rows], mask))
        return torch.cat(chunks, 1)

    def _precision(self) -> AbstractContextManager:
        if self.settings.precision == "float32":
            return nullcontext()
        if self.device.type != "cuda":
            raise ValueError(f"precision 'bfloat16' needs device 'cuda', got {self.device.type!r}")
        return torch.autocast("cuda", torch.bfloat16)


def _alike(cells: Sequence[Settings]) -> Settings:
    if not cells:
        raise ValueError("cells must hold at least one Settings, got none")
    first = cells[0]
    if any(cell.with_seed(first.seed) != first for cell in cells):
        raise ValueError("cells that are trained together must differ in their seed only")
    return first


@torch.no_grad()
def _fitted(models: list[nn.Module], group: Ensemble) -> list[nn.Module]:
    """Return the models with the weights that the group has now, in evaluation mode."""
    state = group.state()
    for i, model in enumerate(models):
        for name, tensor in (*model.named_parameters(), *model.named_buffers()):
            tensor.copy_(state[name][i])
        model.eval()
    return models


def _generator(seed: int, device: torch.device | str) -> torch.Generator:
    return torch.Generator(device).manual_seed(seed)


def _optimizer(
    tensors: list[Tensor], settings: Settings, device: torch.device
) -> torch.optim.Optimizer:
    options = {"lr": settings.learning_rate, "weight_decay": settings.weight_decay}
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


def _course(best: Best) -> dict[str, float | list[float]]:
    return {
        "best_epoch": best.epoch,
        "validation_accuracy": best.score[0],
        "train_loss": [best.losses[0], best.losses[-1]],
    }
