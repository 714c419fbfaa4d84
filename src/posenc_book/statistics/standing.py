"""How methods stand: their order by average ranks, and which of them are not told apart."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from posenc_book.statistics import friedman


@dataclass(frozen=True)
class Standing:
    """Methods with their average ranks, best first, and the groups that are not told apart.

    Parameters
    ----------
    encodings : tuple of str
    ranks : tuple of float
        1 is best.
    groups : list of tuples of str
    """

    encodings: tuple[str, ...]
    ranks: tuple[float, ...]
    groups: list[tuple[str, ...]]


def standing(scores: ArrayLike, names: Sequence[str], *, alpha: float = 0.05) -> Standing:
    """Return what a critical-difference diagram shows.

    Parameters
    ----------
    scores : array of shape (n_sets, n_methods)
    names : sequence of str
        Of the methods.
    alpha : float
        Level, of the whole family of pairs.

    Returns
    -------
    Standing

    Raises
    ------
    ValueError
        As `friedman.cliques`.

    Examples
    --------
    >>> found = standing([[0.7, 0.8], [0.6, 0.7], [0.5, 0.9]], ("none", "rotary"))
    >>> found.encodings, found.ranks, found.groups
    (('rotary', 'none'), (1.0, 2.0), [('rotary', 'none')])
    """
    ranks = friedman.average_ranks(scores)
    order = np.argsort(ranks, kind="stable")
    return Standing(
        tuple(names[i] for i in order),
        tuple(float(ranks[i]) for i in order),
        [tuple(names[i] for i in group) for group in friedman.cliques(scores, alpha=alpha)],
    )
