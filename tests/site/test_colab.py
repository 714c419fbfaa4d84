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

FREEZE = """\
numpy==2.1.3
scikit-learn==1.6.1
torch @ https://download.pytorch.org/whl/cpu/torch-2.11.0%2Bcpu-cp313-cp313-manylinux_x86_64.whl
torchao==0.10.0
"""
MEASURED = json.loads((ROOT / "results" / "colab.json").read_text())
FIRST_OUTPUT = 10  # seconds
WITHOUT_TORCH = [  # chapters whose subject needs no network, in the order of the book
    "order-blindness",
    "raw-indices",
    "oscillations",
    "rotations",
    "fourier-view",
    "faithfulness",
]


def test_pins_are_read_from_a_freeze_also_where_a_wheels_address_stands():
    wanted = ["torch", "numpy", "scikit-learn"]
    found = ["torch==2.11.0", "numpy==2.1.3", "scikit-learn==1.6.1"]
    assert colab.pins(FREEZE, wanted) == found


def test_a_name_that_a_freeze_lacks_is_said():
    with pytest.raises(ValueError, match="aeon"):
        colab.pins(FREEZE, ["numpy", "aeon"])


def test_the_stored_pins_are_read_as_they_stand():
    text = colab.PINS.read_text()
    pinned = [line for line in text.splitlines() if not line.startswith("#")]
    assert colab.pins(text, colab.needed()) == pinned


def test_colab_gets_nothing_that_its_set_up_cell_does_not_add():
    assert "aeon" not in colab.needed()
    workflow = yaml.safe_load((ROOT / ".github" / "workflows" / "colab.yml").read_text())
    steps = [step.get("run", "") for step in workflow["jobs"]["notebooks"]["steps"]]
    (install,) = [step for step in steps if "pip install" in step]
    assert install.split(" install ")[1] == "-r constraints.txt nbclient nbformat"


def test_what_was_measured_ran_with_colabs_versions_in_two_gigabytes():
    """Not every notebook need be measured here: the workflow runs them all."""
    names = {p.relative_to(ROOT / "book").with_suffix("").as_posix() for p in notebook_paths()}
    assert set() < set(MEASURED["notebooks"]) <= names
    assert colab.faults(MEASURED["notebooks"]) == []
    pinned = dict(pin.split("==") for pin in colab.pins(colab.PINS.read_text(), colab.needed()))
    others = {name for name, version in MEASURED["versions"].items() if pinned[name] != version}
    assert others <= {"torch"}  # no build of Colab's for processors could be had here


def test_what_was_measured_showed_something_within_seconds():
    slow = {
        name: one["first_output"]
        for name, one in MEASURED["notebooks"].items()
        if one["first_output"] > FIRST_OUTPUT
    }
    assert slow == {}


def test_the_first_chapter_runs_to_its_end_without_torch_and_aeon():
    found = colab.run([ROOT / "book" / "order-blindness.ipynb"], ["torch", "aeon"])
    assert colab.faults(found) == []


@pytest.mark.parametrize("name", WITHOUT_TORCH)
def test_a_chapter_on_the_mathematics_imports_no_torch(name):
    """Its imports alone, with torch hidden, in a fresh Python: quick enough for every day."""
    cells = json.loads((ROOT / "book" / f"{name}.ipynb").read_text())["cells"]
    code = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"][1:]
    imports = re.findall(r"^(?:from \S+ )?import .+$", "\n".join(code), re.MULTILINE)
    assert len(imports) > 3
    program = colab.without(["torch", "aeon"]) + "\n".join(imports)
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr


def test_hidden_packages_are_hidden():
    program = colab.without(["torch"]) + "import torch"
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert "ModuleNotFoundError" in run.stderr
    program = colab.without(["torch"]) + "import importlib.util as u\nprint(u.find_spec('torch'))"
    assert subprocess.check_output([sys.executable, "-c", program], text=True) == "None\n"


def test_faults_name_what_failed_and_what_was_too_large():
    fine = {"seconds": 3.0, "first_output": 1.0, "peak_mib": 300}
    found = {"a": fine, "b": "NameError: x", "c": fine | {"peak_mib": 2048}}
    assert colab.faults(found) == ["b: NameError: x", "c: held 2048 MiB, 2048 are allowed"]


def test_measurements_of_several_runs_are_gathered(tmp_path, monkeypatch):
    monkeypatch.setattr(colab, "version", lambda name: "1.0+cpu")
    out, fine = tmp_path / "colab.json", {"seconds": 3.0, "first_output": 1.0, "peak_mib": 300}
    colab.note({"b": fine, "failed": "NameError: x"}, [], out)
    colab.note({"a": fine}, [], out)
    colab.note({"a": fine}, ["torch"], out)
    kept = json.loads(out.read_text())
    assert kept["notebooks"] == {"a": fine, "b": fine}
    assert kept["without_torch"] == ["a"]
    assert set(kept["versions"].values()) == {"1.0"}


def test_binder_takes_a_python_and_a_group_that_the_package_has():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    runtime = (ROOT / "binder" / "runtime.txt").read_text().strip()
    assert f"Programming Language :: Python :: {runtime.removeprefix('python-')}" in set(
        project["classifiers"]
    )
    script = ROOT / "binder" / "postBuild"
    assert script.stat().st_mode & 0o111
    assert subprocess.run(["bash", "-n", str(script)]).returncode == 0
    install = re.search(r"pip install .*-c (\S+) \"\.\[(\w+)\]\"", script.read_text())
    assert (ROOT / install[1]).is_file()
    assert install[2] in project["optional-dependencies"]


def test_binders_versions_are_inside_the_bounds_of_the_package():
    """What -c requirements.txt offers must satisfy what the package asks for."""
    from packaging.requirements import Requirement

    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    lines = (ROOT / "requirements.txt").read_text().splitlines()
    pinned = dict(line.lower().split("==") for line in lines if re.match(r"[\w.-]+==", line))
    groups = [project["dependencies"], *project["optional-dependencies"].values()]
    asked = [Requirement(one) for group in groups for one in group]
    for one in asked:
        if one.name != "posenc":
            assert one.specifier.contains(pinned[one.name.lower()]), one
