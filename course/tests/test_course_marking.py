"""Marks: right for honest submissions, and right or a clear refusal for hostile ones."""

import csv
import dataclasses
import json
import os
import socket
import sys
from functools import cache

import nbformat
import pytest
from course import build, mark, sandbox
from course.checks import Checks, close, like, numbers
from test_course_sandbox import WHY_NOT, needs_sandbox

SEED = "a throw-away seed of the tests"
SOURCES = {source.name: source for source in build.sources()}
PREPARED = mark.Prepared()
FIRST = "01_raw_indices"
FULL = 13

pytestmark = pytest.mark.filterwarnings("error")


@cache
def text_of(name: str, kind: str) -> str:
    return nbformat.writes(build.edition(SOURCES[name], kind))


def submission(kind: str = "solutions", name: str = FIRST, *added: str):
    """Return an edition as it would be handed in, with cells added at the end."""
    notebook = nbformat.reads(text_of(name, kind), as_version=4)
    notebook.cells += [nbformat.v4.new_code_cell(source) for source in added]
    return notebook


@pytest.fixture(autouse=True)
def patient(monkeypatch):
    """Give a submission ten times its time: a busy machine is no fault of it."""
    usual = mark.limits

    def longer(source) -> sandbox.Limits:
        most = usual(source)
        times = {"seconds": 10 * most.seconds, "step_seconds": 10 * most.step_seconds}
        return dataclasses.replace(most, **times)

    monkeypatch.setattr(mark, "limits", longer)


@pytest.fixture
def marked(tmp_path, monkeypatch):
    """Return a function that marks a notebook; a step may take long, as on a busy machine."""

    def run(notebook, step_seconds: float = 300) -> mark.Mark:
        most = sandbox.Limits(seconds=1200, step_seconds=step_seconds, memory=1 << 30)
        monkeypatch.setattr(mark, "limits", lambda _: most)
        path = tmp_path / "submission.ipynb"
        path.write_text(nbformat.writes(notebook))
        return mark.mark(path, SEED, PREPARED, "somebody")

    return run


def total(found: mark.Mark) -> int:
    return sum(found.got.values())


# --- honest submissions


@needs_sandbox
@pytest.mark.parametrize("name", SOURCES)
def test_solutions_get_all_points_and_the_blank_notebook_none(name, tmp_path):
    if "torch" in SOURCES[name].needs:
        pytest.importorskip("torch")
    worth = sum(auto for auto, _ in build.points(SOURCES[name]).values())
    for kind, expected in (("solutions", worth), ("student", 0)):
        path = tmp_path / f"{kind}.ipynb"
        path.write_text(text_of(name, kind))
        found = mark.mark(path, SEED, PREPARED, kind)
        assert total(found) == expected, (kind, found.lines, found.remarks)
        assert not found.refused


@needs_sandbox
def test_a_partly_correct_submission_gets_its_part(marked):
    """Questions 1 and 3 right, 2 wrong, 4 by a frequent slip, 5 right but quadratic."""
    found = marked(
        submission(
            "student",
            FIRST,
            "def dials(positions, sizes):\n"
            "    turns = np.cumprod([1, *sizes[:-1]])\n"
            "    return np.asarray(positions)[:, None] // turns % sizes",
            "def base_for(d, longest):\n    return (longest / 2 / np.pi) ** (d / (d - 2))",
            "def waves(positions, wavelengths):\n"
            "    a = np.outer(positions, 1 / np.asarray(wavelengths))\n"
            "    return np.concatenate([np.sin(a), np.cos(a)], axis=1)",
            "def clock(longest):\n    return [longest, longest // 2]",
            "def smallest_gap(w, n):\n"
            "    a = 2 * np.pi * np.outer(np.arange(n), 1 / np.asarray(w))\n"
            "    t = np.concatenate([np.sin(a), np.cos(a)], axis=1)\n"
            "    d = np.linalg.norm(t[:, None] - t[None], axis=2)\n"
            "    return d[np.triu_indices(n, 1)].min()",
        )
    )
    assert found.got == {"1": 2, "2": 0, "3": 2, "4": 0, "5": 2}
    assert any("`dials` stands 2 times" in line for line in found.remarks)
    assert any("MemoryError" in line for line in found.lines)


@needs_sandbox
def test_a_deleted_cell_is_told_kindly_and_the_rest_is_marked(marked):
    notebook = submission()
    notebook.cells = [c for c in notebook.cells if not c.source.startswith("def waves")]
    found = marked(notebook)
    assert found.got == {"1": 2, "2": 0, "3": 2, "4": 3, "5": 4}
    assert any(
        "there is no `waves`" in line and "student notebook" in line for line in found.remarks
    )


@needs_sandbox
def test_an_empty_notebook_gets_no_points(marked):
    notebook = submission()
    notebook.cells = []
    found = marked(notebook)
    assert total(found) == 0
    assert not found.refused


