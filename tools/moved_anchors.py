"""Sphinx extension: tell the pages where the anchors of the first edition lead now.

`moved_anchors.yml` is the list; `book.js` reads what is written here when a page is opened at an
anchor that it has not.
"""

import json
from pathlib import Path

import yaml
from sphinx.application import Sphinx

LIST = Path(__file__).with_suffix(".yml")
BOOK = "book"


def targets() -> dict[str, dict[str, str]]:
    """Return the new address of each old anchor: page -> anchor -> "book/page.html#anchor"."""
    listed = yaml.safe_load(LIST.read_text(encoding="utf-8"))
    return {
        f"{BOOK}/{page}": {old: _address(page, new) for old, new in anchors.items()}
        for page, anchors in listed.items()
    }


def _address(page: str, new: str) -> str:
    where, anchor = new.split("#")
    return f"{BOOK}/{where or page}.html#{anchor}"


def write(app: Sphinx, exception: Exception | None) -> None:
    """Write the list as a script beside the site's other ones."""
    if exception is None and app.builder.format == "html":
        text = f"window.posencMoved = {json.dumps(targets())};\n"
        (Path(app.outdir) / "_static" / "anchors-where.js").write_text(text, encoding="utf-8")


def setup(app: Sphinx) -> dict[str, bool]:
    """Have the list written at the end of a build."""
    app.connect("build-finished", write)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
