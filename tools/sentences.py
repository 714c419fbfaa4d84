"""Cut a paragraph of the built site into its sentences, with the marks inside them kept."""

import re

from bs4 import Comment, NavigableString, Tag

BREAK = re.compile(r"(?<=[.?!])\s+(?=[A-Z“\"(])")
# A full stop behind these ends no sentence.
SHORT = re.compile(r"(?:\b(?:e\.g|i\.e|al|Fig|Eq|vs|cf|No|[A-Z])\.)$")


def sentences(paragraph: Tag) -> list[str]:
    """Return the sentences of a paragraph as HTML."""
    found, now, text = [], "", ""
    for child in paragraph.children:
        if isinstance(child, Comment):
            continue
        if isinstance(child, NavigableString):
            for place, piece in enumerate(_pieces(str(child), text)):
                if place:
                    found.append(now)
                    now = ""
                now += piece.replace("&", "&amp;").replace("<", "&lt;")
            text += str(child)
        else:
            now += str(child)
            text += child.get_text()
    return _with_their_labels([one.strip() for one in [*found, now] if one.strip()])


def _pieces(string: str, before: str) -> list[str]:
    """Return a text cut where sentences end; `before` is what stands in front of it."""
    pieces = [""]
    if before.endswith((".", "?", "!")) and re.match(r"\s+[A-Z]", string):
        pieces.append("")
    start = 0
    for match in BREAK.finditer(string):
        if not SHORT.search((before + string[: match.start()])[-8:]):
            pieces[-1] += string[start : match.start()]
            pieces.append("")
            start = match.end()
    pieces[-1] += string[start:]
    return pieces


def _with_their_labels(found: list[str]) -> list[str]:
    """Join a bold label such as "Predict, then check." with the sentence behind it."""
    joined: list[str] = []
    for one in found:
        if joined and re.fullmatch(r"<strong>[^<]*</strong>", joined[-1]):
            joined[-1] += f" {one}"
        else:
            joined.append(one)
    return joined


def length(html: str) -> int:
    """Return the number of letters of a piece of HTML, marks left out."""
    return len(re.sub(r"<[^>]+>", "", html))


def opening(paragraph: Tag, limit: int) -> str:
    """Return the first sentence, and further ones as long as they stay below a limit."""
    taken = ""
    for sentence in sentences(paragraph):
        if taken and length(taken) + length(sentence) > limit:
            break
        taken = f"{taken} {sentence}".strip()
    return taken
