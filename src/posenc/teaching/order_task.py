"""Two tasks from the same recordings of a smart watch: one needs no order, one is of order only."""

import torch
from torch import Tensor

from posenc import data

Part = tuple[Tensor, Tensor]  # series (n, length, n_channels) and classes (n,)
FIRST, SECOND = "Running", "Walking"


def activities(n_steps: int = 50) -> dict[str, Part]:
    """Return the recordings of BasicMotions, standardised by the training part.

    Returns
    -------
    "train" and "test", each a pair of series (40, n_steps, 6) and activities (40,), four of them.
    """
    parts = _standardised()
    return {
        split: (torch.tensor(part.x[:, :n_steps]), torch.tensor(part.y))
        for split, part in parts.items()
    }


def which_came_first(cut: int = 25) -> dict[str, Part]:
    """Return pairs of recordings, running and walking, put one after the other in both orders.

    The recordings are real; that they follow on each other is made.

    Returns
    -------
    "train" and "test", each a pair of series (20, 2 * cut, 6) and classes (20,): 0 where running
    comes first, 1 where walking does; series i and 10 + i are a pair.
    """
    return {split: _spliced(part, cut) for split, part in _standardised().items()}


def _standardised() -> dict[str, data.Dataset]:
    raw = {split: data.load("BasicMotions", split) for split in data.SPLITS}
    mean, deviation = data.channel_statistics(raw["train"])
    return {split: data.standardise(part, mean, deviation) for split, part in raw.items()}


def _spliced(part: data.Dataset, cut: int) -> Part:
    a, b = (
        torch.tensor(part.x[part.y == part.classes.index(name)][:, :cut])
        for name in (FIRST, SECOND)
    )
    labels = torch.tensor([0, 1]).repeat_interleave(len(a))
    return torch.cat([torch.cat([a, b], 1), torch.cat([b, a], 1)]), labels
