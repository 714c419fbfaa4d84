"""Sphinx extension: the program that readers write, as each chapter leaves it.

Each state is the beginning of one file, up to the end of a chapter's section, and lies on the site
as `program/CHAPTER/program.py`. The link that closes a chapter leads to its own state; a fold near
the top of each chapter that imports from the program offers the one to begin with.
"""

import ast
import json
import re
from functools import cache
from pathlib import Path

import yaml
from sphinx.application import Sphinx

from posenc_book import teaching

ROOT = Path(__file__).resolve().parent.parent
PROGRAM = f"{teaching.__name__}.program"  # read and not imported, as it brings torch
SOURCE = Path(teaching.__file__).with_name("program.py").read_text(encoding="utf-8")
HEADING = re.compile(r"^# == ([a-z-]+): .* =+$\n", re.MULTILINE)
IMPORT = re.compile(rf"from {re.escape(PROGRAM)} import (\([^)]*\)|.*)")
CLOSING = re.compile(r"\{download\}`program\.py <[^>]*>`")
NEEDS = re.compile(r"^\*\*You need\*\*.*$", re.MULTILINE)
ON_SITE = (
    '<a href="../program/{0}/program.py" download aria-label="program.py as {0} leaves it">'
    "<code>program.py</code></a>"
)
ELSEWHERE = "[`program.py`]({}/program/{{}}/program.py)"
BEGIN = """

:::{{admonition}} Begin here: the program as the last chapter left it
:class: dropdown

{} holds what you have built so far: {}. Save it beside your notebook, and the import below becomes
`from program import {}`. As it stands, it brings the same from the package, so the chapter runs
without the file, too.
:::"""


@cache
def chapters() -> list[str]:
    """Return the names of all chapters and their parts in the order of the book."""
    parts = yaml.safe_load((ROOT / "_toc.yml").read_text(encoding="utf-8"))["parts"]
    chapters = (one for part in parts for one in part["chapters"])
    return [Path(page["file"]).name for one in chapters for page in (one, *one.get("sections", []))]


@cache
def states() -> dict[str, str]:
    """Return the program up to the end of each of its sections, by chapter."""
    found = list(HEADING.finditer(SOURCE))
    ends = [*(one.start() for one in found[1:]), len(SOURCE)]
    return {one[1]: SOURCE[:end].rstrip() + "\n" for one, end in zip(found, ends, strict=True)}


def at_end(chapter: str) -> str:
    """Return the last chapter up to this one that has added a section."""
    order = chapters()
    return _last_that_adds(order[: order.index(chapter) + 1])


def at_start(chapter: str) -> str:
    """Return the last chapter before this one that has added a section."""
    order = chapters()
    return _last_that_adds(order[: order.index(chapter)])


def _last_that_adds(among: list[str]) -> str:
    return [name for name in among if name in states()][-1]


def names(state: str) -> list[str]:
    """Return the functions and classes that a state of the program defines."""
    return [n.name for n in ast.parse(state).body if isinstance(n, ast.FunctionDef | ast.ClassDef)]


def lead(notebook: dict, docname: str, link: str) -> None:
    """Let a notebook's links lead to its states of the program; `link` has room for a chapter."""
    chapter = docname.rpartition("/")[2]
    texts = [cell for cell in notebook["cells"] if cell["cell_type"] == "markdown"]
    for cell in texts:
        source = "".join(cell["source"])
        cell["source"] = CLOSING.sub(lambda _: link.format(at_end(chapter)), source)
    code = ["".join(cell["source"]) for cell in notebook["cells"] if cell["cell_type"] == "code"]
    if imported := IMPORT.search("\n".join(code)):
        fold = _begin(at_start(chapter), re.findall(r"\w+", imported[1]), link)
        needs = next((cell for cell in texts if NEEDS.search(cell["source"])), None)
        if needs is None:
            raise ValueError(f"{docname} uses the program: say **You need** ... near its top")
        needs["source"] = NEEDS.sub(lambda found: found[0] + fold, needs["source"], count=1)


def _begin(start: str, imported: list[str], link: str) -> str:
    """Return the fold that offers a state, and what the first import of a chapter brings of it."""
    listed = ", ".join(f"`{name}`" for name in names(states()[start]))
    return BEGIN.format(link.format(start), listed, ", ".join(imported))


def lead_on_site(app: Sphinx, docname: str, source: list[str]) -> None:  # noqa: ARG001
    """Do so for a page that is about to be read."""
    is_notebook = source[0].lstrip().startswith("{")
    if is_notebook and (PROGRAM in source[0] or CLOSING.search(source[0])):
        notebook = json.loads(source[0])
        lead(notebook, docname, ON_SITE)
        source[0] = json.dumps(notebook)


def write(app: Sphinx, exception: Exception | None) -> None:
    """Write all states beside the pages."""
    if exception or app.builder.format != "html":
        return
    for chapter, text in states().items():
        path = Path(app.outdir) / "program" / chapter / "program.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def setup(app: Sphinx) -> dict[str, bool]:
    """Look at every page before it is read, and write the states when the site is built."""
    app.connect("source-read", lead_on_site)
    app.connect("build-finished", write)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
