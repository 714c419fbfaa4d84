"""Train small forecasters, and ask them again about windows whose past is in another order.

Parts and scale are those of Zeng and others: twelve, four and four months of ETTh1, 70, 10 and 20
per cent of the exchange rates, each column in standard deviations of its first part. 96 steps are
seen and 96 forecast, each column by itself. Of the test part every fourth window is asked. The
transformer of patches scales each window by its own mean and deviation, as PatchTST does; the
linear map and the transformer of steps do not, as there. Nothing is tuned, and nothing stops early.
A few longer trainings were seen before their lengths were settled; those that are stored were all
made afterwards.
"""

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from posenc import _checks
from posenc.models import PatchTransformer, TimeSeriesTransformer
from posenc_book import _files
from posenc_book.forecast import files, sources

CONTEXT, HORIZON, PATCH = 96, 96, 8
SEEDS = range(5)
BATCH, ASKED_EACH = 64, 4
ETT = ("HUFL", "HULL", "MUFL", "MULL", "LUFL", "LULL", "OT")
HOURS = [months * 30 * 24 for months in (12, 16, 20)]

# From names to how a window is seen, the encoding, how tokens are read out, steps, learning rate.
MODELS = {
    "linear": ("linear", "none", "flatten", 1000, 1e-3),
    "patches, flat head, learned table": ("patches", "learnable", "flatten", 400, 2e-3),
    "patches, flat head, none": ("patches", "none", "flatten", 400, 2e-3),
    "patches, mean, learned table": ("patches", "learnable", "mean", 400, 2e-3),
    "patches, mean, none": ("patches", "none", "mean", 400, 2e-3),
    "steps, flat head, sinusoid": ("steps", "sinusoidal", "flatten", 200, 2e-3),
}

SETS = {  # which are trained on a set; what the table is worth is asked on the first only
    "etth1": tuple(MODELS),
    "exchange": ("linear", "patches, flat head, learned table", "steps, flat head, sinusoid"),
}


class Scaled(nn.Module):
    """A forecaster that sees each window in its own mean and deviation (Kim et al. 2022)."""

    def __init__(self, inner: nn.Module) -> None:
        super().__init__()
        self.inner = inner

    def forward(self, x: Tensor) -> Tensor:
        """(batch, context, 1) to (batch, horizon)."""
        mean, deviation = x.mean(1), x.std(1, correction=0) + 1e-5
        return self.inner((x - mean.unsqueeze(1)) / deviation.unsqueeze(1)) * deviation + mean


def make_model(name: str) -> nn.Module:
    """Return a new forecaster, (batch, context, 1) to (batch, horizon)."""
    tokens, position, pooling, *_ = MODELS[_checks.choice("name", name, MODELS)]
    if tokens == "linear":
        return nn.Sequential(nn.Flatten(), nn.Linear(CONTEXT, HORIZON))
    sizes: dict[str, Any] = {"d_model": 32, "n_heads": 4, "n_layers": 2, "d_ff": 64, "dropout": 0.1}
    how: dict[str, Any] = {
        "pooling": pooling,
        "head": "linear",
        "norm": "layer",
        "check_input": False,
    }
    if tokens == "steps":
        return TimeSeriesTransformer(1, HORIZON, CONTEXT, position, **sizes, **how)
    return Scaled(PatchTransformer(1, HORIZON, CONTEXT, position, **sizes, **how, patch=PATCH))


def orders(rng: np.random.Generator, n_windows: int) -> dict[str, NDArray[np.int64]]:
    """Return in which orders the steps of windows are shown, each (n_windows, context)."""
    steps = np.tile(np.arange(CONTEXT), (n_windows, 1))
    blocks = rng.permuted(np.tile(np.arange(CONTEXT // PATCH), (n_windows, 1)), axis=1)
    return {
        "as it is": steps,
        "shuffled": rng.permuted(steps, axis=1),
        "halves": np.roll(steps, CONTEXT // 2, axis=1),
        "patches": (blocks[..., None] * PATCH + np.arange(PATCH)).reshape(n_windows, CONTEXT),
    }


def load_columns(name: str) -> tuple[NDArray[np.float32], int, int]:
    """Return a set's scaled values, (steps, columns), where learning ends, where testing begins."""
    if name == "etth1":
        values = sources.read_table(files.path_of("ETTh1.csv.gz"), ETT, "date").values
        learned, chosen, end = HOURS
    else:
        values = sources.read_numbers(files.path_of("exchange_rate.txt.gz")).values
        end = len(values)
        learned, chosen = int(end * 0.7), end - int(end * 0.2)
    first = values[:learned]
    return ((values[:end] - first.mean(0)) / first.std(0)).astype(np.float32), learned, chosen


def cut(values: NDArray[np.float32], start: int, end: int, each: int = 1) -> tuple[Tensor, Tensor]:
    """Return contexts and horizons, (windows, steps), whose forecasts lie between two steps."""
    origins = np.arange(max(start, CONTEXT), end - HORIZON + 1, each)
    index = origins[:, None] + np.arange(-CONTEXT, HORIZON)
    windows = torch.from_numpy(values[index].transpose(2, 0, 1).reshape(-1, CONTEXT + HORIZON))
    past, future = windows.split((CONTEXT, HORIZON), 1)
    return past.unsqueeze(-1), future


def train(name: str, past: Tensor, future: Tensor, seed: int) -> nn.Module:
    """Return a forecaster trained on windows, by Adam with a rate that falls to 0."""
    *_, n_steps, rate = MODELS[name]
    torch.manual_seed(seed)
    model, rng = make_model(name), np.random.default_rng(seed)
    optimizer = torch.optim.Adam(model.parameters(), rate)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, n_steps)
    for _ in range(n_steps):
        rows = torch.from_numpy(rng.integers(len(past), size=BATCH))
        loss = (model(past[rows]) - future[rows]).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
    return model.eval()


@torch.no_grad()
def error(model: nn.Module, past: Tensor, future: Tensor) -> float:
    """Return the mean squared error of a forecaster, as the source counts it."""
    parts = zip(past.split(1024), future.split(1024), strict=True)
    return sum(float((model(x) - y).square().sum()) for x, y in parts) / future.numel()


def run(name: str, model_name: str, seed: int) -> dict:
    """Return what a forecaster of a set loses in each order of the past."""
    values, learned, chosen = load_columns(_checks.choice("set", name, SETS))
    start = time.perf_counter()
    model = train(model_name, *cut(values, 0, learned), seed)
    past, future = cut(values, chosen, len(values), ASKED_EACH)
    shown = orders(np.random.default_rng(0), len(past))
    errors = {
        order: error(model, past.gather(1, torch.from_numpy(at).unsqueeze(-1)), future)
        for order, at in shown.items()
    }
    seconds = round(time.perf_counter() - start, 1)
    return {"set": name, "model": model_name, "seed": seed, "errors": errors, "seconds": seconds}


def missing(stored: list[dict]) -> Iterator[tuple[str, str, int]]:
    """Yield which trainings are not stored yet."""
    there = {(one["set"], one["model"], one["seed"]) for one in stored}
    for seed in SEEDS:
        for name, models in SETS.items():
            yield from ((name, m, seed) for m in models if (name, m, seed) not in there)


def run_all(out: Path) -> None:
    """Train what a file lacks, and store each training as it ends."""
    stored = json.loads(_files.text(out))["runs"] if out.is_file() else []
    for cell in list(missing(stored)):
        stored.append(run(*cell))
        text = json.dumps({"torch": torch.__version__, "runs": stored}, indent=1)
        _files.replace(out, text + "\n")
