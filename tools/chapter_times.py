"""Print each chapter's size, and the times that it states beside those that the rule gives.

    python tools/chapter_times.py           # print, and name what is stated wrongly
    python tools/chapter_times.py --write   # state the rule's times wherever a time is stated

A chapter is as long as its story needs: the sizes are a report. The rule for reading: a minute for
120 words and for 9 lines of visible code, two for a figure, rounded to five minutes. For exercises:
five minutes each for a warm-up, a picture or an explanation, twenty for a small study, ten for any
other. A test fails where a time is further off than a small edit moves it, or where a chapter
states none; pages of another kind need none, and `UNTIMED` says why. What stands between fences
counts as code, and what is only looked up, under the heading Reference, as nothing.
"""

import argparse
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import nbformat

ROOT = Path(__file__).resolve().parents[1]
HIDDEN = {"hide-cell", "hide-input", "remove-cell", "remove-input"}
STATED = re.compile(r"\*\*Time:\*\* about (\d+) minutes to read(?:, (\d+) for the exercises)?")
STEP, TOLERANCE = 5, 1 / 10  # minutes, and a part of the rule's time: the larger may be off
WORDS, LINES, FIGURE = 120, 9, 2  # words a minute, lines of code a minute, minutes a figure
UNTIMED = {
    "intro": "the first page is no chapter",
    "questions": "readers look one question up",
    "atlas": "reference: readers look one encoding up",
    "explorables": "a gallery of figures, each explained elsewhere",
    "living-model": "a figure to play with, beside three chapters",
    "peers": "reference: tables of comparisons",
    "which-library": "reference: tables of libraries",
    "bug-reports": "reference: readers look a report up",
    "attention-check": "reference: readers look a fault up",
    "asked-again": "reference: results that chapters point to",
    "length-lab": "reference: results that a chapter tells",
    "from-the-signal": "reference: results that a chapter tells",
    "rest-of-the-family": "reference: readers look one encoding up",
    "schedules": "reference: readers look one schedule up",
}
EXERCISE = re.compile(
    r"^:{3,}\{exercise\}.*\n(?::.*\n)*\s*"
    r"(?:\*\*(A warm-up|A picture|Explain it|A small study)\b)?",
    re.MULTILINE,
)
LONG = {"A warm-up": 5, "A picture": 5, "Explain it": 5, "A small study": 20}  # minutes
OTHERS = 10
AFTER = re.compile(r"^## (Exercises|Reference$)", re.MULTILINE)  # the lesson
MARK = re.compile(r"<sup>\[.*?</sup>")  # a verdict's mark is no reading
FENCED = re.compile(r"^```([^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Shape:
    """What a reader of a chapter has in front of them, exercises left out."""

    words: int
    code: int  # lines of visible code
    figures: int
    exercises: int  # minutes
    stated: tuple[int, int] | None  # minutes to read, and for the exercises

    @property
    def minutes(self) -> int:
        """Return the reading time by the rule."""
        exact = self.words / WORDS + self.code / LINES + FIGURE * self.figures
        return max(STEP, STEP * round(exact / STEP))

    @property
    def line(self) -> str:
        """Return what a page states of these times."""
        exercises = f", {self.exercises} for the exercises" if self.exercises else ""
        return f"**Time:** about {self.minutes} minutes to read{exercises}"

    @property
    def misstated(self) -> bool:
        """Whether no time is stated, or one that is off by more than the tolerance."""
        ruled = (self.minutes, self.exercises)
        return self.stated is None or any(
            abs(said - rule) > max(STEP, TOLERANCE * rule)
            for said, rule in zip(self.stated, ruled, strict=True)
        )


def chapters() -> list[Path]:
    """Return the pages that are measured, in the order of their names."""
    return sorted((ROOT / "book").glob("*.ipynb"))


def read(path: Path):
    """Return a page as a notebook; one of plain Markdown has a single cell."""
    if path.suffix == ".ipynb":
        return nbformat.read(path, 4)
    cell = nbformat.v4.new_markdown_cell(path.read_text(encoding="utf-8"))
    return nbformat.v4.new_notebook(cells=[cell])


def _is_directive(kind: str) -> bool:
    return kind.startswith("{")


def lesson(notebook) -> list:
    """Return the cells before the exercises, or before what is only looked up."""
    for n, cell in enumerate(notebook.cells):
        if cell.cell_type == "markdown" and AFTER.search(cell.source):
            return notebook.cells[:n]
    return notebook.cells


def is_hidden(cell) -> bool:
    """Say whether a reader sees no source of this cell at first sight."""
    return bool(HIDDEN & set(cell.metadata.get("tags", [])))


def lines(code: str) -> int:
    """Return the number of lines that hold something."""
    return sum(bool(line.strip()) for line in code.splitlines())


def shape(path: Path) -> Shape:
    """Measure one page."""
    notebook = read(path)
    cells = lesson(notebook)
    text = MARK.sub("", "\n\n".join(c.source for c in cells if c.cell_type == "markdown"))
    fenced = [body for kind, body in FENCED.findall(text) if not _is_directive(kind)]
    prose = FENCED.sub(lambda found: found[2] if _is_directive(found[1]) else "", text)
    code = [c for c in cells if c.cell_type == "code"]
    return Shape(
        words=len(prose.split()),
        code=sum(map(lines, [*(c.source for c in code if not is_hidden(c)), *fenced])),
        figures=sum(has_picture(c) for c in code),
        exercises=sum(LONG.get(kind, OTHERS) for kind in EXERCISE.findall(markdown(notebook))),
        stated=stated(prose),
    )


def markdown(notebook) -> str:
    """Return the whole prose of a page."""
    return "\n\n".join(cell.source for cell in notebook.cells if cell.cell_type == "markdown")


def stated(text: str) -> tuple[int, int] | None:
    """Return the minutes that a text states for reading and for exercises."""
    found = STATED.search(text)
    return (int(found[1]), int(found[2] or 0)) if found else None


def write(path: Path) -> None:
    """State the rule's times where a page states any."""
    text = path.read_text(encoding="utf-8")
    path.write_text(STATED.sub(shape(path).line, text), encoding="utf-8")


def has_picture(cell) -> bool:
    """Say whether a cell's output is a figure."""
    kinds = {kind for output in cell.outputs for kind in output.get("data", {})}
    return bool(kinds & {"image/png", "image/svg+xml"})


def misstated(paths: Iterable[Path]) -> list[str]:
    """Return the chapters whose stated time is wrong, each with both times."""
    found = {path.stem: shape(path) for path in paths if path.stem not in UNTIMED}
    return [
        f"{name}: states {one.stated}, the rule gives {one.minutes, one.exercises}"
        for name, one in found.items()
        if one.misstated
    ]


def main() -> None:
    """Print the table, and what is stated wrongly."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--write", action="store_true", help="state the rule's times")
    if parser.parse_args().write:
        for path in chapters():
            write(path)
    print(f"{'chapter':27}{'words':>7}{'code':>6}{'figures':>9}   minutes, and for exercises")
    for path in chapters():
        s = shape(path)
        size = f"{path.stem:27}{s.words:7}{s.code:6}{s.figures:9}"
        print(f"{size}   {s.minutes}, {s.exercises} (stated {s.stated})")
    wrong = misstated(chapters())
    print("\n".join(wrong) or "every stated time follows the rule")


if __name__ == "__main__":
    main()
