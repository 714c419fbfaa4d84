"""Accuracies beyond the trained length, from records."""

import numpy as np

from posenc_book.read.range_probe import longer as lengths


def test_rows_show_mean_and_ends():
    runs = [{"validation_accuracy": 1.0, "longer_8": 1.0, "longer_16": v} for v in (0.5, 0.7)]
    found = lengths.Longer(8, (16,), {"one": [*runs, {"validation_accuracy": 0.5}]})
    assert lengths.longer_rows(found, ["one"], {"longer": "longer_16"}) == {
        "one": {
            "as trained": "100%",
            "16, longer": "60% (50% to 70%)",
            "learned it": "2 of 3",
        }
    }


def test_a_share_that_reaches_the_limit_in_single_precision_counts():
    stored = float(np.float32(lengths.LEARNED))
    assert stored < lengths.LEARNED
    assert lengths.Longer(8, (16,), {"one": [{"validation_accuracy": stored}]}).good("one")
