"""What people would try first when a model must read further: the stored plan of these trainings.

A second protocol of the lab, so that no earlier training becomes stale.
"""

from dataclasses import dataclass

from posenc_book.read import plans
from posenc_book.records.hashes import hashed

PROTOCOL = plans.load("lengths", "repairs")
HASH = hashed(PROTOCOL)
AS_TRAINED = "as trained"


@dataclass(frozen=True)
class Row:
    """A model of this protocol.

    Parameters
    ----------
    label : str
        Its name in tables.
    encoding : str
        One of `posenc.encodings.names("series")`.
    options : tuple of (str, object)
        Those of the encoding, in pairs.
    without : tuple of int
        Layers that have no position, counted from 0.
    readings : tuple of str
        Ways in which the trained model is read beside `AS_TRAINED`.
    """

    label: str
    encoding: str
    options: tuple[tuple[str, object], ...]
    without: tuple[int, ...]
    readings: tuple[str, ...]


ROWS = tuple(
    Row(label, encoding, tuple(map(tuple, options)), tuple(without), tuple(readings))
    for label, encoding, options, without, readings in PROTOCOL["rows"]
)


def places() -> list[tuple[str, Row]]:
    """Return each task with each row."""
    return [(task, row) for task in PROTOCOL["tasks"] for row in ROWS]
