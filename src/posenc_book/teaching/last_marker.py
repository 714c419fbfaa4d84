"""A task in which the latest of some tokens counts: which of two marked letters came last?"""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn

from posenc_book.teaching import one_layer
from posenc_book.teaching.one_layer import N_LETTERS

N_MARKED = 2  # letters 0 and 1; one letter in eight is marked
_NO_ANSWER = -100


def draw(n: int, length: int, generator: torch.Generator | None = None) -> tuple[Tensor, Tensor]:
    """Return random letters, and at each place which marked letter came last."""
    x = torch.randint(N_LETTERS, (n, length), generator=generator)
    marked = torch.where(x < N_MARKED, torch.arange(length), -1).cummax(1).values
    answers = x.gather(1, marked.clamp(min=0))
    return x, answers.masked_fill(marked < 0, _NO_ANSWER)


class OneLayer(one_layer.OneLayer):
    """One layer of causal attention, 32 wide with 4 heads, that answers at each letter.

    Parameters
    ----------
    name : str
        Name of the encoding, made for 80 letters.
    window : int, optional
        How many letters a letter sees, itself included; all earlier ones by default.
    **options
        Of the encoding.
    """

    def __init__(self, name: str, window: int | None = None, **options: Any) -> None:
        super().__init__(name, N_MARKED, n_heads=4, max_length=80, window=window, **options)

    def rebuilt(self, name: str, **options: Any) -> "OneLayer":
        """Return a model with these weights and other options of the layer or its encoding."""
        other = OneLayer(name, **options)
        other.load_state_dict(self.state_dict())
        return other.eval()


def train(
    name: str, seed: int, *, length: int = 20, n_steps: int = 200, **options: Any
) -> OneLayer:
    """Return a new model that learned the task.

    Parameters
    ----------
    name : str
        Of the encoding.
    seed : int
        Of the model's first weights and of the sequences.
    length, n_steps : int
        Letters of a sequence, and steps of Adam on 16 sequences each.
    **options
        Of the encoding.
    """
    torch.manual_seed(seed)

    def loss(model: nn.Module) -> Tensor:
        x, answers = draw(16, length)
        logits = model(x).flatten(0, 1)
        return nn.functional.cross_entropy(logits, answers.flatten(), ignore_index=_NO_ANSWER)

    return one_layer.learned(OneLayer(name, **options), loss, n_steps)


@torch.no_grad()
def accuracy(model: nn.Module, length: int) -> float:
    """Return the share of right answers in the second half of 256 new sequences."""
    x, answers = draw(256, length, torch.Generator().manual_seed(7))
    half = slice(length // 2, None)
    guesses, answers = model(x).argmax(-1)[:, half], answers[:, half]
    return (guesses == answers)[answers >= 0].float().mean().item()


def right(models: Sequence[nn.Module], length: int) -> str:
    """Return the mean `accuracy` of several models in per cent, with the lowest and highest."""
    shares = [100 * accuracy(model, length) for model in models]
    mean = sum(shares) / len(shares)
    return f"{mean:.0f}% ({min(shares):.0f} to {max(shares):.0f})"
