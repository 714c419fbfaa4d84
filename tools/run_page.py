"""Sphinx extension: a button that runs the code of a page in the reader's browser.

`run_pages` in `_config.yml` names the pages and the packages that their cells need, `run_source`
the folder that Python comes from: an address, or a folder of the site such as `_static/pyodide`,
which `tools/pyodide_folder.py` makes. Before the click a page has the button, a style sheet and one
short script. Behind the click lie, in `_static/run`, the cells of the page, a wheel of our package
made from `src`, and the scripts that start Python in a worker; the worker holds every file
of the runtime and every package against the checksums in `tools/pyodide.json`.

The worker answers to no policy of the page, as it is a file of its own, so a page with the button
may do one thing more than others: start a worker of this site (`tools/content_policy.py`).
"""

import base64
import hashlib
import io
import json
import posixpath
import re
import types
import zipfile
from functools import cache
from html import escape
from pathlib import Path

import nbformat
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.util import logging

import pyodide_folder
import student_edition
from posenc import __version__

logger = logging.getLogger(__name__)

ROOT = Path(__file__).resolve().parent.parent
SCRIPTS = ROOT / "book" / "_assets" / "run"
PACKAGES = [ROOT / "src" / name for name in ("posenc", "posenc_book")]
WHEEL = f"posenc-{__version__}-py3-none-any.whl"
METADATA = f"Metadata-Version: 2.1\nName: posenc\nVersion: {__version__}\nLicense: MIT\n"
TAGS = "Wheel-Version: 1.0\nGenerator: posenc\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
EARLIEST = (1980, 1, 1, 0, 0, 0)  # that an archive can name
DATA = {
    ".py",
    ".json",
    ".toml",
    ".js",
    ".css",
    ".typed",
}  # no sums of data files, of which a page has none
# What no page reads: how encodings of stored records are told, data sets, released models, prose.
LEFT_OUT = (
    "bench/fingerprints.json",
    "data/measured.json",
    "register/*.json",
    "quantities/*.py",
    "scripts/living-*.js",
)
TIME = re.compile(r"<p>(?:(?!</p>).)*<strong>Time:</strong>.*?</p>", re.DOTALL)
BAR = """
<div class="posenc-run" role="group" aria-label="Run the code of this page"
 data-folder="{folder}" data-page="{page}" data-version="{version}">
<p><button type="button">Run the code here</button>
<span>Python starts in your browser and makes the cells below yours to change. Nothing is loaded \
before you click; then it is up to {size:.0f} MB, once.</span></p>
<p role="status"></p>
</div>
"""


@cache
def notebook_module():
    """Return the module that runs cells in the browser; its `digest` is used here, too."""
    module = types.ModuleType("posenc_page")  # imported in another way it would leave a cache there
    code = (SCRIPTS / "notebook.py").read_text(encoding="utf-8")
    exec(compile(code, "notebook.py", "exec"), module.__dict__)
    return module


def package() -> dict[str, bytes]:
    """Return the files of our packages, by their place in a wheel."""
    return {
        path.relative_to(folder.parent).as_posix(): _content(path)
        for folder in PACKAGES
        for path in sorted(folder.rglob("*"))
        if path.suffix in DATA
        and "__pycache__" not in path.parts
        and not any(path.match(pattern) for pattern in LEFT_OUT)
    }


def _content(path: Path) -> bytes:
    """Return what a file holds, a JSON file without its layout."""
    if path.suffix != ".json":
        return path.read_bytes()
    stored = json.loads(path.read_bytes())
    return json.dumps(stored, ensure_ascii=False, separators=(",", ":")).encode()


def wheel() -> bytes:
    """Return a wheel of our packages: their modules and small data, without measured results.

    The same files give the same bytes.
    """
    entries = package()
    info = f"posenc-{__version__}.dist-info"
    entries[f"{info}/licenses/LICENSE"] = (ROOT / "LICENSE").read_bytes()
    entries[f"{info}/METADATA"] = METADATA.encode()
    entries[f"{info}/WHEEL"] = TAGS.encode()
    lines = [f"{name},{_of_record(content)}\n" for name, content in entries.items()]
    entries[f"{info}/RECORD"] = "".join([*lines, f"{info}/RECORD,,\n"]).encode()
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w") as archive:
        for name, content in entries.items():
            entry = zipfile.ZipInfo(name, EARLIEST)
            entry.external_attr = 0o644 << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, content, compresslevel=9)  # an entry knows no other level
    return written.getvalue()


def _of_record(content: bytes) -> str:
    checksum = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
    return f"sha256={checksum},{len(content)}"


