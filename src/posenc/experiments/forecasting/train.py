"""One training of a forecaster, or of several that differ in seed or learning rate at once."""

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import torch
from torch import Tensor, nn

from posenc import _checks
from posenc.bench import ensemble
from posenc.bench.course import learning_rate
from posenc.bench.ensemble import Ensemble
from posenc.bench.settings import Settings
from posenc.bench.train import TrainingError, exact_convolutions
from posenc.experiments.forecasting.readers import LINEAR, make_model, n_tokens
from posenc.experiments.forecasting.units import load_unit
from posenc.experiments.forecasting.windows import SHUFFLED, Parts, Windows, cut
from posenc.models.transfer import transfer

LEAST_LONG = 52  # a context from which on longer ones are tested
LONGER = 4  # times its context at which a model is tested, too
MOST_LONGER = 500  # windows of that test, evenly spaced
MOST_STACKED_TOKENS = {"cpu": 40, "cuda": 1000}
_CHUNK = 1024


@dataclass(frozen=True)
class ForecastSettings(Settings):
    """One training of a forecaster; it takes exactly `steps` steps.

    Parameters
    ----------
    **settings
        As for `posenc.bench.settings.Settings`: `dataset` is a unit, `model` a reader.
    calendar : bool
        Whether hour, day of the week, of the month and of the year join the values.
    shuffled : {"", "steps", "patches"}
        What stands in an order of its own in each window.
    """

    calendar: bool = False
    shuffled: str = ""

    def __post_init__(self) -> None:
        super().__post_init__()
        _checks.flag("calendar", self.calendar)
        _checks.choice("shuffled", self.shuffled, SHUFFLED)
        _checks.count("steps", self.steps, minimum=1)


def train(
    cells: Sequence[ForecastSettings],
    device: str = "cpu",
    *,
    compile: bool = False,
    probe: Callable | None = None,  # noqa: ARG001 - as `posenc.bench.jobs` calls it
) -> list[dict[str, Any] | TrainingError]:
    """Train cells that differ in seed and learning rate only, and score them on the test part."""
    where, first = torch.device(device), cells[0]
    unit = load_unit(first.dataset)
    tokens = n_tokens(first.model, unit.shape.context, first.patch)
    if len(cells) > 1 and tokens > MOST_STACKED_TOKENS[where.type]:
        return [train([cell], device, compile=compile)[0] for cell in cells]
    parts = [load_parts(cell, device) for cell in cells]
    sizes = {"context": unit.shape.context, "horizon": unit.shape.horizon}
    models = [make_model(cell, calendar=first.calendar, **sizes).to(where) for cell in cells]
    group = ensemble.make(models, compile=compile)
    run = Fit(cells, group, parts, where)
    start = time.perf_counter()
    with exact_convolutions():
        run.run()
    seconds = (time.perf_counter() - start) / len(cells)
    scores = run.results()
    for i, (cell, score) in enumerate(zip(cells, scores, strict=True)):
        if isinstance(score, dict):
            # a model of a stack shares its encodings' memory with the stack, so it is made anew
            model = make_model(cell, calendar=first.calendar, **sizes).to(where)
            run.put(model, i)
            score |= _test(model, parts[i].test)
            score |= _longer(cell, model, parts[i].test, unit.shape.context, sizes)
            score["parameters"] = sum(p.numel() for p in model.parameters())
            score["seconds_per_step"] = seconds / first.steps
            score["seeds_together"] = len(cells)
    return scores


def load_parts(cell: ForecastSettings, device: str) -> Parts:
    """Return the windows of a cell on its device; the last few stay in memory."""
    seed = cell.split_seed if load_unit(cell.dataset).panel else 0
    return _parts(cell.dataset, seed, cell.calendar, cell.shuffled, device)


@lru_cache(maxsize=32)
def _parts(name: str, seed: int, calendar: bool, shuffled: str, device: str) -> Parts:
    parts = cut(load_unit(name), seed=seed, calendar=calendar, shuffled=shuffled)
    return Parts(**{part: windows.to(device) for part, windows in vars(parts).items()})


