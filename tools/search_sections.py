"""The sections of a built page, as the search sees them: heading, words, code, and how it begins.

A section is what stands between its heading and the next one, whatever its level. A word of the
glossary is a section of its own, and so is the row of a table of names.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property

from bs4 import BeautifulSoup, NavigableString, Tag
from bs4.element import PreformattedString

INDEX = "posenc-index"  # a list of what other sections are asked for
BEGINNING = 200  # characters of a section that its hit shows
HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")
BLOCKS = frozenset(
    {"p", "pre", "div", "section", "figure", "table", "tr", "th", "td"}
    | {"ul", "ol", "li", "dl", "dt", "dd"}
)
# What the page prints, draws, asks, marks or counts, by tags and classes.
LEFT_OUT = frozenset(
    "script style svg form summary output explorable admonition-title posenc-mark posenc-sentences"
    " posenc-cite"
    f" headerlink section-number caption-number eqno {INDEX}".split()
)
_COLOURED = re.compile(r'<span class="\w{1,3}">([^<]*)</span>')


@dataclass
class Section:
    """A place of the book that a hit leads to."""

    page: str
    anchor: str  # empty for the whole page
    title: str
    above: tuple[str, ...]  # headings that it stands under, from the page's own on
    prose: list[str] = field(default_factory=list)
    code: list[str] = field(default_factory=list)
    other: tuple[str, ...] = ()  # further anchors of the same place

    @property
    def beginning(self) -> str:
        """Return the first lines, cut at a word."""
        text = " ".join(self.prose)
        if len(text) <= BEGINNING:
            return text
        return text[:BEGINNING].rsplit(" ", 1)[0] + " …"

    @cached_property
    def prose_words(self) -> Counter[str]:
        """Return how often each word stands in the prose."""
        return Counter(words(" ".join(self.prose)))

    @cached_property
    def code_words(self) -> set[str]:
        """Return the words of the code."""
        return set(words(" ".join(self.code)))


def words(text: str) -> list[str]:
    """Return the words of a text, then its names of code, as `search.js` cuts a question."""
    text = unicodedata.normalize("NFKC", text)
    names = re.findall(r"[^\W\d_]*[a-z]{3}[A-Z][a-z]{3}[^\W\d_]*", text)
    whole = [name.lower() for name in re.findall(r"[^\W\d_]\w*_\w*[^\W_]|\d*::\d+", text)]
    text = " ".join([re.sub(r"([a-z]{3})([A-Z][a-z]{3})", r"\1 \2", text), *names]).lower()
    text = re.sub(r"['’](s|t|re|ve|ll|d|m)\b", "", text)
    return re.findall(r"[^\W_]+", re.sub(r"(\d),(?=\d{3})", r"\1", text)) + whole


def names(text: str) -> set[str]:
    """Return the names that are known by a capital inside, such as RoPE, without capitals."""
    all_names = re.findall(r"\b[^\W\d_][^\W_]*", unicodedata.normalize("NFKC", text))
    inside = (name for name in all_names if re.search(r"[^\W\d_].*[A-Z]", name))
    return {name.lower() for name in inside if not re.search(r"[a-z]{3}[A-Z][a-z]{3}", name)}


def sections(page: str, html: str, tables: Iterable[str] = ()) -> list[Section]:
    """Return the sections of a built page in their order.

    The rows of tables in the sections that `tables` names are sections, too: a name and what it is.
    """
    html = _COLOURED.sub(r"\1", html[html.find("<article") : html.rfind("</article>")])
    article = BeautifulSoup(html, "html.parser").find("article")
    for one in article.find_all(_is_left_out):
        one.extract()
    for one in article.find_all(class_="math"):
        one.string = formula(one.get_text())
    top = article.find_all("section", recursive=False)
    rows = (row for anchor in tables for row in _rows(page, article.find(id=anchor)))
    return [*(one for section in top for one in _walk(page, section, ())), *rows]


def _is_left_out(node: Tag) -> bool:
    return node.name in LEFT_OUT or not LEFT_OUT.isdisjoint(node.get("class", ()))


def _title(node: Tag) -> Tag | None:
    """Return the heading of a section; what an exercise or a theorem holds has none."""
    return node.find(HEADINGS, recursive=False)


def _walk(page: str, node: Tag, above: tuple[str, ...]) -> Iterable[Section]:
    title, names = plain(_title(node)), _names(node)
    here = Section(page, _anchor(names) if above else "", title, above, other=names)
    below: list[Tag] = []
    terms: list[Section] = []
    for child in node.children:
        _read(child, here, below, terms)
    yield here
    yield from terms
    for section in below:
        yield from _walk(page, section, (*above, title))


def _names(node: Tag) -> tuple[str, ...]:
    """Return the anchors of a section: its own, and those that stand before its heading."""
    return (node["id"], *(one["id"] for one in node.find_all("span", id=True, recursive=False)))


def _anchor(names: tuple[str, ...]) -> str:
    """Return the name that a link should use: a question's own is short."""
    return next((name for name in names if name.startswith("q-")), names[0])


