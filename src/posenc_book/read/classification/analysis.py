"""How the benchmark's second edition is analysed: frozen, with a hash, before results are read.

`ANALYSIS` says which data sets decide, what is compared, which difference counts as none, and by
which tests; `second` does what it says. The trainings have a hash of their own, see `protocol`.
Both parts stand in `results/protocol.md`, for people.
"""

from typing import Any

from posenc_book.read import plans
from posenc_book.records.hashes import hashed

ANALYSIS: dict[str, Any] = plans.load("classification", "analysis")
HASH = hashed(ANALYSIS)
