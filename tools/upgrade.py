"""Try the newest torch, transformers and Sphinx, one at a time: what breaks, and what to bump?

    python tools/upgrade.py             # all three, `make upgrade`; the Weekly workflow does so
    python tools/upgrade.py sphinx      # one of them

Each gets an environment and a copy of the repository of its own, which are thrown away. There pip
first installs our pins and then the newest release of that one package, with no more around it than
that release asks for. (Sphinx is tried without Jupyter Book, which holds it below 8, and so without
the pins.) Then a part of our tests runs that hangs on it most. Every line that a test reports as
wrong is counted. Where nothing breaks, the lines of the pins that should change are printed.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import repository

PINS = ("requirements.txt", "peers/requirements.txt")
PIN = re.compile(r"^([\w.-]+)==(\S+)", re.MULTILINE)
FAMILIES = ("llama", "qwen3", "gemma3_text", "gpt_oss", "bloom", "t5")  # of transformers
SHOWN = 20  # lines of what breaks
LAST = 9  # lines of what a command said last, where none of them says what is wrong


@dataclass(frozen=True)
class Step:
    """One package that is taken anew."""

    package: str
    needs: str  # what pip installs first
    checks: tuple[
        tuple[str, ...], ...
    ]  # commands of the environment's Python, "{python}" elsewhere
    wrong: str  # a line of theirs that counts, as a regular expression


STEPS = {
    "torch": Step(
        "torch",
        "-c requirements.txt -e src -e .[bench] hypothesis pytest pyyaml",
        (("{python}", "-m", "pytest", "tests/torch", "-q", "-p", "no:cacheprovider"),),
        r"^(FAILED|ERROR) ",
    ),
    "transformers": Step(
        "transformers",
        "-c requirements.txt -c peers/requirements.txt -e src -e .[torch] transformers",
        (
            ("{python}", "-m", "peers", "--only", "transformers"),
            ("{python}", "-m", "peers.register.compare", *FAMILIES),
        ),
        r"^transformers, .*: |^\w+ \{",
    ),
    "sphinx": Step(
        "Sphinx",
        "-r tools/plain_sphinx.txt -e src -e .",
        ((sys.executable, "tools/plain_sphinx.py", "{python}"),),
        r"\b(WARNING|ERROR|CRITICAL): |^\w*Error\b",
    ),
}


@dataclass(frozen=True)
class Outcome:
    """What came of a step."""

    package: str
    pinned: str
    newest: str
    broken: list[str]  # lines that say what is wrong
    bump: list[str]  # "file: package==version" for each pin that is another one now


def pins(root: Path) -> dict[str, tuple[str, str]]:
    """Return (version, file) of each pinned package, by its name as pip normalises it."""
    texts = {
        name: (root / name).read_text(encoding="utf-8") for name in PINS if (root / name).is_file()
    }
    return {
        _normal(package): (version, name)
        for name, text in texts.items()
        for package, version in PIN.findall(text)
    }


def _normal(package: str) -> str:
    return re.sub(r"[-_.]+", "-", package).lower()


def attempt(step: Step, root: Path = repository.ROOT) -> Outcome:
    """Take one package anew, in an environment and a copy of its own."""
    pinned = pins(root)
    with tempfile.TemporaryDirectory(prefix="upgrade-") as folder:
        copy = Path(folder, "copy")
        repository.copy_to(copy, root)
        subprocess.run(["git", "init", "--quiet", copy], check=True)  # tools ask it for files
        subprocess.run([sys.executable, "-m", "venv", f"{folder}/venv"], check=True)
        python = f"{folder}/venv/{'Scripts' if os.name == 'nt' else 'bin'}/python"
        pip = [python, "-m", "pip", "--disable-pip-version-check"]
        for what in (step.needs.split(), ("--upgrade", step.package)):
            done = _run([*pip, "install", "--quiet", *what], copy)
            if done.returncode:
                return Outcome(
                    step.package, _version(pinned, step), "?", _lines(done, r"ERROR: "), []
                )
        listed = json.loads(_run([*pip, "list", "--format", "json"], copy).stdout)
        now = {_normal(one["name"]): one["version"].partition("+")[0] for one in listed}
        broken = []
        for check in step.checks:
            done = _run([part.replace("{python}", python) for part in check], copy)
            found = _lines(done, step.wrong)
            broken += found if done.returncode or len(found) else []
    moved = [one for one in pinned if now.get(one, pinned[one][0]) != pinned[one][0]]
    bump = [f"{pinned[one][1]}: {one}=={now[one]}, not {pinned[one][0]}" for one in moved]
    return Outcome(step.package, _version(pinned, step), now[_normal(step.package)], broken, bump)


def _version(pinned: dict, step: Step) -> str:
    return pinned.get(_normal(step.package), ("not pinned", ""))[0]


def _run(command: list[str], folder: Path) -> subprocess.CompletedProcess:
    print("$", *command, flush=True)
    environment = {**os.environ, "PYTHONPATH": ""}
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)


def _lines(done: subprocess.CompletedProcess, wrong: str) -> list[str]:
    """Return the lines that say what is wrong; the last ones in one where a command only failed."""
    said = [line for line in f"{done.stdout}\n{done.stderr}".splitlines() if line.strip()]
    found = [line for line in said if re.search(wrong, line)]
    return found or (["\n".join(said[-LAST:]) or "it said nothing"] if done.returncode else [])


def told(outcome: Outcome) -> str:
    """Return what came of a step, for people and for the page of a run."""
    lines = [f"## {outcome.package} {outcome.pinned} -> {outcome.newest}", ""]
    if outcome.broken:
        more = len(outcome.broken) - SHOWN
        lines += [f"{len(outcome.broken)} broken. Keep the pin until these are mended:", "```text"]
        lines += [*outcome.broken[:SHOWN], *([f"... and {more} more"] if more > 0 else []), "```"]
    elif outcome.bump:
        lines += ["Nothing breaks. To bump:", "", *(f"- {one}" for one in outcome.bump)]
    else:
        lines += ["Nothing breaks, and nothing is newer than the pins."]
    return "\n".join(lines) + "\n"


def main(arguments: list[str] | None = None) -> int:
    """Try the packages that are named, or all; return 1 where something breaks."""
    parser = argparse.ArgumentParser(description="Try newer packages: what breaks, what to bump?")
    parser.add_argument("packages", nargs="*", help=f"of {', '.join(STEPS)}; by default all")
    asked = parser.parse_args(arguments).packages or [*STEPS]
    if unknown := [one for one in asked if one not in STEPS]:
        parser.error(f"packages must be some of {', '.join(STEPS)}; got {unknown[0]!r}")
    outcomes = [attempt(STEPS[one]) for one in asked]
    text = "\n".join(map(told, outcomes))
    print(f"\n{text}")
    if summary := os.environ.get("GITHUB_STEP_SUMMARY"):
        with open(summary, "a", encoding="utf-8") as page:
            page.write(text)
    return int(any(one.broken for one in outcomes))


if __name__ == "__main__":
    sys.exit(main())
