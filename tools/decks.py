"""The decks for teaching: read course/decks/<chapter>.md, and make slides of reveal.js of each.

A deck is Markdown. A line `---` stands between two slides, and each ends with what is said to it:

    ## The mean stands still
    ![Three words, and the mean of their rows](explorable:shuffle)

    Note (4 min): Let somebody come to the front and drag *Bob*.

The first slide has a heading of level 1, all others one of level 2. A picture has the name that its
figure has in the chapter, `figure:fig-every-order`, and is taken from the notebook, where it is
stored; `explorable:shuffle` is a figure that answers on the slide, too. `## Question: ...` asks the
class, with answers to vote on in a list that begins `- **A** ...`; the next slide is its
`## Answer: ...` and begins with the letter. Numbers come from the chapter, which is tested.
"""

import base64
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from html import escape
from pathlib import Path
from typing import Any

from markdown_it import MarkdownIt
from mdit_py_plugins.dollarmath import dollarmath_plugin
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonLexer

from repository import ROOT

FOLDER = ROOT / "course" / "decks"
MOST = 15  # slides
NOTE = re.compile(r"^Note \((\d+) min\): ", re.MULTILINE)
PICTURE = re.compile(r"^!\[([^\]]*)\]\((figure|explorable):([\w-]+)\)$", re.MULTILINE)
HEADING = re.compile(r"^(##?) (.+)$", re.MULTILINE)
KINDS = {"Question: ": "predict", "Answer: ": "answer", "At home": "take-away"}


class DeckError(ValueError):
    """A deck that is not of the form above; the sentence names the deck and its slide."""


@dataclass(frozen=True)
class Slide:
    """One slide: its heading, what it shows, its picture, what the speaker says, and for how long.

    `picture` is empty or has the caption, the kind (`figure`, `explorable`) and the name.
    """

    heading: str
    kind: str
    text: str
    picture: tuple[str, ...]
    notes: str
    minutes: int


def names() -> list[str]:
    """Return the chapters that have a deck."""
    return sorted(path.stem for path in FOLDER.glob("*.md"))


