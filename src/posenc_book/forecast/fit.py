"""The steps of a training: of one forecaster, or of a stack that takes each step at once."""

import math
from collections.abc import Sequence

import torch
from torch import Tensor, nn

from posenc_book.bench.course import learning_rate
from posenc_book.bench.ensemble import Ensemble
from posenc_book.bench.replay import Replayed
from posenc_book.bench.train import TrainingError
from posenc_book.forecast.windows import Parts, joined
from posenc_book.records.settings import Settings

CHUNK = {"cpu": 1024, "cuda": 2048}  # windows of all models that are judged at once


class Fit:
    """A training of one model or of a stack, each with its own windows, order and learning rate.

    On a GPU the steps are recorded and replayed, so whatever changes from one to the next is a
    tensor that is changed in place, and nothing is read back before the end.
    """

    def __init__(
        self,
        cells: Sequence[Settings],
        group: Ensemble,
        parts: Sequence[Parts],
        device: torch.device,
    ) -> None:
        self.cells, self.group, self.settings = cells, group, cells[0]
        n_models, n_steps = len(cells), self.settings.steps
        self.optimizer = AdamW(group.parameters, self.settings.weight_decay)
        self.windows, starts = joined([p.train for p in parts])
        batches = [
            _batches(cell, len(p.train)) + start
            for cell, p, start in zip(cells, parts, starts, strict=True)
        ]
        self.batches = torch.stack(batches, 1).to(device)
        rates = [[learning_rate(step, n_steps, cell) for cell in cells] for step in range(n_steps)]
        self.rates = torch.tensor(rates, device=device)
        self.now = torch.zeros(1, dtype=torch.long, device=device)

        self.judged, starts = joined([p.validation for p in parts])
        self.first = torch.tensor(starts, device=device).unsqueeze(1)
        self.n_judged = torch.tensor([[len(p.validation)] for p in parts], device=device)
        self.chunk = torch.arange(max(64, CHUNK[device.type] // n_models), device=device)
        self.n_chunks = -(-max(len(p.validation) for p in parts) // len(self.chunk))
        self.place = torch.zeros(1, dtype=torch.long, device=device)
        self.sums, self.counts = torch.zeros(2, n_models, device=device)

        self.best = torch.full((n_models,), math.inf, device=device)
        self.at = torch.zeros(n_models, dtype=torch.long, device=device)
        self.curve: list[Tensor] = []
        self.kept = {name: t.clone() for name, t in group.state().items()}
        self._take_step = Replayed(self._step, device)
        self._add_chunk = Replayed(self._judge_chunk, device)

    def run(self) -> None:
        """Take all steps, and look at the validation part now and then."""
        for step in range(self.settings.steps):
            self._take_step()
            if (step + 1) % self.settings.check_every == 0:
                self._judge(step + 1)
        for recorded in (self._take_step, self._add_chunk):
            recorded.forget()

    def _step(self) -> None:
        rows, rates = (one.index_select(0, self.now)[0] for one in (self.batches, self.rates))
        x, mask, y, _ = self.windows.take(rows)
        error = (self.group.forward(x, mask, []) - y).abs()
        if self.windows.gaps:
            known = y.isfinite()
            losses = error.where(known, 0).sum((1, 2)) / known.sum((1, 2))
        else:
            losses = error.mean((1, 2))
        gradients = torch.autograd.grad(losses.sum(), self.group.parameters, allow_unused=True)
        self.optimizer.step(gradients, rates)
        self.now += 1

    @torch.no_grad()
    def _judge(self, step: int) -> None:
        """Note each model's validation, and keep its weights where they are its best."""
        errors = self._validation()
        self.curve.append(errors)
        better = errors < self.best
        self.best.copy_(errors.where(better, self.best))
        self.at.masked_fill_(better, step)
        for name, tensor in self.group.state().items():
            kept = self.kept[name]
            chosen = better.view(-1, *[1] * (kept.ndim - 1))
            kept.copy_(tensor.where(chosen, kept))

    def _validation(self) -> Tensor:
        """Return the mean error of each model, in naive errors, over all its windows."""
        for state in (self.place, self.sums, self.counts):
            state.zero_()
        for _ in range(self.n_chunks):
            self._add_chunk()
        return self.sums / self.counts

    @torch.no_grad()
    def _judge_chunk(self) -> None:
        places = self.place + self.chunk
        x, mask, y, scale = self.judged.take(self.first + places.minimum(self.n_judged - 1))
        error = (self.group.predict(x, mask) - y).abs() * scale
        known = error.isfinite() & (places < self.n_judged).unsqueeze(-1)
        self.sums += error.where(known, 0).sum((1, 2))
        self.counts += known.sum((1, 2))
        self.place += len(self.chunk)

    def results(self) -> list[dict | TrainingError]:
        """Return what each model reached, an error where that is nothing."""
        curves = torch.stack(self.curve, 1).tolist()
        found: list[dict | TrainingError] = []
        for best, at, curve in zip(self.best.tolist(), self.at.tolist(), curves, strict=True):
            errors = [round(error, 5) for error in curve]
            if math.isfinite(best):
                score = {"validation_mase": best, "best_step": at, "validation_errors": errors}
                found.append(score)
            else:
                why = f"the validation error was never finite: {errors[:3]} ..."
                found.append(TrainingError(why))
        return found

    @torch.no_grad()
    def put(self, model: nn.Module, number: int) -> None:
        """Give a model the best weights of one of the stack."""
        for name, tensor in (*model.named_parameters(), *model.named_buffers()):
            tensor.copy_(self.kept[name][number])
        model.eval()


class AdamW:
    """AdamW (Loshchilov and Hutter 2019) with a learning rate for each model of a stack.

    Parameters
    ----------
    parameters : sequence of Tensor
        Each (n_models, ...), or as a model has it where there is one.
    weight_decay : float
    """

    def __init__(self, parameters: Sequence[Tensor], weight_decay: float) -> None:
        self.parameters, self.decay = list(parameters), weight_decay
        self.first = [torch.zeros_like(p) for p in self.parameters]
        self.second = [torch.zeros_like(p) for p in self.parameters]
        self.n_steps = torch.zeros((), dtype=torch.float64, device=self.parameters[0].device)

    @torch.no_grad()
    def step(self, gradients: Sequence[Tensor | None], rates: Tensor) -> None:
        """Take one step; `rates` is (n_models,)."""
        self.n_steps += 1
        pairs = zip(gradients, self.parameters, strict=True)
        all_gradients = [torch.zeros_like(p) if g is None else g for g, p in pairs]
        torch._foreach_lerp_(self.first, all_gradients, 1 - 0.9)
        torch._foreach_mul_(self.second, 0.999)
        torch._foreach_addcmul_(self.second, all_gradients, all_gradients, 1 - 0.999)
        root = torch._foreach_sqrt(self.second)
        torch._foreach_div_(root, (1 - 0.999**self.n_steps).sqrt().float())
        torch._foreach_add_(root, 1e-8)
        change = torch._foreach_div(self.first, root)
        torch._foreach_div_(change, (1 - 0.9**self.n_steps).float())
        torch._foreach_add_(change, self.parameters, alpha=self.decay)
        shaped = [
            rates.view(-1, *[1] * (p.ndim - 1)) if len(rates) > 1 else rates[0] for p in change
        ]
        torch._foreach_mul_(change, shaped)
        torch._foreach_sub_(self.parameters, change)


def _batches(cell: Settings, n_windows: int) -> Tensor:
    """Return which windows each step sees, (steps, batch), drawn with replacement."""
    generator = torch.Generator().manual_seed(cell.seed)
    return torch.randint(n_windows, (cell.steps, cell.batch_size), generator=generator)
