"""Tasks for length generalisation: sequences of tokens of which a model must predict the last part.

Each task is a rule that is the same at any length, so that a model may learn it from short
sequences and be asked about long ones. A sequence is read from left to right; `answers` marks the
tokens that are to be predicted, each from those before it. All sequences of one draw have the same
length, so none is padded.

>>> drawn = draw("copy", n=1, length=4, seed=0)
>>> drawn.words(0)
'^ w q n h = w q n h'
>>> "".join("x" if one else "." for one in drawn.answers)
'......xxxx'
"""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from posenc import _checks
from posenc_book.data.streams import generator

Rows = NDArray[np.int64]

START, END = "^", "="
BITS = ("0", "1")
DIGITS = tuple("0123456789")
LETTERS = tuple("abcdefghijklmnopqrstuvwxyz")
IGNORED = 0.8  # share of the instructions of the flip-flop that mean nothing
FARTHEST = 8  # steps from the named letter to the one asked for
SHIFTS = tuple(f"{step:+d}" for step in range(-FARTHEST, FARTHEST + 1))


@dataclass(frozen=True)
class Sequences:
    """Sequences of one task and one length; `draw` makes them.

    Parameters
    ----------
    tokens : int64 array of shape (n, n_tokens)
        Numbers of the task's symbols.
    answers : bool array of shape (n_tokens,) or (n, n_tokens)
        Which tokens are to be predicted, each from those before it; never the first. Of one axis
        where they stand at the same places in all sequences.
    symbols : tuple of str
        The vocabulary.
    """

    tokens: Rows
    answers: NDArray[np.bool_]
    symbols: tuple[str, ...]

    def words(self, row: int) -> str:
        """Return one sequence in its symbols."""
        return " ".join(self.symbols[token] for token in self.tokens[row])


@dataclass(frozen=True)
class Task:
    """A rule that makes sequences of any length; those of the book stand in `TASKS`.

    Parameters
    ----------
    name : str
        Its name in `TASKS`.
    symbols : tuple of str
        The vocabulary.
    source : str
        Who measured length generalisation with it, and what differs here.
    make : callable
        From a random generator, n and a length to tokens and answers, as `Sequences` has them.
    least : int
        Smallest length for which the rule says something.
    """

    name: str
    symbols: tuple[str, ...]
    source: str
    make: Callable[[np.random.Generator, int, int], tuple[Rows, NDArray[np.bool_]]]
    least: int = 1

    def draw(self, rng: np.random.Generator, n: int, length: int) -> Sequences:
        """Return random sequences."""
        _checks.count("length", length, minimum=self.least)
        tokens, answers = self.make(rng, _checks.count("n", n, minimum=1), length)
        return Sequences(tokens, answers, self.symbols)

    def n_tokens(self, length: int) -> int:
        """Return how many tokens a sequence of this length has."""
        return self.draw(np.random.default_rng(0), 1, length).tokens.shape[1]


def draw(name: str, *, n: int, length: int, seed: int = 0, split: str = "train") -> Sequences:
    """Return random sequences of a task; equal arguments, equal numbers.

    Parameters
    ----------
    name : str
        One of `TASKS`.
    n, length : int
        Sequences, and the length of what the task is about: letters to copy, digits of a number.
    seed : int
        "train" and "test" draw different sequences from the same seed.
    split : {"train", "test"}

    Returns
    -------
    Sequences

    Raises
    ------
    ValueError
        For an unknown name, or an argument that is out of range.

    Examples
    --------
    >>> draw("addition", n=1, length=3, seed=9).words(0)  # the smallest digit first: 6 + 4 = 10
    '^ 0 1 1 + 0 0 1 = 0 1 0 1'
    """
    return task(name).draw(generator(split, seed), n, length)


def task(name: str) -> Task:
    """Return a task by its name.

    Parameters
    ----------
    name : str
        One of `TASKS`.

    Returns
    -------
    Task

    Raises
    ------
    ValueError
        For an unknown name; the message lists all.

    Examples
    --------
    >>> task("addition").symbols
    ('^', '=', '0', '1', '+')
    >>> task("addition").n_tokens(3)  # a start, 3 digits, a plus, 3 digits, an end, 4 digits
    13
    """
    return TASKS[_checks.choice("task", name, TASKS)]


