"""What `posenc.testing` asks of every encoding, and what each answers: one table.

`conformance.json` holds the answers to the questions that encodings answer differently, for the
atlas to show. `tests/testing/test_conformance.py` asks again, and writes it.
"""

import json
from functools import cache
from pathlib import Path

import pandas as pd

from posenc import encodings
from posenc.testing import Finding, Report, check_encoding

STORED = Path(__file__).with_suffix(".json")
TOLERANCE = 2e-5  # of the output's size, where rounding is a tenth of it
COLUMNS = {
    "order": "the order of tokens matters",
    "causal": "no token sees a later one",
    "cache": "one token at a time equals all at once",
    "padding left": "padding on the left changes nothing",
    "padding right": "padding on the right changes nothing",
    "given positions": "positions that are handed over are read",
    "real times": "real times are read, not rounded",
    "shift ignored": "moving all tokens changes nothing",
    "longer inputs": "beyond the trained length it refuses, or tells places apart",
}
"""The questions that encodings answer differently, by the head of their column."""


def ask(name: str) -> Report:
    """Return what an encoding answers to every check that this library's encodings are asked."""
    return check_encoding(encodings.get(name, axes=True), tolerance=TOLERANCE, seconds=300)


def answers(report: Report) -> dict[str, str | int]:
    """Return the answers of a report in a word each, and how many promises it keeps."""
    found = {one.name: one for one in report.findings}
    said = {head: answer(found[name]) for head, name in COLUMNS.items()}
    return {**said, "promises kept": sum(one.outcome == "held" for one in report.findings)}


def answer(finding: Finding) -> str:
    """Return what came of one question: yes, no, refused, or a dash where it cannot be asked."""
    if "refused" in finding.came or finding.came.startswith("ValueError"):
        return "refused"
    if finding.outcome in ("cannot", "ignored"):
        return "–"
    return "yes" if finding.outcome == "held" or finding.came.startswith("yes") else "no"


@cache
def stored() -> dict[str, dict[str, str | int]]:
    """Return the stored answers of every encoding."""
    return json.loads(STORED.read_text(encoding="utf-8"))


def conformance_table() -> pd.DataFrame:
    """Return the stored answers, one encoding a row."""
    return pd.DataFrame.from_dict(stored(), orient="index")
