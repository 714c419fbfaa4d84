"""Recordings of a smart watch, of which the chapter on transformers for time series makes tasks.

Where the recordings can't be had, made-up ones stand in for them, and a line says so.
"""

from functools import cache

import numpy as np
import torch
from torch import Tensor

from posenc_book import data

# Made-up activities: steps of one swing of the arm, and how hard it is.
_SWINGS = {"Standing": (50, 0.05), "Running": (4, 3.0), "Walking": (8, 1.0), "Badminton": (25, 2.0)}

Part = tuple[Tensor, Tensor]  # series (n, length, n_channels) and classes (n,)


def activities(split: str, n_steps: int = 50) -> Part:
    """Return the first steps of the recordings of BasicMotions, standardised by its training part.

    Parameters
    ----------
    split : str
        "train" or "test".
    n_steps : int

    Returns
    -------
    series (40, n_steps, 6) and activities (40,), four of them.
    """
    part = _standardised(split)
    return torch.tensor(part.x[:, :n_steps]), torch.tensor(part.y)


def recordings(activity: str, split: str) -> Tensor:
    """Return all recordings of an activity, (10, 100, 6): ten seconds each.

    Parameters
    ----------
    activity : str
        "Standing", "Walking", "Running" or "Badminton".
    split : str
    """
    part = _standardised(split)
    return torch.tensor(part.x[part.y == part.classes.index(activity)])


@cache
def _standardised(split: str) -> data.Dataset:
    mean, deviation = data.channel_statistics(_recorded("train"))
    return data.standardise(_recorded(split), mean, deviation)


@cache
def _recorded(split: str) -> data.Dataset:
    if _can_load():
        return data.load("BasicMotions", split)
    return _made_up(split)


@cache
def _can_load() -> bool:
    if data.can_load("BasicMotions"):
        return True
    print("Made-up recordings stand in for it, so your numbers will not be those of the text.")
    return False


def _made_up(split: str, n_series: int = 10) -> data.Dataset:
    """Return swings that rise slowly and fall at once, (40, 100, 6): synthetic, ten a kind."""
    rng = np.random.default_rng(("train", "test").index(split))
    steps, parts = np.arange(100)[:, None], []
    for period, strength in _SWINGS.values():
        for _ in range(n_series):
            at = (steps / period + rng.random(6)) % 1 - 0.5
            parts.append(strength * (at * rng.uniform(0.5, 1.5, 6) + rng.normal(0, 0.1, (100, 6))))
    x = np.stack(parts).astype(np.float32)
    y = np.repeat(np.arange(len(_SWINGS)), n_series)
    return data.Dataset(x, y, tuple(_SWINGS), "made-up motions", "synthetic, made by posenc")
