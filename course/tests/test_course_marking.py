"""Marks: right for honest submissions, and right or a clear refusal for hostile ones."""

import array
import ast
import csv
import dataclasses
import itertools
import json
import os
import resource
import subprocess
import sys
import time
from decimal import Decimal
from fractions import Fraction
from functools import cache

import nbformat
import numpy as np
import pytest
from course import build, mark, runner, sandbox
from course.checks import Checks, close, like, numbers
from test_course_sandbox import WHY_NOT, needs_sandbox

SEED = "a throw-away seed of the tests"
SOURCES = {source.name: source for source in build.sources()}
PREPARED = mark.Prepared()
FIRST, FIFTH = "01_raw_indices", "05_honest_comparison"
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

    def run(notebook, step_seconds: float = 300, memory: int = 1 << 30) -> mark.Mark:
        most = sandbox.Limits(seconds=1200, step_seconds=step_seconds, memory=memory)
        monkeypatch.setattr(mark, "limits", lambda _: most)
        monkeypatch.setattr(mark, "GRACE", 1.0)
        path = tmp_path / "submission.ipynb"
        path.write_text(nbformat.writes(notebook))
        return mark.mark(path, SEED, PREPARED, "somebody")

    return run


def total(found: mark.Mark) -> int:
    return sum(found.got.values())


def refused(path) -> str:
    found = mark.mark(path, SEED, PREPARED, "somebody")
    assert found.got == {}
    return found.refused


# --- honest submissions


ONCE_A_WEEK = ("04_write_an_encoding", "05_honest_comparison")  # they train, or check much


@needs_sandbox
@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=pytest.mark.slow) if n in ONCE_A_WEEK else n for n in SOURCES]
)
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


@pytest.mark.slow
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


KNOWN_TOO = [
    "files = !ls -l\nnp.sin?\n%pip install nothing\nremainder = 2",
    "%%time\nremainder = 17 % 5",
    "%time remainder = 17 % 5",
    "%%capture said\nprint(1)\nremainder = 2",
    "from IPython.display import HTML, display\ndisplay(HTML('<b>1</b>'))\nremainder = 2",
    "display(np.arange(3))\nget_ipython().magic('matplotlib')\nremainder = 2",
    "from IPython import get_ipython\nget_ipython().system('ls')\nremainder = 2",
    "import matplotlib.pyplot as plt\nplt.plot([1, 2])\nplt.show()\nremainder = 2",
    ">>> remainder = 2",
    "!ls\nremainder = 2\n%timeit 1",
    "from IPython.display import display\nimport matplotlib.pyplot as plt\n"
    "fig, ax = plt.subplots()\nax.plot([1, 2])\nremainder = 2",
    "r = %timeit -o -n1 -r1 1 + 1\nr.average, r.best\nremainder = 2",
    "found = !ls\nfound.n, found.l\nremainder = 2",
    "names = %who_ls\nlen(names)\nremainder = 2",
]


@needs_sandbox
@pytest.mark.parametrize(
    "before",
    [
        "%matplotlib inline\nremainder = (17\n% 5)",
        "%pip install x\n!rm -rf /\nif True:\n    %time 1\nremainder = 2",
        "print('x' * 10**7)\nprint('{\"begin\": \"end\"}')\nremainder = 2",
        *(pytest.param(text, marks=pytest.mark.slow) for text in KNOWN_TOO),
    ],
)
def test_what_a_notebook_knows_costs_nothing(marked, before):
    """The cell comes first, and an answer needs the name that it defines."""
    notebook = submission()
    needed = (
        "kept_waves = waves\ndef waves(*a):\n    assert remainder == 2\n    return kept_waves(*a)"
    )
    notebook.cells.insert(2, nbformat.v4.new_code_cell(before))
    notebook.cells.append(nbformat.v4.new_code_cell(needed))
    found = marked(notebook)
    assert total(found) == FULL, (found.lines, found.remarks)
    assert found.remarks == ["Question 2: `waves` stands 2 times; the last one counted."]


