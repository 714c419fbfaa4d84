"""What the package promises as a whole: light imports, lower bounds, how arguments are passed."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import numpy as np
import pytest

import posenc

ROOT = Path(__file__).parents[2]


def test_import_brings_numpy_and_nothing_slow():
    code = "import posenc, sys; print(*sorted(m.split('.')[0] for m in sys.modules))"
    run = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=600
    )
    loaded = set(run.stdout.split())
    assert "posenc" in loaded
    assert not loaded & {"scipy", "torch", "matplotlib", "pandas", "sympy", "aeon", "pooch"}


def test_dependencies_are_lower_bounds_only():
    project = tomllib.loads((ROOT / "src" / "pyproject.toml").read_text())["project"]
    names = []
    for requirement in project["dependencies"]:
        match = re.fullmatch(r"([a-z]+)>=\d+(\.\d+)*", requirement)
        assert match, f"{requirement} is more than a lower bound"
        names.append(match[1])
    assert sorted(names) == ["numpy", "scipy"]
    assert project["optional-dependencies"].keys() == {"torch"}


def test_the_books_code_asks_for_this_version_of_the_library():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    minor = posenc.__version__.rpartition(".")[0]
    assert f"posenc=={minor}.*" in project["dependencies"]


def test_positional_and_keyword_arguments_stand_as_promised():
    assert posenc.tables.sinusoidal(3, 4, 10.0, dtype=np.float32).dtype == np.float32
    with pytest.raises(TypeError):
        posenc.tables.sinusoidal(3, 4, 10.0, np.float32)
    with pytest.raises(TypeError):
        posenc.tables.dft(3, 4, "error")
