"""The figure and the tables of the third edition, on trainings that were made up."""

import matplotlib.pyplot as plt
import numpy as np
import pytest

from posenc_book.read.edition3 import figure, reading, tables, words
from posenc_book.read.edition3.claims import CLAIMS
from posenc_book.read.edition3.plan import ENCODINGS
from posenc_book.read.edition3.questions import QUESTIONS, cells
from posenc_book.read.edition3.reading import Scored

MISSING = ("choice", "tokens")


@pytest.fixture(scope="module")
def families():
    """What is read where erpe is five points ahead of all others, and two questions wait."""
    rng = np.random.default_rng(0)
    found = {}
    for (dataset, name, layers), n in cells().items():
        for r in range(1, n + 1):
            accuracy = 0.6 + 0.05 * (name == "erpe") + 0.005 * rng.normal()
            found[dataset, name, layers, r] = Scored(accuracy, (accuracy, 0.0))
    asked = {title: reading.question(one, found) for title, one in QUESTIONS.items()}
    waiting = {title: reading.question(QUESTIONS[title], {}) for title in MISSING}
    claimed = {name: reading.claim(one, found) for name, one in CLAIMS.items()}
    return asked | waiting | claimed


def test_sets_have_their_own_differences_whose_mean_is_the_answer(families):
    rows = tables.sets_table("hybrids", families["hybrids"]).rows
    assert [*rows] == [*QUESTIONS["hybrids"].datasets]
    answer = families["hybrids"].answers[1]
    said = [float(row["tAPE + eRPE beside eRPE"]) for row in rows.values()]
    assert np.mean(said) == pytest.approx(100 * answer.effect.mean, abs=0.051)
    with pytest.raises(ValueError, match="family must be whole, got 'tokens', which is not yet"):
        tables.sets_table("tokens", families["tokens"])


def test_the_figure_fills_the_mark_of_what_is_shown(families):
    drawn = figure.draw_answers(families)
    answered = [title for title in QUESTIONS if title not in MISSING]
    ahead = dict(zip(answered, drawn.axes, strict=True))["ahead"]
    diamonds = [line for line in ahead.lines if line.get_marker() == "D"]
    assert [line.get_markerfacecolor() != "white" for line in diamonds] == [True, False]
    plt.close(drawn)


def test_all_that_is_compared_has_a_name_of_people():
    assert words.TITLES.keys() == QUESTIONS.keys()
    for name in ENCODINGS:
        assert words.name(name) != name
