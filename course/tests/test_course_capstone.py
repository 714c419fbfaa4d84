"""The capstone: rubrics that add up, and notebooks to hand in that run as they stand."""

import nbformat
import pytest
from course import build, capstone

PROJECTS = capstone.projects()
every_project = pytest.mark.parametrize("key", PROJECTS)


@every_project
def test_points_add_up_to_twenty_and_none_is_for_a_good_number(key):
    rubric = PROJECTS[key]["rubric"]
    assert sum(rubric.values()) == 20
    assert max(rubric.values()) <= 5
    said = " ".join(rubric).lower()
    assert not any(word in said for word in ("accura", "improve", "win", "best"))


@every_project
def test_a_notebook_to_hand_in_runs_as_it_stands(key, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    names: dict = {"__name__": "__main__"}
    for cell in capstone.hand_in(key).cells:
        if cell.cell_type == "code" and cell.id != "set-up":
            source = cell.source.replace("n=200):", "n=20):")  # fewer texts, the same code
            exec(compile(source, cell.id, "exec"), names)
    printed = capsys.readouterr().out
    shown = {"stretch": "YaRN, practised", "encoding": "Libras: nothing is trained yet"}
    assert shown.get(key, "confirmed with a condition") in printed


@every_project
def test_a_notebook_to_hand_in_asks_for_all_that_is_marked(key):
    notebook = capstone.hand_in(key)
    last = notebook.cells[-1].source
    for what, points in PROJECTS[key]["rubric"].items():
        assert f"| {what} | {points} | |" in last
    assert sum("## " in cell.source for cell in notebook.cells) >= 5
    assert all(isinstance(cell.source, str) for cell in notebook.cells)


def test_the_notebooks_lie_with_those_of_the_students(tmp_path):
    build.build(tmp_path, ("student",))
    for key, project in PROJECTS.items():
        notebook = nbformat.read(tmp_path / "student" / f"capstone-{key}.ipynb", 4)
        assert notebook.cells[0].source.startswith(f"# {project['title']}\n")


def test_the_plan_of_an_encoding_decides_both_ways_and_not_at_all():
    cells = [cell.source for cell in capstone.hand_in("encoding").cells]
    (source,) = [text for text in cells if "def verdict" in text]
    names: dict = {"gains": {}, "SETS": (1,)}
    exec("import numpy as np\nfrom scipy import stats\n" + source, names)
    verdict = names["verdict"]
    assert verdict([4.0, 5.0, 6.0, 5.0], 2.0) == "better"
    assert verdict([-4.0, -5.0, -6.0, -5.0], 2.0) == "worse"
    assert verdict([0.2, -0.3, 0.1, -0.1], 2.0) == "equal"
    assert verdict([9.0, -6.0, 3.0, -4.0], 2.0) == "not decided"
