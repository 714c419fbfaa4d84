"""A task in which nothing but an offset counts: which letter stood some places back?"""

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor, nn

from posenc_book.teaching import one_layer
from posenc_book.teaching.one_layer import N_LETTERS

Back = int | Sequence[int]


class OneLayer(one_layer.OneLayer):
    """One layer of causal attention between letters and answers, which are letters too.

    Parameters
    ----------
    name : str
        Name of the encoding.
    n_heads : int
    **options
        Handed to `posenc.encodings.make`.
    """

    def __init__(self, name: str, n_heads: int = 1, **options: Any) -> None:
        super().__init__(name, N_LETTERS, n_heads=n_heads, max_length=128, **options)


def train(
    make: Callable[[str], nn.Module],
    name: str,
    seed: int,
    *,
    back: Back = 3,
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
    back : int or one int for each letter
        Places back; of a sequence, the letter that asks says which.
    length, n_steps : int
        Letters of a sequence, and steps of Adam on 16 sequences each.
    """
    torch.manual_seed(seed)

    def loss(model: nn.Module) -> Tensor:
        x = torch.randint(N_LETTERS, (16, length))
        first, wanted = asked(x, back)
        logits = model(x)[:, first:].flatten(0, 1)
        return nn.functional.cross_entropy(logits, wanted[:, first:].flatten())

    return one_layer.learned(make(name), loss, n_steps)


def asked(x: Tensor, back: Back) -> tuple[int, Tensor]:
    """Return the first place at which every letter has an answer, and all answers."""
    distances = torch.tensor([back] * N_LETTERS if isinstance(back, int) else list(back))
    if len(distances) != N_LETTERS:
        raise ValueError(
            f"back must be a number or hold {N_LETTERS}, one for each letter, got {len(distances)}"
        )
    places = torch.arange(x.shape[1]) - distances[x]
    return int(distances.max()), x.gather(1, places.clamp(min=0))


@torch.no_grad()
def accuracy(model: nn.Module, *, back: Back = 3, length: int = 32, first: int = 0) -> float:
    """Return the share of right answers in the second half of new sequences."""
    x = _new(length)
    return _share_right(model(x, positions=first + torch.arange(length)).argmax(-1), x, back)


def _new(length: int) -> Tensor:
    """Return the sequences on which everything is tested."""
    return torch.randint(N_LETTERS, (64, length), generator=torch.Generator().manual_seed(99))


def _share_right(answers: Tensor, x: Tensor, back: Back) -> float:
    """Return the share of right answers in the second half."""
    start, wanted = asked(x, back)
    return (answers == wanted)[:, max(start, x.shape[1] // 2) :].float().mean().item()


def by_counting(*, back: Back = 3, length: int = 32, last: int | None = None) -> str:
    """Return how often a rule without a model is right: to name the commonest letter, in per cent.

    Parameters
    ----------
    back, length : int
        As in `accuracy`, which has the same sequences.
    last : int, optional
        How many letters before the asking one are counted; by default all up to it, as a model
        without positions sees them.
    """
    x = _new(length)
    letters = nn.functional.one_hot(x, N_LETTERS)
    seen = letters.cumsum(1)
    if last is not None:
        before = nn.functional.pad(seen, (0, 0, last + 1, 0))[:, : length + 1]
        seen = seen - letters - before[:, :length]
    return f"{_share_right(seen.argmax(-1), x, back):.0%}"


def right(models: Sequence[nn.Module], **where: Any) -> str:
    """Return the mean `accuracy` of several models as a percentage."""
    return f"{sum((accuracy(model, **where) for model in models), 0.0) / len(models):.0%}"


def right_if_served(models: Sequence[nn.Module], **where: Back) -> str:
    """Return `right`, or "refuses" where the encoding has nothing for such positions."""
    try:
        return right(models, **where)
    except ValueError:
        return "refuses"
