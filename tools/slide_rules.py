"""The rule that cuts a chapter into reading slides: what becomes a slide, and what its notes.

- The title and the question make the first slide.
- Each displayed equation, theorem, figure, explorable, table, list and verdict is a slide under the
  heading of its section; above it stands the sentence that leads to it, below a result the first
  sentence that is said of it. A long table goes on over two or three slides.
- A visible cell is a slide if it defines or asserts something. One of more than twelve lines is cut
  at its empty lines; where that gives no short pieces, and of all other cells, the output is shown.
- A paragraph that begins with "Predict, then check." is a slide, so that a class can answer first.
- A section of prose alone becomes the first sentences of its paragraphs.
- Each exercise and each question of the quiz is a slide, solutions are left out, and the take-away
  closes: one slide, or one a sentence where they are long.
- Everything that is said in between stands in the notes for the speaker, those of the first slide
  say what the chapter needs and how long it takes, and those of a question its answer.

A code cell with the tag `no-slide` is left out.
"""

import copy
import re
from dataclasses import dataclass, field
from html import unescape

from bs4 import BeautifulSoup, NavigableString, Tag

from sentences import length, opening, sentences

CODE_LINES = 12
OUTPUT_LINES = 6
TABLE_ROWS = 10
TABLE_LETTERS = 650
MOST_TABLES = 3
TAKE_AWAY = 560  # letters that fit on one slide
LIST_ITEMS = 7
LETTERS = 260  # of a sentence beside something else
CAPTION = 170  # beside a figure that answers
PROSE = 420  # of a slide with nothing else
BULLETS = 4
TEACHES = re.compile(r"\s*(def|class|assert) ")
LEFT_OUT = {"references", "footnotes"}
GONE = ".headerlink, .posenc-mark, .posenc-claim > a, .posenc-run"


@dataclass
class Slide:
    """One slide: its heading, what it shows, what the speaker may say, and its kind."""

    title: str
    body: list[str]
    kind: str
    notes: list[str] = field(default_factory=list)

    def html(self) -> str:
        """Return it as a section of reveal.js."""
        notes = f'<aside class="notes">{"".join(self.notes)}</aside>' if self.notes else ""
        head = f"<h2>{self.title}</h2>" if self.title else ""
        body = f'<div class="body">{"".join(self.body)}</div>'
        return f'<section class="{self.kind}">{head}{body}{notes}</section>'


def slides(chapter: Tag) -> list[Slide]:
    """Return the slides of a chapter's article, which is changed on the way."""
    _prepare(chapter)
    heading = chapter.find("h1").extract()
    number = heading.find(class_="section-number")
    title = heading.get_text().removeprefix(number.get_text() if number else "")
    above, below = [], []
    for child in chapter.find_all(recursive=False):
        (below if child.name == "section" else above).append(child)
    question = above.pop(0)
    front = [f"<h1>{title}</h1>", f"<p>{opening(question, PROSE)}</p>"]
    plan = [str(one) for one in above if _is_plan(one)]
    found = [Slide("", front, "front", [str(question), *plan])]
    found += _Section(title).read(above)
    for section in below:
        found += _of_section(section)
    return found


def _is_plan(paragraph: Tag) -> bool:
    """Say whether a paragraph tells what a chapter needs, or how long it takes."""
    return bool(re.match(r"(You need|Time:)", paragraph.get_text()))


def _of_section(section: Tag) -> list[Slide]:
    heading = section.find(["h2", "h3", "h4"])
    title = heading.get_text() if heading else ""
    known = section.get("id", "")
    if known in LEFT_OUT:
        return []
    if known == "take-away":
        return _take_away(title, section)
    if known == "check-yourself":
        return [_question(title, one) for one in section.find_all("fieldset")]
    if known.startswith("exercises"):
        return [_exercise(one) for one in section.select(".exercise.admonition")]
    children = [c for c in section.find_all(recursive=False) if c is not heading]
    found = _Section(title).read([c for c in children if c.name != "section"])
    for child in children:
        if child.name == "section":
            found += _of_section(child)
    return found


def _prepare(chapter: Tag) -> None:
    """Take away what slides have no use for: links inside the book, marks, numbers of headings."""
    for element in chapter.select(GONE):
        element.decompose()
    for raised in chapter.find_all("sup"):
        before = raised.previous_sibling
        if not raised.get_text(strip=True):  # its marks are gone, and so goes the space before them
            raised.decompose()
            if isinstance(before, NavigableString):
                before.replace_with(before.rstrip())
    for folded in chapter.select("details:not(:is(.posenc-quiz, .explorable) details)"):
        folded.decompose()
    for number in chapter.select(":is(h2, h3, h4) > .section-number"):
        number.decompose()
    for link in chapter.find_all("a", href=True):
        if not link["href"].startswith("http") and "data-part" not in link.attrs:
            link.unwrap()
    for content in chapter.select("section[id$=-content]"):
        content.name = "div"  # a section inside a slide would be a slide
        content["class"] = "content"
    for element in chapter.select("[id]:not(section, input)"):
        if element.name != "figure" and not element.find_parent(class_="explorable"):
            del element["id"]


