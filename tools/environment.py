"""Make sure that an environment which is there can be used, before `make` installs into it.

    python3 tools/environment.py .venv .venv-peers

An installation that was stopped leaves an environment without pip; a system that was brought up to
date, one whose Python is gone or another; a folder that was moved or copied, one whose commands
belong to the old place. Pip is added where it alone is missing. What cannot be mended is put aside,
and `make` makes it anew. A link, or a folder that is no environment, is left alone: the line on
standard output then says what to do, and ends `make`.

The Python that runs this is the system's, so it may be an old one.
"""

import os
import re
import subprocess
import sys
from pathlib import Path

OLDEST = (3, 11)
ASK = """\
import sys
from importlib.util import find_spec
print(*sys.version_info[:2])
print("pip" if find_spec("pip") and find_spec("pip._internal") else "")
"""
NO_PIP = "it has no pip, as after an installation that was stopped"


def fault(folder: Path) -> str:
    """Return why an environment cannot be used; nothing if it can, or where there is none."""
    python, settings = folder / "bin" / "python", folder / "pyvenv.cfg"
    made = settings.read_text(encoding="utf-8") if settings.is_file() else ""
    if not made and not os.path.lexists(python):
        return ""
    place = re.search(r"^command = .* -m venv (?:--\S+ )*(.+)$", made, re.MULTILINE)
    if place and os.path.realpath(place[1]) != os.path.realpath(folder):
        return f"it was made as {place[1]}, and moved or copied"
    try:
        run = subprocess.run([python, "-c", ASK], stdout=subprocess.PIPE, check=True)
        version, has_pip = run.stdout.decode().split("\n")[:2]
    except (OSError, ValueError, subprocess.CalledProcessError):
        return "its Python does not run"
    has = tuple(map(int, version.split()))
    before = re.search(r"^version(?:_info)? = (\d+)\.(\d+)", made, re.MULTILINE)
    if before and has != (int(before[1]), int(before[2])):
        return f"it was made for Python {before[1]}.{before[2]}, and that is now {_dots(has)}"
    if has < OLDEST:
        return f"its Python is {_dots(has)}, and {_dots(OLDEST)} or newer is needed"
    return "" if has_pip else NO_PIP


def _dots(version: tuple) -> str:
    return ".".join(map(str, version))


def _free(folder: Path) -> Path:
    """Return the first name beside a folder that nobody has."""
    names = (folder.with_name(f"{folder.name}-old{n}") for n in range(1, 1000))
    return next(path for path in names if not os.path.lexists(path))


def mended(folder: Path) -> str:
    """Mend an environment or put it aside; return what a person must do, if anything is left."""
    why = fault(folder)
    if why == NO_PIP:
        command = [folder / "bin" / "python", "-m", "ensurepip", "--upgrade"]
        done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        if done.returncode == 0 and not fault(folder):
            print(f"{folder}: {why}. Pip was added.", file=sys.stderr)
            return ""
    if why and (folder.is_symlink() or not (folder / "pyvenv.cfg").is_file()):
        return f"{folder} cannot be used: {why}. Remove it, then run make again"
    if why:
        aside = _free(folder)
        folder.rename(aside)
        print(
            f"{folder} could not be used: {why}. It is made anew; the old one is now {aside}, "
            "which you may remove.",
            file=sys.stderr,
        )
    return ""


if __name__ == "__main__":
    print("; ".join(filter(None, (mended(Path(name)) for name in sys.argv[1:]))))
