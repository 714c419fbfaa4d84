"""Make three editions of every assignment from its one source.

    python -m course.build            # course/dist/student, instructor, solutions
    python -m course.build --check    # only say whether every source is well formed

A source is a Python file in percent format. Its head gives title, chapters and needs. A cell's
line `# %%` may carry a kind, `[markdown]`, and words: `question=1`, and one of

    task       text of a question; also level=1..3, minutes=.., and hand=.. for points by hand
    solution   code; what stands between BEGIN SOLUTION and END SOLUTION is left out for students
    answer     text; a sample answer, students find an empty cell
    check      code of a public check
    show       code that only shows something; not run when marking
    notes      text for whoever marks
    hidden     code of hidden checks, and `driver` code that they need in the sandbox

Beside the students' editions lie the chapters without solutions, from the notebook edition of the
built site (`make book`), in which they read as their pages do.
"""

import argparse
import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import nbformat
from nbformat import NotebookNode

from course import capstone, chapters
from course.checks import Checks, close, like, numbers
from posenc._wall import behind

HERE = Path(__file__).parent
DIST = HERE / "dist"
EDITION = HERE.parent / "_build" / "notebooks" / "without-solutions" / "book"
EDITIONS = ("student", "instructor", "solutions")
ROLES = {"task", "solution", "answer", "check", "show", "notes", "hidden", "driver"}
LEFT_OUT = {
    "student": {"notes", "hidden", "driver"},
    "solutions": {"notes", "hidden", "driver"},
    "instructor": set(),
}
HEADER = re.compile(r"^# %%(.*)$", re.MULTILINE)
CUT = re.compile(r"^([ \t]*)# BEGIN SOLUTION\n.*?^[ \t]*# END SOLUTION$", re.MULTILINE | re.DOTALL)
STUB = r'\1raise NotImplementedError("write this part")'
EMPTY = "*Write your answer here.*"
MINUTES = (60, 120)
LEVELS = {1: "basic", 2: "medium", 3: "hard"}
PUBLIC = '''\
import numpy as np


def public(question):
    """Run a public check at once and say how it went."""

    def run(check):
        try:
            check()
        except Exception as error:
            print(f"Question {question}: not yet. {type(error).__name__}: {error}")
        else:
            print(f"Question {question}: passes its public check. Marking tries other cases.")

    return run'''
METADATA = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}


@dataclass(frozen=True)
class Cell:
    """A cell of a source: its kind, text, question, role and further words."""

    kind: str
    text: str
    question: str = ""
    role: str = ""
    words: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Source:
    """A whole source: what its head says, and its cells."""

    name: str
    head: dict[str, str]
    cells: list[Cell]

    @property
    def needs(self) -> list[str]:
        """What is beyond NumPy: `posenc` and `torch`, or nothing."""
        return self.head.get("needs", "").replace(",", " ").split()

    @property
    def tasks(self) -> list[Cell]:
        """The questions in order."""
        return [cell for cell in self.cells if cell.role == "task"]

    def code(self, *roles: str) -> list[Cell]:
        """The code cells of some roles, in order; "" is a cell without role."""
        return [cell for cell in self.cells if cell.kind == "code" and cell.role in roles]

    def checks(self) -> list:
        """Run the solutions and the hidden cells, and return the checks that these define."""
        found = Checks()
        names = {"__name__": self.name, "hidden": found.hidden}
        names |= {"like": like, "close": close, "numbers": numbers}
        exec(PUBLIC, names)
        for cell in self.code("", "solution", "driver", "hidden"):
            found.question = cell.question
            exec(compile(cell.text, f"{self.name}.py", "exec"), names)
        return found.found


def parse(path: Path) -> Source:
    """Read one source.

    Raises
    ------
    ValueError
        Where a head, a role or a cell's line is not of the form above.
    """
    text = path.read_text(encoding="utf-8")
    match = re.match(r"# ---\n((?:# .*\n)+?)# ---\n", text)
    if match is None:
        raise ValueError(f"{path.name} must begin with a head between two lines '# ---'")
    head = dict(line[2:].split(": ", 1) for line in match[1].splitlines())
    pieces = HEADER.split(text[match.end() :])[1:]
    cells = [_cell(path, line, body) for line, body in zip(pieces[::2], pieces[1::2], strict=True)]
    return Source(path.stem, head, cells)


