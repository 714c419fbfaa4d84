"""One training of a forecaster, or of several that differ in seed or learning rate at once."""

import time
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

import torch
from torch import Tensor, nn

from posenc.models.transfer import transfer
from posenc_book.bench import ensemble
from posenc_book.bench.train import TrainingError, exact_convolutions
from posenc_book.forecast.fit import Fit
from posenc_book.forecast.readers import LINEAR, make_model, n_tokens
from posenc_book.forecast.units import load_unit
from posenc_book.forecast.windows import Parts, Windows, cut
from posenc_book.records.forecasts import LEAST_LONG, TRIAL, ForecastSettings

LONGER = 4  # times its context at which a model is tested, too
MOST_LONGER = 500  # windows of that test, evenly spaced
MOST_STACKED_TOKENS = {"cpu": 40, "cuda": 1000}
_CHUNK = 1024


def train(
    cells: Sequence[ForecastSettings],
    device: str = "cpu",
    *,
    compile: bool = False,
    probe: Callable | None = None,  # noqa: ARG001 - as `posenc_book.bench.jobs` calls it
) -> list[dict[str, Any] | TrainingError]:
    """Train cells that differ in seed, learning rate and unit of one shape; score their test parts.

    Trials, which choose the rate by their validation, are not tested.
    """
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
            if cell.profile != TRIAL:
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