def task_fingerprint(name: str) -> str:
    """Return 16 hexadecimal digits of what a task draws: a changed rule gets others."""
    digest = hashlib.sha256()
    found = task(name)
    for length in (found.least, 5, 20):
        drawn = draw(name, n=50, length=length)
        digest.update("\n".join(drawn.words(row) for row in range(50)).encode())
        digest.update(np.packbits(drawn.answers).tobytes())
    return digest.hexdigest()[:16]


def _asked(question: Rows, answer: Rows) -> tuple[Rows, NDArray[np.bool_]]:
    """Return a start, a question, an end and an answer; symbols 0 and 1 are start and end."""
    n = len(question)
    start, end = np.zeros((n, 1), np.int64), np.ones((n, 1), np.int64)
    tokens = np.concatenate([start, question, end, answer], 1)
    answers = np.zeros(tokens.shape[1], bool)
    answers[-answer.shape[1] :] = True
    return tokens, answers


def _copy(rng: np.random.Generator, n: int, length: int) -> tuple[Rows, NDArray[np.bool_]]:
    letters = 2 + rng.integers(len(LETTERS), size=(n, length))
    return _asked(letters, letters)


def _reverse(rng: np.random.Generator, n: int, length: int) -> tuple[Rows, NDArray[np.bool_]]:
    letters = 2 + rng.integers(len(LETTERS), size=(n, length))
    return _asked(letters, letters[:, ::-1])


def _sort(rng: np.random.Generator, n: int, length: int) -> tuple[Rows, NDArray[np.bool_]]:
    digits = 2 + rng.integers(len(DIGITS), size=(n, length))
    return _asked(digits, np.sort(digits, 1))


def _parity(rng: np.random.Generator, n: int, length: int) -> tuple[Rows, NDArray[np.bool_]]:
    bits = rng.integers(2, size=(n, length))
    return _asked(2 + bits, 2 + bits.cumsum(1) % 2)


def _addition(rng: np.random.Generator, n: int, length: int) -> tuple[Rows, NDArray[np.bool_]]:
    one, other = rng.integers(2, size=(2, n, length))
    total, carry = np.zeros((n, length + 1), np.int64), np.zeros(n, np.int64)
    for place in range(length):
        column = one[:, place] + other[:, place] + carry
        total[:, place], carry = column % 2, column // 2
    total[:, length] = carry
    plus = np.full((n, 1), 4)
    return _asked(np.concatenate([2 + one, plus, 2 + other], 1), 2 + total)


def _flip_flop(rng: np.random.Generator, n: int, length: int) -> tuple[Rows, NDArray[np.bool_]]:
    rest = (1 - IGNORED) / 2
    orders = rng.choice(3, size=(n, length), p=[rest, rest, IGNORED])  # write, read, ignore
    orders[:, 0], orders[:, -1] = 0, 1
    bits = rng.integers(2, size=(n, length))
    for place in range(1, length):
        written = np.where(orders[:, :place] == 0, np.arange(place), -1).max(1)
        read = orders[:, place] == 1
        bits[read, place] = bits[read, written[read]]
    pairs = np.stack([3 + orders, 1 + bits], 2).reshape(n, -1)
    asked = np.stack([np.zeros_like(orders, bool), orders == 1], 2).reshape(n, -1)
    front = np.zeros((n, 1), np.int64)
    return np.concatenate([front, pairs], 1), np.concatenate([front.astype(bool), asked], 1)


