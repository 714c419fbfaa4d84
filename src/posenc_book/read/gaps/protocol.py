"""The plan of series with gaps: what true times are worth where half of the steps are lost.

Each encoding is trained twice on the same values: with "times" the steps that are left stand where
they were recorded, with "indices" they are moved together and counted. `PROTOCOL` is the stored
plan, experiments/gaps/plan.json; its hash stands in every record.
"""

from posenc_book.read import plans
from posenc_book.records.hashes import hashed

PROTOCOL = plans.load("gaps")
HASH = hashed(PROTOCOL)
# What the scores know of a time: the place of a step, or the offset of two. One of each pair is a
# formula in time, the other a table that is learned.
GROUPS = PROTOCOL["groups"]
CONTROL = "none"
SHARED = PROTOCOL["one_unit"]  # the second's series stand in the first


def places() -> list[tuple[str, str, str]]:
    """Return the data sets of the protocol with the encodings and clocks."""
    return [
        (dataset, encoding, clock)
        for dataset in PROTOCOL["datasets"]
        for encoding in PROTOCOL["encodings"]
        for clock in PROTOCOL["clocks"]
    ]
