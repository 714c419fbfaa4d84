"""The errors of forecasters whose past was shuffled, read from one small file."""

import json

import numpy as np
from numpy.typing import NDArray

from posenc import _checks
from posenc_book import _files
from posenc_book.read import results

FILE = "shuffled.json"


def load_shuffled() -> list[dict]:
    """Return the stored trainings: set, model, seed, and the error in each order of the past."""
    path = results.folder() / FILE
    if not path.is_file():
        raise ValueError(f"{path} is missing; python -m experiments.shuffled makes it")
    return json.loads(_files.text(path))["runs"]


def errors(name: str, model: str, order: str = "as it is") -> NDArray[np.float64]:
    """Return the mean squared errors of a forecaster on a set, one a seed, (seeds,)."""
    runs = load_shuffled()
    _checks.choice("name", name, {one["set"] for one in runs})
    _checks.choice("model", model, {one["model"] for one in runs})
    found = {r["seed"]: r["errors"] for r in runs if (r["set"], r["model"]) == (name, model)}
    _checks.choice("order", order, found[0])
    return np.array([found[seed][order] for seed in sorted(found)])


def rises(name: str, model: str, order: str) -> NDArray[np.float64]:
    """Return by which share another order of the past raises the error, one a seed, (seeds,)."""
    return errors(name, model, order) / errors(name, model) - 1
