"""Tasks for length generalisation, against the plainest reading of their rules."""

import numpy as np
import pytest

from posenc_book.data import tasks as length_tasks
from posenc_book.data.tasks import TASKS, draw, task, task_fingerprint

LENGTHS = (2, 3, 7, 20, 100)


def rows(name, length, n=60):
    """Return the sequences in words, and of each the answers."""
    drawn = draw(name, n=n, length=length)
    marked = np.broadcast_to(drawn.answers, drawn.tokens.shape)
    for row in range(n):
        words = drawn.words(row).split()
        yield words, [word for word, one in zip(words, marked[row], strict=True) if one]


def question(words):
    """Return what stands between the first symbol and the sign of equality."""
    assert words[0] == "^"
    return words[1 : words.index("=")]


def answer(name, words):
    """Return what is to be predicted, by a program that reads the question as a person does."""
    if name in ("flip_flop", "recall"):
        return read_bits(words)
    asked = question(words)
    if name == "copy":
        return asked
    if name == "reverse":
        return list(reversed(asked))
    if name == "sort":
        return sorted(asked)
    if name == "parity":
        return [str(asked[: i + 1].count("1") % 2) for i in range(len(asked))]
    if name == "addition":
        one, other = "".join(asked).split("+")
        total = int(one[::-1], 2) + int(other[::-1], 2)
        return list(f"{total:0{len(one) + 1}b}"[::-1])
    letter, step = words[words.index("=") + 1 : words.index("=") + 3]
    assert asked.count(letter) == 1
    return [asked[asked.index(letter) + int(step)]]


def read_bits(words):
    assert words[0] == "^"
    found, state = [], None
    for order, bit in zip(words[1::2], words[2::2], strict=True):
        if order == "w":
            state = bit
        elif order == "r":
            found.append(state)
    return found


@pytest.mark.parametrize("name", TASKS)
@pytest.mark.parametrize("length", LENGTHS)
def test_answers_are_those_of_the_rule(name, length):
    length = max(length, task(name).least)
    for words, answers in rows(name, length):
        assert answers == answer(name, words)
        assert len(words) == task(name).n_tokens(length)
        assert answers


@pytest.mark.parametrize("name", TASKS)
def test_the_first_token_is_never_asked_and_each_token_is_a_symbol(name):
    drawn = draw(name, n=200, length=20)
    assert drawn.tokens.dtype == np.int64
    assert not drawn.answers[..., 0].any()
    assert drawn.tokens.min() == 0
    assert drawn.tokens.max() < len(drawn.symbols) == len(set(drawn.symbols))


@pytest.mark.parametrize("name", TASKS)
def test_equal_arguments_equal_sequences(name):
    one, same = (draw(name, n=30, length=9, seed=4) for _ in range(2))
    assert np.array_equal(one.tokens, same.tokens)
    for other in (
        draw(name, n=30, length=9, seed=5),
        draw(name, n=30, length=9, seed=4, split="test"),
    ):
        assert not np.array_equal(one.tokens, other.tokens)


def test_the_answer_is_not_known_from_its_frequency():
    """A constant guess is right half of the time for bits, and less for letters."""
    drawn = draw("parity", n=4000, length=10)
    ones = (drawn.tokens[:, drawn.answers] == drawn.symbols.index("1")).mean(0)
    assert np.abs(ones - 0.5).max() < 0.04
    for name in ("copy", "reverse", "indirect_indexing"):
        drawn = draw(name, n=8000, length=10)
        for column in drawn.tokens[:, drawn.answers].T:
            assert np.bincount(column).max() < 1.5 * 8000 / 26


def test_flip_flop_has_the_shares_of_the_source():
    drawn = draw("flip_flop", n=2000, length=50)
    orders = np.array(drawn.symbols)[drawn.tokens[:, 3:-2:2]]
    for order, share in {"w": 0.1, "r": 0.1, "i": 0.8}.items():
        assert (orders == order).mean() == pytest.approx(share, abs=0.01)
    assert set(np.array(drawn.symbols)[drawn.tokens[:, 1]]) == {"w"}
    assert set(np.array(drawn.symbols)[drawn.tokens[:, -2]]) == {"r"}


def test_recall_states_early_corrects_once_and_asks_last():
    drawn = draw("recall", n=2000, length=20)
    orders = np.array(drawn.symbols)[drawn.tokens[:, 1::2]]
    assert set(orders[:, 0]) == {"w"}
    assert set(orders[:, -1]) == {"r"}
    assert ((orders == "w").sum(1) == 2).all()
    corrected = 1 + (orders[:, 1:] == "w").argmax(1)
    assert set(corrected) == set(range(1, 10))  # in the first half
    share = (drawn.tokens[:, -1] == drawn.tokens[:, 2]).mean()
    assert share == pytest.approx(0.1, abs=0.03)  # what was written first is no better than a guess


def test_indirect_indexing_asks_every_step_that_fits():
    drawn = draw("indirect_indexing", n=6000, length=20)
    steps = [int(drawn.symbols[token]) for token in drawn.tokens[:, -2]]
    assert set(steps) == set(range(-8, 9)) - {0}
    short = draw("indirect_indexing", n=200, length=2)
    assert {short.symbols[token] for token in short.tokens[:, -2]} == {"-1", "+1"}


def test_a_changed_rule_has_another_fingerprint(monkeypatch):
    before = {name: task_fingerprint(name) for name in TASKS}
    assert len(set(before.values())) == len(TASKS)
    assert {name: task_fingerprint(name) for name in TASKS} == before
    monkeypatch.setattr(length_tasks, "IGNORED", 0.7)
    after = {name: task_fingerprint(name) for name in TASKS}
    assert [name for name in TASKS if after[name] != before[name]] == ["flip_flop"]


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("copying", {}, "task must be one of copy, .*did you mean 'copy'"),
        ("copy", {"length": 0}, "length must be an integer of at least 1, got 0"),
        ("indirect_indexing", {"length": 1}, "length must be an integer of at least 2, got 1"),
        ("copy", {"n": 0}, "n must be an integer of at least 1, got 0"),
        ("copy", {"split": "dev"}, 'split must be "train" or "test"'),
    ],
)
def test_bad_arguments_are_named(name, options, message):
    with pytest.raises(ValueError, match=message):
        draw(name, **{"n": 2, "length": 5, **options})
