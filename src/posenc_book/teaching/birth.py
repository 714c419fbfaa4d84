"""Where attention looks before it has learned anything: influence on the last token at birth."""

from functools import cache

import numpy as np
import torch
from numpy.typing import NDArray

from posenc.models import LanguageModel

LENGTH, DEPTH, GROUP = 256, 8, 8
ENCODINGS = ("none", "rotary", "sinusoidal", "alibi")
SEEDS = 6
_N_TOKENS, _N_ROWS, _N_DIRECTIONS = 32, 2, 8


def influence(
    model: LanguageModel, tokens: torch.Tensor, *, every: bool = True
) -> NDArray[np.float64]:
    """Return how strongly the last token's state answers to each token, after every layer.

    Parameters
    ----------
    model : LanguageModel
    tokens : (batch, length)
    every : bool
        Whether to ask after every layer, or after the last alone, which is several times quicker.

    Returns
    -------
    array of shape (n_layers, length), or (1, length)
        Root mean square of the derivatives by the numbers of each token, over the batch and over
        random directions of the last state.
    """
    x = model.tokens(tokens).detach().requires_grad_()
    state, found = x, []
    for layer, embeds in zip(model.layers, model.embeds, strict=True):
        position = layer.attention.position
        state = layer(position.embed(state) if embeds else state, None, None)
        if every:
            found.append(_answers(state[:, -1], x))
    return np.stack(found or [_answers(state[:, -1], x)])


def _answers(last: torch.Tensor, x: torch.Tensor) -> NDArray[np.float64]:
    generator, squares = torch.Generator().manual_seed(0), torch.zeros(x.shape[1])
    for _ in range(_N_DIRECTIONS):
        direction = torch.randn(last.shape, generator=generator)
        (by_token,) = torch.autograd.grad((last * direction).sum(), x, retain_graph=True)
        squares += by_token.square().mean((0, 2))
    return (squares / _N_DIRECTIONS).sqrt().numpy().astype(float)


@cache
def at_birth(
    encoding: str, seed: int, depth: int = DEPTH, *, every: bool = True
) -> NDArray[np.float64]:
    """Return the influence in a new causal model, layer by layer, (depth, 256).

    The middle half counts as 1: of its tokens the mean is taken. Without `every` only the row of
    the last layer is there.
    """
    model, tokens = newborn(encoding, seed, depth)
    found = influence(model, tokens, every=every)
    middle = found[:, LENGTH // 4 : 3 * LENGTH // 4].mean(1, keepdims=True)
    return found / middle


def newborn(encoding: str, seed: int, depth: int = DEPTH) -> tuple[LanguageModel, torch.Tensor]:
    """Return an untrained model of 64 numbers and 4 heads, and random tokens for it."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model = LanguageModel(_N_TOKENS, 64, 4, depth, position=encoding, max_length=LENGTH)
        return model.eval(), torch.randint(_N_TOKENS, (_N_ROWS, LENGTH))


def shares(encoding: str, seeds: int = SEEDS) -> tuple[list[list[float]], list[float]]:
    """Return, layer by layer, what the first figure draws: means over new models.

    Parameters
    ----------
    encoding : str
        One of `ENCODINGS`.
    seeds : int
        Models, with seeds from 0 on.

    Returns
    -------
    groups : list of list of float
        Of each layer the influence of eight tokens after eight; the last group has seven, as the
        last token stands apart. The middle half counts as 1.
    last : list of float
        Of each layer the influence of the last token itself.
    """
    whole = np.mean([at_birth(encoding, seed) for seed in range(seeds)], axis=0)
    starts = range(0, LENGTH, GROUP)
    groups = np.stack([whole[:, i : min(i + GROUP, LENGTH - 1)].mean(1) for i in starts], axis=1)
    return groups.tolist(), whole[:, -1].tolist()
