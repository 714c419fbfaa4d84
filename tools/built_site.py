"""The pages of the built site as documents: what slides, PDF and zip are made from.

They read the site and not the notebooks, so that equations, numbers of figures, references and
highlighted code are those of the site, and no text exists twice.
"""

import gc
import re
import shutil
import sys
from functools import cache
from html import unescape
from pathlib import Path

import yaml

from posenc_book._extras import wanted
from repository import ROOT

try:
    from bs4 import BeautifulSoup, Tag
except ModuleNotFoundError as error:
    sys.exit(f"Slides and PDF need {error.name}: pip install {wanted('bs4')}")

SITE = ROOT / "_build" / "html"
SHEETS = Path(__file__).with_name("sheets")


def parts() -> list[tuple[str, list[str]]]:
    """Return the parts of _toc.yml in order: caption and pages, such as "book/rotary"."""
    toc = yaml.safe_load((ROOT / "_toc.yml").read_text(encoding="utf-8"))
    return [("", [toc["root"]])] + [
        (part["caption"], [page["file"] for c in part["chapters"] for page in (c, *_below(c))])
        for part in toc["parts"]
    ]


def _below(chapter: dict) -> list[dict]:
    return chapter.get("sections", [])


@cache
def text(page: str) -> str:
    """Return the HTML of a page of the built site; the command ends where there is none."""
    path = SITE / f"{page}.html"
    if not path.is_file():
        sys.exit(f"{path.relative_to(ROOT)} is not there: run `make book` first")
    return path.read_text(encoding="utf-8")


@cache
def document(page: str) -> BeautifulSoup:
    """Return a page of the built site, parsed; it stays, so no garbage is looked for in it."""
    found = BeautifulSoup(text(page), "html.parser")
    gc.freeze()
    return found


def title(page: str) -> str:
    """Return a page's heading with its number."""
    article = text(page)[text(page).index("<article") :]  # in front stands a heading for print
    heading = re.search(r"<h1>(.*?)<a class=\"headerlink\"", article, re.DOTALL)[1]
    return unescape(re.sub(r"<[^>]+>", "", heading))


def identifiers(page: str) -> set[str]:
    """Return the places of a page that links can lead to."""
    return set(re.findall(r'\bid="([^"]+)"', text(page)))


def article(page: str) -> Tag:
    """Return what a page says, without what stands around it."""
    return document(page).find("article").find("section")


def settings_of_mathjax(page: str) -> str:
    """Return the script that configures MathJax on a page, which is a file of its own."""
    for name in re.findall(r'src="[^"]*_static/(inline/\w+\.js)"', text(page)):
        script = (SITE / "_static" / name).read_text(encoding="utf-8")
        if script.startswith("window.MathJax"):
            return script.strip()
    return ""


def copy_static(names: list[str], target: Path) -> None:
    """Copy files and folders of the site's `_static` that are needed elsewhere."""
    for name in names:
        source, copy = SITE / "_static" / name, target / name
        copy.parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            shutil.copytree(source, copy, dirs_exist_ok=True)
        else:
            shutil.copyfile(source, copy)
