"""Where the book's files are: what the tests of repository, notebooks and site share."""

from functools import cache
from pathlib import Path

import yaml

import repository

ROOT = Path(__file__).resolve().parents[2]
SITE = ROOT / "_build" / "html"


@cache
def toc_files() -> tuple[str, ...]:
    """Return the pages of _toc.yml in order, such as "book/intro"."""
    toc = yaml.safe_load((ROOT / "_toc.yml").read_text())
    chapters = [chapter for part in toc["parts"] for chapter in part["chapters"]]
    pages = [page for c in chapters for page in (c, *c.get("sections", []))]
    return (toc["root"], *(page["file"] for page in pages))


def notebook_paths() -> list[Path]:
    """Return the notebooks of the book and of the Audit."""
    return repository.notebooks(ROOT / "book")
