"""What a training step costs with each encoding, as `benchmarks/costs.py` measured it."""

import json

from posenc_book import _files
from posenc_book.read import results

COSTS = "costs.json"


def step_costs() -> dict[str, dict[int, float]]:
    """Return the time of a training step in steps of none, by encoding and number of tokens."""
    path = results.folder() / COSTS
    if not path.is_file():
        raise ValueError(
            f"{path} is missing; write it with: python benchmarks/costs.py --out {path}"
        )
    stored = json.loads(_files.text(path))
    return {name: {int(n): x for n, x in one.items()} for name, one in stored["costs"].items()}
