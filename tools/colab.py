"""Run the notebook edition as Colab does: its versions, and the wheel that the notebooks name.

    python tools/colab.py pins [pip-freeze.txt]    # Colab's versions of what the notebooks need
    python tools/colab.py setup                    # the set-up cell, also without network or wheel
    python tools/colab.py run [--only a,b] [--without torch] [--out results/colab.json]

Run the last two by the Python of an environment that holds those pins and no `posenc`, after
`make edition`. `setup` serves the wheels to this machine alone, and leaves the package there. `run`
needs no network. It notes for each notebook the seconds, those to the first output, those of them
that the kernel computed (on a busy machine the rest is waiting), and the most memory.
"""

import argparse
import json
import os
import platform
import re
import resource
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from importlib.metadata import version
from pathlib import Path

import wheels
from notebooks_branch import OUT as BRANCH
from repository import ROOT, notebooks

EDITION = BRANCH / "book"

PINS = ROOT / ".github" / "colab-constraints.txt"
MEMORY = 2048  # MiB that the kernel of a notebook may hold
FIRST_OUTPUT = 10  # seconds that it may compute before it shows something
TIMEOUT = 900  # seconds a cell
# `name==1.2` or `name @ https://.../name-1.2%2Bcpu-cp313.whl`
LINE = re.compile(r"(?P<name>[\w.-]+)(?:==| @ .*/[\w.]+?-)(?P<version>\d+(?:\.\d+)*)")


def pins(freeze: str, names: list[str]) -> list[str]:
    """Return `name==version` of each name, from the text of a `pip freeze`."""
    found = {m["name"].lower(): m["version"] for m in map(LINE.match, freeze.splitlines()) if m}
    missing = [name for name in names if name.lower() not in found]
    if missing:
        raise ValueError(f"freeze must name {', '.join(missing)}, which it does not")
    return [f"{name}=={found[name.lower()]}" for name in names]


def needed() -> list[str]:
    """Return the names in the list of pins that the repository holds."""
    return re.findall(r"^([\w-]+)==", PINS.read_text(), re.MULTILINE)


HIDE = """\
from importlib.machinery import PathFinder

find, hidden = PathFinder.find_spec, {}
PathFinder.find_spec = lambda name, *rest: None if name in hidden else find(name, *rest)
"""


def without(names: list[str]) -> str:
    """Return a module `sitecustomize` that hides packages from the Python that finds it."""
    return HIDE.format(names)


class Quiet(SimpleHTTPRequestHandler):
    """Serves files and tells nobody."""

    def log_message(self, *_: object) -> None:
        """Print nothing."""


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """Serve a folder to this machine alone; yield its address."""
    handler = partial(Quiet, directory=str(folder))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def run_set_up(source: str) -> tuple[str, str]:
    """Run a set-up cell and one more; return what the first printed and what it failed with."""
    import nbformat
    from nbclient import NotebookClient
    from nbclient.exceptions import CellExecutionError

    code = nbformat.v4.new_code_cell
    notebook = nbformat.v4.new_notebook(cells=[code(source), code("import posenc_book")])
    failed = ""
    try:
        NotebookClient(notebook, timeout=TIMEOUT, kernel_name="python3").execute()
    except CellExecutionError as error:
        if notebook.cells[1].execution_count is not None:
            raise  # the set-up cell let the next one fail
        failed = error.evalue
    return "".join(output.get("text", "") for output in notebook.cells[0].outputs), failed


def set_up(branch: Path = BRANCH) -> None:
    """Try the set-up cell without a network, with its wheel, with a lost one, and once more."""
    kept = branch / wheels.FOLDER
    wheel = (kept / wheels.NEWEST).read_text(encoding="utf-8").strip()
    remove = [sys.executable, "-m", "pip", "uninstall", "--quiet", "--yes", "posenc-book"]
    _, failed = run_set_up(wheels.set_up(wheel, "http://127.0.0.1:9"))
    if "then run this cell again" not in failed:
        sys.exit(
            f"without a network the set-up cell must say what to do, it failed with {failed!r}"
        )
    print("without a network:", failed)
    with served(kept) as address:
        lost = wheels.set_up(f"0000/{Path(wheel).name}", address)
        for cell, expected in ((lost, "is gone"), (wheels.set_up(wheel, address), "")):
            printed, failed = run_set_up(cell)
            if failed or expected not in printed:
                sys.exit(f"a set-up cell must add the package, it said {printed!r}, {failed!r}")
            if expected:
                print("with a wheel that is not kept:", printed.strip())
                subprocess.run(remove, check=True)
    printed, failed = run_set_up(wheels.set_up(wheel, "http://127.0.0.1:9"))
    if printed or failed:
        sys.exit(
            f"with the package the set-up cell must do nothing, it said {printed!r}, {failed!r}"
        )
    print("the package was added, and the set-up cell finds it")