def _cell(path: Path, line: str, body: str) -> Cell:
    marked = line.strip().startswith("[markdown]")
    words = line.replace("[markdown]", "").split()
    roles = [word for word in words if "=" not in word]
    if len(roles) > 1 or not set(roles) <= ROLES:
        raise ValueError(f"{path.name}: a cell's role must be one of {sorted(ROLES)}, got {line!r}")
    if marked:
        body = re.sub(r"^# ?", "", body, flags=re.MULTILINE)
    given = dict(word.split("=") for word in words if "=" in word)
    question = given.pop("question", "")
    kind = "markdown" if marked else "code"
    return Cell(kind, body.strip("\n"), question, "".join(roles), given)


def sources() -> list[Source]:
    """Return all assignments in order."""
    return [parse(path) for path in sorted((HERE / "source").glob("*.py"))]


# --- editions


def points(source: Source) -> dict[str, tuple[int, int]]:
    """Return question -> points by checks, points by hand, as the source states them."""
    found = {task.question: [0, int(task.words.get("hand", 0))] for task in source.tasks}
    for cell in source.code("hidden"):
        found[cell.question][0] += sum(map(int, re.findall(r"@hidden\(points=(\d+)", cell.text)))
    return {question: (auto, hand) for question, (auto, hand) in found.items()}


def edition(source: Source, kind: str) -> NotebookNode:
    """Return one edition of one assignment."""
    worth, counted = points(source), {}
    cells = [_new("markdown", _front(source, kind, worth), "front", "", source)]
    if "posenc" in source.needs:
        cells.append(_new("code", chapters.set_up(), "set-up", "", source))
    cells.append(_new("code", PUBLIC, "public-checks", "", source))
    for cell in source.cells:
        if cell.role in LEFT_OUT[kind]:
            continue
        place = (cell.question, cell.role or "text")
        counted[place] = counted.get(place, 0) + 1
        name = "-".join(filter(None, (cell.question and f"q{cell.question}", place[1])))
        text = _text(cell, kind, worth)
        shown = "markdown" if cell.role in ("hidden", "driver") else cell.kind
        cells.append(_new(shown, text, f"{name}-{counted[place]}", cell.role, source, cell))
    notebook = nbformat.v4.new_notebook(cells=cells, metadata=METADATA)
    notebook.metadata["course"] = {"assignment": source.name, "edition": kind}
    nbformat.validate(notebook)
    return notebook


def _text(cell: Cell, kind: str, worth: dict) -> str:
    if cell.role == "task":
        auto, hand = worth[cell.question]
        title, _, rest = cell.text.partition("\n")
        level = LEVELS[int(cell.words["level"])]
        by = f"{auto} by checks" if not hand else f"{hand} by hand"
        by = f"{auto} by checks, {hand} by hand" if auto and hand else by
        facts = f"*{level}, about {cell.words['minutes']} minutes, points: {by}*"
        return f"{title}\n\n{facts}\n{rest}"
    if kind == "student" and cell.role == "solution":
        return CUT.sub(STUB, cell.text)
    if kind == "student" and cell.role == "answer":
        return EMPTY
    if cell.role in ("solution", "answer"):
        text = re.sub(r"^[ \t]*# (BEGIN|END) SOLUTION\n?", "", cell.text, flags=re.MULTILINE)
        return f"**Sample answer.** {text}" if cell.role == "answer" else text.rstrip("\n")
    if cell.role == "notes":
        return f"**For marking.** {cell.text}"
    if cell.role in ("hidden", "driver"):
        return f"**Runs when marking** ({cell.role}):\n\n```python\n{cell.text}\n```"
    return cell.text


def _front(source: Source, kind: str, worth: dict) -> str:
    head = source.head
    minutes = sum(int(task.words["minutes"]) for task in source.tasks)
    auto, hand = (sum(pair[i] for pair in worth.values()) for i in (0, 1))
    lines = [f"# {head['title']}", "", head["about"], ""]
    lines += [f"**Time:** about {minutes} minutes. **Chapters before it:** {head['before']}."]
    lines += [f"**Points:** {auto} by checks, {hand} by hand. {_needs(source)}", ""]
    if kind == "student":
        lines += [
            "Write each function where it says so, keep its name, and run the check below it. "
            "A check tries a few cases; marking draws others, so passing it is a good sign and "
            "not the full mark. Keep the cells of the questions; add as many of your own as you "
            "like. Hand in the notebook file."
        ]
    else:
        lines += [f"*The {kind} edition. Please do not pass it on to students.*"]
    if kind == "instructor":
        lines += [
            "",
            "| question | level | minutes | by checks | by hand |",
            "|---|---|---|---|---|",
        ]
        for task in source.tasks:
            title = task.text.partition("\n")[0].lstrip("# ")
            auto, hand = worth[task.question]
            level = LEVELS[int(task.words["level"])]
            lines += [f"| {title} | {level} | {task.words['minutes']} | {auto} | {hand} |"]
    return "\n".join(lines)


