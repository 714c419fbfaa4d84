"""Scores of predicted classes, by scikit-learn's definitions."""

import numpy as np
from numpy.typing import NDArray


def score(y: NDArray[np.int64], predicted: NDArray[np.int64], n_classes: int) -> dict[str, float]:
    """Return accuracy, balanced accuracy and macro-F1; for two classes also class 1's detection.

    Source: Definitions of scikit-learn, https://scikit-learn.org.
    """
    from sklearn.metrics import f1_score, precision_recall_fscore_support, recall_score

    scores = {
        "accuracy": (y == predicted).mean(),
        "balanced_accuracy": recall_score(
            y, predicted, labels=np.unique(y), average="macro", zero_division=0
        ),
        "macro_f1": f1_score(y, predicted, average="macro", zero_division=0),
    }
    if n_classes == 2:
        found = precision_recall_fscore_support(
            y, predicted, pos_label=1, average="binary", zero_division=0
        )
        scores |= dict(zip(("precision", "recall", "f1"), found[:3], strict=True))
    return {name: float(value) for name, value in scores.items()}
