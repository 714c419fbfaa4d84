"""The table of baselines is what the records say."""

import numpy as np
import pytest

from posenc_book.read.classification import sanity
from posenc_book.read.classification.edition2 import Accuracies


def lines(dataset, baseline, accuracies):
    return [
        {"dataset": dataset, "baseline": baseline, "resample": r, "metrics": {"accuracy": a}}
        for r, a in enumerate(accuracies)
    ]


def test_baselines_stand_beside_none_and_the_best_encoding():
    resamples = np.arange(5) / 1000
    scores = np.stack([0.5 + resamples, 0.6 + resamples, 0.7 + resamples])[None]
    grid = Accuracies("patch", ("Trace",), ("none", "dft", "rotary"), scores, np.full((1, 5), 0.3))
    stored = lines("Trace", "largest_class", [0.3] * 5) + lines("Trace", "nearest", [0.7, 0.8])
    table = sanity.sanity_table(grid, stored)
    row = table.loc["Trace"]
    assert row["largest class"] == pytest.approx(30)
    assert row["1-NN"] == pytest.approx(75)
    assert np.isnan(row["MiniRocket"])
    assert row["none"] == pytest.approx(50.2)
    assert (row["best encoding"], row["best"]) == ("rotary", pytest.approx(70.2))
    assert row["does not decide"] == ""
