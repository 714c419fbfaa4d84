"""Sphinx extension: code without the marks that change nothing, which makes pages a third lighter.

The theme's styles give names, punctuation and white space the colour of plain text; a test compares
the colours. One mark is added: a long line says how far in it begins, and where it may break beside
its spaces, so that `book.css` can let it go on below where a screen is narrow.
"""

import html
import re
from collections.abc import Iterable
from typing import TextIO

from pygments.formatters import HtmlFormatter
from pygments.token import Name, Punctuation, Text, Whitespace
from sphinx.application import Sphinx
from sphinx.highlighting import PygmentsBridge

PLAIN = {Name, Name.Namespace, Punctuation, Whitespace}
SHORT = 30  # characters that fit on a phone, in a box within a box and in larger letters, too
TAG = re.compile(r"<[^>]*>")
OPENING = re.compile(r"\((?!\))")


class LeanFormatter(HtmlFormatter):
    """Marks only what has a colour of its own."""

    def format(self, tokensource: Iterable[tuple], outfile: TextIO) -> None:
        """Write the tokens as HTML."""
        plain = ((Text if kind in PLAIN else kind, value) for kind, value in tokensource)
        super().format(plain, outfile)

    def wrap(self, source: Iterable[tuple[int, str]]) -> Iterable[tuple[int, str]]:
        """Put all lines into their box, the long ones marked."""
        return super().wrap((kind, marked(line)) for kind, line in source)


def marked(line: str) -> str:
    """Return a line of HTML, marked if it is long."""
    text = html.unescape(TAG.sub("", line)).rstrip()
    if len(text) <= SHORT:
        return line
    line = OPENING.sub("(<wbr>", line)
    return f'<span style="--in:{len(text) - len(text.lstrip())}">{line}</span>'


def setup(app: Sphinx) -> dict[str, bool]:  # noqa: ARG001
    """Use it for all pages."""
    PygmentsBridge.html_formatter = LeanFormatter
    return {"parallel_read_safe": True, "parallel_write_safe": True}
