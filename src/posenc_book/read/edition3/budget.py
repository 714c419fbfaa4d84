"""What the third edition costs, by seconds that were measured and steps that edition 2 took.

`measured` times steps on random series of each set's sizes. How many steps a training takes before
it stops is what edition 2 says: of the same set, or of all sets with a token a step where it never
read the set. Edition 2 also says by how much longer whole trainings took than their steps.
"""

import json
from collections import defaultdict
from functools import cache

import numpy as np

from posenc_book import _files
from posenc_book.read import results
from posenc_book.read.classification import edition
from posenc_book.read.edition3 import measured, protocol, sets
from posenc_book.read.edition3.questions import MODEL, cells

HOURS = 40.0
N_TRIALS = len(protocol.RATES) + 1
EVERY = protocol.TRAINING["settings"]["check_every"]


@cache
def stored() -> dict[str, dict[str, tuple[float, float]]]:
    """Return the measured seconds of a step, and of judging a series, by set and cell."""
    text = _files.text(results.folder() / "edition-3" / measured.FILE.name)
    return {
        dataset: {key: tuple(pair) for key, pair in of_set.items()}
        for dataset, of_set in json.loads(text).items()
    }


@cache
def _edition_2() -> dict[str, list[dict]]:
    """Return edition 2's trainings on a processor, one at a time, by set."""
    found: dict[str, list[dict]] = defaultdict(list)
    for record in edition.load_edition():
        alone = record["metrics"].get("seeds_together") == 1 and record["device"] == "cpu"
        if record["model"] == MODEL and alone and "error" not in record:
            found[record["dataset"]].append(record)
    return dict(found)


def steps(dataset: str) -> float:
    """Return how many steps a training takes on a set."""
    of_set = _edition_2().get(dataset) or [r for rows in _edition_2().values() for r in rows]
    return float(np.mean([record["metrics"]["steps"] for record in of_set]))


def seconds(dataset: str, name: str, layers: int, n_steps: float) -> float:
    """Return what so many steps cost, with looks at the validation part and one at the test's."""
    step, judge = stored()[dataset][measured.key(name, layers)]
    n = measured.sizes(dataset)
    looks = n_steps / EVERY * n.validation + n.test
    return n_steps * step + judge * looks


@cache
def ratio() -> float:
    """Return how many times longer edition 2's trainings took than is measured here.

    The median over its trainings of the survey's sets, of encodings that both have.
    """
    found = []
    for dataset in sets.SURVEY:
        there = stored().get(dataset, {})
        for record in _edition_2().get(dataset, []):
            name = record["encoding"]
            plain = name in ("none", "sinusoidal", "tape", "erpe", "tupe", "sine_spe", "tpe")
            if plain and measured.key(name, 2) in there:
                here = seconds(dataset, name, 2, record["metrics"]["steps"])
                found.append(record["seconds"] / here)
    return float(np.median(found))


def hours() -> dict[str, float]:
    """Return core-hours by data set, and of all: trainings, and the trials that tune them."""
    found: dict[str, float] = defaultdict(float)
    for (dataset, name, layers), n in cells().items():
        trial = seconds(dataset, name, layers, protocol.TRIAL_STEPS)
        once = n * seconds(dataset, name, layers, steps(dataset)) + N_TRIALS * trial
        found[dataset] += once * max(1.0, ratio()) / 3600
    return {**found, "all": sum(found.values())}
