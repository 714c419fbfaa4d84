"""Make a table of grades that Moodle imports from a table of marks.

    make grades MARKS=course/dist/marks/marks.csv      # the same as
    python -m course.grades course/dist/marks/marks.csv [--out grades.csv]

Write the points that you gave by hand into the column `by hand` of the marks, or of a copy of them
in the same folder. A spreadsheet reads student numbers as numbers, and drops their zeros: what it
did to them is undone by the journal of the marks, which lies beside them. The grades have a row for
each student, by number, and a column for each assignment. In Moodle: Grades, Import, CSV file; map
`ID number` to *ID number* and each assignment to its grade item.
"""

import argparse
import csv
import io
import math
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from course import build, sheets, students
from posenc._wall import behind

NEEDED = (
    *("submission", "student number", "assignment", "by checks", "of"),
    *("by hand", "by hand, at most", "page"),
)
OURS = ("assignment", "by checks", "of", "by hand, at most")  # what marking has settled
KEPT = "journal/marks.csv"  # the table as it was written, beside the marks


def read(path: Path) -> list[dict[str, str]]:
    """Return the rows of a table of marks, with student numbers as they were before a spreadsheet.

    Raises
    ------
    ValueError
        Where it is no such table, or differs from the journal in what marking has settled.
    """
    rows = _rows(path)
    kept = path.parent / KEPT
    if kept.is_file() and rows:
        before = {row["page"]: row for row in _rows(kept)}
        rows = [_restored(row, before.get(row["page"])) for row in rows]
    return rows


def _rows(path: Path) -> list[dict[str, str]]:
    head, *table = sheets.read(path) or [[]]
    if missing := [name for name in NEEDED if name not in head]:
        raise ValueError(f"{path.name} is no table of marks: it has no column {missing[0]!r}")
    return [_whole(path, number, head, row) for number, row in enumerate(table, 1) if any(row)]


def _whole(path: Path, number: int, head: list[str], row: list[str]) -> dict[str, str]:
    """Return a row without blanks around its cells, if it has as many as there are columns."""
    if len(row) != len(head):
        raise ValueError(
            f"row {number} of {path.name} must have {len(head)} fields, "
            f"has {'more' if len(row) > len(head) else 'fewer'}: {row[0]!r:.80}"
        )
    named = zip(head, row, strict=True)
    return {name: cell if name == "submission" else cell.strip() for name, cell in named}


def _restored(row: dict[str, str], before: dict[str, str] | None) -> dict[str, str]:
    """Return a row with what the journal says of it; only points and numbers may be a teacher's."""
    if before is None:
        raise ValueError(
            f"the journal knows no page {row['page']!r} (of {row['submission']!r}); "
            "keep the column `page` as it was"
        )
    for name in OURS:
        if row[name] not in forms(before[name]):
            raise ValueError(
                f"{before['submission']}: {name!r} is {row[name]!r}, and marking gave "
                f"{before[name]!r}; points of yours belong into `by hand`"
            )
    number, old = row["student number"], before["student number"]
    number = old if number.upper() in forms(old) else number
    if number and not students.NUMBER.fullmatch(number):
        raise ValueError(
            f"{before['submission']}: {number!r} is no student number"
            + (f"; it was {old!r} before somebody, or a spreadsheet, changed it" if old else "")
        )
    return row | {name: before[name] for name in ("submission", *OURS)} | {"student number": number}


def forms(text: str) -> set[str]:
    """Return what a spreadsheet may show in place of a text that it takes for a number."""
    try:
        value = float(text)
    except ValueError:
        return {text, text.upper()}
    if not math.isfinite(value):
        return {text, text.upper()}
    plain = f"{value:.0f}" if len(text) > 15 or not text.isdigit() else str(int(text))
    scientific = {f"{value:.{digits}E}" for digits in range(15)}
    shown = {text, plain, f"{plain[:15]:0<{len(plain)}}", f"{value:g}", f"{value:.1f}"} | scientific
    return shown | {one.replace(".", ",") for one in shown}