@needs_sandbox
def test_answers_to_open_questions_are_kept_for_reading(marked):
    notebook = submission("student")
    for cell in notebook.cells:
        if cell.source == build.EMPTY:
            cell.source = "It drowns.\x1b[2J"
    found = marked(notebook)
    assert found.answers == {"6": "It drowns.\x1b[2J"}
    assert "\x1b" not in mark._page(found)


@needs_sandbox
def test_notebook_commands_do_no_harm_and_no_good(marked):
    found = marked(
        submission("solutions", FIRST, "%pip install x\n!rm -rf /\nif True:\n    %time 1")
    )
    assert total(found) == FULL
    assert found.remarks == []


@needs_sandbox
@pytest.mark.parametrize(
    ("last", "remark"),
    [
        ("raise RuntimeError('too late')", "RuntimeError: too late"),
        ("import sys\nsys.exit(3)", "SystemExit"),
        ("import os\nos._exit(0)", "ended the program"),
        ("import ctypes\nctypes.string_at(0)", "ended the program"),
        ("def broken(:", "SyntaxError"),
        ("def deep(n): return deep(n + 1)\ndeep(0)", "RecursionError"),
    ],
)
def test_a_late_crash_costs_nothing(marked, last, remark):
    found = marked(submission("solutions", FIRST, last))
    assert total(found) == FULL
    assert any(remark in line for line in found.remarks), found.remarks


# --- hostile submissions: the mark is what the honest part deserves, and nothing else happens


@needs_sandbox
def test_an_endless_loop_in_a_cell_costs_that_cell(marked):
    found = marked(submission("solutions", FIRST, "while True:\n    pass"), step_seconds=10)
    assert total(found) == FULL
    assert any("ran longer than 10 s; marked without it" in line for line in found.remarks)


@needs_sandbox
def test_an_endless_loop_that_catches_all_costs_its_question(marked):
    loop = "def clock(longest):\n    while True:\n        try:\n            while True: pass\n"
    loop += "        except BaseException: pass"
    found = marked(submission("solutions", FIRST, loop), step_seconds=10)
    assert total(found) == FULL - 3
    assert any("check clocks_of_many_sizes ran longer" in line for line in found.remarks)


@needs_sandbox
@pytest.mark.parametrize(
    "bomb",
    [
        "import os\nwhile True: os.fork()",
        "import threading\nwhile True: threading.Thread(target=lambda: 1).start()",
        "import subprocess\nwhile True: subprocess.Popen(['/bin/sh', '-c', ':'])",
        "x = []\nwhile True: x.append(bytearray(1 << 24))",
        "import os\ni = 0\nwhile True:\n    i += 1\n    os.mkdir(f'/tmp/{i}')",
    ],
)
def test_a_bomb_fails_at_once(marked, bomb):
    found = marked(submission("solutions", FIRST, bomb))
    assert total(found) == FULL
    assert len(found.remarks) == 1, found.remarks


@needs_sandbox
def test_deletion_deletes_nothing(marked, tmp_path):
    sentinel = tmp_path / "precious"
    sentinel.write_text("still here")
    wipe = (
        "import os, shutil, sys\n"
        f"places = {str(tmp_path)!r}, os.path.dirname(os.__file__) + '/json', sys.prefix + '/bin'\n"
        "for place in (*places, os.path.expanduser('~'), '/etc', '/dev', '/code'):\n"
        "    shutil.rmtree(place, ignore_errors=True)"
    )
    found = marked(submission("solutions", FIRST, wipe))
    assert total(found) == FULL
    assert sentinel.read_text() == "still here"
    assert os.path.exists(json.__file__)


@needs_sandbox
def test_neither_tests_nor_seed_can_be_read(marked, monkeypatch):
    """It searches all files and its whole memory of names, and reports what it found."""
    monkeypatch.setenv(mark.SEED, SEED)
    hunt = f"""
import os, sys
found = []
for folder, folders, files in os.walk("/"):
    if folder.startswith((sys.prefix, sys.base_prefix, "/usr", "/lib", "/bin")):
        folders[:] = []
        continue
    for file in files:
        path = os.path.join(folder, file)
        try:
            text = open(path, "rb").read(1 << 20)
        except OSError:
            continue
        if b"@" + b"hidden" in text or b"secret" in text or b"throw" + b"-away" in text:
            found.append(path)
frame = sys._getframe()
while frame:
    found += [k for k, v in frame.f_locals.items() if k in ("expected", "accept", "seed")]
    frame = frame.f_back
found += [m for m in sys.modules if m.startswith("course")]
found += [p for p in ("/course", "/proc", {str(build.HERE)!r}) if os.path.exists(p)]
raise RuntimeError(f"found {{found}}")
"""
    found = marked(submission("solutions", FIRST, hunt))
    assert any("RuntimeError: found []" in line for line in found.remarks), found.remarks
    assert total(found) == FULL


