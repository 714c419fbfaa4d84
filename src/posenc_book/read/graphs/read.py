"""The accuracies of small transformers on graphs, read from one small file."""

import json
from typing import Any

import numpy as np
from numpy.typing import NDArray

from posenc import _checks
from posenc_book import _files
from posenc_book.read import results

FILE = "graphs.json"


def load() -> dict[str, Any]:
    """Return what is stored: facts about each set, and the trainings."""
    path = results.folder() / FILE
    if not path.is_file():
        raise ValueError(f"{path} is missing; python -m experiments.graphs makes it")
    return json.loads(_files.text(path))


def accuracies(name: str, kind: str) -> NDArray[np.float64]:
    """Return the share of test graphs that models of one kind got right, one a seed, (seeds,)."""
    runs = load()["runs"]
    _checks.choice("name", name, {one["set"] for one in runs})
    _checks.choice("kind", kind, {one["kind"] for one in runs})
    found = {r["seed"]: r["right"] for r in runs if (r["set"], r["kind"]) == (name, kind)}
    return np.array([found[seed] for seed in sorted(found)])


def summary(name: str) -> dict[str, str]:
    """Return a row of the chapter's table: a set's mean accuracies, least and most in brackets."""
    stored = load()
    kinds = dict.fromkeys(one["kind"] for one in stored["runs"])
    row = {"always the commonest class": f"{stored['sets'][name]['commonest']:.0%}"}
    for kind in kinds:
        right = accuracies(name, kind)
        row[kind] = f"{right.mean():.0%} ({right.min():.0%} to {right.max():.0%})"
    return row
