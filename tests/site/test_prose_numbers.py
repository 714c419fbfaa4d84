"""Prose of the chapters that report measurements quotes no number that the page does not show.

A decimal number or a percentage in a Markdown cell must stand in the notebook's outputs, in its
code, or in the list below with a reason.
"""

import re
from pathlib import Path

import nbformat
import pytest
from sitefiles import ROOT, toc_files

CHECKED = (
    "book/benchmark",
    "book/anomaly-windows",
    "book/choosing",
    "book/relative-and-hybrid",
)
CHAPTERS = [page for page in CHECKED if page in toc_files()]

# Numbers that prose may use though no cell shows them: they are no measurements.
ALLOWED = {
    "0.05": "the usual level of a test",
    "95 %": "the usual coverage of an interval",
}
# Not quotations of a number: places in a source, versions, addresses, formulas.
NO_NUMBERS = re.compile(
    r"[Ss]ections?\s+\d+(?:\.\d+)*(?:(?:,\s*|\s+and\s+|\s+to\s+)\d+(?:\.\d+)+)*"
    r"|https?://\S+|\]\([^)]*\)|\{cite\w*\}`[^`]*`"
)
NUMBER = re.compile(r"(?<![\d.])\d+\.\d+(?![\d.]*\d)(?:\s?%)?|(?<![\d.])\d+\s?%")


def normal(number: str) -> str:
    """Return a number with one space before its per-cent sign, if it has one."""
    return re.sub(r"\s*%", " %", number)


def quoted(text: str) -> set[str]:
    """Return the decimal numbers and percentages that a piece of prose quotes."""
    return {normal(number) for number in NUMBER.findall(NO_NUMBERS.sub(" ", text))}


def texts(output) -> list[str]:
    """Return what a reader can read of an output; pictures are left out."""
    kinds = ("text/plain", "text/markdown", "text/html", "text/latex")
    return [output.get("text", ""), *(output.get("data", {}).get(kind, "") for kind in kinds)]


def shown(notebook) -> set[str]:
    """Return every number, with and without its per-cent sign, in the code and its outputs."""
    found = set()
    for cell in notebook.cells:
        if cell.cell_type == "code":
            for text in [cell.source, *(t for o in cell.outputs for t in texts(o))]:
                found |= {normal(number) for number in re.findall(r"\d+(?:\.\d+)?(?:\s?%)?", text)}
    return found | {number.removesuffix(" %") for number in found}


def unfounded(notebook) -> dict[str, str]:
    """Return number -> beginning of the prose that quotes it without any cell to show it."""
    known = shown(notebook) | ALLOWED.keys()
    prose = [cell.source for cell in notebook.cells if cell.cell_type == "markdown"]
    return {number: text[:60] for text in prose for number in quoted(text) - known}


def read(path: Path):
    return nbformat.read(path, as_version=4)


def fake(prose: str, code: str = "", output: str = ""):
    """Return a notebook with one cell of prose and one of code."""
    v4 = nbformat.v4
    printed = [v4.new_output("stream", text=output)]
    return v4.new_notebook(
        cells=[v4.new_markdown_cell(prose), v4.new_code_cell(code, outputs=printed)]
    )


def test_prose_quotes_only_numbers_that_the_page_shows():
    found = {page: unfounded(read(ROOT / f"{page}.ipynb")) for page in CHAPTERS}
    assert {page: numbers for page, numbers in found.items() if numbers} == {}


def test_every_allowed_number_has_a_reason_and_is_a_number():
    for number, reason in ALLOWED.items():
        assert quoted(f"It is {number}.") == {number}
        assert len(reason.split()) >= 3


def test_a_number_from_nowhere_is_found():
    notebook = fake("The gain is 5.8 points, or 12 % of it.", "x = 1", "gain 5.80")
    assert set(unfounded(notebook)) == {"5.8", "12 %"}


@pytest.mark.parametrize(
    ("code", "output"), [("limit = 5.8", ""), ("", "gain 5.8 points"), ("", "gain 5.8% today")]
)
def test_a_number_that_a_cell_shows_is_none(code, output):
    assert unfounded(fake("The gain is 5.8 points.", code, output)) == {}


def test_a_part_of_a_longer_number_does_not_count():
    assert set(unfounded(fake("It is 0.5.", "", "0.53 10.5"))) == {"0.5"}


def test_a_percentage_needs_its_sign():
    assert set(unfounded(fake("It is 20%.", "n = 20"))) == {"20 %"}
    assert unfounded(fake("It is 20%.", "", "20 % of runs")) == {}


def test_an_output_that_is_rendered_counts():
    notebook = fake("It is 0.73.")
    shown_table = nbformat.v4.new_output("display_data", {"text/markdown": "| a | 0.73 |"})
    assert set(unfounded(notebook)) == {"0.73"}
    notebook.cells[1].outputs.append(shown_table)
    assert unfounded(notebook) == {}


def test_places_and_addresses_are_no_quotations():
    text = "Sections 5.1, 5.2 and 6.4, section 5.3.2, [v](https://a.org/1.5/x), alpha is 0.05"
    assert quoted(text) == {"0.05"}
    assert unfounded(fake(text)) == {}
