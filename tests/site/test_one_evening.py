"""One evening stays one page, and the path through the book begins and ends where it says."""

import io
import re

import nbformat
import pytest
from parsing import parsed
from pypdf import PdfReader
from sitefiles import ROOT, toc_files

import chapter_times

NAME = "book/one-evening"
MOST_WORDS = 3300
FIGURES = 6
PATH = ROOT / f"{NAME}.ipynb"
NOTEBOOK = nbformat.read(PATH, as_version=4)
CHAPTER = re.compile(r"\]\(([\w-]+)\.ipynb\)[^\n]*$")  # a link in the last line


def sections() -> list[str]:
    """Return the sections of the page, the first one with the opening."""
    return re.split(r"\n(?=## )", chapter_times.markdown(NOTEBOOK))[1:]


def test_it_is_short_and_has_six_figures_that_answer():
    one = chapter_times.shape(PATH)
    code = [cell.source for cell in NOTEBOOK.cells if cell.cell_type == "code"]
    names = re.findall(r'explorables\.show\("([\w-]+)"\)', "\n".join(code))
    assert one.words <= MOST_WORDS
    assert one.stated == (one.minutes, 0) == (20, 0)  # twenty, as the first page promises
    assert len(set(names)) == len(names) == FIGURES


def test_every_section_ends_in_a_link_to_its_chapter():
    ends = [CHAPTER.search(text.strip()) for text in sections()]
    assert len(ends) >= 6
    assert all(ends)
    chapters = toc_files()[1 : toc_files().index(NAME)]
    assert {f"book/{one[1]}" for one in ends} <= set(chapters)


@pytest.mark.parametrize("page", ["book/intro", "book/rotary", "book/atlas/turned", NAME])
def test_the_contents_stand_open_where_one_is(site, page):
    parts = parsed(site / f"{page}.html").select(".bd-docs-nav li.toctree-l0 > details")
    assert len(parts) > 6
    here = [part for part in parts if part.select_one("a.current")]
    assert [part for part in parts if part.has_attr("open")] == here
    assert len(here) == (page != "book/intro")


@pytest.mark.parametrize(("page_name", "sides"), [(NAME, 8), ("book/referees-sheet", 1)])
def test_it_prints_on_four_sheets_and_the_referees_sheet_on_one_page(opened, page_name, sides):
    margin = dict.fromkeys(("top", "bottom", "left", "right"), "1cm")
    printed = PdfReader(io.BytesIO(opened.goto(page_name).pdf(format="A4", margin=margin)))
    assert len(printed.pages) <= sides
