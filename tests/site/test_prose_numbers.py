"""Prose of the Book quotes no number that its part of the page does not show.

A decimal number, a percentage or a whole number of at least two digits in a Markdown cell wears the
name of a quantity (`tools/fill.py`), or stands in the outputs or the code of its own section, in an
output of the page's opening, or in a section to which its sentence links; whole numbers may also
stand in code above it, as the sizes that a page works with do. Opening, exercises and take-away may
quote the whole page. Not quotations are, by rule: places in a source, addresses, public threads,
the stated time, years, versions, headings, recorded sizes of a data set that the same passage
names, whole numbers in formulas and in code, and whole numbers that an exercise makes up. No page
has exceptions: give a number that no cell shows a name, or link to the section that shows it.
"""

import re
from functools import cache

import nbformat
import pytest
from quoting import sections, unfounded
from sitefiles import ROOT, toc_files

from posenc_book.data import measure

# Tools write the first two, and each entry of the third links the verdict that it quotes.
MADE = ("book/atlas", "book/editions", "book/errata")
PAGES = [page for page in toc_files() if not page.startswith(MADE) and "/api" not in page]
CHAPTERS = [page for page in PAGES if (ROOT / f"{page}.ipynb").is_file()]
PLAIN = [page for page in PAGES if (ROOT / f"{page}.md").is_file()]
# What a page without cells shows: commands with their output, and tables. So does one with cells
# whose commands are for a terminal, or whose tables a tool fills in.
TERMINAL = ("book/running-benchmarks", "book/audit/survey-results")
SHOWN = re.compile(r"^```.*?^```|^\|.*?$", re.MULTILINE | re.DOTALL)
USUAL = {"0.05", "95 %"}  # the level of a test, the coverage of an interval
SETS = measure.recorded()["sets"]


def sizes(text: str) -> set[str]:
    """Return the recorded sizes of the data sets that a piece of prose names."""
    facts = [measure.recorded_facts(name) for name in SETS if name in text]
    return {
        str(getattr(one, size))
        for one in facts
        for size in ("train", "test", "length", "n_channels", "n_classes")
    }


@cache
def read(page: str):
    """Return a page as a notebook, also one without cells."""
    if page in PLAIN:
        return as_notebook((ROOT / f"{page}.md").read_text(encoding="utf-8"))
    notebook = nbformat.read(ROOT / f"{page}.ipynb", as_version=4)
    if page in TERMINAL:
        parts = [
            as_notebook(c.source).cells if c.cell_type == "markdown" else [c]
            for c in notebook.cells
        ]
        notebook.cells = [cell for part in parts for cell in part]
    return notebook


@cache
def sections_of(page: str):
    """Return the sections of another page, none of one that is left out."""
    path = f"book/{page.removeprefix('../')}"
    return sections(read(path)) if path in PAGES else []


def fake(prose: str, code: str = "", output: str = "", *more):
    """Return a notebook of cells in turn: prose, then code with an output."""
    v4, cells = nbformat.v4, []
    texts = [prose, code, output, *more]
    for said, source, printed in zip(texts[::3], texts[1::3], texts[2::3], strict=True):
        outputs = [v4.new_output("stream", text=printed)]
        cells += [v4.new_markdown_cell(said), v4.new_code_cell(source, outputs=outputs)]
    return v4.new_notebook(cells=cells)


def as_notebook(text: str):
    """Return a page without cells as a notebook: its prose, and what each section shows."""
    parts = re.split(r"(?m)^(?=#{2,3} )", text)
    shows = ["\n".join(SHOWN.findall(part)) for part in parts]
    return fake(*(x for p, s in zip(parts, shows, strict=True) for x in (SHOWN.sub("", p), "", s)))


@pytest.mark.parametrize("page", PAGES)
def test_prose_quotes_only_numbers_that_its_section_shows(page):
    assert unfounded(read(page), USUAL, sizes, sections_of) == {}


# --- what is found, and what is none


TASK = ":::{exercise} A\n:label: ex-a\n\nOf 77 series 0.7 are right, 12 % of 88.\n:::"
NOTE = "## A\n\n:::{admonition} B\n:class: tip\n\nIt is 77.\n:::\n\nAnd 88."
TITLE = r"confirmed: \"All\" 63,000 (x, 4) of 77. (A, 88)"
LINKED = ("## What it is", "", "5.3 6.4", "## B\n\nIt is 5.3 ([above](#{})). And 6.4.", "", "")
ABOVE = ("## A", "d = 512; share = 0.7", "", "## B\n\nOf 512 and 256, 0.7.", "", "")


