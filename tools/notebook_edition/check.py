"""What is wrong with an edition, found with another parser than the one that made it.

python -m notebook_edition.check EDITION SITE https://where.the/site/is
"""

import json
import re
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import mistune

from notebook_edition.cells import CLOSED

TAGS = {"details", "summary", "b", "sup", "sub", "kbd", "code", "em", "br"}
RAW = re.compile(r":{3,}|^\([\w-]+\)=|^:\w+:|\{[\w:.-]+\}$|\$\$|\\begin\{", re.MULTILINE)
parse = mistune.create_markdown(renderer=None, plugins=["table", "math", "strikethrough"])


def faults(edition: Path, site: Path, base: str) -> Iterator[str]:
    """Yield a sentence for each fault of the notebooks in a folder.

    Parameters
    ----------
    edition, site : Path
        Folders of the notebooks and of the built site.
    base : str
        Where the site is published.
    """
    for path in sorted(edition.rglob("*.ipynb")):
        name = path.relative_to(edition).as_posix()
        for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
            found = (
                _of_code(cell) if cell["cell_type"] == "code" else _of_text(cell, path, site, base)
            )
            yield from (f"{name}, {cell['id']}: {one}" for one in found)


def _of_code(cell: dict) -> Iterator[str]:
    tags, jupyter = set(cell["metadata"].get("tags", [])), cell["metadata"].get("jupyter", {})
    is_form = cell["metadata"].get("cellView") == "form"
    if tags & CLOSED and not (is_form and jupyter.get("source_hidden")):
        yield "code that the page hides is open"
    if tags & {"hide-cell", "hide-output"} and not jupyter.get("outputs_hidden"):
        yield "output that the page hides is open"


def _of_text(cell: dict, path: Path, site: Path, base: str) -> Iterator[str]:
    source = "".join(cell["source"])
    if source.count("<details>") != source.count("</details>"):
        yield "a fold that is not closed, or closed twice"
    for line in re.findall(r"^>.*\$\$.*", source, re.MULTILINE):
        if line.count("$$") % 2:
            yield f"a formula over several lines of a quotation: {line[:60]}"
    for token in tokens(parse(source)):
        yield from _of_token(token, path, site, base)


def tokens(tree: list[dict]) -> Iterator[dict]:
    """Yield all tokens of a parsed text."""
    for token in tree:
        yield token
        yield from tokens(token.get("children", []))


def _of_token(token: dict, path: Path, site: Path, base: str) -> Iterator[str]:
    raw = token.get("raw", "")
    if token["type"] == "text" and (found := RAW.search(raw)):
        yield f"raw markup {raw[max(0, found.start() - 20) : found.end() + 20]!r}"
    if token["type"] == "block_code" and "{" in token.get("attrs", {}).get("info", ""):
        yield f"raw directive {token['attrs']['info']}"
    if token["type"] in ("inline_html", "block_html"):
        yield from (f"raw tag <{one}>" for one in re.findall(r"</?(\w+)", raw) if one not in TAGS)
    if token["type"] in ("link", "image"):
        address = token["attrs"]["url"]
        if not leads_somewhere(address, path, site, base):
            yield f"a dead link {address[:80]}"


def leads_somewhere(address: str, path: Path, site: Path, base: str) -> bool:
    """Say whether an address leads to a file and a place that exist; other sites are not asked."""
    if address.startswith(f"{base}/"):
        file, _, anchor = address.removeprefix(f"{base}/").partition("#")
        return (site / file).is_file() and (not anchor or anchor in places(site / file))
    if re.match(r"[a-z][\w+.-]*:", address):
        return True
    return (path.parent / address).is_file()


@cache
def places(page: Path) -> frozenset[str]:
    """Return the places of a page that links can lead to."""
    return frozenset(re.findall(r'\bid="([^"]+)"', page.read_text(encoding="utf-8")))


if __name__ == "__main__":
    sys.exit("\n".join(faults(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3])) or 0)
