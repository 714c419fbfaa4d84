"""The pages of the built site as documents: what slides, PDF and zip are made from.

They read the site and not the notebooks, so that equations, numbers of figures, references and
highlighted code are those of the site, and no text exists twice.
"""

import shutil
import sys
from functools import cache
from pathlib import Path

import yaml

from posenc._extras import wanted
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
def document(page: str) -> BeautifulSoup:
    """Return a page of the built site; the command ends where there is none."""
    path = SITE / f"{page}.html"
    if not path.is_file():
        sys.exit(f"{path.relative_to(ROOT)} is not there: run `make book` first")
    return BeautifulSoup(path.read_text(encoding="utf-8"), "html.parser")


def article(page: str) -> Tag:
    """Return what a page says, without what stands around it."""
    return document(page).find("article").find("section")


def settings_of_mathjax(page: str) -> str:
    """Return the script that configures MathJax on a page, or nothing."""
    scripts = document(page).find_all("script", src=False)
    return next((s.get_text() for s in scripts if s.get_text().startswith("window.MathJax")), "")


def copy_static(names: list[str], target: Path) -> None:
    """Copy files and folders of the site's `_static` that are needed elsewhere."""
    for name in names:
        source, copy = SITE / "_static" / name, target / name
        copy.parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            shutil.copytree(source, copy, dirs_exist_ok=True)
        else:
            shutil.copyfile(source, copy)