@pytest.mark.parametrize(
    ("cells", "found"),
    [
        # whether it is shown
        (("It is 5.8, or 12 % of it.", "x = 1", "gain 5.80"), {"5.8", "12 %"}),
        (("It is 5.8 points.", "limit = 5.8", ""), set()),
        (("It is 5.8 points.", "", "gain 5.8% today"), set()),
        (("It takes 61,712 positions, two of 14 sets, and 2.", "", "14 sets"), {"61712"}),
        (("It takes 61712 positions.", "", "61_712"), set()),
        (("It is 0.5.", "", "0.53 10.5"), {"0.5"}),
        (("It is 20%.", "n = 20", ""), {"20 %"}),
        (("It is 20%.", "", "20 % of runs"), set()),
        (("It is 89.2 %.", "", "right, in per cent\n89.2"), set()),
        (("It is 89.2 %.", "", "right\n89.2"), {"89.2 %"}),
        # whether it is a quotation
        (('It is <data value="a.b">7.1</data>, <data value="if:a.c">2.5</data>.',), {"2.5"}),
        (("**Time:** about 35 minutes to read, 60 for the exercises. Python 3.11.7.",), set()),
        (("Llama 3.1.",), set()),
        (("With $d = 512$ and `n = 200`, ALiBi-50 and x.",), set()),
        (("A post of 2019, and the version of February 2025.",), set()),
        (("It works in 2048 positions, not in 2001 steps.",), {"2048", "2001"}),
        (("SmoothSubspace and PenDigits have 150 series for training.",), set()),
        (("### S14: the gain is 5 to 6 % above 100 steps",), set()),
        (("*Asked in [pytorch/tutorials #2849](https://a.org/2849).* Item #2849.",), {"2849"}),
        (("*Asked in [pytorch/tutorials #2849](https://a.org/2849).*",), set()),
        (("Eq. 17 to 21, Eq. 36 and 37, Fig. 12 and Tables 11, 12 of the source.",), set()),
        (("Sections 5.1, 5.2 and 6.4, [v](https://a.org/1.5/x), alpha is 0.05",), set()),
        ((f'It is so.<sup>[✓ B7](x.ipynb#claim-B7 "{TITLE}")</sup> And so.',), set()),
        ((f"## A\n\n{TASK}\n\nThere are 77.",), {"0.7", "12 %", "77"}),
        ((NOTE,), {"77", "88"}),
        # which part of the page shows it
        (("# T", "", "3.1", "## A\n\nIt is 3.1, 4.2, 5.3.", "", "4.2", "## B", "", "5.3"), {"5.3"}),
        (("## A\n\nIt is 5.3.", "", "", "### B", "", "5.3"), {"5.3"}),
        (("# Title\n\nIt is 5.3, 6.4.", "", "", "## B", "", "5.3"), {"6.4"}),
        (("## Take-away\n\nIt is 5.3, 6.4.", "", "", "## B", "", "5.3"), {"6.4"}),
        ((*ABOVE, "## C", "d = 256", ""), {"256", "0.7"}),
        ([cell.replace("{}", "what-it-is") for cell in LINKED], {"6.4"}),
        ([cell.replace("{}", "other") for cell in LINKED], {"5.3", "6.4"}),
    ],
)
def test_a_number_from_nowhere_is_found_and_no_other(cells, found):
    assert set(unfounded(fake(*cells), USUAL, sizes)) == found


def test_a_page_without_cells_shows_its_tables_and_commands():
    page = "It is 4.2, not 6.6.\n\n```\n$ report: 4.2\n```\n\n| a | 5.1 |\n\nNot 5.1 but 7.7."
    assert set(unfounded(as_notebook(page))) == {"6.6", "7.7"}


FIGURE = '<figure class="explorable">{}</figure>'


@pytest.mark.parametrize(
    ("kind", "text", "counts"),
    [
        ("markdown", "| a | 0.73 |", True),
        ("html", "<td>0.73</td>", True),
        ("html", FIGURE.format('<p class="explorable-summary">0.73</p>'), True),
        ("html", FIGURE.format("<output>0.73</output>"), False),
        ("html", '<td style="width: 0.73em">1</td>', False),
        ("html", "<style>td { width: 0.73em }</style>", False),
        ("html", '<script type="application/json">[0.73]</script>', False),
    ],
)
def test_what_a_reader_sees_of_an_output_counts(kind, text, counts):
    notebook = fake("It is 0.73.")
    notebook.cells[1].outputs.append(nbformat.v4.new_output("display_data", {f"text/{kind}": text}))
    assert (unfounded(notebook) == {}) == counts


def test_code_that_readers_do_not_see_counts_in_its_own_section_only():
    notebook = fake("## A\n\nOf 512.", "draw(512)", "", "## B\n\nOf 512.", "", "")
    assert unfounded(notebook) == {}
    notebook.cells[1].metadata["tags"] = ["remove-input"]
    assert unfounded(notebook) == {"512": "Of 512."}


@pytest.mark.parametrize("place", ["how-far", "claim-S19"])
def test_a_link_to_a_section_of_another_page_counts(place):
    there = sections(
        fake("## How far?", "", "5.3", "### S19: in order", "", "5.3", "## B", "", "6")
    )
    notebook = fake(f"## A\n\nIt is 5.3, 6.4, see [x](audit/x.ipynb#{place}).")
    found = unfounded(notebook, other=lambda page: there if page == "audit/x" else [])
    assert set(found) == {"6.4"}
