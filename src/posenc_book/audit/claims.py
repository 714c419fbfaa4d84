"""Verdicts on claims of the sources, given by the cell that measures them.

A section of the Audit ends a check with `claim("B6", holds=..., measured=...)`. The verdict is
shown to the reader and stored in the cell's output as data, from which the book's ledger is
generated. A chapter shows a verdict again by `show("B6")`, which computes nothing.
"""

import html
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from posenc_book.audit import ledger
from posenc_book.audit.outcomes import Outcome

if TYPE_CHECKING:
    from posenc_book.audit.rules import Decision, Slip

MIME = "application/vnd.posenc.claim+json"
SHOWN_MIME = "application/vnd.posenc.shown+json"

# verdict -> (symbol, class in the style sheet)
LOOK = {
    Outcome.CONFIRMED: ("✓", "confirmed"),
    Outcome.CONDITION: ("◐", "condition"),
    Outcome.SLIP: ("✎", "slip"),
    Outcome.NOT_REPRODUCED: ("≠", "unreproduced"),
    Outcome.REFUTED: ("✗", "refuted"),
    Outcome.UNTESTABLE: ("○", "untestable"),
}


@dataclass(frozen=True)
class Verdict:
    """A verdict on one claim, shown by notebooks as a line with a badge.

    Parameters
    ----------
    id : str
        The claim's identifier in the ledger, such as "B6".
    verdict : str
        One of the six of `posenc_book.audit.outcomes`.
    measured : str
        What was measured, in words and numbers; mathematics stands between dollar signs.
    condition : str
        The condition, the corrected form or the reason; empty for a plain confirmation.
    """

    id: str
    verdict: str
    measured: str
    condition: str = ""

    def __str__(self) -> str:
        return _line(self)

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict:
        del include, exclude  # part of the notebook protocol
        return {"text/plain": str(self), "text/html": self._html(), MIME: asdict(self)}

    def _html(self) -> str:
        _, look = LOOK[Outcome(self.verdict)]
        opening = f'<div class="posenc-claim posenc-{look}" id="claim-{html.escape(self.id)}">'
        return opening + _badge_and_texts(self) + "</div>"


@dataclass(frozen=True)
class Shown:
    """A verdict that the ledger holds, shown away from the cell that gave it.

    Parameters
    ----------
    row : dict of str to str
        The claim's row in the ledger.
    book : str
        The address of the published book, for the link to the Audit.
    """

    row: dict
    book: str

    @property
    def verdict(self) -> Verdict:
        """The stored verdict."""
        return Verdict(*(self.row[name] for name in ("id", "verdict", "measured", "condition")))

    @property
    def address(self) -> str:
        """The address of the cell that gave the verdict."""
        return self.book + "book/" + self.row["anchor"].replace(".ipynb#", ".html#")

    def __str__(self) -> str:
        note = "A statement of ours. " if self.row.get("ours") else ""
        claim_text = f"{note}{self.row['claim']} ({ledger.place(self.row)})"
        return f"{claim_text}\n{_line(self.verdict)}\nThe cell that decides: {self.address}"

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict:
        del include, exclude
        return {
            "text/plain": str(self),
            "text/html": self.html(self.address),
            SHOWN_MIME: {"id": self.row["id"]},
        }

    def html(self, address: str) -> str:
        """Return the box, with a link to the deciding cell at `address`."""
        _, look = LOOK[self.row["verdict"]]
        return (
            f'<div class="posenc-claim posenc-shown posenc-{look}" data-claim="{self.row["id"]}">'
            f"{words(self.row)}{_badge_and_texts(self.verdict)} "
            f'<a href="{html.escape(address)}">The cell that decides, in the Audit</a></div>'
        )


def claim(
    id: str,
    *,
    holds: bool | None = None,
    measured: str = "",
    condition: str = "",
    slip: "str | Slip" = "",
    rule: "Decision | None" = None,
) -> Verdict:
    """Return the verdict on a claim of the sources.

    Parameters
    ----------
    id : str
        The claim's identifier, such as "B6".
    holds : bool
        What the cell found, as the result of a comparison, not as a constant.
    measured : str
        The measured figures in a short sentence. Beside a `rule` that confirms or refutes it may
        be left out: the reason stands in its place.
    condition : str
        Where the claim holds only under a condition: that condition. Where it does not hold:
        what holds instead.
    slip : str or posenc_book.audit.rules.Slip
        Where the claim does not hold as printed but its meaning survives: the corrected form.
    rule : posenc_book.audit.rules.Decision, instead of `holds`, `condition` and `slip`
        What a rule of `posenc_book.audit.rules` decided; its reason becomes the condition.

    Returns
    -------
    Verdict: with `holds`, "confirmed" with or without a condition; without, "slip" or "refuted".
    With `rule`, whatever the rule came to.

    Raises
    ------
    ValueError
        If `id` or `measured` is empty, `holds` is no truth value, a claim that holds has a slip,
        a condition stands beside a slip, or `rule` beside what it replaces.

    Examples
    --------
    >>> found = [round(x + 3, 1) for x in (0.1, -0.2, 0.3)]
    >>> print(claim("B2", holds=found == [3.1, 2.8, 3.3], measured=f"The sum is {found}"))
    ✓ B2 confirmed. The sum is [3.1, 2.8, 3.3].
    """
    _check_id(id)
    if rule is not None:
        return _by_rule(id, rule, measured, {"holds": holds, "condition": condition, "slip": slip})
    if str(holds) not in ("True", "False"):  # bool and numpy.bool, nothing that is merely truthy
        raise ValueError(f"holds must be True or False for claim {id}, got {holds!r}")
    if not isinstance(measured, str) or not measured.strip():
        raise ValueError(f"measured must say what was measured for claim {id}, got {measured!r}")
    if holds and slip:
        raise ValueError(f"slip must be left out where claim {id} holds as printed, got {slip!r}")
    if slip and condition:
        raise ValueError(f"condition must be left out beside slip for claim {id}: {condition!r}")
    if slip:
        return Verdict(id, Outcome.SLIP.value, measured, _corrected(slip))
    if not holds:
        return Verdict(id, Outcome.REFUTED.value, measured, condition)
    outcome = Outcome.CONDITION if condition else Outcome.CONFIRMED
    return Verdict(id, outcome.value, measured, condition)