def _needs(source: Source) -> str:
    if "posenc" in source.needs:
        return "It needs torch and posenc; the first code cell adds posenc where it is missing."
    return f"It needs NumPy{' and SciPy' if 'scipy' in source.needs else ''} and nothing else."


def _new(
    kind: str, text: str, name: str, role: str, source: Source, cell: Cell | None = None
) -> NotebookNode:
    make = nbformat.v4.new_code_cell if kind == "code" else nbformat.v4.new_markdown_cell
    note = {"assignment": source.name, "role": role, "question": cell.question if cell else ""}
    return make(text, id=name, metadata={"course": note})


def overview() -> list[str]:
    """Return a row of the site's table for each assignment."""
    rows = []
    for source in sources():
        minutes = sum(int(task.words["minutes"]) for task in source.tasks)
        auto, hand = (sum(pair[i] for pair in points(source).values()) for i in (0, 1))
        file = f"../course/dist/student/{source.name}.ipynb"
        link = f"{{download}}`{source.head['title']} <{file}>`"
        opened = chapters.colab(f"assignments/{source.name}.ipynb")
        rows.append(
            f"| {link} | {opened} | {source.head['before']} | {minutes} | {auto} + {hand} |"
        )
    return rows


def problems(source: Source) -> list[str]:
    """Return what is wrong with a source, in sentences."""
    found, asked = [], {task.question for task in source.tasks}
    minutes = sum(int(task.words["minutes"]) for task in source.tasks)
    if not MINUTES[0] <= minutes <= MINUTES[1]:
        found.append(f"takes {minutes} minutes, not {MINUTES[0]} to {MINUTES[1]}")
    levels = [int(task.words["level"]) for task in source.tasks]
    if levels != sorted(levels):
        found.append(f"the levels of its questions do not rise: {levels}")
    if "refute" not in " ".join(task.text for task in source.tasks).lower():
        found.append("refutes no statement")
    for question, (auto, hand) in points(source).items():
        roles = {cell.role for cell in source.cells if cell.question == question}
        needed = {"solution", "check", "hidden"} if auto else {"answer"}
        if not auto + hand or not needed <= roles or (hand and "notes" not in roles):
            found.append(f"question {question} lacks one of {sorted(needed)}, points or notes")
    if stray := {cell.question for cell in source.cells} - asked - {""}:
        found.append(f"cells of questions that are not asked: {sorted(stray)}")
    return [f"{source.name}: {line}" for line in found]


def build(folder: Path = DIST, kinds: tuple[str, ...] = EDITIONS) -> list[Path]:
    """Write the editions, what joins the students' ones, and return the files.

    Beside the students' editions lie the capstone's notebooks.
    """
    written = []
    for source in sources():
        for kind in kinds:
            written.append(_write(folder / kind / f"{source.name}.ipynb", edition(source, kind)))
    if "student" in kinds:
        for key in capstone.projects():
            path = folder / "student" / f"capstone-{key}.ipynb"
            written.append(_write(path, capstone.hand_in(key)))
    return written


def copy_chapters(folder: Path = DIST, edition: Path = EDITION) -> list[Path]:
    """Copy the chapters without solutions beside the students' editions; return the files."""
    paths = sorted(edition.rglob("*.ipynb"))
    if not paths:
        raise FileNotFoundError(f"{edition} holds no chapters without solutions: run `make book`")
    target = folder / "student" / "chapters"
    return [write(target / p.relative_to(edition), p.read_text(encoding="utf-8")) for p in paths]


def _write(path: Path, notebook: NotebookNode) -> Path:
    return write(path, nbformat.v4.writes(notebook) + "\n")


def write(path: Path, text: str) -> Path:
    """Write a file unless it holds this text already, so that what is made of it stays new."""
    if not path.is_file() or path.read_text(encoding="utf-8") != text:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return path


def main(arguments: Sequence[str] | None = None) -> None:
    """Check the sources, then write the editions."""
    parser = argparse.ArgumentParser(description="Make the editions of the assignments.")
    parser.add_argument("--check", action="store_true", help="check the sources, write nothing")
    options = parser.parse_args(arguments)
    if wrong := [line for source in sources() for line in problems(source)]:
        sys.exit("\n".join(wrong))
    if not options.check:
        dist = DIST.relative_to(HERE.parent)
        print(f"{len(build())} notebooks of assignments in {dist}")
        try:
            copied = copy_chapters()
        except FileNotFoundError as error:
            sys.exit(f"{error}.")
        print(f"{len(copied)} chapters without solutions in {dist / 'student' / 'chapters'}")


if __name__ == "__main__":
    sys.exit(behind(main))
