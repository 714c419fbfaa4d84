"""Sphinx extension: what pages for teaching show of the sources, made before the pages are read.

The assignments for students, and how long each chapter takes. So the site offers what the sources
hold now, and nothing that is made lies in the repository.
"""

import sys
from pathlib import Path

from sphinx.application import Sphinx

ROOT = Path(__file__).parents[1]


def make(app: Sphinx) -> None:  # noqa: ARG001
    """Write the student editions, and only these, and the table of chapters."""
    if str(ROOT) not in sys.path:
        sys.path.append(str(ROOT))
    from course import build, chapters

    build.build(build.DIST, ("student",))
    build.write(build.DIST / "chapters.md", chapters.table())


def setup(app: Sphinx) -> dict[str, bool]:
    """Make them as the build begins."""
    app.connect("builder-inited", make)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
