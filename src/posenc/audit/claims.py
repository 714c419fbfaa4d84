"""Verdicts on claims of the sources, given by the cell that measures them.

A chapter ends a check with `claim("B6", holds=..., measured=...)`. The verdict is shown to the
reader and stored in the cell's output as data, from which the book's ledger is generated.
"""

import html
from dataclasses import asdict, dataclass

MIME = "application/vnd.posenc.claim+json"

CONFIRMED = "confirmed"
CONDITION = "confirmed with a condition"
REFUTED = "refuted"
UNTESTABLE = "not testable here"

# verdict -> (symbol, class in the style sheet)
LOOK = {
    CONFIRMED: ("✓", "confirmed"),
    CONDITION: ("◐", "condition"),
    REFUTED: ("✗", "refuted"),
    UNTESTABLE: ("○", "untestable"),
}


@dataclass(frozen=True)
class Verdict:
    """A verdict on one claim, shown by notebooks as a line with a badge.

    Attributes
    ----------
    id : str
        The claim's identifier in the ledger, such as "B6".
    verdict : str
        "confirmed", "confirmed with a condition", "refuted" or "not testable here".
    measured : str
        What was measured, in words and numbers.
    condition : str
        The condition or the reason; empty for a plain confirmation.
    """

    id: str
    verdict: str
    measured: str
    condition: str = ""

    def __str__(self) -> str:
        symbol, _ = LOOK[self.verdict]
        parts = [f"{symbol} {self.id} {self.verdict}", self.measured, self.condition]
        return ". ".join(part.rstrip(".") for part in parts if part) + "."

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict:
        del include, exclude  # part of the notebook protocol
        return {"text/plain": str(self), "text/html": self._html(), MIME: asdict(self)}

    def _html(self) -> str:
        symbol, look = LOOK[self.verdict]
        badge = f'<span class="posenc-badge"><span aria-hidden="true">{symbol}</span> '
        badge += f"<strong>{html.escape(self.id)}</strong> {self.verdict}</span>"
        texts = [f"<span>{html.escape(t)}</span>" for t in (self.measured, self.condition) if t]
        return (
            f'<div class="posenc-claim posenc-{look}" id="claim-{html.escape(self.id)}">'
            + " ".join([badge, *texts])
            + "</div>"
        )


def claim(id: str, *, holds: bool, measured: str, condition: str = "") -> Verdict:
    """Return the verdict on a claim of the sources.

    Parameters
    ----------
    id : str
        The claim's identifier, such as "B6".
    holds : bool
        What the cell found, as the result of a comparison, not as a constant.
    measured : str
        The measured figures in a short sentence.
    condition : str
        Where the claim holds only under a condition: that condition. Where it does not hold:
        what holds instead.

    Returns
    -------
    Verdict: "refuted" if not `holds`, else "confirmed", with or without a condition.

    Raises
    ------
    ValueError
        If `id` or `measured` is empty, or `holds` is no truth value.
    """
    if not isinstance(id, str) or not id:
        raise ValueError(f"id must be a claim's identifier such as 'B6', got {id!r}")
    if str(holds) not in ("True", "False"):  # bool and numpy.bool, nothing that is merely truthy
        raise ValueError(f"holds must be True or False for claim {id}, got {holds!r}")
    if not isinstance(measured, str) or not measured.strip():
        raise ValueError(f"measured must say what was measured for claim {id}, got {measured!r}")
    if not holds:
        return Verdict(id, REFUTED, measured, condition)
    return Verdict(id, CONDITION if condition else CONFIRMED, measured, condition)


def untestable(id: str, *, reason: str) -> Verdict:
    """Return the verdict "not testable here" with what would be needed to test the claim.

    Parameters
    ----------
    id : str
        The claim's identifier.
    reason : str
        What is missing.

    Raises
    ------
    ValueError
        If `id` or `reason` is empty.
    """
    if not isinstance(id, str) or not id:
        raise ValueError(f"id must be a claim's identifier such as 'B6', got {id!r}")
    if not isinstance(reason, str) or not reason.strip():
        raise ValueError(f"reason must say what would be needed for claim {id}, got {reason!r}")
    return Verdict(id, UNTESTABLE, "", reason)
