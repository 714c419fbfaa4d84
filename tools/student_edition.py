"""Sphinx extension: with EDITION=student the site has exercises and checks, and no solution.

Solutions are taken out before a page is read, by the rule that makes the student notebooks
(`course/chapters.py`), so they stand in no page, in no index of the search, and in no file that is
offered for download. Buttons that lead to the full notebooks in the repository are left out too.
"""

import os
import sys
from pathlib import Path

import nbformat
from sphinx.application import Sphinx
from sphinx.config import Config

ROOT = Path(__file__).resolve().parent.parent
EDITIONS = ("", "full", "student")


def _chapters():
    if str(ROOT) not in sys.path:
        sys.path.append(str(ROOT))
    from course import chapters

    return chapters


def edition() -> str:
    """Return the edition that is asked for."""
    asked = os.environ.get("EDITION", "")
    if asked not in EDITIONS:
        raise ValueError(f"EDITION must be student or full, got {asked!r}")
    return asked or "full"


def without_buttons(app: Sphinx, config: Config) -> None:  # noqa: ARG001
    """Offer no full notebook beside a page."""
    if config.book_edition == "student":
        config.html_theme_options["launch_buttons"] = {}
        config.html_theme_options["use_repository_button"] = False
        config.notebook_edition_solutions = False
        config.notebook_edition_without_solutions = ""
        config.html_title = f"{config.html_title or config.project}: student edition"


def strip(app: Sphinx, docname: str, source: list[str]) -> None:  # noqa: ARG001
    """Take the solutions out of a page that is about to be read."""
    if app.config.book_edition == "student":
        source[0] = stripped(source[0])


def stripped(text: str) -> str:
    """Return a page, a notebook or Markdown, without the solutions in it."""
    chapters = _chapters()
    if not text.lstrip().startswith("{"):
        return chapters.SOLUTION.sub(chapters.OWN_WORDS, text)
    notebook = nbformat.reads(text, as_version=4)
    if not any(chapters.SOLUTION.search(cell.source) for cell in notebook.cells):
        return text
    return nbformat.writes(chapters.stripped(notebook))


def rewrite_downloads(app: Sphinx, exception: Exception | None) -> None:
    """Take the solutions out of the sources that the site offers for download."""
    if exception or app.config.book_edition != "student":
        return
    for path in (Path(app.outdir) / "_sources").rglob("*"):
        if path.is_file() and path.suffix != ".ipynb":  # notebooks are those of the edition
            path.write_text(stripped(path.read_text(encoding="utf-8")), encoding="utf-8")


def setup(app: Sphinx) -> dict[str, bool]:
    """Look at every page before it is read, and at the copies of their sources afterwards."""
    app.add_config_value("book_edition", edition(), "env")  # another one reads all pages anew
    app.connect("config-inited", without_buttons, priority=900)
    app.connect("source-read", strip, priority=100)
    app.connect("build-finished", rewrite_downloads)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
