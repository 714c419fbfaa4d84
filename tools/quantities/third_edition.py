"""The third edition: what was planned, and the answers that are whole."""

import json
import re
from functools import cache

from posenc import _files
from posenc.data import recorded_facts
from posenc.experiments import results
from posenc.experiments.edition3 import planned, protocol, reading, sets, tables
from posenc.experiments.edition3.claims import CLAIMS
from posenc.experiments.edition3.questions import QUESTIONS


@cache
def _families():
    return reading.answers(reading.load_trainings())


def _answers():
    """Return the answers of the questions by their names, such as "hybrids.tape_erpe.erpe"."""
    return {
        f"{title}.{_named(answer.title)}": answer
        for title in QUESTIONS
        for answer in _families()[title].answers
    }


def _named(title):
    return ".".join(re.sub(r"\W+", "_", name) for name in title.split(" - "))


def sets_it_would_take():
    """To decide a question for other sets like these, from the fewest to the most."""
    stored = json.loads(_files.text(results.folder() / "edition-3" / planned.FILE.name))[
        "questions"
    ]
    needed = [
        row["over sets"]["sets for the margin"] for of in stored.values() for row in of.values()
    ]
    some = [n for n in needed if n]
    return f"{min(some)} to {max(some)}"


def part():
    """Training series of the counted unused sets, in their official parts."""
    sizes = [recorded_facts(name).train for name in sets.COUNTED]
    return {"smallest": str(min(sizes)), "largest": str(max(sizes))}


def resamples():
    """Of a question or a claim."""
    numbers = [one.resamples for one in (*QUESTIONS.values(), *CLAIMS.values())]
    return f"{min(numbers)} to {max(numbers)}"


def margin():
    """In points."""
    return f"{100 * protocol.MARGIN:g}"


def points():
    """The differences of the questions that are whole, with their intervals for these sets."""
    return {name: f"${tables.points(answer)}$" for name, answer in _answers().items()}


def outcome():
    """Their answers in a word or two."""
    return {name: answer.outcome for name, answer in _answers().items()}
