"""The third edition as tables: its answers, each set by itself, and the claims of the sources."""

from collections.abc import Mapping

from posenc_book.read.edition3 import claims, plan, words
from posenc_book.read.edition3.claims import CLAIMS, Claim
from posenc_book.read.edition3.questions import QUESTIONS, Question
from posenc_book.read.edition3.reading import Answer, Family
from posenc_book.statistics import answers
from posenc_book.statistics.answers import ESTIMANDS
from posenc_book.teaching.table import Table
from posenc_book.teaching.words import WordTable

MISSING = "not yet trained"
CHANGES = {
    "Shaw's encoding": (
        "knew offsets of up to 16 steps, and had no vectors for the values",
        "knows every offset and has them, with vectors of its own in each head",
    ),
    "the DFT's table": (
        "was stretched where a series has more steps than the model is wide",
        "is trained only where its paper defines it: on series of at most 64 steps",
    ),
    "T-PE": (
        "was judged as a whole: a sinusoid and a kernel of the tokens' similarity",
        "stands beside its sinusoid alone and beside its kernel alone",
    ),
    "stochastic encoding": (
        "came in its sinusoidal form, SineSPE",
        "comes in both forms; ConvSPE is the one that the survey describes",
    ),
    "learning rates": (
        "went up to 0.003 for tables, and up to 0.009 for others",
        "are the same four for all, up to 0.01",
    ),
    "depth": ("was two layers, where the survey has four", "is two layers and four"),
}
"""What was unequal in the second edition, there and here."""


def answers_table(families: Mapping[str, Family]) -> Table:
    """Return the answer to each pair of each question, in points, for each of three estimands.

    Parameters
    ----------
    families : mapping
        As `reading.answers` returns them; a family that is not whole says so.
    """
    rows = {}
    for title, question in QUESTIONS.items():
        given = {answer.contrast: answer for answer in families[title].answers}
        for asked in question.titles:
            label = ", ".join([words.pair(asked), *_layers(question)])
            rows[label] = _row(given.get(asked))
    caption = (
        "Differences in points of accuracy, means over the sets of a question, with 95 % "
        f"intervals. Equal: within {100 * plan.MARGIN:g} points."
    )
    return Table(rows, head="question", caption=caption, wide=True)


def _layers(question: Question) -> list[str]:
    """Return what is taken from what, of a question about two depths."""
    if len(question.layers) == 1:
        return []
    few, many = question.layers
    return [f"{many} layers less {few}"]


def _row(answer: Answer | None) -> dict[str, str]:
    if answer is None:
        return dict.fromkeys(ESTIMANDS, MISSING)
    return {about: f"{points(one)}, {one.answer}" for about, one in answer.about.items()}


def points(answer: answers.Answer) -> str:
    """Return a difference in points with its interval."""
    effect = answer.effect
    # a bound of -0.0 is below 0
    mean, low, high = (f"{100 * value:+.1f}" for value in (effect.mean, effect.low, effect.high))
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
    question = QUESTIONS[title]
    rows = {
        dataset: {
            words.pair(answer.contrast): f"{100 * answer.by_set[i]:+z.1f}"
            for answer in family.answers
        }
        for i, dataset in enumerate(question.datasets)
    }
    caption = " ".join([question.words, *(f"({one})" for one in _layers(question))])
    return Table(rows, head="data set", caption=caption)


def changes_table() -> WordTable:
    """Return what was unequal in the second edition, and what became of it."""
    rows = {
        name: {"in the benchmark": before, "here": now} for name, (before, now) in CHANGES.items()
    }
    return WordTable(rows, head="what", stacked=True)


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
        effect = answer.effect
        return f"tau {effect.mean:+.2f} [{effect.low:+.2f}, {effect.high:+.2f}]"
    if one.of == claims.TREND:
        return f"{answer.contrast} {points(answer)}"
    return f"{points(answer)} points"


def _answer(family: Family) -> str:
    if not family.answers:
        return ""
    first = family.answers[0]
    return first.answer if first.tested else "not tested"