def test_a_value_comes_as_numbers_in_whatever_it_stood():
    a, b = 11, 12
    for value in (
        (p for p in (a, b)),
        range(a, b + 1),
        map(int, [a, b]),
        dict.fromkeys([a, b]).keys(),
        frozenset({b, a}),
        [Decimal(a), Fraction(b)],
        np.array([Fraction(a), b], dtype=object),
        np.ma.array([a, b], mask=[False, False]),
        np.array([a, b], dtype=np.longdouble),
        np.array([a, b], dtype=">i2"),
        array.array("d", [a, b]),
    ):
        assert np.array_equal(runner.decode(runner.encode(value)), [a, b]), value
    assert np.isnan(runner.decode(runner.encode(np.ma.array([1, 2], mask=[False, True])))).any()
    torch = pytest.importorskip("torch")
    for dtype in (torch.float32, torch.bfloat16, torch.int8):
        tensor = torch.tensor([a, b], dtype=dtype)
        assert np.array_equal(runner.decode(runner.encode(tensor)), [a, b])
    tensor = torch.nn.Parameter(torch.tensor([1.5]))
    assert runner.encode(tensor) == {"shape": [1], "numbers": [1.5]}
    frame = pytest.importorskip("pandas").DataFrame({"x": [1, 2], "y": [3.5, 4]})
    assert runner.encode(frame) == {"shape": [2, 2], "numbers": [1.0, 3.5, 2.0, 4.0]}
    assert runner.encode(frame["x"])["numbers"] == [1, 2]
    for value in (1j, b"ab", object(), np.array(["a"]), itertools.count(), np.array([1j])):
        with pytest.raises(ValueError, match=r"answer"):
            runner.encode(value)


def test_wrong_values_are_wrong_in_whatever_they_come():
    pandas = pytest.importorskip("pandas")
    _, checks = PREPARED[FIRST]
    (check,) = (check for check in checks if check.calls == "clock")
    frame, masked = pandas.DataFrame({"a": ["11", "12"]}), np.ma.array([12, 11], mask=[True, False])
    for value in (masked, frame, [Fraction(23, 2)], range(99), set(), {11: 12}.items(), {12: 11}):
        said = {("clocks_of_many_sizes", 0): {"value": runner.encode(value)}}
        assert mark.judge(check, [[12]], said)[0] == 0, value
    said = {("clocks_of_many_sizes", 0): {"value": runner.encode({12, 11})}}
    assert mark.judge(check, [[12]], said)[0] == 3


@pytest.mark.slow
@needs_sandbox
def test_plots_of_many_megabytes_are_no_fault(marked):
    notebook = submission()
    data = {"image/png": "iVBORw0KGgo" * 800_000}
    notebook.cells[1].outputs = [nbformat.v4.new_output("display_data", data)]
    assert len(nbformat.writes(notebook)) > 8 << 20
    found = marked(notebook)
    assert total(found) == FULL
    assert found.remarks == []


@needs_sandbox
def test_an_answer_in_two_cells_is_kept_whole_for_reading(marked):
    """An editor that splits a cell gives both halves the same metadata."""
    notebook = submission("student")
    (place,) = (n for n, cell in enumerate(notebook.cells) if cell.source == build.EMPTY)
    notebook.cells[place].source = "It drowns.\x1b[2J"
    second = nbformat.v4.new_markdown_cell("Always.", metadata=notebook.cells[place].metadata)
    stray = {"course": {"role": "answer", "question": "=1+1"}}
    third = nbformat.v4.new_markdown_cell("Not asked.", metadata=stray)
    notebook.cells[place + 1 : place + 1] = [second, third]
    found = marked(notebook)
    assert found.answers == {"6": "It drowns.\x1b[2J\n\nAlways."}
    assert "\x1b" not in mark._page(found)


# --- what is foreign is parsed in the sandbox


@pytest.mark.slow
@needs_sandbox
@pytest.mark.parametrize(
    "text", ["x = [" + "1, " * 1_300_000 + "]", "(" * 2_000_000, "x = " + "-" * 2_000_000 + "1",
             "%magic\n" * 300_000]
)  # fmt: skip
def test_a_cell_of_four_megabytes_costs_itself(marked, text):
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    found = marked(submission("solutions", FIRST, text), step_seconds=5)
    assert total(found) == FULL, found.remarks
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert grown < 300 << 10, f"the marker itself grew by {grown} kB"


@pytest.mark.slow
@needs_sandbox
@pytest.mark.parametrize(
    "text", ["[" + "{}," * 8_000_000 + "{}]", '{"cells": [' + "[[]," * 7_000_000, '"' * (31 << 20)]
)
def test_a_notebook_that_is_a_bomb_is_refused(tmp_path, text):
    path = tmp_path / "a.ipynb"
    path.write_text(text)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert refused(path)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 200 << 10


