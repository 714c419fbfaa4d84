"""The third edition as tables: its answers, each set by itself, and the claims of the sources."""

from collections.abc import Mapping

from posenc.experiments.edition3 import claims, words
from posenc.experiments.edition3.claims import CLAIMS, Claim
from posenc.experiments.edition3.questions import QUESTIONS
from posenc.experiments.edition3.reading import Answer, Family
from posenc.teaching.table import Table
from posenc.teaching.words import WordTable

MISSING = "not yet trained"
OF_CLAIMS = {
    "ahead": "as said",
    "behind": "the other way round",
    "equal": "no difference",
    "shown": "not tested",
}
"""Outcomes of a claim in words that name no rival."""


def answers_table(families: Mapping[str, Family]) -> Table:
    """Return the answer to each pair of each question, in points, with both of its intervals.

    Parameters
    ----------
    families : mapping
        As `reading.answers` returns them; a family that is not whole says so.
    """
    rows = {}
    for title, question in QUESTIONS.items():
        answers = {answer.title: answer for answer in families[title].answers}
        for asked in question.titles:
            rows[f"{words.TITLES[title]}: {words.pair(asked)}"] = _row(answers.get(asked))
    caption = "Differences in points of accuracy, means over the sets of a question."
    return Table(rows, head="question", caption=caption, wide=True, unbroken=True)


def _row(answer: Answer | None) -> dict[str, str]:
    if answer is None:
        return {"these sets": "", "sets like them": "", "answer": MISSING}
    return {
        "these sets": points(answer),
        "sets like them": points(answer, over_sets=True),
        "answer": answer.outcome,
    }


def points(answer: Answer, *, over_sets: bool = False) -> str:
    """Return a difference in points with its interval, for these sets or over sets."""
    of = answer.over_sets if over_sets else (answer.estimate, answer.low, answer.high)
    mean, low, high = (f"{100 * value:+.1f}" for value in of)  # a bound of -0.0 is below 0
    return f"{mean} [{low}, {high}]"


def sets_table(title: str, family: Family) -> Table:
    """Return the differences on each set of a question, in points, mean over its resamples.

    Raises
    ------
    ValueError
        If the family has no answer yet.
    """
    if not family.answers:
        raise ValueError(f"family must be whole, got {title!r}, which is {MISSING}")
    rows = {
        dataset: {
            words.pair(answer.title): f"{100 * answer.by_set[i]:+z.1f}" for answer in family.answers
        }
        for i, dataset in enumerate(QUESTIONS[title].datasets)
    }
    return Table(rows, head="data set", caption=QUESTIONS[title].words)


def claims_table(families: Mapping[str, Family]) -> WordTable:
    """Return what the trainings say of each claim, in the unit of its answer."""
    rows = {
        f"{name}: {one.words}": {
            "found": "; ".join(_found(one, a) for a in families[name].answers) or MISSING,
            "answer": _answer(families[name]),
        }
        for name, one in CLAIMS.items()
    }
    return WordTable(rows, head="claim", stacked=True)


def _found(one: Claim, answer: Answer) -> str:
    if one.of == claims.ORDER:
        return f"tau {answer.estimate:+.2f} [{answer.low:+.2f}, {answer.high:+.2f}]"
    if one.of == claims.TREND:
        return f"{answer.title} {points(answer)}"
    return f"{points(answer)} points"


def _answer(family: Family) -> str:
    if not family.answers:
        return ""
    outcome = family.answers[0].outcome
    return OF_CLAIMS.get(outcome, outcome)
