"""Mark a folder of submissions into a table.

    make mark SUBMISSIONS=folder            # the same as
    python -m course.mark folder [--out folder] [--seed-file file]

Each submission runs alone in the sandbox, which knows no answer and no file of ours; it returns
values for cases drawn from the teacher's secret seed, and these are judged out here. A submission
that cannot be marked gets a clear sentence and no mark, and the next one is marked.
"""

import argparse
import ast
import csv
import json
import os
import re
import secrets
import stat
import sys
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from course import build, runner, sandbox
from course.checks import Check

HERE = Path(__file__).parent
RUNNER = (HERE / "runner.py").read_text(encoding="utf-8")
SEED = "POSENC_COURSE_SEED"
SEED_FILE = Path("~/.config/posenc/course-seed")
MOST_BYTES = 4 << 20  # of a submitted file
MOST_RUNS = 4  # a cell or call that ends the program is left out, and the rest runs again
SKIPPED = {"check", "show"}
POSENC = HERE.parent / "src" / "posenc"


class Refused(ValueError):
    """A submission that cannot be marked; the sentence says why."""


@dataclass
class Mark:
    """What one submission got: points by check, remarks, and answers to read by hand."""

    name: str
    got: dict[str, int] = field(default_factory=dict)
    lines: list[str] = field(default_factory=list)
    answers: dict[str, str] = field(default_factory=dict)
    remarks: list[str] = field(default_factory=list)
    refused: str = ""
    assignment: str = ""


# --- reading a submission: data only, nothing of it runs here


def load(path: Path) -> dict:
    """Read a submitted notebook.

    Raises
    ------
    Refused
        Where it is no regular file, too large, or no notebook.
    """
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError as error:
        raise Refused(
            f"the file cannot be opened ({error.strerror}); a link is not followed"
        ) from None
    if not stat.S_ISREG(os.fstat(fd).st_mode):
        os.close(fd)
        raise Refused("this is no regular file")
    with os.fdopen(fd, "rb") as file:
        text = file.read(MOST_BYTES + 1)
    if len(text) > MOST_BYTES:
        raise Refused(
            f"the file has more than {MOST_BYTES >> 20} MB; clear its outputs and hand it in again"
        )
    try:
        notebook = json.loads(text)
        cells = [_cell(cell) for cell in notebook["cells"]]
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise Refused("this is not a notebook of format 4, it may be damaged") from None
    about = notebook.get("metadata") or {}
    course = about.get("course") if isinstance(about, dict) else None
    name = course.get("assignment") if isinstance(course, dict) else None
    return {"cells": cells, "assignment": name if isinstance(name, str) else None}


def _cell(cell: dict) -> dict:
    text = cell["source"]
    text = "".join(text) if isinstance(text, list) else text
    if not isinstance(text, str):
        raise TypeError("a cell without text")
    note = (cell.get("metadata") or {}).get("course") or {}
    return {
        "kind": str(cell["cell_type"]),
        "text": text,
        "role": str(note.get("role", "")),
        "question": str(note.get("question", "")),
    }


def deleted_or_doubled(cells: list[dict], source: build.Source) -> list[str]:
    """Say kindly which functions stand nowhere, and which stand twice."""
    counted, remarks = Counter(), []
    for cell in cells:
        if cell["kind"] == "code":
            counted.update(_defined(cell["text"]))
    for asked in source.code("solution"):
        for name in sorted(_defined(asked.text)):
            if counted[name] == 0:
                remarks.append(
                    f"Question {asked.question}: there is no `{name}`. Its cell may have been "
                    "deleted; it stands in the student notebook."
                )
            if counted[name] > 1:
                remarks.append(
                    f"Question {asked.question}: `{name}` stands {counted[name]} times; "
                    "the last one counted."
                )
    return remarks


def _defined(text: str) -> set[str]:
    try:
        body = ast.parse(runner.readable(text)).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return set()
    kinds = (ast.FunctionDef, ast.ClassDef)
    return {node.name for node in body if isinstance(node, kinds)}


# --- running it in the sandbox


