"""The small transformer that the reader builds over the chapters, as far as NumPy carries it.

A chapter writes each function once, from scratch, and checks it against the one here; later
chapters import it.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from posenc import frequencies, tables


def softmax(scores: ArrayLike) -> NDArray[np.float64]:
    """Return weights that are positive and sum to 1 along the last axis."""
    scores = np.asarray(scores, dtype=np.float64)
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return weights / weights.sum(axis=-1, keepdims=True)


def attention(
    x: NDArray, w_q: NDArray, w_k: NDArray, w_v: NDArray, *, causal: bool = False
) -> NDArray[np.float64]:
    """Return what one head of self-attention makes of a sequence.

    Parameters
    ----------
    x : array of shape (L, d_model)
        Tokens, one row each.
    w_q, w_k, w_v : arrays of shape (d_model, d_model)
        Maps to queries, keys and values.
    causal : bool
        Whether a token may look at itself and at earlier tokens only.

    Returns
    -------
    array of shape (L, d_model)

    References
    ----------
    Vaswani et al., Attention is all you need, 2017, section 3.2.1.
    """
    queries, keys, values = x @ w_q, x @ w_k, x @ w_v
    scores = queries @ keys.T / np.sqrt(x.shape[1])
    if causal:
        scores = np.where(np.tri(len(x), dtype=bool), scores, -np.inf)
    return softmax(scores) @ values


def embed(x: NDArray, base: float = 10_000.0) -> NDArray[np.float64]:
    """Return the tokens with the sinusoidal encoding of their positions added.

    Parameters
    ----------
    x : array of shape (L, d_model), `d_model` even.
    base : float
        Base of the geometric grid of frequencies.
    """
    n_positions, d_model = x.shape
    return x + tables.encode(np.arange(n_positions), frequencies.geometric(d_model, base))
