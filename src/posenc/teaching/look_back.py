"""A task in which nothing but an offset counts: which letter stood some places back?"""

from collections.abc import Callable, Sequence

import torch
from torch import nn

N_LETTERS = 16


def train(
    make: Callable[[str], nn.Module],
    name: str,
    seed: int,
    *,
    back: int = 3,
    length: int = 32,
    n_steps: int = 150,
) -> nn.Module:
    """Return a new model that learned to name the letter `back` places ago.

    Parameters
    ----------
    make : function
        Makes a model by the name of its encoding, from letters (batch, length) to logits
        (batch, length, N_LETTERS).
    name : str
    seed : int
        Of the model's first weights and of the sequences, which are random.
    back, length, n_steps : int
        Places back, letters of a sequence, and steps of Adam on 16 sequences each.
    """
    torch.manual_seed(seed)
    model = make(name)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for _ in range(n_steps):
        x = torch.randint(N_LETTERS, (16, length))
        logits = model(x)[:, back:].flatten(0, 1)
        optimizer.zero_grad()
        nn.functional.cross_entropy(logits, x[:, :-back].flatten()).backward()
        optimizer.step()
    return model.eval()


@torch.no_grad()
def accuracy(model: nn.Module, *, back: int = 3, length: int = 32, first: int = 0) -> float:
    """Return the share of right answers in the second half of new sequences.

    Parameters
    ----------
    model : nn.Module
        As in `train`; it also takes `positions`.
    back, length : int
        Places back, and letters of a sequence.
    first : int
        Position of the first letter.
    """
    x = torch.randint(N_LETTERS, (64, length), generator=torch.Generator().manual_seed(99))
    answers = model(x, positions=first + torch.arange(length)).argmax(-1)
    hits = answers[:, back:] == x[:, :-back]
    return hits[:, max(0, length // 2 - back) :].float().mean().item()


def right(models: Sequence[nn.Module], **where: int) -> str:
    """Return the mean `accuracy` of several models as a percentage."""
    return f"{sum(accuracy(model, **where) for model in models) / len(models):.0%}"