def limits(source: build.Source) -> sandbox.Limits:
    """Return what a submission may use; torch reserves more addresses than NumPy."""
    memory = (6 if "torch" in source.needs else 2) << 30
    return sandbox.Limits(memory=memory)


def shown(source: build.Source) -> dict[str, str]:
    """Return what a submission may read: Python, and the package where the assignment uses it."""
    return sandbox.visible({"/code/posenc": str(POSENC)} if "posenc" in source.needs else {})


def answers_of(cells: list[dict], source: build.Source, calls: list[dict]) -> tuple[dict, list]:
    """Run a submission until it ends by itself; return (call, case) -> answer, and remarks.

    What ends the program, or takes too long, is left out of the next run. Four times is enough.
    """
    code = [
        [n, c["text"]]
        for n, c in enumerate(cells, 1)
        if c["kind"] == "code" and c["role"] not in SKIPPED
    ]
    code += [[f"driver {i}", c.text] for i, c in enumerate(source.code("driver"), 1)]
    path = "import sys\nsys.path.insert(0, '/code')\n"
    most, found, remarks = limits(source), {}, []
    for _ in range(MOST_RUNS):
        request = json.dumps({"cells": code, "calls": calls}).encode()
        outcome = sandbox.run(path + RUNNER, request, most, shown(source))
        begun, heard, told = _read(outcome.lines)
        found |= heard
        if begun.get("begin") == "end":
            return found, remarks + told
        why = {
            "died": "ended the program",
            "finished": "ended the program",
            "time": f"was running when the {most.seconds:.0f} s of a submission were over",
            "step": f"ran longer than {most.step_seconds:.0f} s",
            "output": f"wrote more than {most.output >> 20} MB",
        }[outcome.ended]
        culprit = begun.get("cell", begun.get("call"))
        where = "Cell" if "cell" in begun else "A call for the check"
        where = f"{where} {clean(culprit)}"
        if begun.get("begin") not in ("cell", "call"):
            return found, [*remarks, *told, f"The program {why}."]
        remarks.append(f"{where} {why}; marked without it.")
        code = [pair for pair in code if pair[0] != culprit]
        calls = [call for call in calls if call["id"] != culprit]
    return found, [*remarks, f"Not tried again after {MOST_RUNS} runs."]


def _read(lines: list[bytes]) -> tuple[dict, dict, list[str]]:
    """Return the last beginning, the answers and the errors of cells; skip what is no answer."""
    begun, answers, told = {}, {}, []
    for line in lines:
        try:
            said = json.loads(line)
            if not isinstance(said, dict):
                continue
            if "begin" in said:
                begun = said
            elif "call" in said:
                answers[(str(said["call"]), int(said["case"]))] = said
            elif len(told) < 10:
                told.append(f"Cell {said['cell']}: {clean(said['error'])}")
        except (ValueError, KeyError, TypeError, OverflowError, RecursionError):
            continue
    return begun, answers, told


# --- judging what came back


def judge(check: Check, cases: list[list], answers: dict) -> tuple[int, str]:
    """Return the points of a check, and a line that says how it went."""
    wrong, right = "", 0
    for number, case in enumerate(cases):
        said = answers.get((check.name, number), {})
        try:
            if "value" not in said:
                raise AssertionError(clean(said.get("error", "no answer came back")))
            check.accept(runner.decode(said["value"]), *case)
            right += 1
        except Exception as error:  # a value of any form must not stop the marking
            wrong = wrong or (
                str(error) if isinstance(error, AssertionError) else "not of the form asked for"
            )
    passed = right == len(cases)
    line = f"{check.points if passed else 0}/{check.points} {check.about}"
    return (
        check.points * passed,
        line if passed else f"{line} ({right} of {len(cases)} cases; {wrong})",
    )


def clean(text: object) -> str:
    """Return foreign text as one printable line."""
    return "".join(c if c.isprintable() else " " for c in str(text))[:300]


