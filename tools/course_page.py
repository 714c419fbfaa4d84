"""Sphinx extension: the assignments for students, made from their sources before pages are read.

So the site offers what the sources hold now, and nothing that is made lies in the repository.
"""

import sys
from pathlib import Path

from sphinx.application import Sphinx

ROOT = Path(__file__).parents[1]


def make(app: Sphinx) -> None:  # noqa: ARG001
    """Write the student editions, and only these, where the page `course` links them."""
    if str(ROOT) not in sys.path:
        sys.path.append(str(ROOT))
    from course import build

    build.build(build.DIST, ("student",))


def setup(app: Sphinx) -> dict[str, bool]:
    """Make them as the build begins."""
    app.connect("builder-inited", make)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
