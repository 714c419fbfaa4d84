"""What each letter costs the models that live in the page: nats, read from one small file.

trained by   experiments/living_model
stored in    results/living-model.json
shown in     book/living-model.ipynb
"""

import json
from functools import cache
from typing import Any

from posenc import _checks
from posenc_book import _files
from posenc_book.read import plans, results

FILE = "living-model.json"
PLAN: dict[str, Any] = plans.load("living_model")
KINDS = ("as trained", "in bytes")


@cache
def load() -> dict[str, Any]:
    """Return the stored readings, by encoding."""
    path = results.folder() / FILE
    if not path.is_file():
        raise ValueError(f"{path} is missing; python -m experiments.living_model train makes it")
    return json.loads(_files.text(path))["models"]


def blocks(encoding: str, slower: int = 1, start: int = 0, kind: str = KINDS[1]) -> list[float]:
    """Return the mean surprise of each block of 16 letters, in nats, up to letter 256."""
    _checks.choice("encoding", encoding, load())
    _checks.choice("kind", kind, KINDS)
    for one in load()[encoding][kind]:
        if (one["slower"], one["start"]) == (slower, start):
            return one["nats"]
    raise ValueError(
        f"slower and start must be of {PLAN['slower']} and {PLAN['starts']}, "
        f"got {slower} and {start}"
    )


def at(place: int, encoding: str, slower: int = 1, start: int = 0) -> float:
    """Return the mean surprise of the sixteen letters that end at a place."""
    read = blocks(encoding, slower, start)
    places = [PLAN["block"] * (i + 1) for i in range(len(read))]
    if place not in places:
        raise ValueError(f"place must be one of {places}, got {place}")
    return read[places.index(place)]


def largest_change_by_bytes() -> float:
    """Return by how much a block's mean surprise moves at most when weights become bytes."""
    return max(
        abs(one - other)
        for encoding in load()
        for read in load()[encoding][KINDS[0]]
        for one, other in zip(
            read["nats"], blocks(encoding, read["slower"], read["start"]), strict=True
        )
    )
