"""Do what Binder would do with this repository, as far as that goes without containers.

    python tools/binder.py plan              # what repo2docker, which Binder runs, would build
    python tools/binder.py install FOLDER    # the same by pip, in a new environment
    python tools/binder.py run FOLDER [--out results/colab.json]    # a notebook in there

The first two need the package `jupyter-repo2docker`. Conda's part of the image is imitated: its
Jupyter packages at their versions, from PyPI. Then `binder/postBuild` runs as it is.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from repository import ROOT

RUNTIME = ROOT / "binder" / "runtime.txt"
JUPYTER = ["ipykernel", "ipython", "jupyter_client", "jupyterlab", "nbclient", "notebook"]
NOTEBOOK = "order-blindness"


def wanted() -> str:
    """Return the version of Python that the repository asks for."""
    return RUNTIME.read_text().strip().removeprefix("python-")


def faults(plan: str) -> list[str]:
    """Return what is wrong with a plan of repo2docker, in sentences."""
    found = re.search(r"conda environment for python=(\S+)", plan)
    wrong = []
    if not found or found[1] != wanted():
        wrong.append(f"Python {wanted()} is asked for, the plan has {found and found[1]}")
    if "RUN ./binder/postBuild" not in plan:
        wrong.append("binder/postBuild does not run")
    if re.search(r"^RUN .*requirements\.txt", plan, re.MULTILINE):
        wrong.append("requirements.txt is a list of constraints, and the plan installs all of it")
    return wrong


def plan() -> str:
    """Return what repo2docker would build: its words and the Dockerfile."""
    command = [sys.executable, "-m", "repo2docker", "--no-build", "--debug", str(ROOT)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
    if done.returncode:
        sys.exit(done.stderr)
    return done.stdout + done.stderr


def pins(lock: str) -> list[str]:
    """Return `name==version` of the Jupyter packages in one of repo2docker's lists for conda."""
    named = "|".join(JUPYTER)
    return ["==".join(found) for found in re.findall(rf"/({named})-([\d.]+)-[^/]*\.conda", lock)]


def install(folder: Path) -> None:
    """Make an environment with conda's Jupyter packages, and let postBuild add the rest."""
    import repo2docker

    lists = Path(repo2docker.__file__).parent / "buildpacks" / "conda"
    lock = (lists / f"environment.py-{wanted()}-linux-64.lock").read_text()
    subprocess.run([f"python{wanted()}", "-m", "venv", str(folder)], check=True)
    call = {"check": True, "env": _inside(folder), "cwd": ROOT}
    subprocess.run(["python", "-m", "pip", "install", "--quiet", *pins(lock)], **call)
    subprocess.run([str(ROOT / "binder" / "postBuild")], **call)
    subprocess.run(["python", "-m", "pip", "check"], **call)


def _inside(folder: Path) -> dict[str, str]:
    return os.environ | {"PATH": f"{folder.resolve() / 'bin'}{os.pathsep}{os.environ['PATH']}"}


def run(folder: Path) -> dict[str, str | float]:
    """Run a notebook in that environment, away from the repository; return what was seen."""
    environment = _inside(folder)
    environment.pop("PYTHONPATH", None)
    path, started = ROOT / "book" / f"{NOTEBOOK}.ipynb", time.perf_counter()
    with tempfile.TemporaryDirectory() as empty:
        subprocess.run(["jupyter", "execute", str(path)], check=True, env=environment, cwd=empty)
    seconds = round(time.perf_counter() - started, 1)
    listed = subprocess.check_output(
        ["python", "-m", "pip", "list", "--format=json"], env=environment, text=True
    )
    versions = {one["name"]: one["version"] for one in json.loads(listed)}
    kept = ("torch", "numpy", "ipykernel", "jupyterlab")
    return {
        "python": wanted(),
        "versions": {name: versions[name].partition("+")[0] for name in kept},
        "notebook": NOTEBOOK,
        "seconds": seconds,
    }


def main() -> None:
    """Do what the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "what",
        choices=["plan", "install", "run"],
        help="say what Binder would do, do it, or run the notebooks there",
    )
    parser.add_argument("folder", nargs="?", type=Path, help="the environment")
    parser.add_argument("--out", type=Path, help="file that takes what was seen")
    options = parser.parse_args()
    if options.what != "plan" and not options.folder:
        parser.error(f"{options.what} needs the folder of an environment")
    if options.what == "plan":
        text = plan()
        print(text)
        sys.exit("\n".join(faults(text)) or 0)
    if options.what == "install":
        install(options.folder)
        return
    seen = run(options.folder)
    print(json.dumps(seen, indent=1))
    if options.out:
        kept = json.loads(options.out.read_text()) | {"binder": seen}
        options.out.write_text(json.dumps(kept, indent=1) + "\n")


if __name__ == "__main__":
    main()
