"""One layer of causal attention between letters and answers, and how it learns a small task."""

from collections.abc import Callable
from typing import Any, TypeVar

import torch
from torch import Tensor, nn

from posenc import encodings
from posenc.attention import SelfAttention

N_LETTERS = 16
D_MODEL = 32

Model = TypeVar("Model", bound=nn.Module)


class OneLayer(nn.Module):
    """Letters, one layer of causal attention, and an answer at each letter.

    Parameters
    ----------
    name : str
        Name of the encoding.
    n_answers : int
        Number of possible answers.
    n_heads : int
    max_length : int
        Letters that the encoding is made for.
    window : int, optional
        How many letters a letter sees, itself included; all earlier ones by default.
    **options
        Handed to `posenc.encodings.make`.
    """

    def __init__(
        self,
        name: str,
        n_answers: int,
        *,
        n_heads: int,
        max_length: int,
        window: int | None = None,
        **options: Any,
    ) -> None:
        super().__init__()
        position = encodings.make(encodings.get(name), D_MODEL, n_heads, max_length, **options)
        self.letters = nn.Embedding(N_LETTERS, D_MODEL)
        self.attention = SelfAttention(D_MODEL, n_heads, position, causal=True, window=window)
        self.answer = nn.Linear(D_MODEL, n_answers)

    def forward(self, x: Tensor, positions: Tensor | None = None) -> Tensor:
        """Return logits (batch, length, n_answers) for letters (batch, length)."""
        return self.answer(self.attention(self.letters(x), positions=positions))


def learned(model: Model, loss: Callable[[Model], Tensor], n_steps: int) -> Model:
    """Return the model after `n_steps` steps of Adam on a loss that draws its own sequences."""
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for _ in range(n_steps):
        optimizer.zero_grad()
        loss(model).backward()
        optimizer.step()
    return model.eval()
