"""How many statements of the sources a chapter tells, and how many of them had to be corrected."""

import verdict_marks
from posenc_book.audit import ledger
from quantities.first_page import CORRECTED
from repository import ROOT


def told():
    """Marked in a chapter, or with a verdict that it shows."""
    verdicts = {row["id"]: row["verdict"] for row in ledger.rows()}
    return {
        page: _said([verdicts[one] for one in ids])
        for page, ids in verdict_marks.marked_claims_by_page(ROOT / "book").items()
    }


def _said(verdicts):
    """Return how many there are and how many were wrong."""
    wrong = sum(one in CORRECTED for one in verdicts)
    return f"{len(verdicts)} statement{'s' * (len(verdicts) > 1)}, {wrong or 'none'} corrected"
