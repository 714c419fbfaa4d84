"""The glossary is in order, and a link in it leads to a page that uses the word."""

import re
from functools import cache

import nbformat
import pytest
from sitefiles import ROOT

TEXT = (ROOT / "book" / "glossary.md").read_text(encoding="utf-8")
BLOCK = re.search(r"```\{glossary\}\n(.*?)```", TEXT, re.DOTALL)[1]
ENTRIES = dict(re.findall(r"^(\S.*)\n  (.*)$", BLOCK, re.MULTILINE))
LINK = re.compile(r"\]\(([\w-]+\.(?:ipynb|md))\)")
LINKS = [(word, page) for word, entry in ENTRIES.items() for page in LINK.findall(entry)]


@cache
def prose(page: str) -> str:
    """Return the words of a page of the book."""
    path = ROOT / "book" / page
    if path.suffix == ".md":
        return path.read_text(encoding="utf-8")
    cells = nbformat.read(path, as_version=4).cells
    return "\n".join(cell.source for cell in cells if cell.cell_type == "markdown")


def test_words_stand_in_the_order_of_the_alphabet():
    assert list(ENTRIES) == sorted(ENTRIES, key=str.lower)
    assert len(ENTRIES) > 50


def test_a_link_leads_to_a_page_that_uses_the_word():
    assert LINKS
    found = [f"{word}: {page}" for word, page in LINKS if not uses(page, word)]
    assert not found, "\n".join(found)


def uses(page: str, word: str) -> bool:
    """Say whether a word stands on a page, with what it is or without."""
    kinds = (" encoding", " pairing", " door", " matrix", " grid")
    forms = {word, *(word.removesuffix(kind) for kind in kinds)}
    words = prose(page).lower()
    return any(form.lower() in words for form in forms)


@pytest.mark.parametrize(
    "word",
    [
        "position interpolation", "NTK", "dynamic NTK", "YaRN", "Llama 3 scaling", "LongRoPE",
        "partial rotary", "p-RoPE", "random positions", "NoPE",
    ],
)  # fmt: skip
def test_the_words_of_long_contexts_have_entries(word):
    assert len(ENTRIES[word].split()) > 8


@pytest.mark.parametrize(
    ("page", "symbol"),
    [
        ("rotary.ipynb", r"\varphi_i"),
        ("beyond-training-length.ipynb", r"\psi("),
        ("beyond-training-length.ipynb", r"f_\theta"),
        ("beyond-training-length.ipynb", "T"),
    ],
)
def test_symbols_of_modern_encodings_stand_on_the_notation_page(page, symbol):
    letter = symbol.isalpha()  # which stands in many words, and before the bracket of a function
    assert (f"${symbol}$" if letter else symbol) in prose(page)
    table = (ROOT / "book" / "notation.md").read_text(encoding="utf-8")
    end = r"(?![\w(])" if letter else ""
    assert re.search(rf"^\| \${re.escape(symbol)}{end}", table, re.MULTILINE)
