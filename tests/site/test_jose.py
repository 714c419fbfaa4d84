"""The paper for the Journal of Open Source Education: its parts, its length, its references."""

import re

import pytest
import yaml
from pybtex.database import parse_file
from sitefiles import ROOT

TEXT = (ROOT / "paper" / "jose.md").read_text(encoding="utf-8")
FRONT, BODY = TEXT.split("---\n", 2)[1:]
CITED = set(re.findall(r"@(\w+)", " ".join(re.findall(r"\[(@[^\]]+)\]", BODY))))
ENTRIES = parse_file(str(ROOT / "paper" / "paper.bib")).entries


def test_it_has_the_parts_that_the_journal_asks_for():
    about = yaml.safe_load(FRONT)
    assert {"title", "tags", "authors", "affiliations", "date", "bibliography"} <= about.keys()
    heads = re.findall(r"^# (.+)$", BODY, re.MULTILINE)
    for part in ("Summary", "Statement of need", "Learning objectives", "Experience of use"):
        assert part in heads
    assert "Content and instructional design" in heads
    assert heads[-1] == "References"


def test_what_is_cited_is_listed_and_what_is_listed_is_cited():
    assert ENTRIES.keys() == CITED


@pytest.mark.parametrize("key", sorted(CITED))
def test_an_entry_that_the_book_has_is_the_same_here(key):
    book = parse_file(str(ROOT / "book" / "references.bib")).entries
    assert ENTRIES[key].fields["title"]
    if key in book:
        assert ENTRIES[key] == book[key]
