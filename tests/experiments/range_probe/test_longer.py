"""Accuracies beyond the trained length, from records."""

import numpy as np

from posenc_book.read.range_probe import longer as lengths


def test_a_share_that_reaches_the_limit_in_single_precision_counts():
    stored = float(np.float32(lengths.LEARNED))
    assert stored < lengths.LEARNED
    assert lengths.Longer(8, (16,), {"one": [{"validation_accuracy": stored}]}).good("one")
