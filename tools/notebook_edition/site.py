"""What the built pages say: numbers, titles, places, citations and files.

All of it is read from the HTML, so a notebook can't show another number than its page.
"""

import re
from dataclasses import dataclass, field
from pathlib import Path

from lxml import etree, html

HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")


@dataclass
class Page:
    """One page of the site.

    Attributes
    ----------
    ids : set of str
        Places that a link can lead to.
    numbers : dict
        Label of a figure, a theorem, an exercise or an equation, and its number as printed.
    titles : dict
        Place of a section, and its title.
    sections : dict
        Heading as a slug, and the place and the printed number of its section.
    files : dict
        Name of a file to download, and its address within the site.
    citations : dict
        Identifier of a citation, and its text with links, as Markdown.
    """

    ids: set[str] = field(default_factory=set)
    numbers: dict[str, str] = field(default_factory=dict)
    titles: dict[str, str] = field(default_factory=dict)
    sections: dict[str, tuple[str, str]] = field(default_factory=dict)
    files: dict[str, str] = field(default_factory=dict)
    citations: dict[str, str] = field(default_factory=dict)


class Site:
    """All pages of a built site, and where each label stands."""

    def __init__(self, folder: Path, docnames: list[str], base: str):
        self.base = base.rstrip("/")
        self.pages = {name: read(folder / f"{name}.html", name, self.base) for name in docnames}
        self.place: dict[str, str] = {}
        for docname, page in self.pages.items():
            for name in (*page.ids, *page.numbers):
                self.place.setdefault(name, docname)

    def address(self, docname: str, anchor: str = "") -> str:
        """Return the address of a page, or of a place on it."""
        if anchor not in self.pages[docname].ids and anchor in self.pages[docname].numbers:
            anchor = f"equation-{anchor}"  # as Sphinx calls what a formula's label names
        return f"{self.base}/{docname}.html{f'#{anchor}' if anchor else ''}"

    def file(self, name: str) -> str | None:
        """Return the address of a file that some page offers."""
        found = (page.files[name] for page in self.pages.values() if name in page.files)
        return next(found, None)


def slug(heading: str) -> str:
    """Return a heading as Markdown's anchors write it: lower case, words joined by dashes."""
    kept = re.sub(r"[^\w\- ]", "", heading.strip().lower())
    return re.sub(r"\s", "-", kept)


def read(path: Path, docname: str, base: str) -> Page:
    """Return what a page of the site says."""
    page, tree = Page(), _article(path)
    for node in tree.iter(etree.Element):
        if name := node.get("id"):
            page.ids.add(name)
        classes = (node.get("class") or "").split()
        if node.tag in HEADINGS:
            _heading(page, node)
        elif "caption-number" in classes and (owner := _owner(node)):
            page.numbers[owner] = _text(node)
        elif "eqno" in classes:
            label = (node.getparent().get("id") or "").removeprefix("equation-")
            page.numbers[label] = _text(node).rstrip("#")
        elif "download" in classes and node.tag == "a":
            href = node.get("href")
            page.files[href.rsplit("/", 1)[-1]] = _absolute(href, docname, base)
        elif "bibtex-citation" in classes:
            page.citations[node.get("id")] = _linked(node, docname, base)
    return page


def _article(path: Path) -> etree.Element:
    if not path.is_file():  # a page that the builder left out
        return html.fragment_fromstring("<article></article>")
    root = html.parse(str(path)).getroot()
    found = root.find(".//article")
    return root if found is None else found


def _heading(page: Page, node: etree.Element) -> None:
    number = node.find("span[@class='section-number']")
    printed = "" if number is None else _text(number)
    title = _text(node).removesuffix("#").removeprefix(printed).strip()
    section = node.getparent()
    names = [section.get("id"), *(one.get("id") for one in node.itersiblings(preceding=True))]
    page.titles |= {name: title for name in names if name}
    if section.get("id"):
        page.sections.setdefault(slug(title), (section.get("id"), printed))


def _owner(node: etree.Element) -> str:
    while node is not None and not node.get("id"):
        node = node.getparent()
    return "" if node is None else node.get("id")


def _text(node: etree.Element) -> str:
    return " ".join(node.text_content().split())


def _linked(node: etree.Element, docname: str, base: str) -> str:
    """Return a citation, with its links, as Markdown."""
    inside = (node.text or "") + "".join(
        _link(one, docname, base) + (one.tail or "") for one in node
    )
    if inside.startswith("[") and inside.endswith("]"):  # brackets around links would be a link
        inside = f"({inside[1:-1]})"
    return " ".join(inside.split())


def _link(node: etree.Element, docname: str, base: str) -> str:
    if node.tag != "a":
        return node.text_content()
    return f"[{node.text_content()}]({_absolute(node.get('href'), docname, base)})"


def _absolute(href: str, docname: str, base: str) -> str:
    if "://" in href:
        return href
    parts = docname.split("/")[:-1]
    while href.startswith("../"):
        href, parts = href[3:], parts[:-1]
    return "/".join([base, *parts, href])
