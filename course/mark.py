"""Mark a folder of submissions into a table.

    make mark SUBMISSIONS=folder            # the same as
    python -m course.mark folder [--out folder] [--students table.csv] [--seed-file file]

Each submission is read and runs alone in the sandbox, which knows no answer and no file of ours; it
returns values for cases drawn from the teacher's secret seed, and these are judged out here. Its
row and its page are written as soon as it is marked, and the same command goes on where it was
stopped. What cannot be marked gets a row, a clear sentence and no mark, and the next one is marked;
the exit status is then 3.
"""

import argparse
import ast
import csv
import html
import io
import json
import os
import re
import secrets
import stat
import sys
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

from course import build, grades, journal, runner, sandbox, students
from course.checks import Check
from posenc._wall import behind

HERE = Path(__file__).parent
RUNNER = (HERE / "runner.py").read_text(encoding="utf-8")
READER = (HERE / "reader.py").read_text(encoding="utf-8")
SEED = "POSENC_COURSE_SEED"
SEED_FILE = Path("~/.config/posenc/course-seed")
MOST_BYTES = 32 << 20  # of a submitted file; its pictures are not looked at
READING = sandbox.Limits(seconds=60, step_seconds=60, memory=1 << 30)
GRACE = 5.0  # seconds beyond its own after which what cannot be interrupted is ended
TOO_LATE = "not called again, for it had run too long"
MOST_REMARKS, MOST_ANSWER, MOST_ENTRY = 100, 20_000, 5000
SOME_REFUSED = 3  # exit status
SKIPPED = {"check", "show"}
BEFORE = "The points by hand were given before this was marked again."
OTHER = "This is another assignment than that of most here."
HOUSES = {f"/code/{name}": str(HERE.parent / "src" / name) for name in ("posenc", "posenc_book")}


class Refused(ValueError):
    """A submission that cannot be marked; the sentence says why."""


class Stopped(RuntimeError):
    """Marking cannot go on; what was marked before is kept."""


@dataclass
class Mark:
    """What one submission got: points by check, remarks, and answers to read by hand."""

    name: str
    got: dict[str, int] = field(default_factory=dict)
    lines: list[str] = field(default_factory=list)
    answers: dict[str, str] = field(default_factory=dict)
    elsewhere: str = ""  # what was written into other cells, perhaps an answer
    remarks: list[str] = field(default_factory=list)
    refused: str = ""
    assignment: str = ""


# --- reading a submission: it is parsed in the sandbox


