"""The editions: what students get, what they must not get, and that sources are well formed."""

import ast
import re
import sys
from pathlib import Path

import nbformat
import pytest
from course import build, chapters

SOURCES = {source.name: source for source in build.sources()}
every_source = pytest.mark.parametrize("name", SOURCES)


def text(notebook) -> str:
    return "\n".join(cell.source for cell in notebook.cells)


def solutions_of(source: build.Source) -> list[str]:
    """Return the lines of code that only a solution holds."""
    kept = text(build.edition(source, "student"))
    cut = [m[0] for cell in source.code("solution") for m in build.CUT.finditer(cell.text)]
    lines = [line.strip() for piece in cut for line in piece.splitlines()[1:-1]]
    return [line for line in lines if len(line) > 25 and line not in kept]


@every_source
def test_source_is_well_formed(name):
    assert build.problems(SOURCES[name]) == []


@every_source
def test_student_edition_holds_no_solution(name):
    source = SOURCES[name]
    student = text(build.edition(source, "student"))
    assert "SOLUTION" not in student
    assert "hidden(" not in student
    assert len(solutions_of(source)) >= 5, "there is nothing to look for"
    for cell in source.cells:
        if cell.role in ("answer", "notes"):
            assert cell.text[:60] not in student
        if cell.role in ("hidden", "driver"):
            assert cell.text not in student


@every_source
def test_every_solution_is_cut_and_a_stub_stands_there(name):
    """A line of a solution that also stands elsewhere would pass the test above unseen."""
    for cell in SOURCES[name].code("solution"):
        stub = build.CUT.sub(build.STUB, cell.text)
        assert "write this part" in stub
        for node in ast.walk(ast.parse(stub)):
            if isinstance(node, ast.FunctionDef):
                assert all(isinstance(b, (ast.Expr, ast.Raise)) for b in node.body), node.name


@every_source
def test_other_editions_hold_what_they_promise(name):
    source = SOURCES[name]
    instructor, solutions = (text(build.edition(source, k)) for k in ("instructor", "solutions"))
    for line in solutions_of(source):
        assert line in instructor
        assert line in solutions
    assert "| question | level | minutes |" in instructor
    assert "For marking." in instructor
    assert "For marking." not in solutions
    assert "@hidden(" in instructor
    assert "@hidden(" not in solutions
    for edition in (instructor, solutions):
        assert "do not pass it on" in edition
        assert "BEGIN SOLUTION" not in edition


@every_source
def test_points_that_are_stated_are_those_of_the_checks(name):
    source = SOURCES[name]
    if "torch" in source.needs:
        pytest.importorskip("torch")
    stated, counted = build.points(source), {}
    for check in source.checks():
        counted[check.question] = counted.get(check.question, 0) + check.points
    assert {q: auto for q, (auto, _) in stated.items() if auto} == counted
    names = [check.name for check in source.checks()]
    assert len(names) == len(set(names)), "answers are told apart by the name of a check"


@every_source
def test_hidden_cases_follow_from_the_seed_and_differ_between_seeds(name):
    source = SOURCES[name]
    if "torch" in source.needs:
        pytest.importorskip("torch")
    for check in source.checks():
        one, again, other = (repr(check.cases(seed, name)) for seed in ("one", "one", "other"))
        assert one == again
        assert one != other, check.name


@every_source
def test_ids_of_cells_are_unique_and_stay(name):
    ids = [cell.id for cell in build.edition(SOURCES[name], "student").cells]
    assert len(ids) == len(set(ids))
    assert ids == [cell.id for cell in build.edition(SOURCES[name], "student").cells]


@every_source
def test_student_edition_says_not_yet_and_solutions_pass_the_public_checks(name, capsys):
    source = SOURCES[name]
    if "torch" in source.needs:
        pytest.importorskip("torch")
    n_checks = len(source.code("check"))
    assert n_checks >= 5
    for kind, said in (("student", "not yet."), ("solutions", "passes its public check")):
        names = {"__name__": "__main__"}
        for cell in build.edition(source, kind).cells:
            if cell.cell_type == "code" and "%pip" not in cell.source:
                exec(compile(cell.source, cell.id, "exec"), names)
        told = capsys.readouterr().out.splitlines()
        assert len(told) == n_checks
        assert all(said in line for line in told), told