def mark(path: Path, seed: str, prepared: dict[str, tuple], name: str) -> Mark:
    """Mark one submission."""
    found = Mark(name)
    try:
        given = load(path)
        if given["assignment"] not in prepared:
            raise Refused(
                "the notebook does not say which assignment it is; "
                "start from the student notebook and copy the answers into it"
            )
    except Refused as error:
        found.refused = str(error)
        return found
    source, checks = prepared[given["assignment"]]
    found.assignment = source.name
    cases = {check.name: check.cases(seed, source.name) for check in checks}
    calls = [
        {"id": c.name, "name": c.calls, "cases": [runner.encode(case) for case in cases[c.name]]}
        for c in checks
    ]
    answers, remarks = answers_of(given["cells"], source, calls)
    found.remarks = deleted_or_doubled(given["cells"], source) + remarks
    for check in checks:
        points, line = judge(check, cases[check.name], answers)
        found.got[check.question] = found.got.get(check.question, 0) + points
        found.lines.append(f"Question {check.question}: {line}")
    for cell in given["cells"]:
        if cell["role"] == "answer" and cell["text"].strip() not in ("", build.EMPTY):
            found.answers[cell["question"]] = cell["text"][:20_000]
    return found


# --- the teacher's side


def read_seed(file: Path | None) -> str:
    """Return the secret seed from the environment or its file.

    Raises
    ------
    SystemExit
        Where there is none, it is short, or it lies in the repository.
    """
    if file is None and SEED in os.environ:
        seed = os.environ[SEED]
    else:
        path = (file or SEED_FILE).expanduser()
        if path.resolve().is_relative_to(HERE.parent):
            sys.exit(f"The seed must not lie in the repository, which is public; move {path}.")
        if not path.is_file():
            sys.exit(
                f"Marking needs a secret seed, in {SEED} or in {path}. A new one, for example: "
                f"{secrets.token_hex(16)}"
            )
        seed = path.read_text(encoding="utf-8").strip()
    if len(seed) < 12:
        sys.exit(f"The secret seed must have 12 characters or more, this one has {len(seed)}.")
    return seed


TRIES = """
import json, os, sys

def tried(what):
    try:
        exec(what)
        return True
    except BaseException:
        return False

escaped = [what for what in (
    "open(SECRET)", "os.listdir(os.path.dirname(SECRET))", "open('/written', 'w')", "os.fork()",
    "open('/proc/self/environ')", "import socket; socket.socket()", "bytes(3 << 30)",
    "import _thread; _thread.start_new_thread(print, ())", "os.setuid(0)",
    "import ctypes; assert ctypes.CDLL(None).unshare(0x10000000) == 0",
) if tried(what.replace("SECRET", SECRET))]
print(json.dumps({"escaped": escaped, "pid": os.getpid(), "numpy": tried("import numpy")}))
"""


def self_test() -> None:
    """Try to break out before anything foreign runs.

    Raises
    ------
    sandbox.Unprotected
        Where one of the tries succeeds, or Python does not start in the sandbox.
    """
    secret = repr(str(Path(__file__).resolve()))
    outcome = sandbox.run(f"SECRET = {secret!r}\n{TRIES}", b"")
    try:
        said = dict(json.loads(outcome.lines[-1]))
    except (IndexError, TypeError, ValueError):
        said = {}
    if said.get("numpy") is not True or said.get("pid") != 1:
        raise sandbox.Unprotected(
            f"Python with NumPy did not start in the sandbox (it {outcome.ended}); "
            f"can every user of this machine read {sys.prefix} and {sys.base_prefix}?"
        )
    if any(said["escaped"]):
        raise sandbox.Unprotected(f"the sandbox does not hold here: {said['escaped']}")


def submissions(folder: Path) -> list[Path]:
    """Return the submitted notebooks: in the folder, or one level below, in order."""
    return sorted({*folder.glob("*.ipynb"), *folder.glob("*/*.ipynb")})


def write(marks: list[Mark], out: Path, prepared: dict[str, tuple]) -> Path:
    """Write the table, and for each submission a page with remarks and what to read by hand."""
    out.mkdir(parents=True, exist_ok=True)
    table = out / "marks.csv"
    asked = sorted({q for m in marks for q in m.got}, key=lambda q: (len(q), q))
    with table.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        head = ["submission", "assignment", *(f"question {q}" for q in asked)]
        head += ["by checks", "of", "by hand, at most", "to read", "remarks"]
        writer.writerow(head)
        for m in marks:
            writer.writerow([_no_formula(entry) for entry in _row(m, asked, prepared)])
    for m in marks:
        (out / f"{_file_name(m.name)}.md").write_text(_page(m), encoding="utf-8")
    return table