def load(path: Path) -> bytes:
    """Return the bytes of a submitted file.

    Raises
    ------
    Refused
        Where it is no regular file, or too large.
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
        data = file.read(MOST_BYTES + 1)
    if len(data) > MOST_BYTES:
        raise Refused(
            f"the file has more than {MOST_BYTES >> 20} MB; clear its outputs and hand it in again"
        )
    return data


def read(data: bytes) -> tuple[str | None, list[dict]]:
    """Return the assignment that a notebook names, and its cells.

    Raises
    ------
    Refused
        Where it is no notebook, or its text is too large.
    """
    if not data.strip():
        raise Refused("the file is empty and not a notebook; ask for it again")
    outcome = sandbox.run(READER, data, READING)
    if outcome.ended == "output":
        raise Refused(f"the text of its cells has more than {READING.output >> 20} MB")
    if outcome.ended != "finished":
        raise Refused(
            f"it cannot be read within {READING.seconds:.0f} s and {READING.memory >> 30} GB; "
            "clear its outputs and hand it in again"
        )
    if not outcome.lines:
        raise Refused("this is not a notebook of format 4, it may be damaged")
    about, *cells = map(json.loads, outcome.lines)
    return about["assignment"], cells


def asked_functions(source: build.Source) -> dict[str, str]:
    """Return name -> question of what a student is to write."""
    kinds = (ast.FunctionDef, ast.ClassDef)
    return {
        node.name: cell.question
        for cell in source.code("solution")
        for node in ast.parse(cell.text).body
        if isinstance(node, kinds)
    }


def deleted_or_doubled(asked: dict[str, str], missing: set[str], counted: Counter) -> list[str]:
    """Say kindly which functions stand nowhere, and which stand twice."""
    return [
        f"Question {question}: there is no `{name}`. Its cell may have been deleted or "
        "renamed, or have failed, as a line below says; it stands in the student notebook."
        if name in missing
        else f"Question {question}: `{name}` stands {counted[name]} times; the last one counted."
        for name, question in asked.items()
        if name in missing or counted[name] > 1
    ]


# --- running it in the sandbox


def limits(source: build.Source) -> sandbox.Limits:
    """Return what a submission may use; torch reserves more addresses than NumPy.

    A step is a cell, or a function in all its checks. There is time for all functions to fail.
    """
    memory = (6 if "torch" in source.needs else 2) << 30
    return sandbox.Limits(memory=memory, seconds=300, step_seconds=30)


def shown(source: build.Source) -> dict[str, str]:
    """Return what a submission may read: Python, and the package where the assignment uses it."""
    return sandbox.visible(HOUSES if "posenc" in source.needs else {})


@dataclass
class Heard:
    """What the lines of a run say."""

    begun: dict = field(default_factory=dict)
    answers: dict[tuple[str, int], dict] = field(default_factory=dict)
    told: list[str] = field(default_factory=list)
    late: list[str] = field(default_factory=list)
    missing: set[str] = field(default_factory=set)
    counted: Counter = field(default_factory=Counter)


def answers_of(cells: list[dict], source: build.Source, calls: list[dict]) -> tuple[dict, list]:
    """Run a submission until every check was tried; return (call, case) -> answer, and remarks.

    A cell that ends the program is left out of the next run. So is a check, and where it took too
    long, all checks of its function. What was answered is not asked again.
    """
    code = [
        [n, c["text"]]
        for n, c in enumerate(cells, 1)
        if c["kind"] == "code" and c["role"] not in SKIPPED
    ]
    code += [[f"driver {i}", c.text] for i, c in enumerate(source.code("driver"), 1)]
    most, asked, answers, remarks = limits(source), asked_functions(source), {}, []
    names = {call["id"]: call["name"] for call in calls}
    end = time.monotonic() + most.seconds
    while (left := end - time.monotonic()) > 0:
        outcome = _run(code, calls, list(asked), most, source, left)
        heard = _read(outcome.lines)
        answers = heard.answers | answers
        remarks += [*heard.told, *(_too_long(names, call, most) for call in heard.late)]
        if heard.begun.get("begin") == "end":
            break
        if outcome.ended == "time" or not heard.begun.keys() & {"cell", "call"}:
            remarks.append(f"The program {_why(outcome, most)}.")
            break
        before = len(code) + len(calls)
        if "cell" in heard.begun:
            culprit = heard.begun["cell"]
            code = [pair for pair in code if pair[0] != culprit]
            name = f"Cell {clean(culprit)}"
            if not any(line.startswith(f"{name}:") for line in remarks):  # it may be told already
                remarks.append(f"{name} {_why(outcome, most)}; marked without it.")
        else:
            culprit, hung = str(heard.begun["call"]), outcome.ended == "step"
            tried = {call for call, _ in answers} | {culprit}
            rest = [call for call in calls if call["id"] not in tried]
            after = [c for c in rest if not hung or c["name"] != names.get(culprit)]
            for call in calls:
                why = _why(outcome, most) if call["id"] == culprit else TOO_LATE
                if call["id"] == culprit or (call in rest and call not in after):
                    cases = range(len(call["cases"]))
                    answers = {(call["id"], n): {"error": why} for n in cases} | answers
            calls = after
            how = f"The check {clean(culprit)} {_why(outcome, most)}; marked without it."
            remarks.append(_too_long(names, culprit, most) if hung else how)
        if not calls or len(code) + len(calls) == before:  # it may name a cell that is not there
            break
    else:
        remarks.append(f"The {most.seconds:.0f} s of a submission were over.")
    told = deleted_or_doubled(asked, heard.missing, heard.counted)
    return answers, list(dict.fromkeys([*told, *remarks]))[:MOST_REMARKS]


def _run(
    code: list, calls: list, asked: list, most: sandbox.Limits, source: build.Source, left: float
) -> sandbox.Outcome:
    request = {
        "cells": code,
        "calls": calls,
        "asked": asked,
        "seconds": most.step_seconds,
        "cell_seconds": most.seconds / 3,
        "too_late": TOO_LATE,
    }
    path = "import sys\nsys.path.insert(0, '/code')\n"
    hard = replace(most, seconds=left, step_seconds=most.step_seconds + GRACE)
    return sandbox.run(path + RUNNER, json.dumps(request).encode(), hard, shown(source))


def _why(outcome: sandbox.Outcome, most: sandbox.Limits) -> str:
    return {
        "died": "ended the program",
        "finished": "ended the program",
        "time": f"was running when the {most.seconds:.0f} s of a submission were over",
        "step": f"ran longer than {most.step_seconds:.0f} s",
        "output": f"wrote more than {most.output >> 20} MB",
    }[outcome.ended]


def _too_long(names: dict[str, str], check: str, most: sandbox.Limits) -> str:
    name = names.get(check, "a function")
    return (
        f"`{name}` in the check {clean(check)} ran longer than {most.step_seconds:.0f} s; "
        "it was not called again."
    )


def _read(lines: list[bytes]) -> Heard:
    """Return the last beginning, the answers and the errors of cells; skip what is no answer."""
    heard = Heard()
    for line in lines:
        try:
            said = json.loads(line)
            if not isinstance(said, dict):
                continue
            if "begin" in said:
                heard.begun = said
            elif "call" in said:
                heard.answers[(str(said["call"]), int(said["case"]))] = said
                if said.get("late") is True and len(heard.late) < 10:
                    heard.late.append(str(said["call"]))
            elif "missing" in said:
                heard.missing = set(map(str, said["missing"]))
            elif "defines" in said:
                heard.counted.update(map(str, said["defines"]))
            elif len(heard.told) < 10:
                without = "; marked without it" if said.get("late") is True else ""
                heard.told.append(f"Cell {clean(said['cell'])}: {clean(said['error'])}{without}")
        except (ValueError, KeyError, TypeError, OverflowError, RecursionError):
            continue
    return heard


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


def clean(text: object, most: int = 300) -> str:
    """Return foreign text as one printable line."""
    return "".join(c if c.isprintable() else " " for c in str(text))[:most]


def mark(path: Path, seed: str, prepared: dict[str, tuple], name: str) -> Mark:
    """Mark one submission."""
    try:
        return _mark(load(path), seed, prepared, name)
    except Refused as error:
        return Mark(name, refused=str(error))


def _mark(data: bytes, seed: str, prepared: dict[str, tuple], name: str) -> Mark:
    assignment, cells = read(data)
    assignment = assignment if assignment in prepared else _titled(cells)
    if assignment not in prepared:
        raise Refused(
            "the notebook does not say which assignment it is; start from the student notebook "
            "and copy the answers into it (projects of a week and chapters are marked by hand)"
        )
    source, checks = prepared[assignment]
    found = Mark(name, assignment=source.name)
    cases = {check.name: check.cases(seed, source.name) for check in checks}
    calls = [
        {"id": c.name, "name": c.calls, "cases": [runner.encode(case) for case in cases[c.name]]}
        for c in checks
    ]
    answers, found.remarks = answers_of(cells, source, calls)
    for check in checks:
        points, line = judge(check, cases[check.name], answers)
        found.got[check.question] = found.got.get(check.question, 0) + points
        found.lines.append(f"Question {check.question}: {line}")
    found.remarks += _follow(cells, asked_functions(source), found, checks)
    found.answers = _by_hand(cells, {task.question for task in source.tasks})
    found.elsewhere = _elsewhere(cells, source)
    found.lines += [
        f"Question {question}: no answer stands in its cell"
        for question in _hand(source)
        if question not in found.answers
    ]
    return found


def _titled(cells: list[dict]) -> str:
    """Return the assignment whose title stands alone in the cells, "" where none or several do."""
    lines = {line.strip() for c in cells if c["kind"] != "code" for line in c["text"].splitlines()}
    here = [source.name for source in build.sources() if f"# {source.head['title']}" in lines]
    return here[0] if len(here) == 1 else ""


def _follow(
    cells: list[dict], asked: dict[str, str], found: Mark, checks: list[Check]
) -> list[str]:
    """Say where a function that fails calls an earlier one that fails: one slip costs both."""
    most = Counter[str]()
    for check in checks:
        most[check.question] += check.points
    failed = {name: q for name, q in asked.items() if found.got.get(q, 0) < most[q]}
    said = []
    for name, question in failed.items():
        begins = re.compile(rf"^(?:def|class) {name}\b", re.MULTILINE)
        texts = [c["text"] for c in cells if c["kind"] == "code" and begins.search(c["text"])]
        said += [
            f"Question {question}: `{name}` calls `{other}`, which failed at question {q}; one "
            "slip may have cost both, so have a look."
            for other, q in failed.items()
            if q != question and texts and re.search(rf"\b{other}\(", texts[-1])
        ]
    return said


def _hand(source: build.Source) -> dict[str, int]:
    """Return question -> points by hand, where there are any."""
    points = {task.question: int(task.words.get("hand", 0)) for task in source.tasks}
    return {question: most for question, most in points.items() if most}


def _elsewhere(cells: list[dict], source: build.Source) -> str:
    """Return what stands in cells of text that are no answers, and not in our notebook."""
    ours = {
        line.strip()
        for kind in ("student", "instructor")
        for cell in build.edition(source, kind).cells
        for line in cell.source.splitlines()
    }
    found = []
    for cell in cells:
        answered = cell["role"] == "answer" and cell["question"] in _hand(source)
        if cell["kind"] != "code" and not answered:
            lines = [line for line in cell["text"].splitlines() if line.strip() not in ours]
            found += ["\n".join(lines).strip()]
    return "\n\n".join(filter(None, found))[:MOST_ANSWER]


def _by_hand(cells: list[dict], questions: set[str]) -> dict[str, str]:
    """Return question -> answer; one that was split into several cells is put together again."""
    found: dict[str, list[str]] = {}
    for cell in cells:
        asked = cell["role"] == "answer" and cell["question"] in questions
        if asked and cell["text"].strip() not in ("", build.EMPTY):
            found.setdefault(cell["question"], []).append(cell["text"])
    return {question: "\n\n".join(texts)[:MOST_ANSWER] for question, texts in found.items()}


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


def table_of(
    marks: list[tuple[str, Mark]],
    prepared: dict[str, tuple],
    table: dict[str, str] | None = None,
    before: dict[str, dict[str, str]] | None = None,
) -> str:
    """Return the table as CSV, for marks with the names of their pages and a table of students.

    `before` has what the teacher wrote by hand, as `grades.by_hand` returns it.
    """
    before, most = before or {}, Counter(m.assignment for _, m in marks if m.assignment)
    asked = sorted({q for _, m in marks for q in m.got}, key=lambda q: (len(q), q))
    text = io.StringIO()
    writer = csv.writer(text)
    head = ["submission", "student number", "assignment", *(f"question {q}" for q in asked)]
    head += ["by checks", "of", "by hand", "by hand, at most", "to read", "remarks", "page"]
    writer.writerow(head)
    for page, m in marks:
        name, *rest = _row(m, asked, prepared)
        old = before.get(str(_no_formula(m.name)), {})
        number = students.number_of(m.name, table)
        number = old.get("student number", "") if table is None and not number else number
        row = [name, number, *rest, f"{page}.md"]
        row[head.index("by hand")] = old.get("by hand", "")
        if m.assignment and 3 * most[m.assignment] < max(most.values()):
            row[head.index("remarks")] = " ".join(filter(None, [OTHER, *m.remarks]))
        writer.writerow([_no_formula(entry) for entry in row])
    return text.getvalue()


def _row(m: Mark, asked: list[str], prepared: dict[str, tuple]) -> list:
    if m.refused:
        return [m.name, "", *("" for _ in asked), "", "", "", "", "", f"not marked: {m.refused}"]
    source, checks = prepared[m.assignment]
    hand = sum(_hand(source).values())
    of = sum(check.points for check in checks)
    to_read = " ".join(sorted({*m.answers, *(_hand(source) if m.elsewhere else ())}))
    counts = [m.got.get(q, "") for q in asked]
    total = sum(m.got.values())
    return [m.name, m.assignment, *counts, total, of, "", hand, to_read, " ".join(m.remarks)]


# what begins a formula, in all widths, where a cell begins in a table with any separator
FORMULA = re.compile(r"(?:^|(?<=[;,|\t\r\n\"']))(\s*)(?=[=+\-@＝＋－＠﹦﹢﹣﹫−])")


def _no_formula(entry: object) -> object:
    """Return an entry that no spreadsheet takes for a formula, wherever it cuts the line."""
    if not isinstance(entry, str):
        return entry
    return clean(FORMULA.sub(r"\1'", entry), MOST_ENTRY)


IMAGE = re.compile(
    r"!\[[^\]]*\](\([^)]*\)|\[[^\]]*\])?|<\s*(img|svg|picture)\b[^>]*>?", re.IGNORECASE
)


def _inert(text: str) -> str:
    """Return text in which nothing is HTML, a link or an image, as Markdown and as HTML."""
    text = html.escape(IMAGE.sub("(an image)", text), quote=False)
    return text.replace("[", "&#91;").replace("]", "&#93;")


def _page(m: Mark) -> str:
    lines = [f"# {_inert(clean(m.name))}", ""]
    lines += [f"Not marked: {_inert(clean(m.refused))}"] if m.refused else []
    lines += [f"By checks: {sum(m.got.values())} points.", ""] if m.got else []
    lines += [f"- {_inert(clean(line))}" for line in [*m.lines, *m.remarks]]
    for question, text in sorted(m.answers.items()):
        kept = "".join(c for c in text if c.isprintable() or c == "\n")
        lines += ["", f"Answer to question {clean(question)}, to be marked by hand:", ""]
        lines += ["<pre>", _inert(kept), "</pre>"]
    if m.elsewhere:
        kept = "".join(c for c in m.elsewhere if c.isprintable() or c == "\n")
        lines += [
            "",
            "Text in other cells, perhaps an answer:",
            "",
            "<pre>",
            _inert(kept),
            "</pre>",
        ]
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


def mark_all(
    folder: Path,
    out: Path,
    seed: str,
    seed_file: Path | None = None,
    table: dict[str, str] | None = None,
) -> list[Mark]:
    """Mark every submission of a folder, and write each mark as soon as it is given.

    `table` has the student numbers, as `students.read` returns them; else names may hold them.

    Raises
    ------
    sandbox.Unprotected
        Where the system forbids the sandbox, or a secret could be read from it. Nothing has run.
    ValueError
        Where marks cannot be written to `out`. Nothing has run.
    Stopped
        Where the system does not run a submission. What was marked before is kept.
    """
    secret = [HERE, folder, out, *([seed_file] if seed_file else [])]
    sandbox.must_stay_hidden(secret, sandbox.visible(HOUSES))
    self_test()
    kept, prepared = journal.Journal(out, folder), Prepared()
    things = [_Thing.of(*pair, folder, seed) for pair in journal.found(folder, out.resolve())]
    marks = {t.page: Mark(**old) for t in things if (old := kept.recall(t.page, t.key))}

    def tabulate() -> None:
        pages = [t.page for t in things if t.page in marks]
        rows = [(page, marks[page]) for page in pages]
        kept.tabulate(table_of(rows, prepared, table, kept.hand))

    tabulate()
    if kept.said:
        print(kept.said, flush=True)
    for thing in things:
        again = ", marked before" if thing.page in marks else ""
        if not again:
            marks[thing.page] = _tried(thing, seed, prepared)
            if kept.hand.get(str(_no_formula(thing.name)), {}).get("by hand"):
                marks[thing.page].remarks.append(BEFORE)
            kept.keep(thing.page, _page(marks[thing.page]), thing.key, asdict(marks[thing.page]))
            tabulate()
        m = marks[thing.page]
        print(f"{m.name}: {m.refused or f'{sum(m.got.values())} points'}{again}", flush=True)
    return [marks[thing.page] for thing in things]


@dataclass
class _Thing:
    """Something that lies in the folder: a submission, or what cannot be one."""

    path: Path
    why_not: str
    name: str
    page: str
    key: str

    @classmethod
    def of(cls, path: Path, why_not: str, folder: Path, seed: str) -> "_Thing":
        inside = path.relative_to(folder)
        name = clean((inside if why_not else inside.with_suffix("")).as_posix(), 5000)
        key = ""
        if not why_not:
            try:
                key = journal.key_of(load(path), name, seed, _marker())
            except Refused as error:
                why_not = str(error)
        return cls(path, why_not, name, journal.page_name(inside.as_posix()), key)


def _marker() -> list[Path]:
    """Return the files that decide how a submission is marked."""
    return sorted([*HERE.glob("*.py"), *(HERE / "source").glob("*.py")])


def _tried(thing: _Thing, seed: str, prepared: dict[str, tuple]) -> Mark:
    """Mark one thing; whatever goes wrong with it, the next one is marked."""
    if thing.why_not:
        return Mark(thing.name, refused=thing.why_not)
    try:
        return mark(thing.path, seed, prepared, thing.name)
    except (OSError, sandbox.Unprotected) as error:
        raise Stopped(f"{thing.name} could not be run: {error}") from error
    except Exception as error:
        thing.key = ""
        return Mark(thing.name, refused=f"the marker failed on it: {clean(repr(error))}")


def main(arguments: Sequence[str] | None = None) -> int:
    """Mark a folder; end with a sentence where that cannot be done safely."""
    parser = argparse.ArgumentParser(description="Mark a folder of submissions.")
    parser.add_argument("submissions", type=Path, help="folder of notebooks")
    parser.add_argument(
        "--out", type=Path, default=build.DIST / "marks", help="folder for tables and feedback"
    )
    parser.add_argument(
        "--students", type=Path, help="table with the columns `submission` and `number`"
    )
    parser.add_argument("--seed-file", type=Path, help=f"default: ${SEED}, then {SEED_FILE}")
    options = parser.parse_args(arguments)
    if isinstance(sys.stdout, io.TextIOWrapper):  # a name may have letters that it lacks
        sys.stdout.reconfigure(errors="backslashreplace")
    folder, out = options.submissions, options.out
    if not folder.is_dir():
        sys.exit(f"There is no folder {folder}.")
    seed = read_seed(options.seed_file)
    file = options.seed_file or (SEED_FILE.expanduser() if SEED not in os.environ else None)
    try:
        table = students.read(options.students) if options.students else None
        marks = mark_all(folder, out, seed, file, table)
    except sandbox.Unprotected as error:
        sys.exit(f"Nothing was run, for it could not be done safely: {error}")
    except ValueError as error:
        sys.exit(f"Nothing was run: {error}")
    except (OSError, Stopped, KeyboardInterrupt) as error:
        why = str(error) or "as you wished"
        sys.exit(f"Stopped: {why}. What was marked is kept; the same command goes on from there.")
    refused = sum(bool(m.refused) for m in marks)
    some = f", {refused} of them not marked" if refused else ""
    nameless = (
        sum(not row["student number"] for row in grades.read(out / "marks.csv")) if marks else 0
    )
    some += f", {nameless} without a student number" if nameless else ""
    if idle := students.unused([m.name for m in marks], table or {}):
        more = f" and {len(idle) - 20} more" if len(idle) > 20 else ""
        print(f"Named in {options.students}, and not handed in: {', '.join(idle[:20])}{more}")
    print(f"{len(marks)} submissions{some}, table in {out / 'marks.csv'}")
    return SOME_REFUSED if refused else 0


if __name__ == "__main__":
    sys.exit(behind(main))