def read(path: Path) -> list[Slide]:
    """Return the slides of a deck.

    Raises
    ------
    DeckError
        Where a slide lacks its heading or its note, or has two pictures.
    """
    pieces = re.split(r"^---$\n?", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return [_slide(piece, f"{path.name}, slide {n}") for n, piece in enumerate(pieces, start=1)]


def _slide(piece: str, place: str) -> Slide:
    shown, *noted = NOTE.split(piece)
    if len(noted) != 2 or not noted[1].strip():
        raise DeckError(f"{place} must end with one note, such as 'Note (3 min): Ask ...'")
    headings, pictures = HEADING.findall(shown), PICTURE.findall(shown)
    if len(headings) != 1 or len(pictures) > 1:
        raise DeckError(
            f"{place} must have one heading and at most one picture, "
            f"got {len(headings)} and {len(pictures)}"
        )
    level, heading = headings[0]
    kind = next((kind for begin, kind in KINDS.items() if heading.startswith(begin)), "")
    kind = kind or ("front" if level == "#" else {"explorable": "live"}.get(_of(pictures), ""))
    text = PICTURE.sub("", HEADING.sub("", shown, count=1)).strip()
    picture = pictures[0] if pictures else ()
    minutes, notes = noted
    kind = kind or ("figure" if pictures else "prose")
    return Slide(heading, kind, text, picture, notes.strip(), int(minutes))


def _of(pictures: list[tuple[str, str, str]]) -> str:
    return pictures[0][1] if pictures else ""


# --- what is taken from the chapter


@cache
def notebook(name: str) -> dict[str, Any]:
    """Return a chapter."""
    return json.loads((ROOT / "book" / f"{name}.ipynb").read_text(encoding="utf-8"))


@cache
def figures(name: str) -> dict[str, tuple[bytes, str]]:
    """Return figure -> its stored picture and what it says to those who cannot see it."""
    return dict(_figures(name))


def _figures(name: str) -> Iterator[tuple[str, tuple[bytes, str]]]:
    for cell in notebook(name)["cells"]:
        about = cell["metadata"].get("mystnb", {})
        for output in cell.get("outputs", []):
            if "figure" in about and (png := output.get("data", {}).get("image/png")):
                picture = base64.b64decode("".join(png))
                yield about["figure"]["name"], (picture, about.get("image", {}).get("alt", ""))


def explorables(name: str) -> dict[str, str]:
    """Return explorable -> its figure, as the chapter holds it."""
    found = {}
    for cell in notebook(name)["cells"]:
        for output in cell.get("outputs", []):
            html = "".join(output.get("data", {}).get("text/html", ""))
            if named := re.search(r'class="explorable"[^>]*? data-name="([a-z-]+)"', html):
                found[named[1]] = re.search(r"<figure.*</figure>", html, re.DOTALL)[0]
    return found


# --- as slides


def html(name: str, slides: list[Slide], source: str = "") -> str:
    """Return a chapter's deck as sections of reveal.js; the first slide names its source."""
    minutes = sum(slide.minutes for slide in slides)
    whole = f"<p>The whole deck takes about {minutes} min.</p>"
    found = [_section(name, slide, whole * (slide is slides[0])) for slide in slides]
    found[0] = found[0].replace("</div>", f'<p class="from">{escape(source)}</p></div>', 1)
    return "\n".join(found)


def pictures(name: str, slides: list[Slide]) -> dict[str, bytes]:
    """Return file -> picture for each figure that a deck shows."""
    shown = [slide.picture[2] for slide in slides if slide.picture[1:2] == ("figure",)]
    return {_file(name, figure): figures(name)[figure][0] for figure in shown}


def _file(name: str, figure: str) -> str:
    return f"{name}-{figure}.png"


def _section(name: str, slide: Slide, first: str) -> str:
    level = "h1" if slide.kind == "front" else "h2"
    head = f"<{level}>{_inline(slide.heading)}</{level}>"
    body = _markdown(slide.text) + _picture(name, slide.picture)
    body = head + body if slide.kind == "front" else body
    above = "" if slide.kind == "front" else head
    notes = f"{first}<p>About {slide.minutes} min.</p>{_markdown(slide.notes)}"
    return (
        f'<section class="{slide.kind}">{above}<div class="body">{body}</div>'
        f'<aside class="notes">{notes}</aside></section>'
    )


def _picture(name: str, picture: tuple[str, ...]) -> str:
    if not picture:
        return ""
    caption, kind, wanted = picture
    if kind == "explorable":
        figure = explorables(name)[wanted]
        words = f"<figcaption>{_inline(caption)}</figcaption>"
        return re.sub(r"<figcaption>.*?</figcaption>", lambda _: words, figure, flags=re.DOTALL)
    alt = escape(figures(name)[wanted][1])
    words = f"<figcaption>{_inline(caption)}</figcaption>" if caption else ""
    return f'<figure><img src="_images/{_file(name, wanted)}" alt="{alt}">{words}</figure>'


def _fence(tokens: list, place: int, *_) -> str:
    code = tokens[place].content.rstrip("\n")
    columns = max(map(len, code.splitlines()))
    text = highlight(code, PythonLexer(), HtmlFormatter(nowrap=True)).rstrip("\n")
    if tokens[place].info.strip() != "python":
        return f'<pre class="output">{escape(code)}</pre>'
    return f'<div class="highlight"><pre style="--columns: {columns}">{text}</pre></div>'


@cache
def _reader() -> MarkdownIt:
    reader = MarkdownIt("commonmark", {"html": False}).enable("table")
    reader.use(dollarmath_plugin, renderer=_formula)
    reader.renderer.rules["fence"] = _fence
    return reader


def _formula(text: str, options: dict) -> str:
    shown = escape(text.strip())
    return rf"\[{shown}\]" if options.get("display_mode") else rf"\({shown}\)"


def _markdown(text: str) -> str:
    return _as_mathjax_wants(_reader().render(text))


def _inline(text: str) -> str:
    return _as_mathjax_wants(_reader().renderInline(text))


def _as_mathjax_wants(html: str) -> str:
    """Give formulas the class by which MathJax finds them on the site."""
    return re.sub(r'class="math (inline|block)"', r'class="math \1 notranslate nohighlight"', html)
