"""Build the site into _build/html: only what changed, and all where that cannot be told.

    python tools/build.py              # what changed since the last build
    python tools/build.py --clean      # everything
    python tools/build.py --student    # without solutions, into _build/student

Two builds at once would spoil each other's pages, so the second one waits for the first.

A build begins anew when settings, table of contents, extensions, references or an installed package
changed since the last one, and when the last one failed: so a warning, which is an error, is said
again until it is mended. What else makes a page old is known to `tools/incremental_build.py`.
"""

import argparse
import hashlib
import os
import shutil
import subprocess
import sys
from collections.abc import Iterable
from importlib.metadata import distributions
from pathlib import Path

from build_lock import alone

ROOT = Path(__file__).resolve().parent.parent
# What changes how pages are made, or which there are.
FOUNDATION = (
    "_config.yml",
    "_toc.yml",
    "CITATION.cff",
    "book/references.bib",
    "course/*.py",
    "course/capstone.yml",
    "results/lock.json",
    "results/**/edition.json",
    "src/posenc/*.py",
    "src/posenc_book/audit/*.py",
    "src/posenc_book/teaching/program.py",
    "tools/*.py",
    "tools/notebook_edition/*.py",
    "tools/templates/*",
)
# Where a file that comes or goes matters; what is in it is looked at page by page.
NAMES_ONLY = (
    "book/_assets/**/*",
    "course/quizzes/*.yml",
    "course/source/*.py",
    "src/posenc_book/explorables/scripts/*",
)
JUPYTER_BOOK = "tools/quick.py"
MADE = ("html", ".doctrees", "jupyter_execute")  # other targets keep theirs beside
COMMAND = (JUPYTER_BOOK, "build", ".", "-W", "-n", "--keep-going", "--quiet")


def foundation(root: Path = ROOT) -> str:
    """Return a checksum of all that lets a build begin anew."""
    return hashlib.sha256("\n".join(_foundation(root)).encode()).hexdigest()


def _foundation(root: Path) -> Iterable[str]:
    yield sys.version
    yield str(root)
    yield from (os.environ.get(name, "") for name in ("EDITION", "EDITION_WHEEL"))
    yield from sorted(f"{d.metadata['Name']} {d.version}" for d in distributions())
    for pattern in FOUNDATION:
        for path in sorted(root.glob(pattern)):
            content = hashlib.sha256(path.read_bytes()).hexdigest()
            yield f"{path.relative_to(root)} {content}"
    for pattern in NAMES_ONLY:
        yield from sorted(str(path.relative_to(root)) for path in root.glob(pattern))


def build(
    root: Path = ROOT, out: str = "_build", *, clean: bool = False, command: Iterable[str] = COMMAND
) -> int:
    """Run the build, once no other one runs in this folder, and return its exit status.

    The command is what Python is asked to run; it writes the site into `html` in the folder `out`.
    """
    with alone(root) as lock:
        stamp = root / out / "made-from"
        now = foundation(root)
        if clean or not stamp.is_file() or stamp.read_text() != now:
            for name in MADE:
                shutil.rmtree(root / out / name, ignore_errors=True)
        stamp.unlink(missing_ok=True)  # a build that fails or is stopped leaves none
        held = {} if os.name == "nt" else {"pass_fds": [lock]}
        run = subprocess.run([sys.executable, *command], cwd=root, check=False, **held)
        if run.returncode == 0:
            stamp.parent.mkdir(parents=True, exist_ok=True)
            stamp.write_text(now)
    return run.returncode


def main() -> None:
    """Build, and say where the site is."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--clean", action="store_true", help="build everything anew")
    parser.add_argument("--student", action="store_true", help="leave out the solutions")
    options = parser.parse_args()
    out, command, said = "_build", COMMAND, "book"
    if options.student:
        os.environ["EDITION"] = "student"
        out, said = "_build/student/_build", "student edition"
        command = (*COMMAND, "--path-output", "_build/student")
    if status := build(out=out, clean=options.clean, command=command):
        sys.exit(status)
    print(f"\nThe {said} is built. Open this page in a browser:")
    print(f"  {(ROOT / out / 'html' / 'index.html').as_uri()}")


if __name__ == "__main__":
    main()