class _Section:
    """Reads the elements of a section in order and gathers its slides."""

    def __init__(self, title: str) -> None:
        self.title = title
        self.slides: list[Slide] = []
        self.said: list[Tag] = []  # paragraphs since the last slide
        self.used: set[str] = set()  # sentences that stand on a slide

    def read(self, elements: list[Tag]) -> list[Slide]:
        """Return the slides of some elements."""
        for place, element in enumerate(elements):
            behind = (one for one in elements[place + 1 :] if one.name != "aside")
            after = next(behind, None)  # a note in the margin comes between nothing
            if element.name == "p":
                self._paragraph(element)
            elif "cell" in element.get("class", []):
                self._cell(element, after)
            else:
                self._element(element)
        if self.said and not self.slides:
            self._prose()
        elif self.said and self.slides:
            self.slides[-1].notes += map(str, self.said)
        return self.slides

    def _add(self, kind: str, body: list[str], lead: bool = True) -> None:
        above = [f'<p class="lead">{one}</p>' for one in [self._lead()] if lead and one]
        notes = [str(p) for p in self.said]
        self.slides.append(Slide(self.title, above + body, kind, notes))
        self.said = []

    def _lead(self) -> str:
        """Return the sentence that leads to what is shown: one that ends so, or the first."""
        told = [one for p in self.said[-1:] if p.name == "p" for one in sentences(p)]
        ends = [one for one in told[-1:] if re.search("[:?]$", one)]
        for one in [*ends, *told[:1]]:
            if length(one) <= LETTERS and one not in self.used:
                self.used.add(one)
                return one
        return ""

    def _paragraph(self, paragraph: Tag) -> None:
        if _is_plan(paragraph):
            return
        self.said.append(paragraph)
        if paragraph.get_text().startswith("Predict, then check."):
            text = f"<p>{opening(paragraph, PROSE)}</p>"
            self._add("predict", [text], lead=False)

    def _prose(self) -> None:
        paragraphs = [p for p in self.said if p.name == "p" and p.get_text(strip=True)]
        told = [opening(p, 0) for p in paragraphs[:BULLETS]]
        if not told:
            return
        if len(told) == 1:
            body = [f"<p>{opening(paragraphs[0], PROSE)}</p>"]
        else:
            body = [f"<ul>{''.join(f'<li>{one}</li>' for one in told)}</ul>"]
        self._add("prose", body, lead=False)

    def _element(self, element: Tag) -> None:
        classes = element.get("class", [])
        if "proof" in classes and "admonition-title" not in str(element):
            self.said.append(element)  # a proof is told, not read
        elif "proof" in classes:
            self._add("theorem", [str(element)], lead=False)
        elif "math" in classes or (element.name == "div" and "amsmath" in classes):
            self._add("equation", [str(element)])
        elif element.name in ("ul", "ol") and len(element.find_all("li")) <= LIST_ITEMS:
            self._add("list", [str(element)])
        elif element.name == "figure":
            self._figure(element)
        elif element.find("table"):
            self._table(element.find("table"), None)
        else:
            self.said.append(element)

    def _cell(self, cell: Tag, after: Tag | None) -> None:
        tags = cell.get("class", [])
        if "tag_no-slide" in tags:
            return
        code = cell.select_one(":scope > .cell_input pre")
        outputs = cell.select(":scope > .cell_output > *")
        texts = [one for one in outputs if one.find("pre") and _lines(one) <= OUTPUT_LINES]
        shown = _pieces(code) if code else []
        for place, piece in enumerate(shown):
            last = place == len(shown) - 1
            beside = [_output(one) for one in texts] if last else []
            room = beside and len(piece) <= CODE_LINES  # empty lines take room, too
            self._add("code", [_code(piece), *beside, *self._seen(after if room else None)])
        if texts and not shown:
            self._add("output", [*map(_output, texts), *self._seen(after)])
        for output in outputs:
            self._output(output, after)

    def _output(self, output: Tag, after: Tag | None) -> None:
        if explorable := output.find(class_="explorable"):
            self._live(explorable)
        elif claims := output.select(".posenc-claim"):
            for claim in claims:
                self._add("verdict", [str(claim)], lead=False)
        elif output.name == "figure":
            self._figure(output)
        elif table := output.find("table"):
            self._table(table, after)

    def _table(self, table: Tag, after: Tag | None) -> None:
        rows = table.select("tbody > tr")
        shown: list[list[Tag]] = [[]]
        for row in rows:
            letters = sum(len(one.get_text()) for one in [*shown[-1], row])
            if shown[-1] and (len(shown[-1]) == TABLE_ROWS or letters > TABLE_LETTERS):
                shown.append([])
            shown[-1].append(row)
        if len(shown) > MOST_TABLES:
            return
        for place, some in enumerate(shown):
            one = copy.copy(table)
            body = one.find("tbody")
            body.clear()
            body.extend(copy.copy(row) for row in some)
            seen = self._seen(after) if place == len(shown) - 1 else []
            self._add("table", [str(one), *seen])

    def _live(self, figure: Tag) -> None:
        caption = figure.find("figcaption")
        name = caption.find("strong").extract().get_text().rstrip(".")
        notes = f"<p>{caption.decode_contents()}</p>"
        words = BeautifulSoup(opening(caption, CAPTION), "html.parser")
        caption.clear()
        caption.append(words)
        self._add("live", [str(figure)], lead=False)
        self.slides[-1].title = name
        self.slides[-1].notes.append(notes)

    def _figure(self, figure: Tag) -> None:
        caption = figure.select_one(".caption-text")
        words = f"<figcaption>{opening(caption, LETTERS)}</figcaption>" if caption else ""
        notes = [f"<p>{caption.decode_contents()}</p>"] if caption else []
        self._add("figure", [f"<figure>{figure.find('img')}{words}</figure>"])
        self.slides[-1].notes += notes

    def _seen(self, after: Tag | None) -> list[str]:
        """Return what is said of a result: the first sentence behind it."""
        if after is None or after.name != "p" or "Predict, then" in after.get_text():
            return []
        first = opening(after, 0)
        if length(first) > LETTERS or first in self.used:
            return []
        self.used.add(first)
        return [f'<p class="seen">{first}</p>']


