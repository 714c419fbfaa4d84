"""The stored trainings on the range probe, read whole."""

from collections import Counter
from functools import cache

from posenc_book.read import results
from posenc_book.read.range_probe import protocol as probes
from posenc_book.read.range_probe.protocol import Variant
from posenc_book.records import tables

FILE = "probes"


@cache
def records() -> tuple[dict, ...]:
    """Return the finished trainings of the protocol."""
    found = tuple(
        r for r in tables.finished(results.load_records(FILE)) if r.get("protocol") == probes.HASH
    )
    tables.check_one_version(found)
    count = Counter((variant(r), distance(r)) for r in found)
    n_seeds = int(probes.PROTOCOL["seeds"])
    lacking = {place: n_seeds - count[place] for place in probes.places()}
    if any(lacking.values()):
        (one, far), n = next((place, n) for place, n in lacking.items() if n)
        raise ValueError(
            f"results must hold every training on the range probe, but {n} of {one.label} at "
            f"distance {far} are missing: run python -m experiments.range_probe"
        )
    return found


def variant(record: dict) -> Variant:
    """Return the encoding of a training, with the size of its rows and its options."""
    settings = record["settings"]
    options = tuple(settings["encoding_options"].items())
    return Variant(record["encoding"], settings["scale"], options)


def distance(record: dict) -> int:
    """Return the steps between the two pulses of a training."""
    return record["settings"]["dataset_options"]["distance"]


def steps_to_find(metrics: dict) -> float:
    """Return the step at which a training first had the task by validation; infinity if never."""
    every = probes.PROTOCOL["settings"]["check_every"]
    curve = metrics["validation_curve"]
    found = (i for i, one in enumerate(curve, 1) if one >= probes.PROTOCOL["found"])
    return next(found, float("inf")) * every