@needs_sandbox
def test_the_network_is_not_there(marked):
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.setblocking(False)
        call = f"import socket\nsocket.create_connection({server.getsockname()}, 1)"
        found = marked(submission("solutions", FIRST, call))
        with pytest.raises(BlockingIOError):  # nobody waits at the door
            server.accept()
    assert total(found) == FULL
    assert any("Error" in line for line in found.remarks)


PATCH = """
import json, sys
import numpy as np
np.allclose = np.array_equal = np.isclose = lambda *a, **k: True
np.lcm = np.maximum
frame = sys._getframe()
while frame:
    for name in ("encode", "decode", "told"):
        frame.f_globals[name] = (lambda v: 1) if name == "encode" else frame.f_globals.get(name)
    frame = frame.f_back
class Yes(float):
    __eq__ = __ne__ = __lt__ = __gt__ = __le__ = __ge__ = lambda *a: True
    __hash__ = float.__hash__
def dials(*a): return Yes()
waves = base_for = clock = smallest_gap = dials
"""
FORGE = """
import json, os
for name in ("dials_of_one_size", "dials_of_many_sizes", "clocks_of_many_sizes"):
    for case in range(10):
        line = {"call": name, "case": case, "value": 1, "points": 99, "passed": True}
        for fd in range(3, 30):
            try: os.write(fd, (json.dumps(line) + "\\n").encode())
            except OSError: pass
for fd in range(3, 30):
    line = b'{"begin": "end"}\\n[1]\\n"begin"\\n{"call": {}, "case": 1e999}\\n' + b"[" * 9999
    try: os.write(fd, line)
    except OSError: pass
os._exit(0)
"""


@needs_sandbox
@pytest.mark.parametrize("attack", [PATCH, FORGE])
def test_a_patched_grader_earns_nothing(marked, attack):
    found = marked(submission("student", FIRST, attack))
    assert total(found) == 0


@needs_sandbox
def test_output_without_end_is_cut(marked):
    flood = "import os\nwhile True:\n    for fd in range(3, 9):\n"
    flood += "        try: os.write(fd, b'x' * 65536)\n"
    found = marked(submission("solutions", FIRST, flood + "        except OSError: pass"))
    assert total(found) == FULL
    assert any("wrote more than 8 MB; marked without it" in line for line in found.remarks)


@needs_sandbox
@pytest.mark.parametrize(
    "value",
    ["np.zeros(10**7)", "['x' * 10**6] * 100", "object()", "np.array([None])", "float('nan')",
     "np.zeros((3, 0))", "{1: {2: 3}}", "10**5000", "'12'", "1j", "[[1], [2, 3]]", "True"],
)  # fmt: skip
def test_an_answer_of_another_form_is_wrong_and_nothing_more(marked, value):
    found = marked(submission("solutions", FIRST, f"def base_for(d, longest):\n    return {value}"))
    assert found.got["3"] == 0
    assert total(found) == FULL - 2


@needs_sandbox
def test_what_is_printed_goes_nowhere(marked):
    found = marked(
        submission("solutions", FIRST, "print('x' * 10**7)\nprint('{\"begin\": \"end\"}')")
    )
    assert total(found) == FULL


# --- files that are no submissions


def refused(path) -> str:
    found = mark.mark(path, SEED, PREPARED, "somebody")
    assert found.got == {}
    return found.refused


def test_files_that_are_no_notebooks_are_refused(tmp_path):
    path = tmp_path / "a.ipynb"
    for damaged in ("", "{", "[]", "{}", '{"cells": 3}', '{"cells": [1]}', "[" * 100_000, "\0",
                    '{"cells": [{"source": 1, "cell_type": "code"}]}'):  # fmt: skip
        path.write_text(damaged)
        assert "not a notebook" in refused(path)
    path.write_bytes(b"x" * (mark.MOST_BYTES + 1))
    assert "more than 4 MB" in refused(path)
    path.write_text('{"cells": [], "metadata": {"course": {"assignment": "../../etc"}}}')
    assert "does not say which assignment" in refused(path)
    path.write_text('{"cells": [], "metadata": []}')
    assert "does not say which assignment" in refused(path)


def test_links_pipes_and_folders_are_refused(tmp_path):
    secret, link, pipe = (tmp_path / name for name in ("secret", "link.ipynb", "pipe.ipynb"))
    secret.write_text(text_of(FIRST, "solutions"))
    link.symlink_to(secret)
    assert "link is not followed" in refused(link)
    os.mkfifo(pipe)
    assert "no regular file" in refused(pipe)
    (tmp_path / "folder.ipynb").mkdir()
    assert "no regular file" in refused(tmp_path / "folder.ipynb")


