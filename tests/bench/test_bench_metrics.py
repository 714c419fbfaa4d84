import numpy as np
import pytest

from posenc.bench import metrics


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
