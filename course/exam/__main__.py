"""Draw an exam with answers for the teacher, and the same questions for Moodle.

    make exam NAME="July 2027"       # the same as
    python -m course.exam --name "July 2027" [--chapters rotary,rotations] [--out folder]
    python -m course.exam --bank     # all questions for Moodle, those with numbers in ten copies

The exam is drawn from the teacher's secret seed, the one that marking has, and from its name:
another name gives other questions and other numbers. In the folder lie `paper.html` and
`answers.html`, to be printed from a browser, and `moodle.xml`.
"""

import argparse
import re
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

from course import build
from course.exam import draw, moodle, paper
from course.mark import SEED, SEED_FILE, read_seed
from posenc._wall import behind

MATHJAX = Path(__file__).parents[2] / "book" / "_assets" / "mathjax"
COPIES = 10


def write(exam: draw.Exam, folder: Path) -> None:
    """Write an exam's paper, its answers, its questions for Moodle, and what shows formulas."""
    build.write(folder / "paper.html", paper.page(exam, answers=False))
    build.write(folder / "answers.html", paper.page(exam, answers=True))
    room = f"{moodle.ROOM}, {exam.name}"
    build.write(folder / "moodle.xml", moodle.bank([*exam.choices, *exam.numbers], room))
    shutil.copytree(MATHJAX, folder / "mathjax", dirs_exist_ok=True)


def main(arguments: Sequence[str] | None = None) -> None:
    """Draw the exam that is asked for; end with a sentence where there is none."""
    parser = argparse.ArgumentParser(description="Draw an exam with answers for the teacher.")
    parser.add_argument("--name", default="Exam", help="what it is called, such as 'July 2027'")
    parser.add_argument("--chapters", default="", help="such as rotary,rotations; default: ten")
    parser.add_argument("--choices", type=int, help="questions of the quizzes; default: 10")
    parser.add_argument("--numbers", type=int, help="questions with numbers; default: 6")
    parser.add_argument("--bank", action="store_true", help="all questions, for Moodle only")
    parser.add_argument("--out", type=Path, help="default: course/dist/exam/<name>")
    parser.add_argument("--seed-file", type=Path, help=f"default: ${SEED}, then {SEED_FILE}")
    options = parser.parse_args(arguments)
    if not (slug := re.sub(r"[^\w-]+", "-", options.name).strip("-").lower()):
        sys.exit(f"--name must have a letter or a digit, got {options.name!r}")
    seed = read_seed(options.seed_file)
    folder = options.out or build.DIST / "exam" / ("bank" if options.bank else slug)
    if options.bank:
        questions = list(draw.all_questions(seed, COPIES))
        path = build.write(folder / "moodle.xml", moodle.bank(questions))
        print(f"{len(questions)} questions in {path}")
        return
    chapters = [one for one in options.chapters.split(",") if one]
    try:
        exam = draw.draw(seed, options.name, chapters, options.choices, options.numbers)
    except ValueError as error:
        sys.exit(f"No exam was drawn: {error}.")
    write(exam, folder)
    print(f"{exam.points} points. Print {folder / 'paper.html'} from a browser; ", end="")
    print("the answers lie beside it.")


if __name__ == "__main__":
    sys.exit(behind(main))
