"""How often luck alone lets a data set decide rankings."""

import numpy as np
import pytest

from posenc_book.read.classification import edition2, luck
from posenc_book.read.classification.edition2 import Accuracies

NAMES = ("none", *(f"e{i}" for i in range(10)))


def drawn(together, n_sets, seed):
    """Return scores of encodings that do nothing, (n_sets, 11, 5)."""
    rng = np.random.default_rng(seed)
    shared, own = rng.normal(size=(n_sets, 11, 1)), rng.normal(size=(n_sets, 11, 5))
    return 0.7 + 0.01 * (np.sqrt(together) * shared + np.sqrt(1 - together) * own)


@pytest.mark.parametrize("together", [0.0, 0.5])
def test_it_is_how_often_the_rule_of_the_protocol_is_passed(together):
    scores = drawn(together, 800, seed=1)
    passed = np.mean([edition2.sign_flips(one[1:] - one[:1]) <= 0.05 for one in scores])
    assert luck.passes(together) == pytest.approx(passed, abs=0.045)


def test_independent_resamples_keep_the_level_and_shared_ones_do_not():
    rates = [luck.passes(together) for together in (0.0, 0.25, 0.5, 0.75)]
    assert rates == sorted(rates)
    assert rates[0] <= 0.05 < 3 * 0.05 < rates[2]


def test_sets_are_expected_to_pass_by_the_share_of_their_test_part():
    sets = ("PenDigits", "Libras", "NATOPS")  # one split; half of the series each
    grid = Accuracies("patch", sets, NAMES, drawn(0.5, 3, seed=2), np.full((3, 5), 0.1))
    assert luck.expected(grid) == pytest.approx(luck.passes(0.0) + 2 * luck.passes(0.5), abs=1e-9)


@pytest.mark.parametrize("together", [-0.1, 1.0, "0.5", True])
def test_a_correlation_is_from_0_to_below_1(together):
    with pytest.raises(ValueError, match="together must be a probability"):
        luck.passes(together)
