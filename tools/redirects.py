"""Sphinx extension: old addresses lead on, and so does the front door.

`redirects.yml` names the anchors of the first edition that stand elsewhere now; `book.js` reads
what is written here when a page is opened at an anchor that it has not. Pages that have moved, and
the site's root, are small pages that take the reader on.
"""

import html
import json
import posixpath
from pathlib import Path

import yaml
from sphinx.application import Sphinx

import repository
from content_policy import with_policy

LIST = Path(__file__).with_suffix(".yml")
BOOK = "book"
PUBLISHED = repository.pages(repository.address())
PAGES = {
    "book/published-code": "book/audit/published-code",
    "book/found-details": "book/asked-again",
    "book/found-further": "book/asked-again",
    "book/survey-tables": "book/audit/survey-results#the-survey-s-tables-ours-beside-theirs",
    "book/survey-versions": "book/audit/survey-results#the-survey-has-moved-on",
    "book/api/study": "book/api/experiments",
}
PAGE = """\
<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>{title}</title>
<link rel="icon" href="{icon}">
<link rel="canonical" href="{address}">
<script src="{script}" data-target="{target}"></script>
<noscript><meta http-equiv="refresh" content="0; url={target}"></noscript>
</head>
<body><main><h1>{title}</h1><p><a href="{target}">{words}</a>.</p></main></body>
</html>
"""


def anchors() -> dict[str, dict[str, str]]:
    """Return the new address of each old anchor: page -> anchor -> "book/page.html#anchor"."""
    listed = yaml.safe_load(LIST.read_text(encoding="utf-8"))
    return {
        f"{BOOK}/{page}": {old: _address(page, new) for old, new in moved.items()}
        for page, moved in listed.items()
    }


def _address(page: str, new: str) -> str:
    where, anchor = new.split("#")
    return f"{BOOK}/{where or page}.html#{anchor}"


def write(app: Sphinx, exception: Exception | None) -> None:
    """Write the list as a script beside the site's other ones, and the pages that lead on."""
    if exception is not None or app.builder.format != "html":
        return
    out, config = Path(app.outdir), app.config
    text = f"window.posencMoved = {json.dumps(anchors())};\n"
    (out / "_static" / "anchors-where.js").write_text(text, encoding="utf-8")
    icon = f"_static/{posixpath.basename(config.html_favicon)}"
    title = config.html_title or config.project
    _lead(out, "index", config.root_doc, icon, title, "Go on to the first page")
    for old, new in PAGES.items():
        _lead(out, old, new, icon, "This page has moved", "Go on to it")


def _lead(out: Path, old: str, new: str, icon: str, title: str, words: str) -> None:
    """Write a page that leads on to another one."""
    page, *section = new.split("#")
    target = "#".join([f"{page}.html", *section])
    paths = {"target": target, "icon": icon, "script": "_static/moved.js"}
    folder = posixpath.dirname(old) or "."
    known = {name: posixpath.relpath(path, folder) for name, path in paths.items()}
    known |= {"title": title, "words": words, "address": f"{PUBLISHED}{page}.html"}
    text = PAGE.format(**{name: html.escape(value) for name, value in known.items()})
    (out / f"{old}.html").write_text(with_policy(text), encoding="utf-8")


def setup(app: Sphinx) -> dict[str, bool]:
    """Have all of it written at the end of a build."""
    app.connect("build-finished", write)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