# --- the table


@needs_sandbox
def test_a_folder_is_marked_into_a_table(tmp_path, capsys, monkeypatch):
    folder, out = tmp_path / "in", tmp_path / "out"
    (folder / "ada").mkdir(parents=True)
    (folder / "ada" / "work.ipynb").write_text(text_of(FIRST, "solutions"))
    (folder / "=blank().ipynb").write_text(text_of(FIRST, "student"))
    (folder / "damaged.ipynb").write_text("{")
    monkeypatch.setenv(mark.SEED, SEED)
    monkeypatch.setattr(sys, "argv", ["mark", str(folder), "--out", str(out)])
    mark.main()
    assert "3 submissions" in capsys.readouterr().out
    with (out / "marks.csv").open() as file:
        rows = {row["submission"]: row for row in csv.DictReader(file)}
    assert rows["ada/work"]["by checks"] == rows["ada/work"]["of"] == str(FULL)
    assert rows["ada/work"]["by hand, at most"] == "3"
    assert rows["'=blank()"]["by checks"] == "0"
    assert rows["damaged"]["by checks"] == ""
    assert rows["damaged"]["remarks"].startswith("not marked:")
    assert (out / "ada_work.md").read_text().startswith("# ada/work")


def test_marking_ends_with_a_sentence_where_there_is_no_sandbox(tmp_path, monkeypatch):
    """Never an unprotected run: the submission below would leave a file."""
    folder, trace = tmp_path / "in", tmp_path / "trace"
    folder.mkdir()
    notebook = submission("student", FIRST, f"open({str(trace)!r}, 'w')")
    (folder / "a.ipynb").write_text(nbformat.writes(notebook))

    def forbidden(*_, **__):
        raise sandbox.Unprotected("unshare failed: Operation not permitted")

    monkeypatch.setattr(sandbox, "run", forbidden)
    monkeypatch.setenv(mark.SEED, SEED)
    monkeypatch.setattr(sys, "argv", ["mark", str(folder), "--out", str(tmp_path / "out")])
    with pytest.raises(SystemExit, match=r"Nothing was run.*unshare failed"):
        mark.main()
    assert not trace.exists()
    assert not (tmp_path / "out").exists()


@pytest.mark.skipif(bool(WHY_NOT), reason=WHY_NOT)
def test_submissions_that_the_sandbox_could_read_are_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(sandbox, "visible", lambda _: {"/here": str(tmp_path)})
    with pytest.raises(sandbox.Unprotected, match="move it elsewhere"):
        mark.mark_all(tmp_path, tmp_path / "out", SEED)


def test_the_seed_must_be_there_be_long_and_lie_outside(tmp_path, monkeypatch):
    monkeypatch.delenv(mark.SEED, raising=False)
    monkeypatch.setattr(mark, "SEED_FILE", tmp_path / "none")
    with pytest.raises(SystemExit, match="needs a secret seed"):
        mark.read_seed(None)
    (tmp_path / "short").write_text("123\n")
    with pytest.raises(SystemExit, match="12 characters or more"):
        mark.read_seed(tmp_path / "short")
    with pytest.raises(SystemExit, match="must not lie in the repository"):
        mark.read_seed(build.HERE / "seed")
    (tmp_path / "seed").write_text(f"{SEED}\n")
    assert mark.read_seed(tmp_path / "seed") == SEED
    monkeypatch.setenv(mark.SEED, "another seed of the tests")
    assert mark.read_seed(None) == "another seed of the tests"


# --- judging


def test_a_value_is_judged_whatever_it_is():
    found = Checks(question="1")

    @found.hidden(points=2, calls="f", accept=like(lambda x: 2 * x))
    def doubled(_):
        """twice the number"""
        yield 3.0

    (check,) = found.found
    cases = check.cases(SEED, "any")
    for value, points in ((6.0, 2), (6.0 + 1e-9, 2), (6.1, 0), (None, 0), ([], 0), ({}, 0)):
        assert mark.judge(check, cases, {("doubled", 0): {"value": value}})[0] == points
    deep = json.loads("[" * 500 + "]" * 500)
    array = {"shape": [10**9], "numbers": [1]}
    for value in (deep, array, {"shape": 3}, {"keys": 1}, "6.0x", [6.0, 6.0]):
        assert mark.judge(check, cases, {("doubled", 0): {"value": value}})[0] == 0
    assert "no answer came back" in mark.judge(check, cases, {})[1]


def test_numbers_say_what_is_wrong():
    with pytest.raises(AssertionError, match="expected shape"):
        close([1.0, 2.0], 1.0)
    with pytest.raises(AssertionError, match="NaN or infinity"):
        close(float("inf"), 1.0)
    with pytest.raises(AssertionError, match="numbers were expected"):
        numbers("a")
