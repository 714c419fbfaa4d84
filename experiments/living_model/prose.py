"""The text of the training: the prose of the book's chapters, in small letters.

`python -m experiments.living_model prose` has written it once; the file is frozen since. Of each
cell it has what stands before the first heading, table or box.
"""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import yaml

from posenc_book import _files
from posenc_book.explorables.living import LETTERS

ROOT = Path(__file__).parents[2]
FILE = Path(__file__).with_name("prose.txt")
NO_PROSE = re.compile(
    r"^(`{3,}|:{3,}).*?^\1 *$"  # directives and code
    r"|^[#|:>].*"  # a heading, table or box, and all behind it
    r"|\$\$.*?\$\$|\$[^$]*\$|`[^`]*`|<[^>]+>|\{[\w:-]+\}|^\(.*\)=$|\d[\d.,]*",
    re.DOTALL | re.MULTILINE,
)
LINK = re.compile(r"!?\[([^\]]*)\]\([^)]*\)")
OTHER = re.compile(rf"[^{re.escape(LETTERS)}]")


def chapters() -> list[Path]:
    """Return the notebooks in the order of the table of contents."""
    parts = yaml.safe_load(_files.text(ROOT / "_toc.yml"))["parts"]
    files = [ROOT / f"{one['file']}.ipynb" for part in parts for one in part["chapters"]]
    return [path for path in files if path.is_file()]


def paragraphs(path: Path, least: int = 100) -> Iterator[str]:
    """Yield the paragraphs of a notebook with at least so many letters."""
    for cell in json.loads(_files.text(path))["cells"]:
        if cell["cell_type"] == "markdown":
            text = LINK.sub(r"\1", NO_PROSE.sub(" ", "".join(cell["source"]))).lower()
            for paragraph in text.replace("’", "'").split("\n\n"):
                letters = re.sub(r"\s+", " ", OTHER.sub(" ", paragraph)).strip()
                letters = re.sub(r" ([.,;:?!)])", r"\1", letters)
                if len(letters) >= least:
                    yield letters


def gather(most: int) -> str:
    """Return the first paragraphs of the book, one a line, at most so many letters in all."""
    lines: list[str] = []
    for path in chapters():
        for paragraph in paragraphs(path):
            most -= len(paragraph) + 1
            if most < 0:
                return "\n".join(lines) + "\n"
            lines.append(paragraph)
    return "\n".join(lines) + "\n"


def parts(each: int) -> tuple[str, str]:
    """Return what is learned and what is kept for the test: one paragraph in so many."""
    lines = _files.text(FILE).splitlines()
    learned = [line for i, line in enumerate(lines) if i % each]
    return "\n".join(learned), "\n".join(lines[::each])
