"""Recordings of a smart watch, of which the chapter on transformers for time series makes tasks."""

from functools import cache

import torch
from torch import Tensor

from posenc import data

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
    mean, deviation = data.channel_statistics(data.load("BasicMotions", "train"))
    return data.standardise(data.load("BasicMotions", split), mean, deviation)
