"""Each sentence has one Alice and one Bob, and the answer says which stands first."""

import pytest
import torch

from posenc.teaching import before_or_after


def place(words, word):
    return (words == word).long().argmax(1)


@pytest.mark.parametrize("length", [2, 12])
def test_the_answer_says_whether_alice_stands_before_bob(length):
    words, answers = before_or_after.sentences(200, torch.Generator().manual_seed(0), length)
    assert words.shape == (200, length)
    for name in (before_or_after.ALICE, before_or_after.BOB):
        assert ((words == name).sum(1) == 1).all()
    assert torch.equal(answers, (place(words, 0) < place(words, 1)).long())
    assert 0.3 < answers.float().mean() < 0.7


def test_half_of_the_unseen_ones_are_the_others_read_backwards():
    words, answers = before_or_after.unseen(50)
    assert torch.equal(words[50:], words[:50].flip(1))
    assert torch.equal(answers[50:], 1 - answers[:50])


@pytest.mark.parametrize(("n", "length"), [(0, 12), (3, 1)])
def test_too_little_is_refused(n, length):
    with pytest.raises(ValueError, match="must be an integer of at least"):
        before_or_after.sentences(n, torch.Generator(), length)
