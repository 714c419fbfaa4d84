"""What a class gained between two tests: the normalised gain, with an interval.

The normalised gain of a class (Hake 1998) is the share of what could be gained: with mean shares
of right answers `before` and `after`, it is (after - before) / (1 - before). The interval comes
from drawing the students anew, with replacement, ten thousand times.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from course import sheets

DRAWS = 10_000
FEW = 10
LETTERS = "ABCD"
TIMES = ("before", "after")
Key = dict[str, list[str]]  # form -> right letters in order


@dataclass(frozen=True)
class Sheet:
    """What one student answered at one time."""

    code: str
    time: str
    form: str
    answers: tuple[str, ...]

    def share(self, key: Key) -> float:
        """Return the share of right answers; a question without an answer is not right."""
        right = key[self.form]
        return sum(map(str.__eq__, self.answers, right)) / len(right)


def rows(path: Path, columns: tuple[str, ...]) -> list[dict[str, str]]:
    """Return the rows of a table that have something in them, however a spreadsheet parts them.

    Raises
    ------
    ValueError
        Where it cannot be read, or a column is missing.
    """
    head, *table = sheets.read(path) or [[]]
    head = [name.strip().lower() for name in head]
    if missing := [name for name in columns if name not in head]:
        raise ValueError(f"{path.name} has no column {missing[0]!r}, only {head}")
    filled = (row + [""] * len(head) for row in table if any(row))
    return [dict(zip(head, map(str.strip, row), strict=False)) for row in filled]


def read_key(path: Path) -> Key:
    """Return the right letters of each form."""
    key: Key = {}
    for row in rows(path, ("form", "question", "right")):
        key.setdefault(row["form"].upper(), []).append(row["right"].upper())
    if not key:
        raise ValueError(f"{path.name} holds no question")
    return key


def read_answers(path: Path, key: Key) -> list[Sheet]:
    """Return what was answered; a ValueError names the row and what would be right there."""
    n = max(map(len, key.values()))
    asked = tuple(str(place) for place in range(1, n + 1))
    found = [
        _sheet(row, f"{path.name}, row {place}", key, asked)
        for place, row in enumerate(rows(path, ("code", "time", "form", *asked)), start=2)
    ]
    seen: dict[tuple[str, str], Sheet] = {}
    for one in found:
        if seen.setdefault((one.code, one.time), one) is not one:
            raise ValueError(f"{path.name}: {one.code} has two rows {one.time!r}; keep one of them")
    return found


def _sheet(row: dict[str, str], place: str, key: Key, asked: tuple[str, ...]) -> Sheet:
    time, form = row["time"].lower(), row["form"].upper()
    if not row["code"] or time not in TIMES or form not in key:
        raise ValueError(
            f"{place} must have a code, a time (before or after) and a form ({', '.join(key)}), "
            f"got {row['code']!r}, {row['time']!r}, {row['form']!r}"
        )
    answers = tuple(row[name].upper() for name in asked[: len(key[form])])
    for name, answer in zip(asked, answers, strict=False):
        if answer not in ("", *LETTERS):
            raise ValueError(
                f"{place}, question {name}: an answer is one letter of {LETTERS}, or nothing; "
                f"got {row[name]!r}"
            )
    return Sheet(row["code"].casefold(), time, form, answers)


def pairs(sheets: list[Sheet], key: Key) -> NDArray[np.float64]:
    """Return (students, 2): shares before and after, of those who were there both times."""
    shares = {time: {s.code: s.share(key) for s in sheets if s.time == time} for time in TIMES}
    both = sorted(shares["before"].keys() & shares["after"].keys())
    return np.array([[shares[time][code] for time in TIMES] for code in both]).reshape(-1, 2)


def gain(shares: NDArray[np.float64]) -> float:
    """Return the normalised gain of a class; NaN where nothing was left to gain."""
    before, after = shares.mean(0)
    return (after - before) / (1 - before) if before < 1 else float("nan")


def interval(shares: NDArray[np.float64]) -> tuple[float, float]:
    """Return a 95 % interval: the class is drawn anew from its students."""
    drawn = np.random.default_rng(0).integers(len(shares), size=(DRAWS, len(shares)))
    gains = np.array([gain(shares[one]) for one in drawn])
    low, high = np.nanquantile(gains, [0.025, 0.975])
    return float(low), float(high)


def report(answers: Path, key_path: Path | None = None) -> str:
    """Return what a teacher may say of the class, in sentences.

    Raises
    ------
    ValueError
        Where a table is none, nobody was there twice, or all was known before.
    """
    key = read_key(key_path or answers.parent / "key.csv")
    sheets = read_answers(answers, key)
    shares = pairs(sheets, key)
    if len(shares) < 2:
        raise ValueError(
            f"two students or more must have answered before and after, got {len(shares)}; "
            "the same code must stand in both of a student's rows"
        )
    if np.isnan(found := gain(shares)):
        raise ValueError("everybody knew everything before, so there was nothing to gain")
    return "\n".join(_sentences(sheets, shares, found))


def _sentences(sheets: list[Sheet], shares: NDArray[np.float64], found: float) -> Iterator[str]:
    (before, after), (low, high) = shares.mean(0), interval(shares)
    once = len({one.code for one in sheets}) - len(shares)
    empty = sum(one.answers.count("") for one in sheets)
    first = {one.form for one in sheets if one.time == "before"}
    yield f"{len(shares)} students answered before and after."
    yield f"Right before: {before:.0%}. Right after: {after:.0%}."
    yield f"Normalised gain: {found:.2f}, 95 % interval {low:.2f} to {high:.2f}."
    if once:
        yield f"Left out, as they were there only once: {once}."
    if empty:
        yield f"Questions without an answer, counted as not right: {empty}."
    if len(first) == 1:
        yield "All had the same form first, so a form that is easier looks like a gain or a loss."
    if len(shares) < FEW:
        yield f"With fewer than {FEW} students, the interval is too narrow. Read it as a hint."
    yield "This is what happened. What the book did, only a class without it would show."
