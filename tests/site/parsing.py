"""Built pages, each read once: a page has ten thousand elements, and many tests ask for them."""

import gc
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from bs4 import BeautifulSoup, CData, NavigableString, Tag

NO_PROSE = ("pre", "code", "script", "style")


@cache
def parsed(path: Path) -> BeautifulSoup:
    """Return a page, which stays: it is not looked through whenever garbage is collected."""
    page = BeautifulSoup(path.read_text(encoding="utf-8"), "html.parser")
    gc.freeze()
    return page


@cache
def by_id(path: Path) -> dict[str, Tag]:
    """Return the elements of a page by their id, the first where one stands twice."""
    found = parsed(path).find_all(id=True)
    return {element["id"]: element for element in reversed(found)}


def prose(element: Tag) -> Iterator[str]:
    """Yield the texts of an element without those of code."""
    for child in element.children:
        if type(child) in (NavigableString, CData):
            yield child
        elif isinstance(child, Tag) and child.name not in NO_PROSE:
            yield from prose(child)
