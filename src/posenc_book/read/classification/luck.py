"""How often does luck alone let a data set decide rankings?

The protocol asks by flips of sign whether the best encoding is ahead of none, and flips resamples
as if they were independent. They share series, so their differences go together, about as much as
the share of the series that is in the test part (Nadeau and Bengio 2003, Inference for the
generalization error, section 3). Here encodings that do nothing are put through that test.
"""

import numpy as np

from posenc import _checks
from posenc_book.data.units import share_of_test
from posenc_book.read.classification import edition2
from posenc_book.read.classification import protocol as protocols
from posenc_book.read.classification.analysis import ANALYSIS
from posenc_book.read.classification.edition2 import Accuracies


def passes(together: float, *, n_encodings: int = 10, n_draws: int = 4000, seed: int = 0) -> float:
    """Return how often the best of several useless encodings passes for better than none."""
    together = _checks.probability("together", together)
    n_encodings = _checks.count("n_encodings", n_encodings, minimum=1)
    n_draws = _checks.count("n_draws", n_draws, minimum=1)
    rng = np.random.default_rng(seed)
    n_resamples = int(protocols.TRAINING["resamples"])
    shared = rng.normal(size=(n_draws, 1 + n_encodings, 1))
    own = rng.normal(size=(n_draws, 1 + n_encodings, n_resamples))
    scores = np.sqrt(together) * shared + np.sqrt(1 - together) * own
    p_values = edition2.sign_flips(scores[:, 1:] - scores[:, :1])
    return float((p_values <= ANALYSIS["decides"]["level"]).mean())


def expected(grid: Accuracies) -> float:
    """Return on how many data sets luck would put the best encoding above none, did none help.

    Parameters
    ----------
    grid : Accuracies
        Of data sets. On one with a single split its seeds count as independent.

    Returns
    -------
    float

    Examples
    --------
    >>> scores = np.full((2, 3, 5), 0.7)
    >>> sets, names = ("PenDigits", "Libras"), ("none", "rotary", "dft")
    >>> found = expected(Accuracies("patch", sets, names, scores, np.full((2, 5), 0.4)))
    >>> bool(0.1 < found < 0.6)
    True
    """
    shares = [round(share_of_test(name), 2) for name in grid.datasets]
    rates = {share: passes(share, n_encodings=len(grid.encodings) - 1) for share in {*shares}}
    return sum(rates[share] for share in shares)