def cells(text: str) -> list[dict]:
    """Return the code cells of a notebook that run in a page.

    Each has its "code", whether the page shows it ("shown"), and a digest of its outputs.
    """
    found = []
    for cell in nbformat.reads(text, as_version=4).cells:
        tags = cell.metadata.get("tags", [])
        if cell.cell_type != "code" or "remove-cell" in tags:
            continue
        stored = notebook_module().digest(cell.outputs)
        found.append({"code": cell.source, "shown": "remove-input" not in tags, "stored": stored})
    return found


def files(packages: list[str]) -> dict[str, dict[str, dict]]:
    """Return the files of the runtime and of packages with all that they need."""
    pins = pyodide_folder.pins()
    unknown = set(packages) - pins["wheels"].keys()
    if unknown:
        raise ValueError(f"packages must stand in {pyodide_folder.PINS.name}, got {unknown}")
    names = sorted({one for name in packages for one in pins["wheels"][name]["needs"]})
    wheels = {
        entry["file"]: {"sha256": entry["sha256"], "bytes": entry["bytes"]}
        for entry in map(pins["wheels"].get, names)
    }
    return {"runtime": pins["runtime"], "wheels": wheels}


def size(packages: list[str]) -> float:
    """Return how much a page loads behind the click, in MB."""
    kinds = files(packages).values()
    return sum(one["bytes"] for kind in kinds for one in kind.values()) / 1e6


def source(app: Sphinx) -> str:
    """Return where the runtime comes from, with a slash at the end."""
    named = app.config.run_source.format(version=pyodide_folder.pins()["version"])
    return named.rstrip("/") + "/"


def version(app: Sphinx) -> str:
    """Return a checksum of all that is behind the click, so that no browser mixes two versions."""
    whole = hashlib.sha256()
    for name, content in package().items():
        whole.update(name.encode() + content)
    for path in sorted(SCRIPTS.iterdir()):
        whole.update(path.read_bytes())
    whole.update(json.dumps([pyodide_folder.pins(), source(app), app.config.run_pages]).encode())
    return whole.hexdigest()[:12]


def button(app: Sphinx, pagename: str, templatename: str, context: dict, doctree: object) -> None:  # noqa: ARG001
    """Put the button below the line that says how long a chapter takes."""
    packages = app.config.run_pages.get(pagename)
    if packages is None or not context.get("body"):
        return
    path = Path(app.env.doc2path(pagename))
    text = path.read_text(encoding="utf-8")
    if app.config.book_edition == "student":
        text = student_edition.stripped(text)
    found = cells(text)
    if len(found) != context["body"].count('<div class="cell '):
        logger.warning("cells of the page are not those of the notebook", location=pagename)
        return
    plan = {
        "cells": found,
        "wheel": WHEEL,
        "packages": packages,
        "source": source(app),
        **files(packages),
    }
    target = Path(app.outdir) / "_static" / "run" / "pages" / f"{pagename}.json"
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(json.dumps(plan), encoding="utf-8")
    bar = BAR.format(
        folder="../" * pagename.count("/") + "_static/run/",
        page=escape(pagename),
        version=app.env.posenc_run,
        size=size(packages),
    )
    place = TIME.search(context["body"])
    at = place.end() if place else context["body"].index("</h1>") + len("</h1>")
    context["body"] = context["body"][:at] + bar + context["body"][at:]
    app.add_css_file("run/run.css")
    app.add_js_file("run/run.js", loading_method="defer")


def pages_again(app: Sphinx, env: BuildEnvironment) -> list[str]:
    """Name the pages with the button if anything behind it changed."""
    before, env.posenc_run = getattr(env, "posenc_run", None), version(app)
    return [name for name in app.config.run_pages if name in env.found_docs] * (
        env.posenc_run != before
    )


def finish(app: Sphinx, exception: Exception | None) -> None:
    """Write our package beside the scripts, and remove cells of pages that have no button now."""
    if exception is not None or app.builder.format != "html":
        return
    folder = Path(app.outdir) / "_static" / "run"
    if app.config.run_pages:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / WHEEL).write_bytes(wheel())
    for path in (folder / "pages").rglob("*.json"):
        name = path.relative_to(folder / "pages").with_suffix("").as_posix()
        if posixpath.normpath(name) not in app.config.run_pages:
            path.unlink()


def setup(app: Sphinx) -> dict[str, bool]:
    """Look at every page once its body is there."""
    app.add_config_value("run_pages", {}, "html")
    app.add_config_value("run_source", "", "html")
    app.connect("env-get-updated", pages_again)
    app.connect("html-page-context", button)
    app.connect("build-finished", finish)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
