"""Print where other files name a chapter or its labels, to be read before it is rewritten.

    python tools/mentions.py rotary
    python tools/mentions.py rotary --gone

Each line is a file with a line's number, and what it names. `--gone` prints only anchors that the
chapter does not have (any more); then the command fails. Renamed headings keep their old anchors by
a line such as `(old-anchor)=` above them.
"""

import argparse
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import nbformat
from docutils.nodes import make_id

ROOT = Path(__file__).resolve().parents[1]
LABEL = re.compile(r"^:label: ([\w-]+)$|^\$\$ \(([\w-]+)\)$|^\(([\w-]+)\)=$", re.MULTILINE)
FENCED = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)


def labels(name: str, root: Path = ROOT) -> tuple[set[str], set[str]]:
    """Return the anchors of a chapter's headings, and its other labels."""
    headings, others = set(), set()
    for cell in nbformat.read(root / "book" / f"{name}.ipynb", as_version=4).cells:
        if cell.cell_type == "markdown":
            text = FENCED.sub("", cell.source)
            headings |= {make_id(line) for line in re.findall(r"^#+ (.*)$", text, re.MULTILINE)}
            others |= {label for found in LABEL.findall(text) for label in found if label}
        else:
            figure = cell.metadata.get("mystnb", {}).get("figure", {})
            others |= {figure["name"]} if "name" in figure else set()
    return headings, others


def mentions(name: str, root: Path = ROOT) -> list[tuple[str, int, str]]:
    """Return file, line and what it names, for all files but the chapter itself."""
    own = labels(name, root)[1]
    said = re.compile(
        rf"(?<![\w/-]){name}(?:\.ipynb|\.html)?#[\w-]+"  # a place in the chapter
        rf"|(?<![\w-]){name}\.(?:ipynb|html)|\]\({name}\)|\bbook/{name}\b"
        rf"|(?<![\w-])(?:{'|'.join(sorted(own, key=len, reverse=True)) or '(?!)'})(?![\w-])"
    )
    return [
        (file, number, word)
        for file, number, line in _lines_elsewhere(name, root)
        for word in dict.fromkeys(said.findall(line))
    ]


def gone(name: str, root: Path = ROOT) -> list[tuple[str, int, str]]:
    """Return the mentions of a place in the chapter that the chapter does not have."""
    known = set().union(*labels(name, root))
    place = re.compile(rf"(?<![\w/-]){name}(?:\.ipynb|\.html)?#([\w-]+)")
    return [
        (file, number, found[0])
        for file, number, line in _lines_elsewhere(name, root)
        if f"{name}." in line or f"{name}#" in line  # stored figures are lines of a megabyte
        for found in place.finditer(line)
        if found[1] not in known
    ]


def _lines_elsewhere(name: str, root: Path) -> Iterator[tuple[str, int, str]]:
    """Yield file, number and text of each line of all files but the chapter itself."""
    for file in _tracked(root):
        if file == f"book/{name}.ipynb":
            continue
        try:
            text = (root / file).read_text(encoding="utf-8")
        except (UnicodeDecodeError, FileNotFoundError, IsADirectoryError):
            continue
        for number, line in enumerate(text.splitlines(), 1):
            yield file, number, line


def _tracked(root: Path) -> list[str]:
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    return subprocess.check_output(command, cwd=root, text=True).splitlines()


def main() -> None:
    """Print the mentions of the chapter that the command line names."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("name", help="of the chapter's file, such as rotary")
    parser.add_argument("--gone", action="store_true", help="only places that are not there")
    options = parser.parse_args()
    if not (ROOT / "book" / f"{options.name}.ipynb").is_file():
        sys.exit(f"name must be that of a notebook in book/, got {options.name!r}")
    found = (gone if options.gone else mentions)(options.name)
    for file, number, words in found:
        print(f"{file}:{number}: {words}")
    if options.gone and found:
        sys.exit(1)


if __name__ == "__main__":
    main()
