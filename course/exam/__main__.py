"""Draw an exam with answers for the teacher, and the same questions for Moodle.

    make exam NAME="July 2027"       # the same as
    python -m course.exam --name "July 2027" [--chapters rotary,rotations] [--out folder]
    python -m course.exam --bank     # all questions for Moodle, those with numbers in ten copies

The exam is drawn from the teacher's secret seed, the one that marking has, and from its name:
another name gives other questions and other numbers, and has a folder of its own. There lie
`paper.html` and `answers.html`, to be printed from a browser, and `moodle.xml`.
"""

import argparse
import hashlib
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
BANK = "bank"  # the folder of all questions


def folder_of(name: str) -> str:
    """Return the name of an exam's folder, another one for each exam."""
    plain = re.sub(r"[^\w-]+", "-", name).strip("-").lower()[:50]
    if plain == name and plain != BANK:
        return plain
    return f"{plain}.{hashlib.sha256(name.encode()).hexdigest()[:8]}"


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
    if not options.name.isprintable() or not re.search(r"[^\W_]", options.name):
        sys.exit(
            "--name must be one line with a letter or a digit, and without control characters; "
            f"got {options.name!r}"
        )
    seed = read_seed(options.seed_file)
    folder = BANK if options.bank else folder_of(options.name)
    try:
        draw_into(options.out or build.DIST / "exam" / folder, seed, options)
    except ValueError as error:
        sys.exit(f"No exam was drawn: {error}.")
    except OSError as error:
        sys.exit(f"Nothing can be written to {error.filename} ({error.strerror}); see --out.")


def draw_into(folder: Path, seed: str, options: argparse.Namespace) -> None:
    """Write what is asked for into a folder, and say what lies there."""
    if options.bank:
        questions = list(draw.all_questions(seed, COPIES))
        path = build.write(folder / "moodle.xml", moodle.bank(questions))
        print(f"{len(questions)} questions in {path}")
        return
    chapters = [one for one in options.chapters.split(",") if one]
    exam = draw.draw(seed, options.name, chapters, options.choices, options.numbers)
    write(exam, folder)
    print(f"{exam.points} points. Print {folder / 'paper.html'} from a browser; ", end="")
    print("the answers lie beside it.")


if __name__ == "__main__":
    sys.exit(behind(main))
