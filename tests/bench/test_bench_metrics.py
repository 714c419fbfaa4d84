"""Metrics of predicted classes against scikit-learn."""

import numpy as np
import pytest

from posenc_book.bench import metrics


@pytest.mark.parametrize("n_classes", [2, 3, 26])
def test_scores_are_those_of_scikit_learn_to_the_last_bit(n_classes):
    from sklearn.metrics import f1_score, precision_recall_fscore_support, recall_score

    for seed in range(40):
        rng = np.random.default_rng(seed)
        n, used = rng.integers(2, 80), rng.integers(1, n_classes + 1, 2)
        y, predicted = rng.integers(used[0], size=n), rng.integers(used[1], size=n)
        if n_classes == 2:  # else scikit-learn refuses to look for class 1
            y[:2] = 0, 1
        never = {"zero_division": 0}
        expected = {
            "accuracy": float(np.mean(y == predicted)),
            "balanced_accuracy": recall_score(
                y, predicted, labels=np.unique(y), average="macro", **never
            ),
            "macro_f1": f1_score(y, predicted, average="macro", **never),
        }
        if n_classes == 2:
            one = precision_recall_fscore_support(y, predicted, average="binary", **never)
            expected |= dict(zip(("precision", "recall", "f1"), one, strict=False))
        assert metrics.score(y, predicted, n_classes) == expected
