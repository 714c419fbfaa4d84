"""Random numbers of the synthetic families."""

import numpy as np

from posenc import _checks


def generator(split: str, seed: int) -> np.random.Generator:
    """Return a generator for one split: other splits of the same seed draw other numbers."""
    if split not in ("train", "test"):
        raise ValueError(f'split must be "train" or "test", got {split!r}')
    return np.random.default_rng([_checks.count("seed", seed), ("train", "test").index(split)])
