"""Which margins and effects the fourteen counted units can decide, computed before the freeze.

python -m posenc_book.read.forecasting.planned
"""

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from posenc._wall import behind
from posenc_book import _files
from posenc_book.read.forecasting import protocol
from posenc_book.statistics.power import Design, detectable_effect, provable_margin

FILE = Path("results", "forecasting", "planned.json")
BETWEEN = (0.005, 0.01, 0.02, 0.05, 0.15)  # standard deviation of the units' true effects, in logs
WITHIN = 0.02  # of one seed's effect around its unit's, see the page of the protocol
TESTS = {"first of eight": 8, "alone": 1}  # Holm's first step asks most, its last one least
N_RUNS = 2000


def planned() -> list[dict[str, Any]]:
    """Return the least margin and effect that are shown 4 times of 5, by the spread of units."""
    n_units, n_seeds = len(protocol.ANALYSIS["counted"]), protocol.TRAINING["seeds"]
    rows = []
    for between in BETWEEN:
        design = Design(n_units, n_seeds, between, WITHIN)
        row: dict[str, Any] = {"between": between, "within": WITHIN}
        for name, n_tests in TESTS.items():
            options: dict[str, Any] = {"n_tests": n_tests, "n_runs": N_RUNS}
            row[f"margin, {name}"] = round(provable_margin(design, **options), 4)
            row[f"effect, {name}"] = round(detectable_effect(design, **options), 4)
        rows.append(row)
    return rows


def _main(_: Sequence[str]) -> None:
    _files.replace(FILE, json.dumps(planned(), indent=1) + "\n")


if __name__ == "__main__":
    sys.exit(behind(_main))
