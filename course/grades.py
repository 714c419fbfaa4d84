"""Make a table of grades that Moodle imports from a table of marks.

    make grades MARKS=course/dist/marks/marks.csv      # the same as
    python -m course.grades course/dist/marks/marks.csv [--out grades.csv]

Write the points that you gave by hand into the column `by hand` of the marks, or of a copy of them.
The grades have a row for each student, by number, and a column for each assignment. In Moodle:
Grades, Import, CSV file; map `ID number` to *ID number* and each assignment to its grade item.
"""

import argparse
import csv
import io
import math
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from course import build, students
from posenc._wall import behind

NEEDED = ("submission", "student number", "assignment", "by checks", "by hand", "by hand, at most")


def read(path: Path) -> list[dict[str, str]]:
    """Return the rows of a table of marks.

    Raises
    ------
    ValueError
        Where it is no such table.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeError) as error:
        raise ValueError(f"{path} cannot be read as a table in UTF-8 ({error})") from None
    first = text.partition("\n")[0]
    table = csv.DictReader(io.StringIO(text), delimiter=max(",;\t", key=first.count))
    rows = list(table)
    if missing := [name for name in NEEDED if name not in (rows[0] if rows else {})]:
        raise ValueError(f"{path.name} is no table of marks: it has no column {missing[0]!r}")
    for number, row in enumerate(rows, 1):
        if None in row or None in row.values():  # what the reader of tables makes of such rows
            raise ValueError(
                f"row {number} of {path.name} must have {len(table.fieldnames or [])} fields, "
                f"has {'more' if None in row else 'fewer'}: {row['submission']!r:.80}"
            )
    return rows


def by_hand(path: Path) -> dict[str, dict[str, str]]:
    """Return submission -> what a teacher may have written into a table of marks."""
    found = {}
    for row in read(path):
        number, hand = ((row[name] or "").strip() for name in ("student number", "by hand"))
        number = number if students.NUMBER.fullmatch(number) else ""
        found[row["submission"]] = {"student number": number, "by hand": hand}
    return found


def points(row: dict[str, str]) -> float:
    """Return all points of a row, those by hand included.

    Raises
    ------
    ValueError
        Where what stands in the column `by hand` is no number, or too large.
    """
    checks, most = (_number(row, name) for name in ("by checks", "by hand, at most"))
    said = row["by hand"].strip()
    try:
        hand = float(said.replace(",", ".") or 0)
    except ValueError:
        hand = -1.0
    if not 0 <= hand <= most:
        raise ValueError(
            f"{row['submission']}: by hand must be a number from 0 to {most:g}, got {said!r}"
        )
    return checks + hand


def _number(row: dict[str, str], name: str) -> float:
    try:
        value = float(row[name])
    except ValueError:
        value = math.nan
    if not 0 <= value < math.inf:
        raise ValueError(f"{row['submission']}: {name} must be a number, got {row[name]!r:.80}")
    return value


def grades(rows: list[dict[str, str]]) -> tuple[str, list[str]]:
    """Return the table for Moodle, and what a teacher should know of it, in sentences.

    Raises
    ------
    ValueError
        Where a student handed in an assignment twice, or points by hand are none.
    """
    marked = [row for row in rows if row["assignment"]]
    named = [(row["submission"], row["assignment"], row["student number"]) for row in marked]
    if both := students.twice(named):
        raise ValueError(f"{'; '.join(both)}; remove one row of each two")
    titles = {source.name: source.head["title"] for source in build.sources()}
    kinds = sorted({row["assignment"] for row in marked})
    found: dict[str, dict[str, float]] = {}
    for row in marked:
        if row["student number"]:
            found.setdefault(row["student number"], {})[row["assignment"]] = points(row)
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(["ID number", *(titles.get(kind, kind) for kind in kinds)])
    for number, got in sorted(found.items()):
        writer.writerow([number, *(f"{got[kind]:g}" if kind in got else "" for kind in kinds)])
    return text.getvalue(), _notes(rows)


def _notes(rows: list[dict[str, str]]) -> list[str]:
    found = [f"{row['submission']} was not marked" for row in rows if not row["assignment"]]
    most = Counter(row["assignment"] for row in rows if row["assignment"])
    found += [
        f"{row['submission']} is of {row['assignment']}, unlike most; remove its row if it was a "
        "slip, or it replaces the grade there"
        for row in rows
        if row["assignment"] and 3 * most[row["assignment"]] < max(most.values())
    ]
    found += [
        f"{row['submission']} is left out, as it has no student number"
        for row in rows
        if row["assignment"] and not row["student number"]
    ]
    found += [
        f"{row['submission']} has answers to read, and no points by hand yet"
        for row in rows
        if row.get("to read") and not row["by hand"].strip()
    ]
    return found


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    top = argparse.ArgumentParser(description="Make grades for Moodle from a table of marks.")
    top.add_argument("marks", type=Path, help="marks.csv, or your copy with points by hand")
    top.add_argument("--out", type=Path, help="default: grades.csv beside the marks")
    return top


def main(arguments: Sequence[str] | None = None) -> None:
    """Write the table; end with a sentence where that cannot be done."""
    options = parser().parse_args(arguments)
    out = options.out or options.marks.parent / "grades.csv"
    try:
        text, notes = grades(read(options.marks))
        build.write(out, text)
    except (ValueError, OSError) as error:
        sys.exit(f"No grades were written: {error}.")
    print("".join(f"{note}.\n" for note in notes), end="")
    n = text.count("\n") - 1
    print(f"{n} student{'s' * (n != 1)} in {out}")


if __name__ == "__main__":
    sys.exit(behind(main))
