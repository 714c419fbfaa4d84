"""Run the classes of a public repository, one by one, and say what each of them does.

Each distinct class runs in a process of its own, with a limit in time and memory, in an empty
folder. That keeps endless loops and crashes away; it is no sandbox, so read a repository before you
run it. Of the repository nothing is kept but counts, hashes and measurements.

The measuring stands in `probes.py`, which the processes run.
"""

import datetime
import json
import os
import platform
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path
from typing import Any

import torch

from experiments.published_code import definitions
from experiments.published_code.definitions import Definition
from posenc import _checks

HERE = Path(__file__).parent
PROBES = {  # class -> what it is asked, see `probes.py`
    "AbsolutePositionalEncoding": "added",
    "Attention_Rel_Scl": "heads",
    "Attention_Rel_Vec": "skew",
    "ConvSPE": "convolution",
    "DFTEncoding": "decay",
    "FixedPositionalEncoding": "added",
    "LearnablePositionalEncoding": "added",
    "LearnedPositionalEncoding": "added",
    "PositionalEncoding": "added",
    "SineSPE": "table",
    "TemporalPositionalEncoding": "table",
    "TUPEMultiHeadAttention": "tupe",
    "VanillaEncoding": "decay",
    "tAPE": "added",
}
KEYWORDS = ("pos_encoding", "pos_encoding_type", "attention_type")
SECONDS = 20.0  # for a class
LOADING = 240.0  # for the libraries, once, on a busy machine


def survey(folder: Path, seconds: float = SECONDS) -> dict[str, Any]:
    """Return what the classes of a checkout do that this module has a question for."""
    folder, seconds = Path(folder), _checks.positive("seconds", seconds)
    commit = commit_of(folder)
    found, broken = definitions.in_folder(folder)
    groups: dict[tuple[str, str], list[Definition]] = defaultdict(list)
    for one in found:
        if one.name in PROBES:
            groups[one.name, one.digest].append(one)
    first = [(same[0], PROBES[name]) for (name, _), same in sorted(groups.items())]
    answers = ask(first, seconds)
    modules = [
        {
            "name": name,
            "digest": digest,
            "places": len(same),
            "in_notebooks": sum(".ipynb" in one.place for one in same),
            "first": same[0].place,
            "found": answer,
        }
        for ((name, digest), same), answer in zip(sorted(groups.items()), answers, strict=True)
    ]
    return {
        "repository": repository_of(folder),
        "commit": commit,
        "unreadable": broken,
        "named": {key: definitions.named(folder, key) for key in KEYWORDS},
        "missing": sorted(PROBES.keys() - {name for name, _ in groups}),
        "modules": modules,
    }


def store(folder: Path, out: Path) -> None:
    """Store what the classes of a checkout do, beside what is stored of other repositories."""
    found = survey(folder) | {
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
        "torch": torch.__version__,
        "python": platform.python_version(),
    }
    known = json.loads(out.read_text(encoding="utf-8")) if out.is_file() else []
    kept = [one for one in known if one["repository"] != found["repository"]]
    text = json.dumps(sorted([*kept, found], key=lambda one: one["repository"]), indent=1)
    out.write_text(text + "\n", encoding="utf-8")


def ask(asked: list[tuple[Definition, str]], seconds: float = SECONDS) -> list[dict[str, Any]]:
    """Return what some classes do, each measured in a process of its own."""
    orders = [
        {
            "name": one.name,
            "imports": list(one.imports),
            "definitions": [*one.needs, one.source],
            "probe": probe,
        }
        for one, probe in asked
    ]
    if not orders:
        return []
    with tempfile.TemporaryDirectory() as empty:
        kept = ("PATH", "PYTHONPATH", "LD_LIBRARY_PATH")
        environment = {name: os.environ[name] for name in kept if name in os.environ}
        run = subprocess.run(
            [sys.executable, "-P", str(HERE / "probes.py")],
            cwd=empty,
            env=environment | {"OMP_NUM_THREADS": "1", "HOME": empty},
            input=json.dumps({"seconds": seconds, "orders": orders}),
            capture_output=True,
            text=True,
            timeout=LOADING + len(orders) * (10 * seconds + 1),
        )
        if run.returncode:
            raise RuntimeError(f"the probes did not run: {run.stderr.strip()[-500:]}")
        return [_answer(Path(empty) / f"{i}.json", seconds) for i in range(len(orders))]


def _answer(path: Path, seconds: float) -> dict[str, Any]:
    """Return what a process wrote, or why there is nothing."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {"error": f"no answer: it crashed, or took more than {seconds:g} seconds"}


def commit_of(folder: Path) -> str:
    """Return the commit of a checkout, marked where its files were changed since."""
    if not (Path(folder) / ".git").exists():
        raise ValueError(
            f"folder must be that of a git checkout, so that its commit is known, got {folder}"
        )
    changed = _git(folder, "status", "--porcelain", "--untracked-files=no")
    return _git(folder, "rev-parse", "--short=7", "HEAD") + (" with changes" if changed else "")


def repository_of(folder: Path) -> str:
    """Return owner and name of the repository of a checkout; without one its folder's name."""
    try:
        address = _git(folder, "remote", "get-url", "origin")
    except ValueError:
        return Path(folder).resolve().name
    parts = address.removesuffix("/").removesuffix(".git").replace(":", "/").split("/")
    return "/".join(parts[-2:])


def _git(folder: Path, *arguments: str) -> str:
    """Return what git says of a folder."""
    command = ["git", "-C", str(folder), *arguments]
    run = subprocess.run(command, capture_output=True, text=True)
    if run.returncode:
        raise ValueError(
            f"folder must be that of a git checkout which git can read, got {folder}: "
            f"{run.stderr.strip()}"
        )
    return run.stdout.strip()
