"""Where the book's files are, and what else the tests of repository, notebooks and site share."""

import os
import re
from functools import cache
from pathlib import Path
from typing import NoReturn

import nbformat
import pytest
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


@cache
def markdown(page: str) -> str:
    """Return the text of a page, such as "book/intro", without the code of its cells."""
    path = ROOT / f"{page}.ipynb"
    if not path.is_file():
        return path.with_suffix(".md").read_text(encoding="utf-8")
    cells = nbformat.read(path, as_version=4).cells
    return "\n\n".join(cell.source for cell in cells if cell.cell_type == "markdown")


def anchor(heading: str) -> str:
    """Return the anchor of a heading, as MyST and GitHub make it."""
    return re.sub(r"[^\w -]", "", heading.lower()).strip().replace(" ", "-")


def table(text: str, heading: str) -> list[list[str]]:
    """Return the cells of the first table below a heading, without its head."""
    below = re.split(rf"^#+ {re.escape(heading)}$", text, flags=re.MULTILINE)[1]
    rows = re.search(r"(?:^\|.*\n)+", below, re.MULTILINE)[0].splitlines()[2:]
    return [[cell.strip() for cell in row.strip("|").split("|")] for row in rows]


def without(reason: str) -> NoReturn:
    """Skip a test whose archive cannot be had, or fail it where everything should be reached."""
    if os.environ.get("POSENC_REQUIRE_DOWNLOADS") == "1":
        pytest.fail(reason)
    pytest.skip(reason)