def test_the_marker_never_parses_a_submission(tmp_path, monkeypatch):
    """Whatever a notebook holds, only bytes leave its file for the sandbox."""
    given = []

    def seen(*arguments):
        given.append(arguments[1])
        return sandbox.Outcome([], "finished", 0.1, 0)

    monkeypatch.setattr(sandbox, "run", seen)
    path = tmp_path / "a.ipynb"
    path.write_text(text_of(FIRST, "solutions"))
    monkeypatch.setattr(json, "loads", None)
    assert "not a notebook" in refused(path)
    assert given == [path.read_bytes()]


# --- hostile submissions: the mark is what the honest part deserves, and nothing else happens


LOOP = """
    while True:
        pass"""
DEAF = """
    while True:
        try:
            while True: int()
        except BaseException: pass"""


@pytest.mark.slow
@needs_sandbox
@pytest.mark.parametrize(("loop", "hangs"), [(LOOP, "14567"), (DEAF, "16")])
def test_endless_loops_cost_their_own_points_only(marked, loop, hangs):
    """Five or two functions of seven never return, one of them in two checks."""
    asked = mark.asked_functions(SOURCES[FIFTH])
    hung = [name for name, question in asked.items() if question in hangs]
    cell = "\n".join(f"def {name}(*_):{loop}" for name in hung)
    found = marked(submission("solutions", FIFTH, cell), step_seconds=3)
    assert all(found.got[question] == 0 for question in hangs)
    assert found.got["2"] == 4
    assert found.got["3"] == 3
    for name in hung:
        assert any(f"`{name}` in the check" in line for line in found.remarks), found.remarks
        assert any("ran longer than 3 s; it was not called again" in x for x in found.remarks)
    assert sum("ran longer than 3 s)" in line for line in found.lines) >= len(hung)
    assert any(mark.TOO_LATE in line for line in found.lines)


@pytest.mark.slow
@needs_sandbox
def test_a_function_that_is_late_once_keeps_what_it_had_earned(marked):
    slow = "kept = leaking\ndef leaking(a, *b):\n    while len(a) > 99: 1\n    return kept(a, *b)"
    found = marked(submission("solutions", FIFTH, slow), step_seconds=3)
    assert (found.got["2"], found.got["3"]) == (2, 3)


@pytest.mark.slow
@needs_sandbox
@pytest.mark.parametrize("end", ["os._exit(0)", "ctypes.string_at(0)"])
def test_functions_that_end_the_program_cost_their_own_points_only(marked, end):
    asked = mark.asked_functions(SOURCES[FIFTH])
    dead = "import ctypes, os\n" + "\n".join(
        f"def {name}(*_): {end}" for name in asked if name != "disguised"
    )
    found = marked(submission("solutions", FIFTH, dead))
    assert {q for q, points in found.got.items() if points} == {"3"}
    assert sum("ended the program; marked without it" in line for line in found.remarks) == 8


@pytest.mark.slow
@needs_sandbox
def test_many_cells_that_hang_or_end_the_program_cost_nothing_more(marked):
    cells = ["while True: pass", f"if True:{DEAF}", *["import os\nos._exit(1)"] * 4]
    found = marked(submission("solutions", FIRST, *cells), step_seconds=5)
    assert total(found) == FULL
    assert len(found.remarks) == 6, found.remarks
    assert any("ran longer than 5 s; marked without it" in line for line in found.remarks)


@needs_sandbox
def test_a_submission_has_a_time_that_it_cannot_stretch(tmp_path, monkeypatch):
    most = sandbox.Limits(seconds=4, step_seconds=2, memory=1 << 30)
    monkeypatch.setattr(mark, "limits", lambda _: most)
    hung = "\n".join(f"def {n}(*_):{DEAF}" for n in mark.asked_functions(SOURCES[FIFTH]))
    path = tmp_path / "a.ipynb"
    path.write_text(nbformat.writes(submission("student", FIFTH, hung)))
    begun = time.monotonic()
    found = mark.mark(path, SEED, PREPARED, "somebody")
    assert time.monotonic() - begun < 60
    assert any("4 s of a submission were over" in line for line in found.remarks), found.remarks


@pytest.mark.slow
@needs_sandbox
def test_a_run_that_names_what_is_not_there_is_not_repeated_for_ever(marked):
    forged = """
import os
for fd in range(3, 30):
    try: os.write(fd, b'{"begin": "cell", "cell": {"none": 1}}\\n{"begin": "call", "call": []}\\n')
    except OSError: pass
os._exit(0)"""
    assert total(marked(submission("solutions", FIRST, forged))) == 0


