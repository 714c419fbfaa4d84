"""Notebooks run in forks of one process that has imported torch, and what fails in them is told."""

import subprocess
import sys
from pathlib import Path

import nbformat
import pytest

pytest.importorskip("torch")

TOOL = Path(__file__).parents[2] / "tools" / "warm_kernels.py"


def checked(folder, said):
    """Return the end of a run that compares what a cell prints with what is stored."""
    cell = nbformat.v4.new_code_cell("import sys\nprint('torch' in sys.modules)")
    cell.execution_count = 1
    cell.outputs = [nbformat.v4.new_output("stream", text=said)]
    path = folder / "a.ipynb"
    nbformat.write(nbformat.v4.new_notebook(cells=[cell]), path)
    pytest_run = [sys.executable, "-m", "pytest", "--nbval", str(path), "-p", "no:cacheprovider"]
    command = [sys.executable, str(TOOL), *pytest_run]
    return subprocess.run(command, capture_output=True, text=True, cwd=folder, timeout=120)


def test_a_cell_finds_torch_imported(tmp_path):
    run = checked(tmp_path, "True\n")
    assert run.returncode == 0, run.stdout + run.stderr


def test_a_cell_that_differs_fails(tmp_path):
    run = checked(tmp_path, "False\n")
    assert run.returncode == 1
    assert "mismatch 'stdout'" in run.stdout
