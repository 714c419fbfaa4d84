"""Digits of 8 by 8 pixels, read in other shapes: what small transformers read rightly.

trained by   experiments/pictures
stored in    results/pictures.json
shown in     book/time-and-space.ipynb
"""

import json
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from posenc import _checks
from posenc_book import _files
from posenc_book.read import plans, results
from posenc_book.records.hashes import hashed
from posenc_book.statistics.friedman import holm
from posenc_book.statistics.summary import Interval, t_interval

FILE = "pictures.json"
PLAN: dict[str, Any] = plans.load("pictures")
LATER: dict[str, Any] = plans.load("pictures", "later")
HASH, LATER_HASH = hashed(PLAN), hashed(LATER)
RUNS = ("runs", "later")
HOME, CUT, WIDE, SHEET, COUNTED, SPREAD = PLAN["readings"]
CALLED = {
    "none": "no positions",
    "learned": "a table, resized",
    "sinusoid": "sinusoid",
    "axial": "RoPE, two axes",
    "mixed": "RoPE, mixed axes",
    "sinusoid, shaken": "sinusoid, shaken",
    "axial, shaken": "RoPE, shaken",
}
_, HIDDEN = LATER["readings"]


@cache
def load() -> dict[str, Any]:
    """Return what is stored: `runs`, those of `later`, and `shown`, a digit in each shape."""
    path = results.folder() / FILE
    if not path.is_file():
        raise ValueError(f"{path} is missing; python -m experiments.pictures makes it")
    return json.loads(_files.text(path))


def accuracy(encoding: str, reading: str) -> NDArray[np.float64]:
    """Return the accuracy in per cent for each seed."""
    _checks.choice("reading", reading, [*PLAN["readings"], HIDDEN])
    plan, kind = (LATER, RUNS[1]) if reading == HIDDEN else (PLAN, RUNS[0])
    _checks.choice("encoding", encoding, plan["encodings"])
    right = {run["seed"]: run["right"] for run in load()[kind] if run["encoding"] == encoding}
    return np.array([100 * right[seed][reading] / PLAN["test"] for seed in range(PLAN["seeds"])])


def mean(encoding: str, reading: str) -> Interval:
    """Return the mean accuracy in per cent, with Student's interval over seeds."""
    return t_interval(accuracy(encoding, reading))


def beside_axial(reading: str) -> dict[str, tuple[Interval, float]]:
    """Return by how many points each other encoding differs, with a p-value adjusted by Holm."""
    turned = accuracy(PLAN["beside"], reading)
    others = [name for name in PLAN["encodings"] if name != PLAN["beside"]]
    differences = [accuracy(name, reading) - turned for name in others]
    adjusted = holm([stats.ttest_1samp(one, 0).pvalue for one in differences])
    each = zip(others, differences, adjusted.tolist(), strict=True)
    return {name: (t_interval(one), p_value) for name, one, p_value in each}