@pytest.mark.slow
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
installed = (os.path.realpath(sys.prefix), sys.prefix, sys.base_prefix, "/usr", "/lib", "/bin")
for folder, folders, files in os.walk("/"):
    if folder.startswith(installed) or folder.endswith("site-packages"):
        folders[:] = []
        continue
    for file in files:
        path = os.path.join(folder, file)
        try:
            text = open(path, "rb").read(1 << 20)
        except OSError:
            continue
        if b"@" + b"hidden" in text or b"secret " + b"seed" in text or b"throw" + b"-away" in text:
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
@pytest.mark.parametrize("attack", [PATCH, pytest.param(FORGE, marks=pytest.mark.slow)])
def test_a_patched_grader_earns_nothing(marked, attack):
    found = marked(submission("student", FIRST, attack))
    assert total(found) == 0


@pytest.mark.slow
@needs_sandbox
def test_output_without_end_is_cut(marked):
    flood = "import os\nwhile True:\n    for fd in range(3, 9):\n"
    flood += "        try: os.write(fd, b'x' * 65536)\n"
    found = marked(submission("solutions", FIRST, flood + "        except OSError: pass"))
    assert total(found) == FULL
    assert any("wrote more than 8 MB; marked without it" in line for line in found.remarks)


OTHER_FORMS = ["object()", "float('nan')", "'12'", "True", "1j", "10**5000", "[[1], [2, 3]]"]
OTHER_FORMS += ["{1: {2: 3}}", "np.zeros(10**7)", "np.zeros((3, 0))", "['x' * 10**6] * 100"]


@needs_sandbox
@pytest.mark.parametrize(
    "value",
    ["np.array([None])", *(pytest.param(value, marks=pytest.mark.slow) for value in OTHER_FORMS)],
)
def test_an_answer_of_another_form_is_wrong_and_nothing_more(marked, value):
    found = marked(submission("solutions", FIRST, f"def base_for(d, longest):\n    return {value}"))
    assert found.got["3"] == 0
    assert total(found) == FULL - 2


# --- files that are no submissions


@needs_sandbox
def test_files_that_are_no_notebooks_are_refused(tmp_path):
    path = tmp_path / "a.ipynb"
    for damaged in ("", "{", "[]", "{}", '{"cells": 3}', '{"cells": [1]}', "[" * 100_000, "\0",
                    '{"cells": [{"source": 1, "cell_type": "code"}]}'):  # fmt: skip
        path.write_text(damaged)
        assert "not a notebook" in refused(path)
    path.write_bytes(b"x" * (mark.MOST_BYTES + 1))
    assert "more than 32 MB" in refused(path)
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


def judged(name: str, calls: str, function) -> set[bool]:
    """Return whether each check of a function is passed, over several seeds."""
    _, checks = PREPARED[name]
    found = set()
    for check, seed in itertools.product(checks, ("one", "two", "three")):
        if check.calls == calls:
            cases = check.cases(f"{SEED} {seed}", name)
            values = [json.loads(json.dumps(runner.encode(function(*case)))) for case in cases]
            answers = {(check.name, n): {"value": value} for n, value in enumerate(values)}
            found.add(mark.judge(check, cases, answers)[0] > 0)
    return found


def waves(positions, wavelengths, kind=np.float32, pi=np.pi):
    angles = kind(2 * pi) * np.asarray(positions, kind)[:, None] / np.asarray(wavelengths, kind)
    return np.stack([np.sin(angles), np.cos(angles)], 2).reshape(len(angles), -1)


def rotate(x, positions, frequencies, kind=np.float32):
    angles = np.outer(np.asarray(positions, kind), np.asarray(frequencies, kind))
    a, b = np.moveaxis(x.astype(kind).reshape(*x.shape[:-1], -1, 2), -1, 0)
    c, s = np.cos(angles), np.sin(angles)
    return np.stack([a * c - b * s, a * s + b * c], -1).reshape(x.shape)


def attention(q, k, v, positions, frequencies, factor=1.0):
    q, k = (rotate(x, positions, frequencies) for x in (q, k))
    scores = factor * q @ k.T / np.sqrt(np.float32(q.shape[1]))
    weights = np.exp(scores - scores.max(axis=1, keepdims=True))
    return weights / weights.sum(axis=1, keepdims=True) @ v.astype(np.float32)


