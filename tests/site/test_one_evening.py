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
FIGURES, SHEETS = 6, 4  # sheets of two sides
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


def test_it_has_no_proofs_no_exercises_and_no_marks():
    text = chapter_times.markdown(NOTEBOOK)
    assert not re.search(r":{3,}\{|<sup>|\$|#claim-", text)


def test_every_section_ends_in_a_link_to_its_chapter():
    ends = [CHAPTER.search(text.strip()) for text in sections()]
    assert len(ends) >= 6
    assert all(ends)
    chapters = toc_files()[1 : toc_files().index(NAME)]
    assert {f"book/{one[1]}" for one in ends} <= set(chapters)


def test_it_stands_behind_the_chapters_and_before_the_questions():
    pages = toc_files()
    here = pages.index(NAME)
    assert pages[1] == "book/order-blindness"
    assert pages[here - 1 : here + 2] == ("book/running-benchmarks", NAME, "book/questions")


def test_the_first_page_offers_it_as_its_first_door():
    text = chapter_times.markdown(nbformat.read(ROOT / "book" / "intro.ipynb", as_version=4))
    [door, *_] = re.findall(r":::\{grid-item-card\}.*?\n:::", text, re.DOTALL)
    assert "(one-evening.ipynb)" in door


def test_the_path_ends_where_the_gpt_writes():
    ends = [
        page for page in toc_files() if page != NAME and "**You have finished.**" in source(page)
    ]
    assert ends == ["book/your-gpt"]
    assert "class GPT(" in source("book/your-gpt")


def source(page: str) -> str:
    """Return the source of a page."""
    path = next(p for end in ("ipynb", "md") if (p := ROOT / f"{page}.{end}").is_file())
    return path.read_text(encoding="utf-8")


@pytest.mark.parametrize("page", ["book/intro", "book/running-benchmarks", NAME])
def test_next_follows_the_contents(site, page):
    link = parsed(site / f"{page}.html").select_one("a.right-next")
    after = toc_files()[toc_files().index(page) + 1]
    assert link["href"] == f"{after.removeprefix('book/')}.html"


@pytest.mark.parametrize("page", ["book/intro", "book/rotary", "book/atlas/turned", NAME])
def test_the_contents_stand_open_where_one_is(site, page):
    parts = parsed(site / f"{page}.html").select(".bd-docs-nav li.toctree-l0 > details")
    assert len(parts) > 6
    here = [part for part in parts if part.select_one("a.current")]
    assert [part for part in parts if part.has_attr("open")] == here
    assert len(here) == (page != "book/intro")


def test_it_prints_on_four_sheets(opened):
    page = opened.goto(NAME)
    margin = dict.fromkeys(("top", "bottom", "left", "right"), "1cm")
    printed = PdfReader(io.BytesIO(page.pdf(format="A4", margin=margin)))
    assert len(printed.pages) <= 2 * SHEETS


def test_the_referees_sheet_prints_on_one_page(opened):
    page = opened.goto("book/referees-sheet")
    margin = dict.fromkeys(("top", "bottom", "left", "right"), "1cm")
    assert len(PdfReader(io.BytesIO(page.pdf(format="A4", margin=margin))).pages) == 1
