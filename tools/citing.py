"""Sphinx extension: every page says at its end how to cite it, in BibTeX.

Authors, title and version stand in CITATION.cff. A page that presents an edition of the results
names that one, too. The button that copies is sphinx_copybutton's, since an entry looks like code;
without scripts it is text in a fold.
"""

import re
from functools import cache

import yaml
from pybtex.database import BibliographyData, Entry, Person
from sphinx.application import Sphinx
from sphinx.util.nodes import clean_astext

import repository
import results_editions
from repository import ROOT
from results_editions import Edition

ACCESSED = "accessed on YYYY-MM-DD"
KEY = "positional-encoding-book"
BOX = """
<details class="posenc-cite"{open}>
<summary>Cite this page</summary>
<p>Put the day on which you read it in place of YYYY-MM-DD.</p>
{entries}{taken}
</details>
"""
TAKEN = (
    '<p>Its figures, as SVG and PDF, are among what you can <a class="reference internal" '
    'href="{link}">take with you</a>.</p>'
)
RESULTS = '<p>For its results, cite <a class="reference internal" href="{link}">{title}</a>.</p>\n'


@cache
def citation() -> dict:
    """Return what CITATION.cff holds."""
    return yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))


def persons(authors: list[dict]) -> list[Person]:
    """Return the authors of CITATION.cff; the name of a collective is not taken apart."""
    return [
        Person("{" + one["name"] + "}")
        if "name" in one
        else Person(f"{one['family-names']}, {one['given-names']}")
        for one in authors
    ]


def names(authors: list[dict]) -> list[str]:
    """Return the authors as a title page has them."""
    return [one.get("name") or f"{one['given-names']} {one['family-names']}" for one in authors]


def state(known: dict) -> str:
    """Return the version, which may be one in preparation."""
    return f"Version {known['version']}" + ", not released yet" * ("date-released" not in known)


def of_page(page: str, title: str) -> str:
    """Return the entry of a page, as a part of the book; that of the first page is the book's."""
    known = citation()
    book = known["preferred-citation"]
    whole = title == book["title"]
    fields = {
        "title": _kept(title),
        **({} if whole else {"booktitle": _kept(book["title"])}),
        "year": str(book["year"]),
        "url": repository.published(page),
        "note": f"{state(known)}; {ACCESSED}",
    }
    kind = "book" if whole else "incollection"
    part = "" if whole else re.sub(r"\W+", "-", page.removeprefix("book"))
    return _written(f"{KEY}{part}", kind, fields)


def of_edition(edition: Edition) -> str:
    """Return the entry of an edition of the results."""
    stored = edition.stored
    hashes = f"protocol: training {stored['training']}, analysis {stored['analysis']}"
    fields = {
        "title": _kept(f"{citation()['title']}: edition {edition.name} of its results"),
        "howpublished": "Data set",
        "year": stored["date"][:4],
        "version": edition.name,
        "url": repository.published(edition.page),
        "note": f"Made on {stored['date']}; {hashes}; digest: {edition.digest}; {ACCESSED}",
    }
    return _written(f"{KEY}-edition-{edition.name}", "misc", fields)


def _kept(title: str) -> str:
    """Return a title whose capitals no style takes away."""
    return "{" + title + "}"


def _written(key: str, kind: str, fields: dict[str, str]) -> str:
    authors = {"author": persons(citation()["authors"])}
    entry = Entry(kind, fields=list(fields.items()), persons=authors)
    return BibliographyData({key: entry}).to_string("bibtex").strip()


def box(app: Sphinx, pagename: str, templatename: str, context: dict, doctree: object) -> None:  # noqa: ARG001
    """Put the box behind the last line of a page."""
    if doctree is None:
        return
    editions = results_editions.editions()
    own = editions.get(pagename)
    title = clean_astext(app.env.titles[pagename])
    entries = _shown(app, of_edition(own) if own else of_page(pagename, title))
    for one in editions.values():
        if pagename.removeprefix("book/") in one.shown_by:
            link = app.builder.get_relative_uri(pagename, one.page)
            entries += RESULTS.format(link=link, title=clean_astext(app.env.titles[one.page]))
            entries += _shown(app, of_edition(one))
    taken = ""
    if "book/taken" in app.env.found_docs:
        taken = TAKEN.format(link=app.builder.get_relative_uri(pagename, "book/taken"))
    context["body"] += BOX.format(open=" open" * bool(own), entries=entries, taken=taken)


def _shown(app: Sphinx, entry: str) -> str:
    code = app.builder.highlighter.highlight_block(entry, "bibtex")
    return f'<div class="highlight-bibtex notranslate">{code}</div>\n'


def setup(app: Sphinx) -> dict[str, bool]:
    """Look at every page once its body is there."""
    app.connect("html-page-context", box)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
