"""What checks ask of an answer: any form of it is taken, and a wrong one is told why."""

from fractions import Fraction

import numpy as np
import pytest

from posenc_book.teaching import expect


@pytest.mark.parametrize(
    "two", [2, 2.0, [2], np.array([[2]]), np.float32(2), Fraction(2), np.bool_(True) + 1]
)
def test_a_number_is_taken_in_whatever_it_comes(two):
    assert expect.number(two, "two") == expect.whole(two, "two") == 2


@pytest.mark.parametrize("yes", [True, 1, 1.0, np.bool_(True), [True], np.array(1)])
def test_what_is_true_is_taken_as_true(yes):
    assert expect.truth(yes, "so it is") is True
    assert expect.truth(0, "so it is not") is False


def test_tensors_are_taken_even_in_lists_and_with_gradients():
    torch = pytest.importorskip("torch")
    ones = torch.ones(2, requires_grad=True)
    assert expect.array([ones, torch.zeros(2).bool()], (2, 2), "rows").tolist() == [[1, 1], [0, 0]]
    assert expect.truth(torch.tensor(True), "so it is")
    expect.same(torch.tensor([0.5], dtype=torch.bfloat16), [0.5], "half")


@pytest.mark.parametrize(
    ("ask", "answer", "told"),
    [
        (expect.number, None, "case: nothing came back; does your function end in `return`?"),
        (expect.number, "two", "case: numbers are asked for, got 'two'"),
        (expect.number, [1, 2], r"case: a single number is asked for, got shape \(2,\)"),
        (expect.number, np.nan, r"case: infinite or no numbers \(nan\) are among the answer"),
        (expect.number, 1j, "case: numbers are asked for, got 1j"),
        (expect.number, [[1], [2, 3]], "case: numbers are asked for"),
        (expect.number, 10**400, r"numbers are asked for, got 1000+\.\.\."),
        (expect.whole, 2.5, "case: a whole number is asked for, got 2.5"),
        (expect.truth, 2, "True or False is asked for, got 2"),
        (expect.truth, np.ones(3, bool), r"\(True or False\): a single number is asked for"),
    ],
)
def test_what_is_no_answer_is_told_in_words(ask, answer, told):
    with pytest.raises(AssertionError, match=told):
        ask(answer, "case")


@pytest.mark.parametrize(
    ("answer", "right", "told"),
    [
        (3, 2, "case: should be 2, and is 3"),
        ([1, 2, 4], [1, 2, 3], "case: entry 2 of the answer should be 3, and is 4"),
        ([[1, 2], [5, 4]], [[1, 2], [3, 4]], r"case: entry \(1, 0\) .* should be 3, and is 5"),
        ([1, 2], [1, 2, 3], r"case: an array of shape \(3,\) is asked for, got shape \(2,\)"),
    ],
)
def test_where_an_answer_is_wrong_is_told(answer, right, told):
    expect.same(right, right, "case")
    with pytest.raises(AssertionError, match=told):
        expect.same(answer, right, "case")