def by_hand(path: Path) -> dict[str, dict[str, str]]:
    """Return submission -> what a teacher may have written into a table of marks."""
    found = {}
    for row in read(path):
        number = row["student number"]
        number = number if students.NUMBER.fullmatch(number) else ""
        found[row["submission"]] = {"student number": number, "by hand": row["by hand"]}
    return found


def points(row: dict[str, str]) -> float:
    """Return all points of a row, those by hand included.

    Raises
    ------
    ValueError
        Where what stands in a column of points is no number, or too large.
    """
    most = _number(row, "by hand, at most", math.inf)
    return _number(row, "by checks", _number(row, "of", math.inf)) + _number(row, "by hand", most)


def _number(row: dict[str, str], name: str, most: float) -> float:
    said = row[name]
    try:
        value = float(said.replace(",", ".") or (0 if name == "by hand" else "none"))
    except ValueError:
        value = math.nan
    if not 0 <= value <= most:
        upto = f" from 0 to {most:g}" if math.isfinite(most) else ""
        raise ValueError(f"{row['submission']}: {name} must be a number{upto}, got {said!r}")
    return value


def grades(rows: list[dict[str, str]]) -> tuple[str, list[str]]:
    """Return the table for Moodle, and what a teacher should know of it, in sentences.

    Raises
    ------
    ValueError
        Where a student handed in an assignment twice, or a number or points are none.
    """
    marked = [row for row in rows if row["assignment"]]
    titles = {source.name: source.head["title"] for source in build.sources()}
    for row in marked:
        _must_be_known(row, titles)
    named = [(row["submission"], row["assignment"], row["student number"]) for row in marked]
    if both := students.twice(named):
        raise ValueError(f"{'; '.join(both)}; remove one row of each two")
    if alike := _alike({number for *_, number in named if number}):
        raise ValueError(f"{alike}; a spreadsheet may have dropped zeros")
    kinds = sorted({row["assignment"] for row in marked})
    found: dict[str, dict[str, float]] = {}
    for row in marked:
        if row["student number"]:
            found.setdefault(row["student number"], {})[row["assignment"]] = points(row)
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(["ID number", *(titles[kind] for kind in kinds)])
    for number, got in sorted(found.items()):
        writer.writerow([number, *(f"{got[kind]:g}" if kind in got else "" for kind in kinds)])
    return text.getvalue(), _notes(rows)


def _must_be_known(row: dict[str, str], titles: dict[str, str]) -> None:
    """Let nothing out that is no name of ours and no number: a spreadsheet may run it."""
    number = row["student number"]
    if row["assignment"] not in titles:
        raise ValueError(f"{row['submission']}: there is no assignment {row['assignment']!r}")
    if number and not students.NUMBER.fullmatch(number):
        raise ValueError(
            f"{row['submission']}: {number!r} is no student number; where a spreadsheet made it of "
            "one, format that column as text"
        )


def _alike(numbers: set[str]) -> str:
    """Say which two numbers differ in leading zeros only, which no two students' do."""
    first: dict[str, str] = {}
    for number in sorted(numbers):
        if (other := first.setdefault(number.lstrip("0"), number)) != number:
            return f"{other} and {number} differ in leading zeros only"
    return ""


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
        if row.get("to read") and not row["by hand"]
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
        if not (options.marks.parent / KEPT).is_file():
            notes.append(
                f"{options.marks.name} was compared with nothing, as no journal lies by it"
            )
        build.write(out, text)
    except (ValueError, OSError) as error:
        sys.exit(f"No grades were written: {error}.")
    print("".join(f"{note}.\n" for note in notes), end="")
    n = text.count("\n") - 1
    print(f"{n} student{'s' * (n != 1)} in {out}")


if __name__ == "__main__":
    sys.exit(behind(main))
