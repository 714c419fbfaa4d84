"""What the package promises as a whole: light imports, lower bounds, documented names."""

import inspect
import re
import runpy
import subprocess
import sys
import tomllib
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

import posenc

ROOT = Path(__file__).parents[2]
MODULES = [
    "faithfulness.decoding",
    "faithfulness.precision",
    "faithfulness.returns",
    "faithfulness.rows",
    "fourier",
    "frequencies",
    "rotation",
    "schedules",
    "tables.counting",
    "tables.fourier",
    "tables.waves",
]
PROMISED = {
    "frequencies": ["geometric", "harmonic", "length_scaled"],
    "tables": ["encode", "index", "digits", "binary", "normalized", "sinusoidal", "dft", "tape"],
    "rotation": ["shift_matrix"],
    "fourier": ["basis", "analyse", "synthesise", "frequency_density", "reconstruct"],
    "faithfulness": ["separation", "numerical_rank", "decode"],
}


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


@pytest.mark.parametrize("module", PROMISED)
def test_promised_names_are_there(module):
    for name in PROMISED[module]:
        assert callable(getattr(getattr(posenc, module), name))


def public_functions():
    for module in MODULES:
        for name, function in inspect.getmembers(
            import_module(f"posenc.{module}"), inspect.isfunction
        ):
            if not name.startswith("_") and function.__module__ == f"posenc.{module}":
                yield f"{module}.{name}", function


def faults(function):
    """Say what types and what parts of a docstring a function lacks, and whether a line is long."""
    signature = inspect.signature(function)
    if signature.return_annotation is inspect.Signature.empty:
        yield "has no type of what it returns"
    for parameter in signature.parameters.values():
        if parameter.annotation is inspect.Parameter.empty:
            yield f"has no type of {parameter.name}"
        if not re.search(rf"\b{parameter.name}\b.* :", function.__doc__):
            yield f"does not say what {parameter.name} is"
    for heading in ("Returns", "Raises", "Parameters"):
        if f"{heading}\n" not in function.__doc__:
            yield f"has no {heading}"
    if max(map(len, inspect.getsource(function).splitlines())) > 100:
        yield "has a line of more than 100 characters"


def test_public_functions_are_typed_and_documented():
    found = [f"{name} {fault}" for name, one in public_functions() for fault in faults(one)]
    assert not found, "\n".join(found)


def test_positional_and_keyword_arguments_stand_as_promised():
    assert posenc.tables.sinusoidal(3, 4, 10.0, dtype=np.float32).dtype == np.float32
    with pytest.raises(TypeError):
        posenc.tables.sinusoidal(3, 4, 10.0, np.float32)
    with pytest.raises(TypeError):
        posenc.tables.dft(3, 4, "error")


def test_every_package_is_installed_and_the_results_with_them(monkeypatch):
    given = {}
    monkeypatch.setattr("setuptools.setup", lambda **options: given.update(options))
    monkeypatch.chdir(ROOT)
    runpy.run_path("setup.py")
    source = ROOT / "src"
    folders = {path.parent for path in (source / "posenc_book").rglob("*.py")}
    found = {".".join(folder.relative_to(source).parts) for folder in folders}
    apart = {"posenc_book.plans", "posenc_book.results"}
    assert sorted(given["packages"]) == sorted(found | apart)
    where = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]
    assert all((ROOT / where["package-dir"][name]).is_dir() for name in apart)
