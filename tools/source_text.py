"""Cut the sources' texts into sections, paragraphs and sentences.

What a sentence begins with may be printed, its first few words; the texts themselves are not ours
to publish and lie elsewhere, in the folder that POSENC_SOURCES names.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

import sources

FEW = 4  # words of a sentence that are shown
CAPTIONS = "captions and notes"  # the last section of a source: figures, tables and footnotes
HEADLESS = ("opening", "summary", "comments", CAPTIONS)  # sections without a heading
FORMULA = "…"  # stands for one in the first words of a sentence
END = re.compile(r"(?<=[.?!])[”\"’'*)¹]*\s+(?=[A-Z“\"‘(\[$])|(?<=[a-z]{2}[.?!])(?=[A-Z][a-z]+ )")
# A full stop behind these ends no sentence.
SHORT = re.compile(r"(?:\b(?:e\.g|i\.e|a\.k\.a|et al|Figs?|Eqs?|[A-Z])|^\d)\.$")
DISPLAYED = re.compile(r"\s*\$\$(.*?)\$\$[ ]*", re.S)
CAPTION = re.compile(r"(?:Figure|Table) \d+:|Algorithm \d+")
NUMBERED = re.compile(r"(\d(?:\.\d)*)[.]? (?=[A-Z])")
# Where the survey's text goes on behind a figure or table that a page has put into it.
GOES_ON = {
    "1https://github.com": "ture non-linear",
    "Table 1:": "Table 2:",
    "Table 2:": "3 Formulation",
    "Figure 1:": "3.2 Self",
    "5\n": "where Q, K",
    "6\n": "Figure 2:",
    "Figure 2:": "i and j is added",
    "Figure 3:": "and temporal dependencies",
    "a Time Series Transformer": "Figure 4:",
    "Figure 4:": "transforms the input",
    "Algorithm 1:": "Algorithm 2:",
    "Algorithm 2:": "• Sleep",
    "Table 3:": "5.4 Architectural",
    "a Patch Embedding Transformer\n": "Figure 5:",
    "Figure 5:": "larly sequence",
    "Table 4:": "Table 5:",
    "Table 5:": "poral patterns",
    "a Patch Embedding Transformer b": "Figure 6:",
    "Figure 6:": "rior performance",
}


class Sentence(NamedTuple):
    """A sentence of a source and where it stands: section, paragraph, number in the paragraph."""

    section: str
    paragraph: int
    number: int
    text: str

    @property
    def at(self) -> str:
        """Return the place as one text."""
        return f"{self.section}, {self.paragraph}.{self.number}"

    @property
    def words(self) -> str:
        """Return the first few words."""
        plain = sources.MATHS.sub(FORMULA, self.text)
        plain = re.sub(r"\\\w+\{([^}]*)\}", r"\1", plain)
        plain = re.sub(r"\*|^#+ |^[•-] |^1(?=[A-Z])", "", plain)
        return " ".join(plain.split()[:FEW])


def sentences(folder: Path, source: str) -> list[Sentence]:
    """Return the sentences of a source in their order."""
    text = sources.body(sources.read(folder, source)[0])
    paragraphs = {"B": _by_lines, "R": _by_headings, "F": _by_numbers, "S": _by_columns}[source]
    found, counts = [], {}
    for section, paragraph in paragraphs(text):
        # A heading is paragraph 0, so that the text below it begins with paragraph 1.
        counts[section] = counts.get(section, -1 + (section in HEADLESS)) + 1
        pieces = enumerate(cut(paragraph), 1)
        found += [Sentence(section, counts[section], number, piece) for number, piece in pieces]
    return found


def cut(paragraph: str) -> list[str]:
    """Return the sentences of a paragraph."""
    paragraph, pieces, start = " ".join(sources.plain(paragraph).split()), [], 0
    for match in END.finditer(paragraph):
        if not SHORT.search(paragraph[: match.start()]):
            pieces.append(paragraph[start : match.end()].strip())
            start = match.end()
    return [piece for piece in (*pieces, paragraph[start:]) if re.search(r"\w", piece)]


def _by_lines(text: str) -> Iterator[tuple[str, str]]:
    """Yield the paragraphs of First principles: a line each, a heading begins with a number."""
    section, wish = 0, 0
    name = "opening"
    for line in filter(None, re.sub(r"\n(?=[a-z])", " ", text).splitlines()):
        number = NUMBERED.match(line)
        if number and section == 3 and int(number[1]) == wish + 1:
            wish += 1
            name = f"3, wish {wish}"
        elif number:
            section = int(number[1])
            name = str(section)
        elif line.startswith("- "):
            name = "summary"
        yield name, line


def _by_headings(text: str) -> Iterator[tuple[str, str]]:
    """Yield the paragraphs of Linear relationships, whose last section is the comments."""
    name = "introduction"
    for block in filter(None, map(str.strip, _without_formulas(text).split("\n\n"))):
        if block.startswith("## "):
            name = block.removeprefix("## ")
        elif block.startswith("Thanks for your sharing"):
            name = "comments"
        yield name, block


def _by_numbers(text: str) -> Iterator[tuple[str, str]]:
    """Yield the paragraphs of Faithful encoding, its captions last."""
    text = text[text.index("ABSTRACT") :]
    notes = re.findall(r"^¹.+$", text, re.M)
    text = re.sub(r"\n\n¹.+\n\n", " ", text)
    text = re.sub(r"(?m)^(?:Require|.*\t| ?- \d: |-$|⋮).*\n", "", text)
    name, captions = "abstract", [*notes]
    text = re.sub(r"\n(?=- )", "\n\n", _without_formulas(text))
    for block in _joined(text.split("\n\n"), _is_lower):
        if CAPTION.match(block):
            captions.append(block)
            continue
        if number := NUMBERED.match(block):
            name = number[1]
        yield name, block
    yield from ((CAPTIONS, caption) for caption in captions)


def _by_columns(text: str) -> Iterator[tuple[str, str]]:
    """Yield the paragraphs of the survey, which pages and columns have torn; captions last."""
    text = re.sub(r"\b(Higher|Transformer)-\n(?=[a-z])", r"\1-", text.replace("\f", ""))
    captions = []
    for begins, goes_on in GOES_ON.items():
        start = text.index(f"\n{begins}") + 1
        end = text.index(f"\n{goes_on}", start) + 1
        if CAPTION.match(begins):
            captions.append(text[start:end].split("\n\n")[0])
        glue = "\n" if goes_on[0].islower() else "\n\n"
        text = text[:start].rstrip() + glue + text[end:]
    text = re.sub(r"\n(?=• |\d\. [A-Z]|\d(?:\.\d)* [A-Z][a-z]+)", "\n\n", text)
    name = "abstract"
    for block in _joined(text.split("\n\n"), _goes_on):
        if number := NUMBERED.match(block):
            name = name if re.match(r"\d\. ", block) else number[1]
        yield name, block
    yield from ((CAPTIONS, caption) for caption in captions)


def _without_formulas(text: str) -> str:
    """Return a text in which a sign stands for each displayed formula, with its full stop."""

    def sign(match: re.Match) -> str:
        stop = re.search(r"\.\s*(?:\\tag\{\d+\w?\}|\\quad\s*\(\d+\))?\s*$", match[1])
        return f" ${FORMULA}${'.' if stop else ''} "

    return DISPLAYED.sub(sign, text)


def _joined(blocks: Iterable[str], goes_on: Callable[[str, str], bool]) -> list[str]:
    """Return blocks of text as paragraphs: one goes on in the next unless it has ended there."""
    joined: list[str] = []
    for block in (block.strip() for block in blocks):
        if not block:
            continue
        if joined and goes_on(joined[-1], block):
            joined[-1] += f"\n{block}"
        else:
            joined.append(block)
    return joined


def _is_lower(before: str, block: str) -> bool:  # noqa: ARG001
    """Say whether a block of text begins with a small letter."""
    return block[0].islower()


def _goes_on(before: str, block: str) -> bool:
    """Say whether a paragraph goes on in a block of text that an empty line parts from it."""
    if re.match(r"#|[•-] |Figure|Table|Algorithm|\d(?:\.\d)*\.? [A-Z][a-z]", block):
        return False
    heading = NUMBERED.match(before) and len(before) < 80
    if before.startswith("#") or heading or re.fullmatch(r"A\w+", before, re.I):
        return False
    prose = re.match(r"[A-Z]\w+,? [\w-]+ [\w-]+", block)
    return not re.search(r"[.?!][”\"’*)]*$", before) and not prose
