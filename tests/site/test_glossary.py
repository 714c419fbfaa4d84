"""The glossary is in order, and a link in it leads to a page that uses the word."""

import re

from sitefiles import markdown

TEXT = markdown("book/glossary")
BLOCK = re.search(r"```\{glossary\}\n(.*?)```", TEXT, re.DOTALL)[1]
ENTRIES = dict(re.findall(r"^(\S.*)\n  (.*)$", BLOCK, re.MULTILINE))
LINK = re.compile(r"\]\(([\w-]+)\.(?:ipynb|md)\)")
LINKS = [(word, page) for word, entry in ENTRIES.items() for page in LINK.findall(entry)]


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
    words = markdown(f"book/{page}").lower()
    return any(form.lower() in words for form in forms)
