"""Plant mistakes that a person makes, one at a time, and see whether the tests notice.

    python tools/mutations.py                # all of them, some minutes
    python tools/mutations.py rope padding   # those with one of these words in file or description

`mutations.toml` lists them. Each changes one place of a copy of the repository, in a folder that is
removed in the end.
The tests that should notice run there: first all of them without a mistake, then those of each. One
that survives is told apart, and ends the command with an error: write the test that is missing.
The sandbox needs Linux with user namespaces.
"""

import os
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import repository

LIST = Path(__file__).with_suffix(".toml")
FAILED = 1  # pytest's exit status where tests ran and some failed
PATIENCE = 900  # seconds that the tests of one mistake may take; a hang is noticed, too


class Mistake(NamedTuple):
    """One place of a file, what stands there instead, and the tests that should notice."""

    what: str
    file: str
    old: str
    new: str
    tests: list[str]


MISTAKES = [
    Mistake(**values) for values in tomllib.loads(LIST.read_text(encoding="utf-8"))["mistake"]
]


def planted(mistake: Mistake, root: Path) -> str:
    """Return the file with the mistake in it; a ValueError where its place is not found once."""
    text = (root / mistake.file).read_text(encoding="utf-8")
    if text.count(mistake.old) != 1:
        raise ValueError(
            f"{mistake.file} must hold {mistake.old!r} once for the mistake {mistake.what!r}, "
            f"got it {text.count(mistake.old)} times"
        )
    return text.replace(mistake.old, mistake.new)


def run(tests: Sequence[str], root: Path) -> tuple[int, str]:
    """Return pytest's exit status, and what it printed; a hang counts as a failure."""
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", *tests]
    environment = {
        **os.environ,
        "OMP_NUM_THREADS": "1",
        "POSENC_REQUIRE_SANDBOX": "1",
        "PYTHONPATH": str(root / "src"),
    }
    try:
        done = subprocess.run(
            command,
            cwd=root,
            env=environment,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return FAILED, "it hangs"
    return done.returncode, done.stdout + done.stderr


def survives(mistake: Mistake, root: Path) -> bool:
    """Plant a mistake, run its tests, take it back; return whether no test has noticed."""
    path = root / mistake.file
    right, wrong = path.read_text(encoding="utf-8"), planted(mistake, root)
    path.write_text(wrong, encoding="utf-8")
    try:
        return run(mistake.tests, root)[0] != FAILED
    finally:
        path.write_text(right, encoding="utf-8")


def main(words: Sequence[str]) -> None:
    """Try all mistakes, or those with one of the words in their description or file."""
    chosen = [m for m in MISTAKES if not words or any(w in f"{m.what} {m.file}" for w in words)]
    if not chosen:
        sys.exit(f"no mistake has one of these words: {', '.join(words)}")
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        repository.copy_to(root)
        status, said = run(sorted({test for m in chosen for test in m.tests}), root)
        if status:
            sys.exit(f"{said}\nThe tests fail without any mistake planted: mend that first.")
        survivors = 0
        for mistake in chosen:
            begun = time.monotonic()
            survived = survives(mistake, root)
            survivors += survived
            seconds = time.monotonic() - begun
            verdict = "SURVIVED" if survived else "caught"
            print(f"{verdict:8} {seconds:4.0f} s  {mistake.what} ({mistake.file})", flush=True)
    print(f"{len(chosen) - survivors} of {len(chosen)} mistakes were caught")
    sys.exit(survivors > 0)


if __name__ == "__main__":
    main(sys.argv[1:])
