"""Built pages, each read once: a page has ten thousand elements, and many tests ask for them."""

import gc
from collections import defaultdict
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
def elements(path: Path) -> list[Tag]:
    return [one for one in parsed(path).descendants if isinstance(one, Tag)]


@cache
def by_name(path: Path) -> dict[str, list[Tag]]:
    """Return the elements of a page by their name; a name that none has gives an empty list."""
    found = defaultdict(list)
    for element in elements(path):
        found[element.name].append(element)
    return found


@cache
def by_class(path: Path) -> dict[str, list[Tag]]:
    """Return the elements of a page by each of their classes, as `by_name` does."""
    found = defaultdict(list)
    for element in elements(path):
        for name in {*element.get("class", ())}:
            found[name].append(element)
    return found


@cache
def by_id(path: Path) -> dict[str, Tag]:
    """Return the elements of a page by their id, the first where one stands twice."""
    return {one["id"]: one for one in reversed(elements(path)) if one.has_attr("id")}


def prose(element: Tag) -> Iterator[str]:
    """Yield the texts of an element without those of code."""
    for child in element.children:
        if type(child) in (NavigableString, CData):
            yield child
        elif isinstance(child, Tag) and child.name not in NO_PROSE:
            yield from prose(child)
