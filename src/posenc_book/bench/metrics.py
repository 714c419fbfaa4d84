"""Scores of predicted classes, by scikit-learn's definitions and to its last bit.

They are counted here because a process that trains would import scikit-learn, and with it pandas
and scipy, for nothing else.
"""

import numpy as np
from numpy.typing import NDArray


def score(y: NDArray[np.int64], predicted: NDArray[np.int64], n_classes: int) -> dict[str, float]:
    """Return accuracy, balanced accuracy and macro-F1; for two classes also class 1's detection.

    Source: Definitions of scikit-learn, https://scikit-learn.org.
    """
    classes = np.union1d(y, predicted)
    true, guessed = (column[:, None] == classes for column in (y, predicted))
    hits, there, named = ((true & guessed).sum(0), true.sum(0), guessed.sum(0))
    recall, f1 = _ratio(hits, there), _ratio(2.0 * hits, there + named)
    scores = {
        "accuracy": (y == predicted).mean(),
        "balanced_accuracy": recall[there > 0].mean(),
        "macro_f1": f1.mean(),
    }
    if n_classes == 2:
        found = {"precision": _ratio(hits, named), "recall": recall, "f1": f1}
        scores |= {name: values[classes == 1].sum() for name, values in found.items()}
    return {name: float(value) for name, value in scores.items()}


def _ratio(counted: NDArray, of: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return shares, 0 where there is nothing to count."""
    return np.divide(counted, of, out=np.zeros(len(of)), where=of > 0)
