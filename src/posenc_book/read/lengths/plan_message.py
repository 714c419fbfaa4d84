"""The message turned, too: the stored plan of the lab's trainings with the fifth door.

A third protocol, so that no earlier training becomes stale. All that it does not say is as in the
first, whose trainings it is compared with.
"""

from posenc_book.read import plans
from posenc_book.read.lengths.plan import Encoding
from posenc_book.records.hashes import hashed

PROTOCOL = plans.load("lengths", "message")
HASH = hashed(PROTOCOL)
((_name, _options, _random),) = PROTOCOL["encodings"]
ENCODING = Encoding(_name, tuple(map(tuple, _options)), _random)


def places() -> list[tuple[str, Encoding]]:
    """Return each task with the encoding."""
    return [(task, ENCODING) for task in PROTOCOL["tasks"]]