def computed(pid: int) -> float:
    """Return the seconds that a process, and those that it waited for, had a processor."""
    import psutil

    times = psutil.Process(pid).cpu_times()
    return times.user + times.system + times.children_user + times.children_system


def run_one(path: Path) -> dict[str, float]:
    """Run a notebook and return its seconds, those to its first output, and its peak in MiB."""
    import nbformat
    from nbclient import NotebookClient

    started, first = time.perf_counter(), []

    class Client(NotebookClient):
        def output(self, *message):
            if not first:
                first.append(time.perf_counter() - started)
                first.append(computed(self.km.provisioner.pid))
            return super().output(*message)

    notebook = nbformat.read(path, as_version=4)
    with tempfile.TemporaryDirectory() as folder:
        resources = {"metadata": {"path": folder}}
        Client(notebook, timeout=TIMEOUT, kernel_name="python3", resources=resources).execute()
    seconds = time.perf_counter() - started
    first = first or [seconds, 0.0]  # text alone
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024  # the kernel's
    return {
        "seconds": round(seconds, 1),
        "first_output": round(first[0], 1),
        "first_output_computed": round(first[1], 1),
        "peak_mib": round(peak),
    }


def chosen(only: str | None, folder: Path = EDITION) -> list[Path]:
    """Return the notebooks of the edition to run: all, or those named."""
    paths = {path.stem: path for path in notebooks(folder)}
    if not paths:
        raise ValueError(f"{folder} holds no notebooks: run `make edition` first")
    names = list(paths) if only is None else [name for name in only.split(",") if name]
    unknown = [name for name in names if name not in paths]
    if unknown or not names:
        raise ValueError(f"--only must name notebooks of {sorted(paths)}, got {only!r}")
    return [paths[name] for name in names]


def run(paths: list[Path], hidden: list[str]) -> dict[str, dict | str]:
    """Run notebooks, each in a process of its own; return what was measured or what went wrong."""
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "sitecustomize.py").write_text(without(hidden))
        environment = os.environ | {"PYTHONPATH": folder, "OMP_NUM_THREADS": "1"}
        for path in paths:
            command = [sys.executable, __file__, "one", str(path)]
            done = subprocess.run(command, capture_output=True, text=True, env=environment)
            name = path.as_posix().rpartition("/book/")[2].removesuffix(".ipynb")
            lines = (done.stderr if done.returncode else done.stdout).strip().splitlines()
            found[name] = lines[-1] if done.returncode else json.loads(lines[-1])
            print(f"{name}: {found[name]}", flush=True)
    return found


def faults(found: dict[str, dict | str]) -> list[str]:
    """Return a line for each notebook that failed, was slow to begin, or held too much memory."""
    wrong = [f"{name}: {one}" for name, one in found.items() if isinstance(one, str)]
    for name, one in found.items():
        if not isinstance(one, dict):
            continue
        if one.get("peak_mib", 0) >= MEMORY:
            wrong.append(f"{name}: held {one['peak_mib']} MiB, {MEMORY} are allowed")
        if (seconds := one["first_output_computed"]) > FIRST_OUTPUT:
            wrong.append(f"{name}: computed {seconds} s to its first output, not {FIRST_OUTPUT}")
    return wrong


def note(found: dict[str, dict | str], hidden: list[str], out: Path) -> None:
    """Add what was measured to a file; what ran without a package is only named there."""
    kept = json.loads(out.read_text()) if out.is_file() else {}
    ran = {name: one for name, one in found.items() if isinstance(one, dict)}
    if hidden:
        key = f"without_{'_'.join(hidden)}"
        kept[key] = sorted({*kept.get(key, []), *ran})
    else:
        kept["python"] = platform.python_version()
        kept["versions"] = {name: version(name).partition("+")[0] for name in needed()}
        kept["notebooks"] = dict(sorted((kept.get("notebooks", {}) | ran).items()))
    out.write_text(json.dumps(kept, indent=1) + "\n")


def main() -> None:
    """Do what the command line asks for; end with an error where a notebook fails."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "what",
        choices=["pins", "setup", "run", "one"],
        help="see the first lines of this file; one is for a single notebook",
    )
    parser.add_argument("path", nargs="?", type=Path, help="a pip freeze, or a notebook")
    parser.add_argument("--only", metavar="NAME,NAME", help="notebooks without folder or ending")
    parser.add_argument("--without", nargs="+", default=[], help="packages to hide")
    parser.add_argument("--out", type=Path, help="file that takes what was measured")
    options = parser.parse_args()
    if options.what == "pins":
        freeze = (options.path or PINS).read_text()
        print("\n".join(pins(freeze, needed())))
    elif options.what == "setup":
        set_up()
    elif options.what == "one":
        print(json.dumps(run_one(options.path)))
    else:
        found = run(chosen(options.only), options.without)
        if options.out:
            note(found, options.without, options.out)
        sys.exit("\n".join(faults(found)) or 0)


if __name__ == "__main__":
    main()
