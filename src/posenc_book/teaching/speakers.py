"""What a model that says who is speaking makes of the names in a text: letters after a sign, 0."""

from typing import cast

import torch
from torch import Tensor, nn

from posenc_book.teaching.program import Layer, PerToken

SPANS = {"2 or 3": (2, 3), "4 to 8": (4, 8), "9 to 30": (9, 30)}  # letters between two names


def are_names(texts: Tensor) -> Tensor:
    """Return which letters of texts (batch, length) are names."""
    return nn.functional.pad(texts[:, :-1] == 0, (1, 0))


@torch.no_grad()
def score_by_age(model: PerToken, texts: Tensor) -> dict[int, float]:
    """Return the mean score that the second layer gives a name, by how many letters ago it was."""
    first, second = (cast(Layer, one) for one in model.layers)
    q, k, _ = second.attention.project(second.norms[0](first(model.words(texts))))
    scores, length = (q @ k.mT / q.shape[-1] ** 0.5).mean(dim=1), texts.shape[1]
    names = are_names(texts)
    return {
        age: scores.diagonal(-age, 1, 2)[names[:, : length - age]].mean().item()
        for age in range(1, length - 7)
    }


@torch.no_grad()
def right_by_gap(model: PerToken, texts: Tensor) -> dict[str, str]:
    """Return how often a model names the speaker, by how far apart the last two names stand."""
    places = torch.where(are_names(texts), torch.arange(texts.shape[1]), -1)
    latest = places.cummax(dim=1).values
    last_but_one = nn.functional.pad(latest[:, :-1], (1, 0), value=-1)
    last_but_one = last_but_one.gather(1, latest.clamp(min=0))  # what was known at the latest name
    gap = torch.where(last_but_one < 0, -1, latest - last_but_one)
    right = model(texts).argmax(-1) == texts.gather(1, latest.clamp(min=0))
    return {
        words: f"{right[(gap >= low) & (gap <= high)].float().mean():.0%}"
        for words, (low, high) in SPANS.items()
    }
