"""Sentences with one question, which only their order answers: does Alice stand before Bob?"""

import torch
from torch import Tensor

from posenc import _checks

ALICE, BOB, N_WORDS = 0, 1, 20


def sentences(n: int, generator: torch.Generator, length: int = 12) -> tuple[Tensor, Tensor]:
    """Return sentences of random words, Alice and Bob once in each, and the answers.

    Parameters
    ----------
    n : int
        Number of sentences.
    generator : torch.Generator
    length : int
        Words of a sentence, at least 2.

    Returns
    -------
    words (n, length), whole numbers from 0 (Alice) and 1 (Bob) to 19, and classes (n,), 1 where
    Alice comes first.

    Raises
    ------
    ValueError
        If `n` or `length` is too small.
    """
    shape = _checks.count("n", n, minimum=1), _checks.count("length", length, minimum=2)
    words = torch.randint(2, N_WORDS, shape, generator=generator)
    places = torch.rand(shape, generator=generator).argsort(1)[:, :2]  # of Alice and Bob
    words.scatter_(1, places, torch.tensor([ALICE, BOB]).expand(n, 2))
    return words, (places[:, 0] < places[:, 1]).long()


def unseen(n: int, seed: int = 1) -> tuple[Tensor, Tensor]:
    """Return sentences and the same ones read backwards, (2n, 12), and their answers, (2n,)."""
    words, answers = sentences(n, torch.Generator().manual_seed(seed))
    return torch.cat([words, words.flip(1)]), torch.cat([answers, 1 - answers])
