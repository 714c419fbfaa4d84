"""The book's ledger, as it travels with the package: rows of claims and verdicts, read only.

`ledger.json` is written by `make ledger` from `book/claims.yml`, and a test holds the two equal.
"""

import json
from functools import cache
from importlib.resources import files

SOURCES = {
    "B": "First principles",
    "R": "Linear relationships",
    "F": "Faithful encoding",
    "S": "Survey",
    "N": "Modern encodings",
}
FOUR = tuple("BRFS")  # read sentence by sentence; of the papers behind "N" a few statements each


@cache
def _stored() -> dict:
    return json.loads(files(__package__).joinpath("ledger.json").read_text(encoding="utf-8"))


def book() -> str:
    """Return the address of the published book, which ends with a slash."""
    return _stored()["book"]


def rows() -> list[dict]:
    """Return the rows of the ledger in its order."""
    return _stored()["claims"]


def row(id: str) -> dict:
    """Return the row of a claim."""
    found = next((row for row in rows() if row["id"] == id), None)
    if found is None or not found.get("verdict"):
        raise ValueError(f"id must be a claim of the ledger with a verdict, got {id!r}")
    return found


def place(row: dict) -> str:
    """Return where a claim stands: the source and the place in it."""
    forecasts = row.get("anchor", "").startswith("audit/forecasters.ipynb")
    source = "Forecasters" if forecasts else SOURCES[row["source"]]
    return f"{source}, {row['place']}"
