"""Draw an exam: questions with answers to choose from, and with numbers, spread over chapters."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from random import Random

import yaml

from course.exam import questions
from course.exam.questions import Number

QUIZZES = Path(__file__).parent.parent / "quizzes"
CHOICE_POINTS = 1
CHOICES, NUMBERS = 10, 6  # of an exam, where nothing else is asked for


@dataclass(frozen=True)
class Option:
    """One answer to choose: its text, whether it is right, and why."""

    text: str
    right: bool
    why: str


@dataclass(frozen=True)
class Choice:
    """A question of a chapter's quiz, its options in an order of this exam."""

    name: str
    chapter: str
    of: str
    text: str
    options: tuple[Option, ...]
    points: int = CHOICE_POINTS


@dataclass(frozen=True)
class Exam:
    """An exam: its name and its questions in order."""

    name: str
    choices: tuple[Choice, ...]
    numbers: tuple[Number, ...]

    @property
    def points(self) -> int:
        """All points."""
        return sum(one.points for one in (*self.choices, *self.numbers))


def chapters() -> list[str]:
    """Return the chapters that an exam may ask about: those with a quiz."""
    return sorted(path.stem for path in QUIZZES.glob("*.yml"))


def usual() -> list[str]:
    """Return the chapters of an exam where none are named: those with questions in numbers."""
    return list(dict.fromkeys(one.chapter for one in questions.TEMPLATES.values()))


def draw(
    seed: str,
    name: str,
    asked: list[str] | None = None,
    n_choices: int | None = None,
    n_numbers: int | None = None,
) -> Exam:
    """Draw an exam; the same seed and name give the same one.

    Parameters
    ----------
    seed
        What students must not know.
    name
        What the exam is called; another name gives other questions and numbers.
    asked
        Chapters, such as "rotary"; where there are none, all with questions in numbers.
    n_choices, n_numbers
        How many questions of each kind; by default ten and six, or as many as there are.

    Raises
    ------
    ValueError
        Where a chapter has no quiz, or the chapters have fewer questions.
    """
    names = asked or usual()
    if unknown := [one for one in names if one not in chapters()]:
        raise ValueError(f"there are questions on {chapters()}, not on {unknown}")
    secret = f"{seed}|{name}"
    quizzes = [[(one, n) for n in range(len(_entries(one)))] for one in names]
    templates = [[n for n, t in questions.TEMPLATES.items() if t.chapter == one] for one in names]
    chosen = _spread(quizzes, n_choices, CHOICES, Random(f"{secret}|choices"), "of the quizzes")
    counted = _spread(templates, n_numbers, NUMBERS, Random(f"{secret}|numbers"), "with numbers")
    return Exam(
        name,
        tuple(_choice(chapter, number, secret) for chapter, number in chosen),
        tuple(questions.drawn(one, secret) for one in counted),
    )


def _spread(groups: list[list], asked: int | None, most: int, rng: Random, kind: str) -> list:
    """Return some of each group by turns, in the order of the groups."""
    there = sum(map(len, groups))
    wanted = min(most, there) if asked is None else asked
    if not 0 <= wanted <= there:
        raise ValueError(f"these chapters have {there} questions {kind}, {wanted} were asked for")
    queues = [rng.sample(group, len(group)) for group in groups]
    turns = [(turn, place) for place, queue in enumerate(queues) for turn in range(len(queue))]
    turns.sort(key=lambda pair: (pair[0], rng.random()))
    return [queues[place][turn] for turn, place in sorted(turns[:wanted], key=lambda p: p[::-1])]


@cache
def _entries(chapter: str) -> list[dict]:
    return yaml.safe_load((QUIZZES / f"{chapter}.yml").read_text(encoding="utf-8"))


def _choice(chapter: str, number: int, secret: str) -> Choice:
    entry = _entries(chapter)[number]
    options = [
        Option(str(one.get("right", one.get("wrong"))), "right" in one, one["why"])
        for one in entry["options"]
    ]
    name = f"{chapter}-{number + 1}"
    Random(f"{secret}|{name}").shuffle(options)
    return Choice(name, chapter, f"quiz, question {number + 1}", entry["question"], tuple(options))


def all_questions(seed: str, copies: int) -> Iterable[Choice | Number]:
    """Yield every question there is, those with numbers in several copies with other numbers."""
    for chapter in chapters():
        for number in range(len(_entries(chapter))):
            yield _choice(chapter, number, seed)
    for name in questions.TEMPLATES:
        yield from (questions.drawn(name, f"{seed}|{copy}") for copy in range(1, copies + 1))
