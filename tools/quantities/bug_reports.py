"""What the page on public bug reports counts of itself."""

import re
from collections import Counter

import nbformat

from repository import ROOT

PAGE = ROOT / "book" / "bug-reports.ipynb"
ROW = re.compile(r"^\| \[.*?\]\(#report-[\w-]+\) \| (?P<ours>\w+) \|", re.MULTILINE)


def tried():
    """Reports in the table at the top, by what our library does."""
    cells = nbformat.read(PAGE, as_version=4).cells
    found = Counter(row["ours"] for cell in cells for row in ROW.finditer(cell.source))
    return {"all": str(sum(found.values()))} | {name: str(n) for name, n in found.items()}
