"""What the third edition says beside the verdicts on four claims, by rules fixed beforehand.

A verdict of the ledger rests on the second edition and stays. The trainings of the third follow the
source's own definitions, on the survey's sets, with a token a step.
"""

from posenc_book.audit.outcomes import Outcome
from posenc_book.read.edition3 import claims, reading
from posenc_book.read.edition3.claims import CLAIMS, Claim
from posenc_book.read.edition3.reading import Answer, Family

SHOWN = {
    "ahead": "shown to be above 0",
    "behind": "shown to be below 0",
    "equal": "shown to be within {margin} of 0",
    "undecided": "which is undecided",
}
OPENING = "Asked again in the third edition, by the source's own definitions"


def ledger_sentence(name: str) -> str:
    """Return a sentence for the ledger: what was found, and which verdict goes with it.

    Parameters
    ----------
    name : str
        Of a claim of `CLAIMS`, such as "F23".
    """
    return sentence(name, reading.load_answers()[name])


def sentence(name: str, family: Family) -> str:
    """Return the sentence for some answers; a family that is not whole says what is missing."""
    one = CLAIMS[name]
    if family.missing:
        return f"{OPENING}: not yet trained"
    found = "; ".join(_found(one, answer) for answer in family.answers)
    where = f"{len(one.datasets)} of the survey's sets, {one.resamples} resamples of each"
    judged = _judged(one, family.answers[0])
    return f"{OPENING}, on {where}, steps as tokens: {found}, {judged}"


def _found(one: Claim, answer: Answer) -> str:
    interval = str(answer.effect)
    return f"{answer.contrast} {interval}" if one.of == claims.TREND else interval


def _judged(one: Claim, answer: Answer) -> str:
    if one.of == claims.TREND:
        return "which is not tested, as six sets can't decide a trend"
    shown = SHOWN[answer.answer].format(margin=f"{one.margin:g}")
    verdict = verdict_of(answer)
    return f"{shown}. By itself that would be: {verdict}" if verdict else shown


def verdict_of(answer: Answer) -> Outcome | None:
    """Return the verdict that goes with an answer, by the edition's protocol; None if open."""
    if answer.answer == "undecided":
        return None
    return Outcome.CONDITION if answer.answer == "ahead" else Outcome.NOT_REPRODUCED
