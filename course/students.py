"""Which student number belongs to a submission: from a table of the teacher's, or from its name.

The table is a CSV file with the columns `submission` and `number`. A submission is meant by its
name as it stands in `marks.csv`, by the name of its folder, or by what stands in front of the first
`_` there, as in the folders that Moodle makes: `Ada Lovelace_123_assignsubmission_file`. What the
table does not name has no number.

Without a table, the number is the one run of five to twelve digits in the name. Moodle's number of
a hand-in is none, and neither is a date such as 20270114. Where there are several, none is taken.
"""

import re
from collections.abc import Iterable
from pathlib import Path

from course import sheets

IN_NAME = re.compile(r"(?<!\d)(?!20\d\d[01]\d[0-3]\d(?!\d))\d{5,12}(?!\d)(?!_assignsubmission)")
NUMBER = re.compile(r"\w[\w.-]{0,39}")  # no spreadsheet takes it for a formula
COLUMNS = ("submission", "number")


def read(path: Path) -> dict[str, str]:
    """Return submission -> number from a teacher's table.

    Raises
    ------
    ValueError
        Where there is no such file, a column is missing, a number is none, or a submission has two.
    """
    rows = sheets.read(path)
    head = [name.strip().lower() for name in rows[0]] if rows else []
    if missing := [name for name in COLUMNS if name not in head]:
        raise ValueError(
            f"{path.name} needs the columns {' and '.join(COLUMNS)}; of these, {missing} "
            f"{'is' if len(missing) == 1 else 'are'} not among {head}"
        )
    found: dict[str, str] = {}
    for line, row in enumerate(rows[1:], start=2):
        cells = dict(zip(head, map(str.strip, row), strict=False))
        name, number = (cells.get(column, "") for column in COLUMNS)
        if not name and not number:
            continue
        if not name or not NUMBER.fullmatch(number):
            raise ValueError(
                f"{path.name}, line {line}: a number must have letters, digits, dots and dashes "
                "only, begin with one of the first two, and stand beside a submission; "
                f"got {number!r} for {name!r}"
            )
        if found.setdefault(name.casefold(), number) != number:
            raise ValueError(
                f"{path.name}, line {line}: {name!r} has two numbers, "
                f"{found[name.casefold()]} and {number}; keep one of them"
            )
    return found


def number_of(name: str, table: dict[str, str] | None = None) -> str:
    """Return the number of a submission, or "" where neither table nor name has one."""
    for key in _keys(name):
        if table is not None and key in table:
            return table[key]
    if table is not None:
        return ""
    in_name = set(IN_NAME.findall(name))
    return in_name.pop() if len(in_name) == 1 else ""


def _keys(name: str) -> list[str]:
    top = name.partition("/")[0]
    return [key.casefold() for key in (name, f"{name}.ipynb", top, top.partition("_")[0])]


def unused(names: Iterable[str], table: dict[str, str]) -> list[str]:
    """Return what a table names and none of these submissions is: absent, or spelt otherwise."""
    keys = [_keys(name) for name in names]
    numbers = {next((table[key] for key in some if key in table), "") for some in keys}
    return [key for key, number in table.items() if number not in numbers]


def twice(numbers: Iterable[tuple[str, str, str]]) -> list[str]:
    """Say which student handed in an assignment twice, from submission, assignment and number."""
    first: dict[tuple[str, str], str] = {}
    found = []
    for name, assignment, number in numbers:
        other = first.setdefault((assignment, number), name)
        if number and other != name:
            found.append(f"{other} and {name} are both of student {number}")
    return found