FIRST_TRIES = {  # what one might write before thinking twice
    "01_raw_indices 4": "clock = lambda longest: [longest, longest // 2]",
    "02_rotations 3": "reorder = lambda d: np.arange(d)",
    "02_rotations 3, its inverse": "reorder = lambda d: np.arange(d).reshape(2, -1).T.ravel()",
    "02_rotations 4": "eager = lambda w, offset: (np.eye(2 * len(w))[0], np.eye(2 * len(w))[0])",
    "03_fourier 4": "unreadable = lambda n, d: (np.eye(n)[:, :d] + np.c_[:n], np.arange(n))",
    "04_write_an_encoding 4": "same_mean = lambda x: np.roll(x, 1, axis=0)",
    "05_honest_comparison 6": (
        "overlapping = lambda n: (np.linspace(0.8, 0.3, n), np.linspace(0.2, 0.7, n))"
    ),
    "06_length_generalisation 5": "start_and_other, position_from = lambda: (0, 0), round",
}


@pytest.mark.parametrize("what", FIRST_TRIES)
def test_a_public_check_stops_a_first_try(what, capsys):
    source, question = SOURCES[what.split()[0]], what.split()[1].strip(",")
    if "torch" in source.needs:
        pytest.importorskip("torch")
    names = {"__name__": "__main__"}
    exec(build.PUBLIC, names)
    for cell in source.code("", "solution"):
        exec(cell.text, names)
    exec(FIRST_TRIES[what], names)
    for cell in source.code("check"):
        if cell.question == question:
            exec(cell.text, names)
    assert f"Question {question}: not yet. AssertionError" in capsys.readouterr().out


def test_set_up_cell_is_that_of_the_chapters():
    import notebooks

    student = build.edition(SOURCES["04_write_an_encoding"], "student")
    assert notebooks.setup_source() in [cell.source for cell in student.cells]


def test_chapters_without_solutions_are_those_of_the_edition(tmp_path):
    """What stands in them is tested with the edition: tests/site/test_notebook_edition.py."""
    with pytest.raises(FileNotFoundError, match="run `make book`"):
        build.copy_chapters(tmp_path, tmp_path)
    (tmp_path / "rotary.ipynb").write_text("{}\n")
    (copied,) = build.copy_chapters(tmp_path / "dist", tmp_path)
    assert copied == tmp_path / "dist" / "student" / "chapters" / "rotary.ipynb"
    assert copied.read_text() == "{}\n"


def test_a_chapter_keeps_no_output_of_a_solution():
    cells = [
        nbformat.v4.new_markdown_cell(":::{exercise}\nA\n:::"),
        nbformat.v4.new_markdown_cell(":::{solution} a\n:class: dropdown\n42\n:::\n"),
        nbformat.v4.new_code_cell("answer = 42", metadata={"tags": ["hide-cell"]}),
        nbformat.v4.new_markdown_cell("## Next"),
        nbformat.v4.new_code_cell("kept = 1", metadata={"tags": ["hide-cell"]}),
    ]
    left = [cell.source for cell in chapters._stripped(cells)]
    assert left == [":::{exercise}\nA\n:::", chapters.OWN, "## Next", "kept = 1"]


def test_build_writes_three_editions(tmp_path):
    written = {p.relative_to(tmp_path).as_posix() for p in build.build(tmp_path)}
    for kind in build.EDITIONS:
        assert {f"{kind}/{name}.ipynb" for name in SOURCES} <= written


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("# %%\n1\n", "must begin with a head"),
        ("# ---\n# title: A\n# ---\n# %% anything\n1\n", "role must be one of"),
    ],
)
def test_a_source_of_another_form_is_refused(tmp_path, source, message):
    path = tmp_path / "01_a.py"
    path.write_text(source)
    with pytest.raises(ValueError, match=message):
        build.parse(path)


def test_the_site_lists_every_assignment_as_it_is():
    page = (chapters.BOOK / "course.md").read_text(encoding="utf-8")
    rows = [line for line in page.splitlines() if line.startswith("| {download}")]
    assert rows == build.overview()


def test_the_table_of_chapters_holds_what_they_state():
    rows = chapters.table().splitlines()[2:]
    assert len(rows) >= 12
    link = r"\[Colab\]\(https://\S+/blob/notebooks/without-solutions/book/[\w-]+\.ipynb\)"
    form = re.compile(rf"\| \[.+\]\([\w-]+\.ipynb\) \| \d+ \| \d+ \| \d* \| (?:{link})? \|")
    assert all(form.fullmatch(row) for row in rows)


def test_problems_are_found():
    source = SOURCES["01_raw_indices"]
    hasty = build.Source(source.name, source.head, source.cells[:4])
    assert any("minutes" in line for line in build.problems(hasty))
    assert any("refutes" in line for line in build.problems(hasty))
    tasks = [cell for cell in source.cells if cell.question != "1" or cell.role != "check"]
    assert any("question 1 lacks" in line for line in build.problems(
        build.Source(source.name, source.head, tasks)
    ))  # fmt: skip


def test_the_site_can_build_student_editions_without_torch(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    assert len(build.build(tmp_path, ("student",))) > 6
    assert not Path(tmp_path, "solutions").exists()
