"""The page on public bug reports: its table at the top says what its sections find."""

import re
from itertools import groupby

import nbformat
import pytest
from sitefiles import ROOT

PAGE = nbformat.read(ROOT / "book" / "bug-reports.ipynb", as_version=4)
ROW = re.compile(r"^\| \[.+?\]\(#report-([\w-]+)\) \| (\w+) \| (.+) \|$", re.MULTILINE)
HEADING = re.compile(r"^\(report-([\w-]+)\)=\n### ", re.MULTILINE)
LINK = re.compile(r"\]\((https://github\.com/[\w.-]+/[\w.-]+/(?:issues|pull)/\d+)\)")
OURS = re.compile(r"^\*\*Ours: (\w+)\.\*\* .+", re.MULTILINE)


def sections() -> dict[str, tuple[str, str]]:
    """Return the prose and the code below each report's heading, by its anchor."""
    pieces, anchor = [], ""
    for cell in PAGE.cells:
        texts = HEADING.split(cell.source) if cell.cell_type == "markdown" else [cell.source]
        pieces.append((anchor, cell.cell_type, texts[0]))
        for anchor, text in zip(texts[1::2], texts[2::2], strict=True):
            pieces.append((anchor, cell.cell_type, text.split("\n## ")[0]))
    return {
        anchor: tuple(
            "\n".join(text for kind, text in both if kind == wanted)
            for wanted in ("markdown", "code")
        )
        for anchor, group in groupby(pieces[1:], lambda piece: piece[0])
        if anchor and (both := [piece[1:] for piece in group])
    }


SECTIONS = sections()
TABLE = {anchor: (links, ours) for anchor, ours, links in ROW.findall(PAGE.cells[3].source)}


def test_table_and_sections_are_in_the_same_order():
    assert list(TABLE) == list(SECTIONS)
    assert len(TABLE) > 24


@pytest.mark.parametrize("anchor", SECTIONS)
def test_a_section_says_what_the_table_says(anchor):
    prose, code = SECTIONS[anchor]
    links, ours = TABLE[anchor]
    assert OURS.findall(prose) == [ours]
    assert LINK.findall(links)
    assert set(LINK.findall(links)) == set(LINK.findall(prose))
    assert ("refusal(" in code) or ours != "refuses"
    assert code.count("assert ") + code.count("refusal(") >= 2  # what is broken, and ours
