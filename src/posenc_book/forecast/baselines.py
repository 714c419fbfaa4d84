"""What a forecaster must be held against: the last season, theta, and boosted trees on lags.

The linear maps of the same windows are trained with the transformers (`readers.LINEAR`).
"""

from collections.abc import Callable

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from posenc_book.forecast.train import by_series
from posenc_book.forecast.units import Unit
from posenc_book.forecast.windows import Windows, cut

TREES = {"max_iter": 300, "learning_rate": 0.05, "loss": "absolute_error", "random_state": 0}
MOST_LEARNED = 8000  # windows that the trees learn from, drawn at random


def seasonal_naive(unit: Unit, windows: Windows) -> Tensor:
    """Return the last season again and again, (n_windows, horizon), in units of the series."""
    near, _ = raw(windows)
    season = near[:, -unit.shape.season :]
    filled = season.where(season.isfinite(), last_known(near))
    return filled.repeat(1, -(-unit.shape.horizon // unit.shape.season))[:, : unit.shape.horizon]


def theta(unit: Unit, windows: Windows) -> Tensor:
    """Return forecasts of the dynamic optimised theta model (Fiorucci et al. 2016).

    In a panel each series is seen from its first step on, elsewhere the context alone is seen. The
    package `statsforecast` computes it.
    """
    from statsforecast.models import DynamicOptimizedTheta

    model = DynamicOptimizedTheta(season_length=unit.shape.season)
    rows = []
    for origin, first in zip(windows.origins.tolist(), windows.first.tolist(), strict=True):
        start = first if unit.panel else origin - windows.context
        seen = _filled(windows.values[start:origin].double().numpy())
        rows.append(model.forecast(y=seen, h=unit.shape.horizon)["mean"])
    return torch.from_numpy(np.array(rows)).float()


def boosted_trees(unit: Unit, windows: Windows) -> Tensor:
    """Return forecasts of gradient boosting on the scaled lags and the step ahead."""
    from sklearn.ensemble import HistGradientBoostingRegressor

    learned = cut(unit).train
    rng = np.random.default_rng(0)
    rows = torch.from_numpy(rng.permutation(len(learned))[:MOST_LEARNED])
    x, _, y, _ = learned.take(rows)
    ahead = unit.shape.horizon
    target = y.flatten().numpy()
    known = np.isfinite(target)
    model = HistGradientBoostingRegressor(**TREES)
    model.fit(_lags(x, ahead)[known], target[known])
    x, _, _, scale = windows.take(torch.arange(len(windows)))
    found = torch.from_numpy(model.predict(_lags(x, ahead))).view(-1, ahead).float()
    near, _ = raw(windows)
    return found * scale * windows.naive[:, None] + last_known(near)


METHODS: dict[str, Callable[[Unit, Windows], Tensor]] = {
    "seasonal_naive": seasonal_naive,
    "theta": theta,
    "boosted_trees": boosted_trees,
}


def raw(windows: Windows) -> tuple[Tensor, Tensor]:
    """Return contexts and targets as they stand in the series, not scaled."""
    steps = torch.arange(-windows.context, windows.horizon)
    return windows.values[windows.origins[:, None] + steps].split(
        (windows.context, windows.horizon), 1
    )


def last_known(near: Tensor) -> Tensor:
    """Return the last known value of each context, (n_windows, 1)."""
    step = torch.arange(near.shape[1])
    return near.gather(1, (step * near.isfinite()).argmax(1, keepdim=True))


def score(windows: Windows, forecasts: Tensor) -> dict[str, float]:
    """Return the error in seasonal naive ones, the symmetric one in per cent, and the plain one.

    `mase` is the mean over series (Hyndman and Koehler 2006); `smape` is that of the M
    competitions, 200 |y - f| / (|y| + |f|); `mae` is in units of the series.
    """
    _, target = raw(windows)
    error = (forecasts - target).abs()
    symmetric = 200 * error / (forecasts.abs() + target.abs()).clamp(min=1e-9)
    series = windows.series
    return {
        "mase": round(by_series(error / windows.naive[:, None], series), 4),
        "smape": round(by_series(symmetric, series), 4),
        "mae": round(by_series(error, series), 6),
    }


def _lags(x: Tensor, ahead: int) -> NDArray[np.float32]:
    """Return a row for each window and step ahead: the scaled context, and which step it is."""
    rows = x.flatten(1).repeat_interleave(ahead, 0)
    step = torch.arange(ahead).repeat(len(x))[:, None]
    return torch.cat((rows, step), 1).numpy()


def _filled(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return values with gaps filled along a straight line."""
    known = np.isfinite(values)
    return np.interp(np.arange(len(values)), np.flatnonzero(known), values[known])
