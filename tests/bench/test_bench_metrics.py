"""Metrics of predicted classes against counts by hand and scikit-learn."""

import numpy as np
import pytest

from posenc_book.bench import metrics


def test_metrics_by_hand():
    y, predicted = np.array([0, 0, 0, 1, 1, 2]), np.array([0, 0, 1, 1, 0, 0])
    found = metrics.score(y, predicted, 3)
    assert found["accuracy"] == 3 / 6
    assert found["balanced_accuracy"] == pytest.approx((2 / 3 + 1 / 2 + 0) / 3)
    f1 = [2 * 2 / (2 * 2 + 1 + 2), 2 * 1 / (2 * 1 + 1 + 1), 0]
    assert found["macro_f1"] == pytest.approx(np.mean(f1))
    assert "precision" not in found


def test_window_metrics_are_those_of_class_one():
    found = metrics.score(np.array([0, 0, 1, 1, 1]), np.array([0, 1, 1, 1, 0]), 2)
    assert (found["precision"], found["recall"]) == pytest.approx((2 / 3, 2 / 3))
    assert found["f1"] == pytest.approx(2 / 3)
    nothing = metrics.score(np.array([0, 1]), np.array([0, 0]), 2)
    assert (nothing["precision"], nothing["f1"]) == (0, 0)


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
