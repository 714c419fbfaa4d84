"""A trial with a class: draw two forms of questions, and evaluate what was answered.

    make trial NAME="Seminar 2027" [CHAPTERS=rotary,rotations]     # the same as
    python -m course.trial draw --name "Seminar 2027" [--chapters rotary,rotations] [--each 2]
    python -m course.trial evaluate answers.csv                    # beside the forms' key.csv

The forms A and B share no question. Half of the class answers A before and B after, the other half
B before and A after, so that a form that is easier favours nobody. README.md in this folder tells
the steps. Every table may come from a spreadsheet, with commas, semicolons or tabs.
"""

import argparse
import csv
import shutil
import sys
from collections.abc import Sequence
from html import escape
from pathlib import Path

from course import build
from course.exam import draw, paper
from course.exam.__main__ import MATHJAX, folder_of
from course.mark import SEED, SEED_FILE, read_seed
from course.trial import evaluate
from posenc._wall import behind

FORMS = ("A", "B")
EACH = 2  # questions of a chapter in each form; a quiz has five
HERE = Path(__file__).parent
HEAD = (
    "<p><b>Your code</b><span></span><b>Before or after?</b><span></span></p>"
    "<p>Choose one answer, or none if you don't know. This is not an exam: nobody is graded.</p>"
)


def forms(seed: str, name: str, chapters: list[str], each: int) -> dict[str, list[draw.Choice]]:
    """Return the questions of both forms: from each chapter as many for A as for B, no one twice.

    Raises
    ------
    ValueError
        Where a chapter has no quiz, or too few questions.
    """
    found: dict[str, list[draw.Choice]] = {form: [] for form in FORMS}
    for chapter in chapters:
        drawn = draw.draw(seed, name, [chapter], 2 * each, 0).choices
        for place, one in enumerate(drawn):
            found[FORMS[place % 2]].append(one)
    return found


def page(name: str, form: str, asked: list[draw.Choice]) -> str:
    """Return a form to print."""
    title = escape(f"{name}: form {form}")
    questions = "\n".join(
        f'<div class="question"><p><b>{n}.</b> {paper.markdown(one.text)}</p>'
        f"{paper.options(one, answers=False)}</div>"
        for n, one in enumerate(asked, start=1)
    )
    return paper.PAGE.format(title=title, head=HEAD, questions=questions)


def write(folder: Path, name: str, found: dict[str, list[draw.Choice]]) -> None:
    """Write both forms, the key, an empty table of answers and the sheet on consent."""
    n = len(found["A"])
    key = [("form", "question", "from", "right")]
    for form, asked in found.items():
        build.write(folder / f"form-{form}.html", page(name, form, asked))
        for place, one in enumerate(asked, start=1):
            right = next(paper.LETTERS[i] for i, o in enumerate(one.options) if o.right)
            key.append((form, place, one.name, right))
    _table(folder / "key.csv", key)
    if not (folder / "answers.csv").exists():  # it may be filled already
        _table(folder / "answers.csv", [("code", "time", "form", *range(1, n + 1))])
    shutil.copy(HERE / "consent.md", folder)
    shutil.copytree(MATHJAX, folder / "mathjax", dirs_exist_ok=True)


def _table(path: Path, rows: list[tuple]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows(rows)


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    top = argparse.ArgumentParser(prog="python -m course.trial", description="A trial with a class")
    below = top.add_subparsers(dest="command", required=True)
    one = below.add_parser("draw", help="draw two forms of questions")
    one.add_argument("--name", default="Trial", help="such as 'Seminar 2027'")
    one.add_argument("--chapters", default="", help="such as rotary,rotations; default: ten")
    one.add_argument("--each", type=int, default=EACH, help="questions of a chapter in each form")
    one.add_argument("--out", type=Path, help="default: course/dist/trial/<name>")
    one.add_argument("--seed-file", type=Path, help=f"default: ${SEED}, then {SEED_FILE}")
    two = below.add_parser("evaluate", help="say what was gained, with an interval")
    two.add_argument("answers", type=Path, help="answers.csv, filled")
    two.add_argument("--key", type=Path, help="default: key.csv beside the answers")
    return top


def main(arguments: Sequence[str] | None = None) -> None:
    """Do what is asked for; end with a sentence where that cannot be done."""
    options = parser().parse_args(arguments)
    try:
        if options.command == "evaluate":
            print(evaluate.report(options.answers, options.key))
            return
        seed = read_seed(options.seed_file)
        chapters = [one for one in options.chapters.split(",") if one] or draw.usual()
        found = forms(seed, options.name, chapters, options.each)
        folder = options.out or build.DIST / "trial" / folder_of(options.name)
        write(folder, options.name, found)
    except ValueError as error:
        sys.exit(f"{error}.")
    except OSError as error:
        sys.exit(f"{error.filename}: {error.strerror}.")
    print(f"Two forms of {len(found['A'])} questions, their key and consent.md: {folder}")


if __name__ == "__main__":
    sys.exit(behind(main))