def _read(node: Tag | NavigableString, here: Section, below: list, terms: list[Section]) -> None:
    """Put what a node says into its section; sections and words of the glossary are handed up."""
    if isinstance(node, NavigableString):
        if not isinstance(node, PreformattedString) and node.strip():  # no comment
            here.prose.append(_tidy(node))
    elif node.name in HEADINGS:
        return
    elif node.name == "section" and _title(node):
        below.append(node)
    elif node.name == "dl" and "glossary" in node.get("class", []):
        terms += [_term(term, here) for term in node.find_all("dt")]
    elif node.name == "pre" or (node.name == "div" and "math" in node.get("class", [])):
        here.code.append(node.get_text())
    elif any(one.name in BLOCKS for one in node.descendants):
        for child in node.children:
            _read(child, here, below, terms)
    elif text := plain(node):
        here.prose.append(text)


def _term(term: Tag, here: Section) -> Section:
    meaning = plain(term.find_next_sibling("dd"))
    return Section(here.page, term["id"], plain(term), (*here.above, here.title), [meaning])


def _rows(page: str, section: Tag) -> Iterable[Section]:
    above = (plain(_title(section)),)
    for row in section.select("tbody tr"):
        name, *more = (plain(cell) for cell in row.find_all(["th", "td"]))
        yield Section(page, section["id"], name, above, [f"{', '.join(more)}."])


def plain(node: Tag) -> str:
    """Return the words of a node in one line."""
    return _tidy(node.get_text())


def _tidy(text: str) -> str:
    return re.sub(r" ([.,;:)])", r"\1", re.sub(r" \(\s*\)|\s+", " ", text).strip())


_NAMES = (
    "lvert rvert lVert rVert cdot le ge neq ne approx in to dots top sum sqrt infty times omega"
    " theta pi varphi phi sigma rho Delta delta lambda kappa alpha beta"
)
_SPACES = "left right quad qquad bigl bigr big Big tfrac begin end"
SIGNS = dict(zip(_NAMES.split(), "||‖‖·≤≥≠≠≈∈→…ᵀΣ√∞×ωθπφφσρΔδλκαβ", strict=True))
SIGNS |= dict.fromkeys(_SPACES.split(), " ")


def formula(tex: str) -> str:
    """Return TeX as it can be read in a line."""
    tex = re.sub(r"\\[\[\]()]", "", tex).strip()
    tex = re.sub(r"\\(?:text|mathrm|operatorname|mathbf|mathbb)\s*\{([^{}]*)\}", r"\1", tex)
    tex = re.sub(r"\\frac\s*\{([^{}]*)\}\s*\{([^{}]*)\}", r"\1/\2", tex)
    tex = re.sub(r"\\([a-zA-Z]+)", lambda found: SIGNS.get(found[1], found[1]), tex)
    return re.sub(r"\s+", " ", re.sub(r"\\[,;!|\\ ]|[&\\]", " ", re.sub(r"[{}]", "", tex)))
