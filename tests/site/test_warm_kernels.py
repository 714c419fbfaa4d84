"""Notebooks run in forks of one process that has imported their libraries; what fails is told."""

import os
import re
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest

pytest.importorskip("torch")

TOOL = Path(__file__).parents[2] / "tools" / "warm_kernels.py"


@pytest.mark.slow
def test_a_cell_finds_libraries_imported_and_one_that_differs_fails(tmp_path):
    names = "{'torch', 'scipy.stats', 'matplotlib.pyplot'}"
    imported = f"import sys\nprint({names} <= sys.modules.keys())"
    backend = "import matplotlib\nprint('inline' in matplotlib.get_backend())"
    cells = []
    for number, (code, stored) in enumerate(
        ((imported, "True\n"), (backend, "True\n"), (imported, "False\n")), start=1
    ):
        cell = nbformat.v4.new_code_cell(code)
        cell.execution_count = number
        cell.outputs = [nbformat.v4.new_output("stream", text=stored)]
        cells.append(cell)
    path = tmp_path / "a.ipynb"
    nbformat.write(nbformat.v4.new_notebook(cells=cells), path)
    pytest_run = [sys.executable, "-m", "pytest", "--nbval", str(path), "-p", "no:cacheprovider"]
    command = [sys.executable, str(TOOL), *pytest_run]
    environ = {name: value for name, value in os.environ.items() if name != "MPLBACKEND"}
    run = subprocess.run(
        command, capture_output=True, text=True, cwd=tmp_path, timeout=120, env=environ
    )
    assert run.returncode == 1, run.stdout + run.stderr
    assert "1 failed, 2 passed" in run.stdout
    assert "mismatch 'stdout'" in run.stdout
    assert re.search(r"^FAILED .*a\.ipynb::Cell 2 ", run.stdout, re.M), run.stdout
