"""Both packages as one wheel, and the set-up cell that fetches it: what a notebook was made from.

    python tools/wheels.py _build/wheels    # make the wheel of this commit, print where it lies

A wheel lies under its digest, so a notebook that names it never meets another package. All of them
stand on the branch of the notebooks; `tools/notebooks_branch.py` says which are kept.
"""

import hashlib
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import repository
from repository import ROOT

PACKAGE = "."  # what `pip install` is given, seen from the top of the repository
BRANCH = "notebooks"
FOLDER = "wheels"  # on that branch
NEWEST = "newest.txt"  # a file of that folder that names a wheel of it
SET_UP = """\
import sys
from importlib import invalidate_caches
from importlib.util import find_spec
from urllib.error import HTTPError, URLError
from urllib.request import Request, urlopen

WHEELS, WHEEL = "{wheels}", "{wheel}"
if find_spec("posenc_book") is None and sys.platform != "emscripten":  # on Colab: add only these
    try:
        urlopen(Request(f"{{WHEELS}}/{{WHEEL}}", method="HEAD")).close()
    except HTTPError:
        print("The wheel that this notebook was made with is gone. This is the newest one.")
        WHEEL = urlopen(f"{{WHEELS}}/{newest}").read().decode().strip()
    except URLError:
        pass  # no network: the next lines say what to do
    %pip install --quiet --no-deps {{WHEELS}}/{{WHEEL}}
    invalidate_caches()
if find_spec("posenc_book") is None:
    raise ModuleNotFoundError(
        "This notebook needs posenc and posenc_book, which are not here and could not be fetched. "
        "Run 'pip install ./src .' in a copy of {address}, "
        "then run this cell again."
    )"""


def address() -> str:
    """Return where the wheels can be fetched."""
    slug = repository.slug(repository.address())
    return f"https://raw.githubusercontent.com/{slug}/{BRANCH}/{FOLDER}"


def set_up(wheel: str, wheels: str | None = None) -> str:
    """Return the set-up cell of a notebook that was made with a wheel.

    Parameters
    ----------
    wheel : str
        Its digest and its name, such as "3f2a.../posenc-0.1.0-py3-none-any.whl".
    wheels : str, optional
        Where wheels can be fetched, if not from the branch of the notebooks.
    """
    named = {"wheel": wheel, "wheels": wheels or address(), "newest": NEWEST}
    return SET_UP.format(**named, address=repository.address())


def make(commit: str, folder: Path, root: Path = ROOT) -> str:
    """Make the wheel of a commit under its digest in a folder; return its path from there."""
    git = ("git", "-C", str(root))
    when = subprocess.check_output([*git, "log", "-1", "--format=%ct", commit], text=True).strip()
    with tempfile.TemporaryDirectory() as place:
        archive = subprocess.check_output([*git, "archive", commit])
        subprocess.run(["tar", "-x", "-C", place], input=archive, check=True)
        pip = [sys.executable, "-m", "pip", "wheel", "--quiet", "--disable-pip-version-check"]
        pip += ["--no-deps", "--no-build-isolation", "--wheel-dir", f"{place}/made", PACKAGE]
        subprocess.run(
            pip,
            cwd=place,
            check=True,
            env=os.environ | {"SOURCE_DATE_EPOCH": when, "BOTH_HOUSES": "1"},
        )
        (made,) = Path(place, "made").glob("*.whl")
        return store(made, folder)


def store(wheel: Path, folder: Path) -> str:
    """Copy a wheel under its digest into a folder; return its path from there."""
    content = wheel.read_bytes()
    kept = Path(hashlib.sha256(content).hexdigest()[:16], wheel.name)
    (folder / kept).parent.mkdir(parents=True, exist_ok=True)
    (folder / kept).write_bytes(content)
    return kept.as_posix()


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("name a folder: python tools/wheels.py _build/wheels")
    print(make("HEAD", Path(sys.argv[1])))