def _row(m: Mark, asked: list[str], prepared: dict[str, tuple]) -> list:
    if m.refused:
        return [m.name, "", *("" for _ in asked), "", "", "", "", f"not marked: {m.refused}"]
    source, checks = prepared[m.assignment]
    hand = sum(int(task.words.get("hand", 0)) for task in source.tasks)
    of = sum(check.points for check in checks)
    to_read = " ".join(sorted(m.answers))
    counts = [m.got.get(q, "") for q in asked]
    total = sum(m.got.values())
    return [m.name, m.assignment, *counts, total, of, hand, to_read, " ".join(m.remarks)]


def _no_formula(entry: object) -> object:
    """Return an entry that no spreadsheet takes for a formula."""
    text = clean(entry) if isinstance(entry, str) else entry
    return f"'{text}" if isinstance(text, str) and text[:1] in ("=", "+", "-", "@") else text


def _file_name(name: str) -> str:
    return re.sub(r"[^\w-]+", "_", name)[:100] or "_"


def _page(m: Mark) -> str:
    lines = [f"# {clean(m.name)}", ""]
    lines += [f"Not marked: {m.refused}"] if m.refused else []
    lines += [f"By checks: {sum(m.got.values())} points.", ""] if m.got else []
    lines += [f"- {clean(line)}" for line in [*m.lines, *m.remarks]]
    for question, text in sorted(m.answers.items()):
        kept = "".join(c for c in text if c.isprintable() or c == "\n")
        lines += ["", f"Answer to question {clean(question)}, to be marked by hand:", ""]
        lines += [f"    {line}" for line in kept.splitlines()]
    return "\n".join(lines) + "\n"


class Prepared(dict):
    """Name -> source and hidden checks; an assignment is read when the first one hands it in."""

    def __init__(self) -> None:
        self.sources = {source.name: source for source in build.sources()}

    def __contains__(self, name: object) -> bool:
        return name in self.sources

    def __missing__(self, name: str) -> tuple[build.Source, list[Check]]:
        self[name] = self.sources[name], self.sources[name].checks()
        return self[name]


def mark_all(folder: Path, out: Path, seed: str, seed_file: Path | None = None) -> list[Mark]:
    """Mark every submission of a folder.

    Raises
    ------
    sandbox.Unprotected
        Where the system forbids the sandbox, or a secret could be read from it. Nothing has run.
    """
    secret = [HERE, folder, out, *([seed_file] if seed_file else [])]
    sandbox.must_stay_hidden(secret, sandbox.visible({"/code/posenc": str(POSENC)}))
    self_test()
    prepared, marks = Prepared(), []
    for path in submissions(folder):
        name = path.relative_to(folder).with_suffix("").as_posix()
        m = mark(path, seed, prepared, clean(name))
        marks.append(m)
        print(f"{m.name}: {m.refused or f'{sum(m.got.values())} points'}", flush=True)
    write(marks, out, prepared)
    return marks


def main() -> None:
    """Mark a folder; end with a sentence where that cannot be done safely."""
    parser = argparse.ArgumentParser(description="Mark a folder of submissions.")
    parser.add_argument("submissions", type=Path, help="folder of notebooks")
    parser.add_argument(
        "--out", type=Path, default=build.DIST / "marks", help="folder for tables and feedback"
    )
    parser.add_argument("--seed-file", type=Path, help=f"default: ${SEED}, then {SEED_FILE}")
    options = parser.parse_args()
    if not options.submissions.is_dir():
        sys.exit(f"There is no folder {options.submissions}.")
    seed = read_seed(options.seed_file)
    file = options.seed_file or (SEED_FILE.expanduser() if SEED not in os.environ else None)
    try:
        marks = mark_all(options.submissions, options.out, seed, file)
    except sandbox.Unprotected as error:
        sys.exit(f"Nothing was run, for it could not be done safely: {error}")
    print(f"{len(marks)} submissions, table in {options.out / 'marks.csv'}")


if __name__ == "__main__":
    main()
