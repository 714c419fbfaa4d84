"""Where the links of a source lead, seen from a notebook that stands alone."""

import posixpath
import re
from dataclasses import dataclass

from notebook_edition.site import Site, slug


@dataclass(frozen=True)
class Links:
    """Links of one page: to notebooks beside it where there are such, else to the site.

    Parameters
    ----------
    site : Site
    docname : str
        The page, such as "book/rotary".
    notebooks : set of str
        Pages that are notebooks of the same edition.
    """

    site: Site
    docname: str
    notebooks: frozenset[str]

    def target(self, written: str) -> tuple[str, str]:
        """Return page and anchor that a link of the source means.

        Raises
        ------
        KeyError
            Where the site has no such page or place.
        """
        file, _, anchor = written.partition("#")
        docname = self._page(file) if file else self.docname
        if docname is None:  # no page: a label of any page
            return self._label(file)
        page = self.site.pages[docname]
        if not anchor or anchor in page.ids or anchor in page.numbers:
            return docname, anchor
        if slug(anchor) in page.sections:
            return docname, page.sections[slug(anchor)][0]
        return self._label(anchor)

    def _label(self, name: str) -> tuple[str, str]:
        for label in (name, name.lower(), name.lower().replace("_", "-")):
            if label in self.site.place:
                return self.site.place[label], label
        raise KeyError(name)

    def _page(self, file: str) -> str | None:
        """Return the page that a path means, seen from this page or from the top of the book."""
        bare = re.sub(r"\.(ipynb|md|rst|html)$", "", file)
        if bare.startswith("/"):
            found = bare.lstrip("/")
        else:
            found = posixpath.normpath(posixpath.join(posixpath.dirname(self.docname), bare))
        return found if found in self.site.pages else None

    def text(self, docname: str, anchor: str) -> str:
        """Return the title that a link without words gets: of its section, or of its page."""
        page = self.site.pages[docname]
        titles = [page.numbers.get(anchor), page.titles.get(anchor), *page.titles.values()]
        return next(title for title in titles if title)

    def number(self, label: str) -> str:
        """Return the number of a label, such as "Theorem 1.1".

        Raises
        ------
        KeyError
            Where no page of the site numbers it.
        """
        here = self.site.pages[self.docname].numbers
        if label in here:
            return here[label]
        return self.site.pages[self._label(label)[0]].numbers[label]

    def link(self, words: str, written: str) -> str:
        """Return a link of the source as Markdown that leads somewhere from any viewer.

        No viewer follows the same anchors as another, so a link within the page becomes its words
        and a number, and a link to a place on another page leads to the site.
        """
        docname, anchor = self.target(written)
        words = words or self.text(docname, anchor)
        if docname == self.docname:
            number = self.site.pages[docname].numbers.get(anchor, "")
            return f"{words} ({number})" if number and number not in words else words
        if not anchor and docname in self.notebooks:
            return f"[{words}]({self.beside(docname)})"
        return f"[{words}]({self.site.address(docname, anchor)})"

    def beside(self, docname: str) -> str:
        """Return the path from this notebook to another one."""
        return posixpath.relpath(f"{docname}.ipynb", posixpath.dirname(self.docname) or ".")
