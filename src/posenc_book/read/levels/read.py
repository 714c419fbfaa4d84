"""What the changes do to the accuracy, read whole or not at all."""

import numpy as np
from numpy.typing import NDArray

from posenc_book.read import results
from posenc_book.read.levels import protocol
from posenc_book.records import tables

FILE = "levels"


def load_levels() -> dict[tuple[str, str, str], NDArray[np.float64]]:
    """Return the accuracies by (set, change, encoding), one a resample.

    Raises
    ------
    ValueError
        If trainings of the protocol are lacking.
    """
    records = tables.finished(results.load_records(FILE))
    stored = {r["key"]: r["metrics"]["accuracy"] for r in records}
    series = {r["settings"]["dataset"]: r["settings"]["dataset_source"] for r in records}
    code = {r["settings"]["encoding"]: r["settings"]["encoding_source"] for r in records}
    found = {}
    for dataset, change, encoding in protocol.places():
        place = (dataset, change, encoding)
        sources = {"series": series.get(dataset, ""), "code": code.get(encoding, "")}
        seeds = range(protocol.PROTOCOL["seeds"])
        keys = [protocol.cell(*place, seed, **sources).key for seed in seeds]
        if not all(key in stored for key in keys):
            raise ValueError(
                f"results/{FILE}.jsonl must hold all trainings of its protocol, some of "
                f"{', '.join(place)} are lacking: run python -m experiments.levels"
            )
        found[place] = np.array([stored[key] for key in keys])
    return found
