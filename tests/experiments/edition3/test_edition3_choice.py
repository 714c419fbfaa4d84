"""What validation chose, on trainings that were made up."""

import itertools

import numpy as np
import pytest

from posenc_book.read.edition3 import choice, reading
from posenc_book.read.edition3.questions import CHOSEN, QUESTIONS, TEN
from posenc_book.read.edition3.reading import Scored


@pytest.fixture(scope="module")
def found():
    """Trainings, each as good as its encoding's place among the ten; validation is drawn."""
    rng = np.random.default_rng(0)
    cells = itertools.product(choice.ASKED.datasets, enumerate(TEN), choice.RUNS)
    return {
        (dataset, name, 2, r): Scored(0.6 + 0.01 * i, (rng.uniform(), 0.0))
        for dataset, (i, name), r in cells
    }


def test_each_run_has_a_choice_and_no_other_validates_better(found):
    chosen = choice.choices(found)
    assert [*chosen] == [*QUESTIONS["choice"].datasets]
    for dataset, names in chosen.items():
        assert len(names) == len(choice.RUNS)
        for name, r in zip(names, choice.RUNS, strict=True):
            best = max(found[dataset, other, 2, r].validated for other in TEN)
            assert found[dataset, name, 2, r].validated == best


def test_rules_lie_over_the_sinusoid_by_what_the_answer_says(found):
    of_rules = choice.over_the_default(found)
    assert set(of_rules) == {*TEN, CHOSEN}
    assert set(of_rules["sinusoidal"].values()) == {0.0}
    assert of_rules["tape + erpe"]["CBF"] == pytest.approx(0.09)
    answer, _ = reading.question(QUESTIONS["choice"], found).answers
    assert [*of_rules[CHOSEN].values()] == pytest.approx(answer.by_set)
