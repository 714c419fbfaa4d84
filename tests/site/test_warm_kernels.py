"""Notebooks run in forks of one process that has imported torch, and what fails in them is told."""

import re
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest

pytest.importorskip("torch")

TOOL = Path(__file__).parents[2] / "tools" / "warm_kernels.py"


def test_a_cell_finds_torch_imported_and_one_that_differs_fails(tmp_path):
    cells = []
    for number, stored in enumerate(("True\n", "False\n"), start=1):
        cell = nbformat.v4.new_code_cell("import sys\nprint('torch' in sys.modules)")
        cell.execution_count = number
        cell.outputs = [nbformat.v4.new_output("stream", text=stored)]
        cells.append(cell)
    path = tmp_path / "a.ipynb"
    nbformat.write(nbformat.v4.new_notebook(cells=cells), path)
    pytest_run = [sys.executable, "-m", "pytest", "--nbval", str(path), "-p", "no:cacheprovider"]
    command = [sys.executable, str(TOOL), *pytest_run]
    run = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, timeout=120)
    assert run.returncode == 1, run.stdout + run.stderr
    assert "1 failed, 1 passed" in run.stdout
    assert "mismatch 'stdout'" in run.stdout
    assert re.search(r"^FAILED .*a\.ipynb::Cell 1 ", run.stdout, re.M), run.stdout
