"""A task that order decides: who is the helper in "A helped B"?

A transformer layer with random weights reads the three words: attention, a residual connection
and a feed-forward network. Its output is averaged over the words, and a read-out that is trained
on three quarters of the pairs of people names the helper in the others. Both orders of a pair are
always on the same side, so who sees the two names but not their order is right half of the time.
"""

from collections.abc import Callable
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

N_PEOPLE = 24
D_MODEL = 32
N_HIDDEN = 256
RIDGE = 1e-3  # keeps the read-out's weights small


def accuracy(
    attend: Callable[..., NDArray], positions: NDArray | float = 0.0, n_draws: int = 10
) -> NDArray[np.float64]:
    """Return the share of new sentences in which the read-out names the helper, one per draw.

    Parameters
    ----------
    attend : callable
        Takes tokens of shape (3, 32) and the three weight matrices, returns rows of that shape.
    positions : array of shape (3, 32)
        What is added to the three tokens; nothing unless given.
    n_draws : int
        Number of draws of names, weights and pairs.
    """
    return np.array([_one_draw(attend, positions, seed) for seed in range(n_draws)])


def _one_draw(attend: Callable[..., NDArray], positions: NDArray | float, seed: int) -> float:
    rng = np.random.default_rng(seed)
    people, helped = rng.normal(size=(N_PEOPLE, D_MODEL)), rng.normal(size=D_MODEL)
    maps = rng.normal(size=(3, D_MODEL, D_MODEL)) / np.sqrt(D_MODEL)
    forward = rng.normal(size=(D_MODEL, N_HIDDEN)) / np.sqrt(D_MODEL)
    pairs = rng.permutation(list(combinations(range(N_PEOPLE), 2)))
    sentences = np.concatenate([pairs, pairs[:, ::-1]])
    new = np.tile(np.arange(len(pairs)) % 4 == 0, 2)
    tokens = np.insert(people[sentences], 1, helped, axis=1)  # (n_sentences, 3, d_model)
    outputs = _layer(tokens + positions, attend, maps, forward)
    scores = _read_out(outputs[~new], np.eye(N_PEOPLE)[sentences[~new, 0]], outputs[new])
    return float(np.mean(scores.argmax(axis=1) == sentences[new, 0]))


def _layer(
    sentences: NDArray, attend: Callable[..., NDArray], maps: NDArray, forward: NDArray
) -> NDArray[np.float64]:
    """Return a layer's outputs, averaged over the words, with a constant for the read-out."""
    gathered = np.array([attend(x, *maps) for x in sentences])
    hidden = np.maximum((sentences + gathered) @ forward, 0).mean(axis=1)
    return np.append(hidden, np.ones((len(hidden), 1)), axis=1)


def _read_out(inputs: NDArray, targets: NDArray, new: NDArray) -> NDArray[np.float64]:
    """Return the scores that a linear map, fitted to `inputs` and `targets`, gives to `new`."""
    gram = inputs.T @ inputs + RIDGE * len(inputs) * np.eye(inputs.shape[1])
    return new @ np.linalg.solve(gram, inputs.T @ targets)
