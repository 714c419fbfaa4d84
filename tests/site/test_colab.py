"""Where students run the book: Colab's versions, two gigabytes, no torch where none is needed."""

import json
import re
import subprocess
import sys
import tomllib

import pytest
import yaml
from sitefiles import ROOT, notebook_paths

import colab
import redirects

FREEZE = """\
numpy==2.1.3
scikit-learn==1.6.1
torch @ https://download.pytorch.org/whl/cpu/torch-2.11.0%2Bcpu-cp313-cp313-manylinux_x86_64.whl
torchao==0.10.0
"""
WORKFLOW = yaml.safe_load((ROOT / ".github" / "workflows" / "colab.yml").read_text())
MEASURED = json.loads((ROOT / "results" / "colab.json").read_text())
# Chapters whose subject needs no network, in the order of the book.
WITHOUT_TORCH = ["order-blindness", "raw-indices", "oscillations"]
WITHOUT_TORCH += ["rotations", "fourier-view", "faithfulness"]


def test_pins_are_read_from_a_freeze_also_where_a_wheels_address_stands():
    wanted = ["torch", "numpy", "scikit-learn"]
    found = ["torch==2.11.0", "numpy==2.1.3", "scikit-learn==1.6.1"]
    assert colab.pins(FREEZE, wanted) == found


def test_colab_gets_nothing_that_its_set_up_cell_does_not_add():
    assert "aeon" not in colab.needed()
    steps = [step.get("run", "") for step in WORKFLOW["jobs"]["notebooks"]["steps"]]
    first, *more = [step.split(" install ")[1] for step in steps if "pip install" in step]
    assert first.split() == ["-r", "constraints.txt", "-r", "runner.txt"]
    (runner,) = [line for step in steps for line in step.splitlines() if "runner.txt" in line][:1]
    assert '"^(nbclient|nbformat)=="' in runner
    assert set(more) == added_by_cells()


def added_by_cells() -> set[str]:
    """Return what cells of the notebooks add on Colab, but for the package itself."""
    lines = "\n".join(path.read_text(encoding="utf-8") for path in notebook_paths())
    added = re.findall(r"%pip install --quiet (--no-deps [\w.=-]+)", lines)
    assert added
    return set(added)


def test_what_was_measured_with_colabs_versions_fits_in_two_gigabytes():
    """A new notebook need not be among it: the Colab workflow runs all of a pull request."""
    names = {p.relative_to(ROOT / "book").with_suffix("").as_posix() for p in notebook_paths()}
    names |= {old.removeprefix("book/") for old in redirects.PAGES}  # part of another one by now
    assert set(MEASURED["notebooks"]) <= names
    assert "book/*.ipynb" in WORKFLOW[True]["pull_request"]["paths"]  # YAML reads `on` as true
    assert colab.faults(MEASURED["notebooks"]) == []
    pinned = dict(pin.split("==") for pin in colab.pins(colab.PINS.read_text(), colab.needed()))
    others = {name for name, version in MEASURED["versions"].items() if pinned[name] != version}
    assert others <= {"torch"}  # no build of Colab's for processors could be had here


@pytest.mark.slow
def test_the_first_chapter_runs_to_its_end_without_torch_and_aeon():
    found = colab.run([ROOT / "book" / "order-blindness.ipynb"], ["torch", "aeon"])
    assert colab.faults(found) == []


def test_the_workflow_runs_these_chapters_where_torch_is_not_installed():
    steps = [step.get("run", "") for step in WORKFLOW["jobs"]["mathematics"]["steps"]]
    lines = [words.split() for step in steps for words in step.splitlines()]
    _, installed, wheel, command = lines
    assert "_build/branch/wheels" in wheel[-1]
    assert not {"torch", "sympy", "pandas"} & set(installed)
    assert command[-1].split(",") == WITHOUT_TORCH


def test_these_chapters_ran_in_an_environment_without_torch():
    assert MEASURED["without_torch"] == sorted(WITHOUT_TORCH)


def test_hidden_packages_are_hidden():
    program = colab.without(["torch"]) + "import torch"
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert "ModuleNotFoundError" in run.stderr


FINE = {"seconds": 3.0, "first_output": 1.0, "first_output_computed": 0.7, "peak_mib": 300}


def test_faults_name_what_failed_what_was_too_large_and_what_began_late():
    late = {"first_output": 30.0, "first_output_computed": 11.0}
    found = {"a": FINE, "b": "NameError: x", "c": FINE | {"peak_mib": 2048}, "d": FINE | late}
    assert colab.faults(found) == [
        "b: NameError: x",
        "c: held 2048 MiB, 2048 are allowed",
        "d: computed 11.0 s to its first output, not 10",
    ]


def test_binder_takes_a_python_and_a_group_that_the_package_has():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    runtime = (ROOT / "binder" / "runtime.txt").read_text().strip()
    assert f"Programming Language :: Python :: {runtime.removeprefix('python-')}" in set(
        project["classifiers"]
    )
    script = ROOT / "binder" / "postBuild"
    assert script.stat().st_mode & 0o111
    assert subprocess.run(["bash", "-n", str(script)]).returncode == 0
    install = re.search(r"pip install .*-c (\S+) \./src \"\.\[(\w+)\]\"", script.read_text())
    assert (ROOT / install[1]).is_file()
    assert install[2] in project["optional-dependencies"]
