"""Where does plain RoPE stand in the length lab, with each task left out? From the raw lines."""

from collections import defaultdict

import numpy as np
import pytest
from raw import lines, plan

from posenc_book.quantities import length_lab

PLAN = plan("lengths")
PROTOCOL = "ca520bf96904"  # repairs were trained by another one
TRAINED = PLAN["trained"]
LONGER = [n for n in PLAN["tested"] if n > TRAINED]
ROPE = ("rotary", False)


def read():
    """Return {(task, encoding, at random places): [at the trained length, beyond]}."""
    found = defaultdict(list)
    for one in lines("lab.jsonl"):
        if one["protocol"] == PROTOCOL:
            share = one["metrics"]["token"]
            cell = one["dataset"], one["encoding"], one["settings"]["random_positions"] > 0
            found[cell].append((share[str(TRAINED)], np.mean([share[str(n)] for n in LONGER])))
    return {cell: np.mean(seeds, 0) for cell, seeds in found.items()}


FOUND = read()
ENCODINGS = {cell[1:] for cell in FOUND}
LEARNED = [task for task in PLAN["tasks"] if max(FOUND[task, *e][0] for e in ENCODINGS) >= 0.9]


@pytest.mark.parametrize(
    ("without", "rank"), [("", 16), ("copy", 16), ("reverse", 16), ("flip_flop", 16), ("sort", 13)]
)
def test_rope_is_last_because_of_sort(without, rank):
    tasks = [task for task in LEARNED if task != without]
    worth = {one: np.mean([FOUND[task, *one][1] for task in tasks]) for one in ENCODINGS}
    order = sorted(worth, key=lambda one: -worth[one])
    assert (len(LEARNED), len(order), order.index(ROPE) + 1) == (4, 16, rank)
    assert length_lab.rope_is_last_of_sixteen()
    if without == "sort":
        assert order[13:] == [("none", False), ("sinusoidal", False), ("learnable", False)]


def test_sort_is_nearly_solved_by_repeating_the_last_digit():
    """Of n digits 10 (1 - 0.9^n) are the first of their kind on average, and no repetition."""
    lengths = np.array(LONGER)
    repeated = ((lengths - 10 * (1 - 0.9**lengths)) / (lengths - 1)).mean()
    shares = np.array([FOUND["sort", *one][1] for one in ENCODINGS])
    assert round(100 * repeated) == 84
    assert round(100 * shares.max(), 1) == 96.8
    assert (shares < repeated).sum() == 7
