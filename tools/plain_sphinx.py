"""Build the site without Jupyter Book, by the newest Sphinx, into _build/sphinx.

    python tools/plain_sphinx.py .venv-sphinx/bin/python

Jupyter Book 1 holds Sphinx below 8, and will stop working one day. It only turns `_config.yml` into
Sphinx's own settings, `conf.py`, and brings an extension that defines two of them; all else that
the book uses exists without it. So this is what the book will do on that day, and `make upgrade`
tries it weekly: `jupyter-book config sphinx .`, once, and from then on Sphinx alone. Warnings are
errors, and nothing is executed. A copy of the repository is built, so no `conf.py` is left here.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import repository
from build import JUPYTER_BOOK

OUT = repository.ROOT / "_build" / "sphinx"
EXTENSION = "'jupyter_book', "
BUILD = ("-m", "sphinx", "-b", "html", "-W", "-n", "--keep-going", "--quiet", "--fresh-env", ".")


def settle(root: Path) -> None:
    """Write `conf.py` into a copy of the repository, without Jupyter Book's own extension."""
    subprocess.run([sys.executable, JUPYTER_BOOK, "config", "sphinx", "."], cwd=root, check=True)
    conf = root / "conf.py"
    text = conf.read_text(encoding="utf-8")
    if EXTENSION not in text:
        sys.exit(f"conf.py should name the extension {EXTENSION[:-2]}, which is left out here")
    conf.write_text(text.replace(EXTENSION, ""), encoding="utf-8")


def main(python: str) -> None:
    """Build with the Sphinx of another environment, and say where the site is."""
    python = str(Path(python).absolute())
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        repository.copy_to(root)
        settle(root)
        paths = os.pathsep.join(str(root / name) for name in ("tools", "src"))
        environment = {**os.environ, "PYTHONPATH": paths}
        done = subprocess.run([python, *BUILD, str(OUT)], cwd=root, env=environment, check=False)
    if done.returncode:
        sys.exit(done.returncode)
    print(f"\nThe book is built without Jupyter Book: {(OUT / 'index.html').as_uri()}")


if __name__ == "__main__":
    main(*sys.argv[1:])