class Fit:
    """A training of one model or of a stack, each with its own windows, order and learning rate."""

    def __init__(
        self,
        cells: Sequence[ForecastSettings],
        group: Ensemble,
        parts: Sequence[Parts],
        device: torch.device,
    ) -> None:
        self.cells, self.group, self.parts, self.device = cells, group, parts, device
        self.settings = cells[0]
        self.optimizer = AdamW(group.parameters, self.settings.weight_decay)
        self.batches = torch.stack(
            [_batches(cell, len(p.train)) for cell, p in zip(cells, parts, strict=True)], 1
        ).to(device)
        steps = self.settings.steps
        rates = [[learning_rate(step, steps, cell) for cell in cells] for step in range(steps)]
        self.rates = torch.tensor(rates, device=device)
        self.best = [math.inf] * len(cells)
        self.at = [0] * len(cells)
        self.curves: list[list[float]] = [[] for _ in cells]
        self.kept = {name: t.clone() for name, t in group.state().items()}

    def run(self) -> None:
        """Take all steps, and look at the validation part now and then."""
        for step in range(self.settings.steps):
            self._step(step)
            if (step + 1) % self.settings.check_every == 0:
                self._judge(step + 1)

    def _step(self, step: int) -> None:
        rows = self.batches[step]
        x, mask, y, _ = _stacked([p.train.take(r) for p, r in zip(self.parts, rows, strict=True)])
        error = (self.group.forward(x, mask, []) - y).abs()
        if self.parts[0].train.gaps:
            known = y.isfinite()
            losses = error.where(known, 0).sum((1, 2)) / known.sum((1, 2))
        else:
            losses = error.mean((1, 2))
        gradients = torch.autograd.grad(losses.sum(), self.group.parameters, allow_unused=True)
        self.optimizer.step(gradients, self.rates[step])

    def _judge(self, step: int) -> None:
        """Note each model's validation, and keep its weights where they are its best."""
        errors = torch.stack(self._validation()).tolist()
        state = self.group.state()
        for i, error in enumerate(errors):
            self.curves[i].append(round(error, 5))
            if error < self.best[i]:
                self.best[i], self.at[i] = error, step
                for name, kept in self.kept.items():
                    kept[i].copy_(state[name][i])

    @torch.no_grad()
    def _validation(self) -> list[Tensor]:
        """Return the mean error of each model, in naive errors, over all its windows."""
        n_each = [len(p.validation) for p in self.parts]
        zero = torch.zeros((), device=self.device)
        sums, counts = [zero] * len(n_each), [zero] * len(n_each)
        size = max(64, _CHUNK // len(n_each))
        for start in range(0, max(n_each), size):
            all_rows = [
                torch.arange(start, start + size, device=self.device).clamp(max=n - 1)
                for n in n_each
            ]
            taken = [p.validation.take(r) for p, r in zip(self.parts, all_rows, strict=True)]
            x, mask, y, scale = _stacked(taken)
            error = (self.group.predict(x, mask) - y).abs() * scale
            for i, n in enumerate(n_each):
                one = error[i, : max(0, n - start)]
                known = one.isfinite()
                sums[i] = sums[i] + one.where(known, 0).sum()
                counts[i] = counts[i] + known.sum()
        return [s / c for s, c in zip(sums, counts, strict=True)]

    def results(self) -> list[dict | TrainingError]:
        """Return what each model reached, an error where that is nothing."""
        return [
            TrainingError(f"the validation error was never finite: {curve[:3]} ...")
            if not math.isfinite(best)
            else {"validation_mase": best, "best_step": at, "validation_errors": curve}
            for best, at, curve in zip(self.best, self.at, self.curves, strict=True)
        ]

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
        self.n_steps = 0

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
        torch._foreach_div_(root, math.sqrt(1 - 0.999**self.n_steps))
        torch._foreach_add_(root, 1e-8)
        change = torch._foreach_div(self.first, root)
        torch._foreach_div_(change, 1 - 0.9**self.n_steps)
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


def _stacked(taken: Sequence[tuple]) -> tuple[Tensor, Tensor | None, Tensor, Tensor]:
    """Return contexts, masks, targets and scales with the axis of models in front."""
    x, mask, y, scale = zip(*taken, strict=True)
    joined = None if mask[0] is None else torch.stack(mask)
    return torch.stack(x), joined, torch.stack(y), torch.stack(scale)


def _test(model: nn.Module, windows: Windows, longer: int = 1) -> dict[str, float]:
    """Return the test scores of a fitted model: mean over series, then over what is known."""
    rows = torch.arange(len(windows), device=windows.origins.device)
    mase = torch.cat([_errors(model, windows, some, longer) for some in rows.split(_CHUNK)])
    return {"mase": by_series(mase, windows.series)}


@torch.no_grad()
def _errors(model: nn.Module, windows: Windows, rows: Tensor, longer: int) -> Tensor:
    """Return the errors of windows in naive errors, (n_windows, horizon)."""
    x, mask, y, scale = windows.take(rows, longer)
    return (model(x, mask) - y).abs() * scale


def by_series(errors: Tensor, series: Tensor) -> float:
    """Return the mean over series of each one's mean error; what is not known does not count."""
    known = errors.isfinite()
    n = int(series.max()) + 1
    sums = torch.zeros(n, dtype=torch.float64, device=errors.device)
    counts = torch.zeros_like(sums)
    sums.index_add_(0, series, errors.where(known, 0).sum(1).double())
    counts.index_add_(0, series, known.sum(1).double())
    there = counts > 0
    return float((sums[there] / counts[there]).mean())


def _longer(
    cell: ForecastSettings, model: nn.Module, test: Windows, context: int, sizes: dict
) -> dict[str, Any]:
    """Return the error at a context four times as long, where a pooled model can read it."""
    if context < LEAST_LONG or cell.shuffled or cell.model in LINEAR:
        return {}
    try:
        larger = make_model(cell, LONGER * context, sizes["horizon"], calendar=cell.calendar)
        grown = transfer(model, larger.to(test.values.device)).eval()
    except ValueError as error:
        return {"refusal": str(error)}
    some = test.reaching(LONGER)
    some = some.only(
        torch.arange(0, len(some), 1 + len(some) // MOST_LONGER, device=some.first.device)
    )
    if not len(some):
        return {}
    same, longer = _test(model, some)["mase"], _test(grown, some, LONGER)["mase"]
    return {"same_mase": same, "longer_mase": longer}
