"""Answers and accuracies of the third edition, read once."""

import json
from dataclasses import replace
from functools import cache

from posenc_book import _files
from posenc_book.read import results
from posenc_book.read.edition3 import reading
from posenc_book.read.edition3.claims import CLAIMS
from posenc_book.read.edition3.questions import QUESTIONS
from posenc_book.statistics.answers import EQUAL

ASKED = QUESTIONS | CLAIMS
NEARLY_ALL = 0.97  # right: there is little left to gain


@cache
def read(family, without=None):
    """Return a question or claim, over all of its sets or over all but one."""
    if without is None:
        return reading.load_answers()[family]
    others = tuple(name for name in ASKED[family].datasets if name != without)
    answered = reading.question if family in QUESTIONS else reading.claim
    return answered(replace(ASKED[family], datasets=others), scores())


def answers(family, without=None):
    return read(family, without).answers


def answer(family, pair=None, without=None):
    """Return the first answer of a question or claim, or that to one of its pairs."""
    whole = read(family, without)
    return whole.answer(pair) if pair else whole.answers[0]


def outcome(family, pair=None, without=None):
    return answer(family, pair, without).answer


def small(family, pair=None, without=None):
    """Return the sign of a difference that is shown and within the margin, else 0."""
    found = answer(family, pair, without)
    both = found.shown and found.answer == EQUAL
    return both * (1 if found.effect.mean > 0 else -1)


def points(family, pair=None, without=None):
    return 100 * answer(family, pair, without).effect.mean


def by_set(family, pair):
    return dict(zip(ASKED[family].datasets, answer(family, pair).by_set, strict=True))


def sets_above(least, question, pair):
    return {name for name, by in by_set(question, pair).items() if by > least}


@cache
def scores():
    return reading.scored(reading.load_trainings())


@cache
def series_to_learn_from():
    """Return by data set how many series its trainings were given, those of validation too."""
    trainings = reading.load_trainings()
    return {one["dataset"]: one["metrics"]["n_train"] for one in trainings if "metrics" in one}


def per_cent(dataset, encoding, layers, question="depth"):
    """Return the mean accuracy of the runs of a question."""
    alone = replace(QUESTIONS[question], datasets=(dataset,))
    return 100 * float(reading.accuracies(alone, encoding, layers, scores()).mean())


def with_room():
    """Return the new sets on which the sinusoid is not right nearly always."""
    names = QUESTIONS["ahead"].datasets
    return [n for n in names if per_cent(n, "sinusoidal", 2, "ahead") <= 100 * NEARLY_ALL]


def planned():
    """Return what was planned and simulated beforehand."""
    return json.loads(_files.text(results.folder() / "edition-3" / "planned.json"))
