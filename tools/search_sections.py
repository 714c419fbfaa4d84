"""The sections of a page, as the search sees them: heading, words, code, and how it begins.

A section is what stands between its heading and the next one, whatever its level. A word of the
glossary is a section of its own.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property

from docutils import nodes

INDEX = "posenc-index"  # a list of what other sections are asked for
BEGINNING = 200  # characters of a section that its hit shows
_NEVER = (nodes.title, nodes.raw, nodes.comment, nodes.target, nodes.substitution_definition)


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
    """Return the words of a text, as `search.js` cuts a question."""
    text = unicodedata.normalize("NFKC", text)
    names = re.findall(r"[^\W\d_]*[a-z]{3}[A-Z][a-z]{3}[^\W\d_]*", text)
    text = " ".join([re.sub(r"([a-z]{3})([A-Z][a-z]{3})", r"\1 \2", text), *names]).lower()
    text = re.sub(r"['’](s|t|re|ve|ll|d|m)\b", "", text)
    return re.findall(r"[^\W_]+", re.sub(r"(\d),(?=\d{3})", r"\1", text))


def sections(page: str, document: nodes.document) -> list[Section]:
    """Return the sections of a page in their order."""
    top = (child for child in document.children if isinstance(child, nodes.section))
    return [one for section in top for one in _walk(page, section, ())]


def _title(node: nodes.section) -> nodes.title | None:
    """Return the heading of a section; what an exercise or a theorem holds has none."""
    return next((child for child in node.children if isinstance(child, nodes.title)), None)


def _walk(page: str, node: nodes.section, above: tuple[str, ...]) -> Iterable[Section]:
    title = plain(_title(node))
    here = Section(page, _anchor(node["ids"]) if above else "", title, above, other=(*node["ids"],))
    below: list[nodes.section] = []
    terms: list[Section] = []
    for child in node.children:
        _read(child, here, below, terms)
    yield here
    yield from terms
    for section in below:
        yield from _walk(page, section, (*above, title))


def _anchor(names: list[str]) -> str:
    """Return the name that a link should use: a question's own is short."""
    return next((name for name in names if name.startswith("q-")), names[0])


def _read(node: nodes.Element, here: Section, below: list, terms: list[Section]) -> None:
    """Put what a node says into its section; sections and words of the glossary are handed up."""
    if isinstance(node, nodes.section) and _title(node) is not None:
        below.append(node)
    elif isinstance(node, nodes.definition_list) and "glossary" in node.get("classes", []):
        terms += [_term(item, here) for item in node.findall(nodes.definition_list_item)]
    elif isinstance(node, _NEVER) or INDEX in node.get("classes", []):
        return
    elif isinstance(node, nodes.literal_block):
        if not _is_output(node):
            here.code.append(node.astext())
    elif isinstance(node, nodes.math_block):
        here.code.append(formula(node.astext()))
    elif isinstance(node, nodes.TextElement):
        here.prose.append(plain(node))
    else:
        for child in node.children:
            _read(child, here, below, terms)


def _is_output(node: nodes.literal_block) -> bool:
    """Say whether a cell has printed it; words that stand for a figure are no such output."""
    return "output" in node.get("classes", []) and not node.astext().startswith("[figure")


def _term(item: nodes.definition_list_item, here: Section) -> Section:
    term = item.next_node(nodes.term)
    meaning = plain(item.next_node(nodes.definition))
    above = (*here.above, here.title)
    return Section(here.page, term["ids"][0], plain(term), above, [meaning])


def plain(node: nodes.Element) -> str:
    """Return the words of a node; of its formulas what can be read without typesetting."""
    text = re.sub(r"\s+", " ", "".join(_parts(node))).strip()
    return re.sub(r" ([.,;:)])", r"\1", text)


def _parts(node: nodes.Node) -> Iterable[str]:
    if isinstance(node, nodes.Text):
        yield node.astext()
    elif isinstance(node, nodes.math):
        yield formula(node.astext())
    elif named := REFERENCES.get(node.get("reftype")) or REFERENCES.get(node.get("refdomain")):
        yield named
    elif not isinstance(node, (nodes.raw, nodes.comment)) and node.get("refdomain") != "cite":
        for child in node.children:
            yield from _parts(child)


# What has its number only when all pages are read.
REFERENCES = {"numref": "the figure", "eq": "the equation", "prf": "the theorem"}
_NAMES = (
    "lvert rvert lVert rVert cdot le ge neq ne approx in to dots top sum sqrt infty times omega"
    " theta pi varphi phi sigma rho Delta delta lambda kappa alpha beta"
)
_SPACES = "left right quad qquad bigl bigr big Big tfrac begin end"
SIGNS = dict(zip(_NAMES.split(), "||‖‖·≤≥≠≠≈∈→…ᵀΣ√∞×ωθπφφσρΔδλκαβ", strict=True))
SIGNS |= dict.fromkeys(_SPACES.split(), " ")


def formula(tex: str) -> str:
    """Return TeX as it can be read in a line."""
    tex = re.sub(r"\\(?:text|mathrm|operatorname|mathbf|mathbb)\s*\{([^{}]*)\}", r"\1", tex)
    tex = re.sub(r"\\frac\s*\{([^{}]*)\}\s*\{([^{}]*)\}", r"\1/\2", tex)
    tex = re.sub(r"\\([a-zA-Z]+)", lambda found: SIGNS.get(found[1], found[1]), tex)
    return re.sub(r"\s+", " ", re.sub(r"\\[,;!|\\ ]|[&\\]", " ", re.sub(r"[{}]", "", tex)))
