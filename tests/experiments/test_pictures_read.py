"""What is told of digits in other shapes is what is stored."""

import json

import numpy as np
import pytest
from scipy import stats

from posenc_book.quantities import pictures as told
from posenc_book.read import pictures as read


def test_every_training_of_the_plan_is_stored_once():
    runs = [(one["encoding"], one["seed"]) for one in read.load()["runs"]]
    planned = [(name, s) for s in range(read.PLAN["seeds"]) for name in read.PLAN["encodings"]]
    assert runs == planned


def test_the_later_trainings_are_the_first_once_more():
    first = {(one["encoding"], one["seed"]): one["right"] for one in read.load()["runs"]}
    later = read.load()["later"]
    assert len(later) == read.PLAN["seeds"] * len(read.LATER["encodings"])
    for one in later:
        assert one["right"][read.HOME] == first[one["encoding"], one["seed"]][read.HOME]


def test_an_accuracy_is_a_share_of_the_test_digits():
    stored = json.loads((read.results.folder() / read.FILE).read_text(encoding="utf-8"))["runs"]
    right = [one["right"][read.SHEET] for one in stored if one["encoding"] == "mixed"]
    found = read.accuracy("mixed", read.SHEET)
    assert np.allclose(found, 100 * np.array(right) / 540)
    low, high = stats.t.interval(0.95, 4, np.mean(found), stats.sem(found))
    one = read.mean("mixed", read.SHEET)
    assert (one.low, one.high) == pytest.approx((low, high))
    assert told.right()["mixed.sheet"] == f"{np.mean(found):.0f}"


def test_each_other_encoding_is_set_beside_axial():
    beside = read.beside_axial(read.HOME)
    assert set(beside) | {"axial"} == set(read.PLAN["encodings"])
    difference = read.accuracy("learned", read.HOME) - read.accuracy("axial", read.HOME)
    assert beside["learned"][0].mean == pytest.approx(difference.mean())
    p_value = stats.ttest_rel(
        read.accuracy("learned", read.HOME), read.accuracy("axial", read.HOME)
    ).pvalue
    assert p_value <= beside["learned"][1] <= 6 * p_value


@pytest.mark.parametrize(
    ("given", "message"),
    [(("rope", read.HOME), "encoding must be one of"), (("axial", "16"), "reading must be one of")],
)
def test_what_is_not_stored_is_said(given, message):
    with pytest.raises(ValueError, match=message):
        read.mean(*given)