def _indirect(rng: np.random.Generator, n: int, length: int) -> tuple[Rows, NDArray[np.bool_]]:
    names = rng.integers(len(LETTERS), size=n)
    others = rng.integers(len(LETTERS) - 1, size=(n, length))
    letters = others + (others >= names[:, None])  # none of them is the one that is named
    rows, places = np.arange(n), rng.integers(length, size=n)
    letters[rows, places] = names
    low, high = np.maximum(-places, -FARTHEST), np.minimum(length - 1 - places, FARTHEST)
    shifts = low + rng.integers(high - low)  # of these all but 0
    shifts += shifts >= 0
    found = letters[rows, places + shifts]
    first = 2 + len(LETTERS)
    question = [2 + letters, np.full((n, 1), 1), 2 + names[:, None]]
    question.append(first + FARTHEST + shifts[:, None])
    start = np.zeros((n, 1), np.int64)
    tokens = np.concatenate([start, *question, 2 + found[:, None]], 1)
    answers = np.zeros(tokens.shape[1], bool)
    answers[-1] = True
    return tokens, answers


def _recall(rng: np.random.Generator, n: int, length: int) -> tuple[Rows, NDArray[np.bool_]]:
    orders = np.full((n, length), 3)  # ignore
    rows, corrected = np.arange(n), rng.integers(1, max(2, length // 2), size=n)
    orders[:, 0], orders[rows, corrected], orders[:, -1] = 1, 1, 2  # write, write, read
    digits = rng.integers(len(DIGITS), size=(n, length))
    digits[:, -1] = digits[rows, corrected]
    pairs = np.stack([orders, 4 + digits], 2).reshape(n, -1)
    tokens = np.concatenate([np.zeros((n, 1), np.int64), pairs], 1)
    answers = np.zeros(tokens.shape[1], bool)
    answers[-1] = True
    return tokens, answers


TASKS = {
    one.name: one
    for one in (
        Task(
            "copy",
            (START, END, *LETTERS),
            "Kazemnejad et al. (2023), and Ruoss et al. (2023) as 'duplicate string': repeat the "
            "string. Of 26 letters, which may repeat.",
            _copy,
        ),
        Task(
            "reverse",
            (START, END, *LETTERS),
            "Kazemnejad et al. (2023) and Ruoss et al. (2023): write the string backwards. Of 26 "
            "letters, which may repeat.",
            _reverse,
        ),
        Task(
            "sort",
            (START, END, *DIGITS),
            "Kazemnejad et al. (2023), and Ruoss et al. (2023) as 'bucket sort': write the digits "
            "in ascending order. Ten digits, with repetition.",
            _sort,
        ),
        Task(
            "parity",
            (START, END, *BITS),
            "Kazemnejad et al. (2023) and Ruoss et al. (2023): is the number of ones odd? The "
            "answer is written with its way, the parity of the first bit, of the first two, and so "
            "on, which is the scratchpad of Anil et al. (2022); its last token is the answer.",
            _parity,
        ),
        Task(
            "addition",
            (START, END, *BITS, "+"),
            "Kazemnejad et al. (2023), and Ruoss et al. (2023) as 'binary addition': the sum of "
            "two numbers, binary and with the smallest digit first as in the second. Both have "
            "`length` digits, the sum one more.",
            _addition,
        ),
        Task(
            "flip_flop",
            (START, *BITS, "w", "r", "i"),
            "Liu et al. (2023), 'FFL(0.8)': each bit follows one of write, read, ignore, and one "
            "behind read repeats the one last written. The first instruction writes, the last one "
            "reads, the others ignore with probability 0.8, else write or read alike. Bits behind "
            "read are to be predicted.",
            _flip_flop,
            2,
        ),
        Task(
            "indirect_indexing",
            (START, END, *LETTERS, *SHIFTS),
            "Gopalakrishnan et al. (2025): find a letter of a string, then the one so many steps "
            "before or behind it. The named letter stands once; others may repeat here, so that a "
            "string may have any length, and the steps are 1 to 8.",
            _indirect,
            2,
        ),
        Task(
            "recall",
            (START, "w", "r", "i", *DIGITS),
            "Ours, a form of the flip-flop of Liu et al. (2023) that needs the far context: a "
            "digit is written first, corrected once in the first half, and read at the end. All "
            "between are to be ignored, and a guess is right once in ten.",
            _recall,
            3,
        ),
    )
}
"""The tasks by name."""