def scaled(train, test, kind=np.float32, ddof=0, least=0.0):
    train, test = train.astype(kind), test.astype(kind)
    mean, spread = train.mean((0, 1)), train.std((0, 1), ddof=ddof)
    spread = np.where(spread > 0, spread, 1) + kind(least)
    return [(train - mean) / spread, (test - mean) / spread]


def stretched(base, d_model, factor, beyond=2):
    new = np.float32(base) * np.float32(factor) ** np.float32(d_model / (d_model - beyond))
    return new ** (-np.arange(0, d_model, 2, dtype=np.float32) / np.float32(d_model))


def test_single_precision_passes_where_the_formula_is_right():
    single = np.float32
    for name, calls, function in (
        (FIRST, "waves", waves),
        (FIRST, "base_for",
         lambda d, far: (single(far) / single(2 * np.pi)) ** single(d / (d - 2))),
        ("02_rotations", "rotate", rotate),
        ("02_rotations", "attention", attention),
        (FIFTH, "scale_honestly", scaled),
        ("06_length_generalisation", "stretched", stretched),
        ("06_length_generalisation", "needed_score",
         lambda share, n: np.log(single(share) * single(n - 1) / (1 - single(share)))),
    ):  # fmt: skip
        assert judged(name, calls, function) == {True}, calls


def test_a_wrong_formula_fails_in_either_precision():
    """Each is as near to the right one as a wrong formula is likely to come."""
    double, rough = np.float64, 3.14159
    for name, calls, function in (
        (FIRST, "waves", lambda p, w: waves(p, w, pi=rough)),
        (FIRST, "waves", lambda p, w: waves(p, w, double, rough)),
        (FIRST, "base_for", lambda d, far: (far / 2 / np.pi) ** (d / (d - 1.99))),
        ("02_rotations", "rotate", lambda x, t, f: rotate(x, np.round(t, 3), f, double)),
        ("02_rotations", "rotate", lambda x, t, f: rotate(x, t, f * (1 + 1e-5), double)),
        ("06_length_generalisation", "stretched", lambda *a: stretched(*a, beyond=1)),
        ("06_length_generalisation", "needed_score", lambda s, n: np.log(s * n / (1 - s))),
        (FIFTH, "scale_honestly", lambda a, b: scaled(a, b, double, ddof=1)),
        (FIFTH, "scale_honestly", lambda a, b: scaled(a, b, double, least=1e-5)),
    ):
        assert judged(name, calls, function) == {False}, calls
    assert False in judged("02_rotations", "attention", lambda *a: attention(*a, factor=1.0001))


def test_whole_numbers_must_be_right():
    found = Checks(question="1")

    @found.hidden(points=2, calls="f", accept=like(lambda x: round(1e6 * x)))
    def rounded(rng):
        """a count"""
        yield float(rng.uniform(1, 2))

    (check,) = found.found
    (case,) = check.cases(SEED, "any")
    for more, points in ((0, 2), (1, 0), (-1, 0)):
        answers = {("rounded", 0): {"value": round(1e6 * case[0]) + more}}
        assert mark.judge(check, [case], answers)[0] == points


def test_numbers_are_close_or_say_what_is_wrong():
    close(np.array([[5.0]]), 5)  # one number in brackets is that number
    for answer, right, said in (
        ([1.0, 2.0], 1.0, "expected shape"),
        (5.0, [5.0], "expected shape"),
        (float("inf"), 1.0, "NaN or infinity"),
    ):
        with pytest.raises(AssertionError, match=said):
            close(answer, right)
    with pytest.raises(AssertionError, match="numbers were expected"):
        numbers("a")


# --- what an editor or a student has moved


def moved(how):
    """Return a notebook whose answer in words reached us in a way that nobody planned."""
    notebook = submission("student")
    (place,) = (n for n, cell in enumerate(notebook.cells) if cell.source == build.EMPTY)
    if how == "a cell of its own":
        notebook.cells.append(nbformat.v4.new_markdown_cell("It drowns."))
    elif how == "below the question":
        notebook.cells[place - 1].source += "\n\nIt drowns."
    else:
        notebook.cells[place].source = "It drowns."
        for cell in notebook.cells:
            cell.metadata = {}
            if how == "no metadata, no names":
                cell.id = f"x{notebook.cells.index(cell)}"
    return notebook