def untestable(id: str, *, reason: str) -> Verdict:
    """Return the verdict "not testable here" with what would be needed to test the claim.

    Parameters
    ----------
    id : str
        The claim's identifier.
    reason : str
        What is missing.

    Returns
    -------
    Verdict

    Raises
    ------
    ValueError
        If `id` or `reason` is empty.

    Examples
    --------
    >>> print(untestable("S53", reason="Needed: the same models as forecasters"))
    ○ S53 not testable here. Needed: the same models as forecasters.
    """
    _check_id(id)
    if not isinstance(reason, str) or not reason.strip():
        raise ValueError(f"reason must say what would be needed for claim {id}, got {reason!r}")
    return Verdict(id, Outcome.UNTESTABLE.value, "", reason)


def show(id: str) -> Shown:
    """Return the verdict that the ledger holds on a claim, without computing anything.

    Parameters
    ----------
    id : str
        The claim's identifier, such as "B15".

    Returns
    -------
    Shown

    Raises
    ------
    ValueError
        If the ledger holds no such claim, or no verdict on it yet.

    Examples
    --------
    >>> print(show("B15").verdict.verdict)
    confirmed with a condition
    """
    _check_id(id)
    return Shown(ledger.row(id), ledger.book())


def words(row: dict) -> str:
    """Return a claim and its place as a paragraph of HTML, with a note where it is ours."""
    note = '<span class="posenc-ours">A statement of ours.</span> ' if row.get("ours") else ""
    text, place = html.escape(row["claim"]), html.escape(ledger.place(row))
    return f'<p class="posenc-words">{note}{text} <small>{place}</small></p>'


# --- parts -------------------------------------------------------------------------------------


def _check_id(id: str) -> None:
    if not isinstance(id, str) or not id:
        raise ValueError(f"id must be a claim's identifier such as 'B6', got {id!r}")


def _by_rule(id: str, rule: "Decision", measured: str, replaced: dict) -> Verdict:
    """Return the verdict of a rule."""
    for name, value in replaced.items():
        if value not in (None, ""):
            raise ValueError(f"{name} must be left out beside rule for claim {id}, got {value!r}")
    try:
        outcome, reason = Outcome(rule.outcome), rule.reason
    except (AttributeError, ValueError):
        raise ValueError(
            f"rule must be a decision of posenc_book.audit.rules for claim {id}, got {rule!r}"
        ) from None
    if outcome is Outcome.UNTESTABLE or measured.strip():
        return Verdict(id, outcome.value, measured, reason)
    if outcome in (Outcome.CONFIRMED, Outcome.REFUTED):
        return Verdict(id, outcome.value, reason)
    raise ValueError(f"measured must say what was measured for claim {id}, got {measured!r}")


def _corrected(slip: "str | Slip") -> str:
    """Return the corrected form that a slip gives, introduced as such."""
    text = slip if isinstance(slip, str) else str(slip)
    if not text.strip():
        raise ValueError(f"slip must give the corrected form, got {slip!r}")
    return text if "orrected: " in text else f"Corrected: {text}"


def _line(verdict: Verdict) -> str:
    """Return a verdict as one line of text."""
    symbol, _ = LOOK[Outcome(verdict.verdict)]
    parts = [f"{symbol} {verdict.id} {verdict.verdict}", verdict.measured, verdict.condition]
    return ". ".join(part.rstrip(".") for part in parts if part) + "."


def _badge_and_texts(verdict: Verdict) -> str:
    """Return the inner part of a box: the badge, what was measured, the condition."""
    symbol, _ = LOOK[Outcome(verdict.verdict)]
    badge = f'<span class="posenc-badge"><span aria-hidden="true">{symbol}</span> '
    badge += f"<strong>{html.escape(verdict.id)}</strong> {verdict.verdict}</span>"
    said = [text for text in (verdict.measured, verdict.condition) if text]
    texts = [f"<span>{html.escape(text)}</span>" for text in said]
    return " ".join([badge, *texts])