def _lines(output: Tag) -> int:
    return len(output.get_text().strip().splitlines())


def _output(output: Tag) -> str:
    return f'<pre class="output">{output.find("pre").decode_contents().strip()}</pre>'


def _plain(line: str) -> str:
    return unescape(re.sub("<[^>]+>", "", line))


def _code(lines: list[str]) -> str:
    columns = max(len(_plain(line)) for line in lines)
    text = "\n".join(lines)
    return f'<div class="highlight"><pre style="--columns: {columns}">{text}</pre></div>'


def _pieces(code: Tag) -> list[list[str]]:
    """Return the code of a cell in pieces that fit on a slide; none where that cannot be."""
    lines = code.decode_contents().strip("\n").replace("<span></span>", "", 1).splitlines()
    words = [line for line in code.get_text().splitlines() if line.strip()]
    if not any(map(TEACHES.match, words)):
        return []
    if len(words) <= CODE_LINES:
        return [_without_double(lines)]
    pieces: list[list[str]] = [[]]
    for line in lines:
        if line.strip():
            pieces[-1].append(line)
        elif pieces[-1]:
            pieces.append([])
    pieces = _joined([piece for piece in pieces if piece])
    whole = all("".join(p).count("<span") == "".join(p).count("</span") for p in pieces)
    if not whole or any(len(piece) > CODE_LINES for piece in pieces):
        return []
    return [piece for piece in pieces if any(TEACHES.match(_plain(line)) for line in piece)]


def _joined(pieces: list[list[str]]) -> list[list[str]]:
    """Put neighbouring pieces together as long as they fit."""
    found: list[list[str]] = []
    for piece in pieces:
        if found and len(found[-1]) + 1 + len(piece) <= CODE_LINES:
            found[-1] += ["", *piece]
        else:
            found.append(piece)
    return found


def _without_double(lines: list[str]) -> list[str]:
    """Leave out every second of two empty lines."""
    pairs = zip(["x", *lines], lines, strict=False)
    return [line for before, line in pairs if line.strip() or before.strip()]


def _take_away(title: str, section: Tag) -> list[Slide]:
    items = [li.find("p") or li for li in section.find_all("li")]
    paragraphs = [p for p in section.find_all("p", class_=False) if not p.find_parent("li")]
    after = [p for p in paragraphs if p.get_text().startswith("Next")]
    told = [one for p in paragraphs if p not in after for one in sentences(p)]
    told += [item.decode_contents() for item in items]
    last = [f'<p class="seen">{opening(p, LETTERS)}</p>' for p in after]
    if sum(map(length, told)) > TAKE_AWAY:
        found = [Slide(title, [f"<p>{one}</p>"], "take-away") for one in told]
        found[-1].body += last
        return found
    lines = "".join(f"<li>{one}</li>" for one in told)
    return [Slide(title, [f"<ol>{lines}</ol>", *last], "take-away")]


def _exercise(box: Tag) -> Slide:
    title = box.find(class_="admonition-title").get_text().strip()
    return Slide(title, [box.find(class_="content").decode_contents()], "exercise")


def _question(title: str, fieldset: Tag) -> Slide:
    asked = fieldset.find_previous_sibling("summary").decode_contents()
    legend = f"<legend>{asked}</legend>{fieldset.decode_contents()}"
    form = f'<form class="posenc-quiz" autocomplete="off"><fieldset>{legend}</fieldset></form>'
    right = fieldset.select_one(".posenc-why.right")
    return Slide(title, [form], "question", [f"<p>{right.decode_contents()}</p>"])