@needs_sandbox
@pytest.mark.parametrize(
    "how", ["a cell of its own", "below the question", "no metadata", "no metadata, no names"]
)
def test_an_answer_that_stands_elsewhere_is_read(marked, how):
    found = marked(moved(how))
    row = next(csv.DictReader(mark.table_of([("page", found)], PREPARED).splitlines()))
    assert row["to read"] == "6"
    assert "It drowns." in mark._page(found)


@needs_sandbox
@pytest.mark.parametrize(
    "line",
    [
        "import seaborn_that_is_not_here as sns\nsns.set_theme()",
        "name = input('Your name?')",
        "open('/content/drive/notes.txt').read()",
    ],
)
def test_what_the_sandbox_lacks_costs_its_statement_only(marked, line):
    notebook = submission()
    for cell in notebook.cells:
        if "def waves(" in cell.source:
            cell.source = f"{line}\n{cell.source}"
    found = marked(notebook)
    assert total(found) == FULL, found.lines
    assert len(found.remarks) == 1, "it is told once"


@needs_sandbox
def test_an_error_of_its_own_stops_a_cell_as_in_a_notebook(marked):
    found = marked(
        submission("solutions", FIRST, "raise ValueError('old')\ndef waves(*a): return 0")
    )
    assert total(found) == FULL, found.lines


@needs_sandbox
def test_no_answer_is_told_and_our_own_text_is_none(marked):
    found = marked(submission("student"))
    assert found.elsewhere == ""
    assert found.lines[-1] == "Question 6: no answer stands in its cell"
    assert marked(submission("instructor")).elsewhere == ""


@needs_sandbox
@pytest.mark.parametrize("of_cells", [True, False])
def test_cells_or_the_title_say_the_assignment_where_the_notebook_does_not(marked, of_cells):
    notebook = submission()
    notebook.metadata = {}
    for number, cell in enumerate([] if of_cells else notebook.cells):
        cell.metadata, cell.id = {}, f"x{number}"
    assert total(marked(notebook)) == FULL


@needs_sandbox
def test_a_picture_in_an_answer_does_not_push_the_rest_out(marked):
    notebook = submission("student")
    for cell in notebook.cells:
        if cell.source == build.EMPTY:
            cell.source = f"![x](data:image/png;base64,{'iVBORw0K' * 10_000}) It drowns."
    assert "It drowns." in mark._page(marked(notebook))


def ran(*sources: str) -> list[dict]:
    """Return what the runner says of cells of ours and of `f(3)`; that needs no sandbox."""
    call = {"id": "check", "name": "f", "cases": [[3]]}
    request = {"cells": list(enumerate(sources, 1)), "calls": [call], "asked": ["f"]}
    request |= {"seconds": 60, "cell_seconds": 60, "too_late": ""}
    command, asked = [sys.executable, runner.__file__], json.dumps(request)
    done = subprocess.run(command, input=asked, capture_output=True, text=True, check=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


STUB_OF_F = (
    'def f(n):\n    """Return n squared."""\n    raise NotImplementedError("write this part")'
)


def test_an_answer_above_its_untouched_stub_counts():
    lines = ran("def f(n): return n * n", STUB_OF_F)
    assert {"call": "check", "case": 0, "value": 9} in lines
    assert [line["cell"] for line in lines if "defines" in line] == [1], "it stands there once"
    assert "NotImplementedError" in ran(STUB_OF_F)[-2]["error"]
    changed = STUB_OF_F.replace("raise NotImplementedError", "return 5 or print")
    assert {"call": "check", "case": 0, "value": 5} in ran("def f(n): return n * n", changed)


def test_the_stub_that_the_runner_knows_is_that_of_the_student_edition():
    (stub,) = ast.parse(build.CUT.sub(build.STUB, "# BEGIN SOLUTION\n1\n# END SOLUTION")).body
    assert ast.unparse(stub) == runner.STUB


@pytest.mark.parametrize(
    "line",
    [
        "from tqdm.notebook import tqdm",
        "from tqdm import tqdm",
        "import tqdm.auto\ntqdm = tqdm.auto.tqdm",
        "from tqdm import tqdm_notebook as tqdm, trange",
    ],
)
def test_a_progress_bar_costs_nothing(line):
    bar = "    with tqdm(total=n) as bar: bar.update(1); tqdm.write('half')"
    assert {"call": "check", "case": 0, "value": 3} in ran(
        f"{line}\ndef f(n):\n{bar}\n    return sum(1 for _ in tqdm(range(n), desc='steps'))"
    )
