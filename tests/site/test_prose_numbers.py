"""Prose of the Book quotes no number that the page does not show.

A decimal number, a percentage or a whole number of at least two digits in a Markdown cell must
stand in the notebook's outputs or in its code. Not quotations are, by rule: places in a source,
addresses, the stated time, years, recorded sizes of a data set that the same passage names, whole
numbers in formulas and in code, and headings of the Audit, which state other people's claims.
"""

import re
from pathlib import Path

import nbformat
import pytest
from sitefiles import ROOT, toc_files

from posenc.data import measure

# Pages that are left out, each with its reason.
EXCEPT = {
    "book/atlas": "its numbers are written by tools/atlas.py, and test_atlas_page compares them",
    "book/errata": "its numbers are those of the verdicts that each entry links",
}
PAGES = [page for page in toc_files() if page not in EXCEPT and "/api" not in page]
CHAPTERS = [page for page in PAGES if (ROOT / f"{page}.ipynb").is_file()]
PLAIN = [page for page in PAGES if (ROOT / f"{page}.md").is_file()]
# What a page without cells shows: commands with their output, and tables.
SHOWN = re.compile(r"^```.*?^```|^\|.*?$", re.MULTILINE | re.DOTALL)
# Pages whose counts, such as "2 of 19", must stand in an output as well.
COUNTED = ("book/benchmark", "book/anomaly-windows", "book/choosing")

# Numbers that prose may use though no cell shows them: they are no measurements.
ALLOWED = {
    "0.05": "the usual level of a test",
    "95 %": "the usual coverage of an interval",
}
# Not quotations of a number: places in a source, addresses, years, the time, claims of others.
NO_NUMBERS = re.compile(
    r"(?:Theorem|Proposition)\s+\d+\.\d+"
    r"|[Ss]ections?\s+\d+(?:\.\d+)*(?:(?:,\s*|\s+and\s+|\s+to\s+)\d+(?:\.\d+)+)*"
    r"|https?://\S+|\]\([^)]*\)|\{cite\w*\}`[^`]*`"
    r"|\b(?:of|in|since|(?:Janu|Febru)ary|March|April|May|June|July|August|\w+ember|October) "
    r"(?:19[5-9]|20[0-3])\d\b(?! \w+s\b)"
    r"|\*\*Time:\*\* about \d+ minutes|^### [A-Z]\d+:.*$",
    re.MULTILINE,
)
NUMBER = re.compile(r"(?<![\d.])\d+\.\d+(?![\d.]*\d)(?:\s?%)?|(?<![\d.])\d+\s?%")
COUNT = re.compile(r"\b\d+ of \d+\b")
# Whole numbers are looked for in words only: not in formulas, in code, in names and in math blocks.
NO_WORDS = re.compile(r"\$\$.*?\$\$|\$[^$]*\$|`[^`]*`|^:.*$|^```.*?^```", re.MULTILINE | re.DOTALL)
WHOLE = re.compile(r"(?<![\w.,^{-])(?:\d{1,3}(?:,\d{3})+|\d{2,})(?![.,]?\d)(?!\w|\s?%)")
SETS = measure.recorded()["sets"]
# An output that says once that its numbers are per cent needs no sign behind each.
PER_CENT = re.compile(r"per cent|\(%\)", re.IGNORECASE)


def normal(number: str) -> str:
    """Return a number with one space before its per-cent sign, if it has one."""
    return re.sub(r"\s*%", " %", number)


def quoted(text: str) -> set[str]:
    """Return the numbers that a piece of prose quotes, whole ones without separators."""
    text = NO_NUMBERS.sub(" ", text)
    whole = {number.replace(",", "") for number in WHOLE.findall(NO_WORDS.sub(" ", text))}
    return {normal(number) for number in NUMBER.findall(text)} | whole


def sizes(text: str) -> set[str]:
    """Return the recorded sizes of the data sets that a piece of prose names."""
    facts = [measure.recorded_facts(name) for name in SETS if name in text]
    return {
        str(getattr(one, size))
        for one in facts
        for size in ("train", "test", "length", "n_channels", "n_classes")
    }


def texts(output) -> list[str]:
    """Return what a reader can read of an output; pictures are left out."""
    kinds = ("text/plain", "text/markdown", "text/html", "text/latex")
    return [output.get("text", ""), *(output.get("data", {}).get(kind, "") for kind in kinds)]


def shown(notebook) -> set[str]:
    """Return every number, with and without its per-cent sign, in the code and its outputs."""
    found = set()
    for cell in notebook.cells:
        if cell.cell_type == "code":
            found |= numbers(cell.source)
            for text in (t for output in cell.outputs for t in texts(output)):
                here = numbers(text)
                found |= here | ({f"{n} %" for n in here} if PER_CENT.search(text) else set())
    return found | {number.removesuffix(" %") for number in found}


def numbers(text: str) -> set[str]:
    """Return the numbers of code or of an output; separators of thousands are taken out."""
    text = re.sub(r"(?<=\d)[,_](?=\d{3}(?!\d))", "", text)
    return {normal(number) for number in re.findall(r"\d+(?:\.\d+)?(?:\s?%)?", text)}


def unfounded(notebook) -> dict[str, str]:
    """Return number -> beginning of the prose that quotes it without any cell to show it."""
    known = shown(notebook) | ALLOWED.keys()
    prose = [cell.source for cell in notebook.cells if cell.cell_type == "markdown"]
    return {n: text[:60] for text in prose for n in quoted(text) - known - sizes(text)}


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


def as_notebook(text: str):
    """Return a page without cells as a notebook: its prose, and what it shows as code."""
    return fake(SHOWN.sub("", text), "\n".join(SHOWN.findall(text)))


@pytest.mark.parametrize("page", PLAIN)
def test_a_page_without_cells_quotes_only_what_it_shows(page):
    assert unfounded(as_notebook((ROOT / f"{page}.md").read_text())) == {}


def test_a_number_from_nowhere_is_found_on_a_page_without_cells():
    page = (
        "It gains 4.2 points, or 7.\n\n```\n$ report: 4.2\n```\n\n| a | 5.1 |\n\nNot 5.1 but 6.6."
    )
    assert set(unfounded(as_notebook(page))) == {"6.6"}


def uncounted(notebook) -> set[str]:
    """Return the counts in the prose, such as "2 of 19", that no output shows."""
    outputs = (o for c in notebook.cells if c.cell_type == "code" for o in c.outputs)
    shown = {n for o in outputs for text in texts(o) for n in COUNT.findall(text)}
    prose = (cell.source for cell in notebook.cells if cell.cell_type == "markdown")
    return {n for text in prose for n in COUNT.findall(NO_NUMBERS.sub(" ", text))} - shown


@pytest.mark.parametrize("page", [page for page in COUNTED if page in toc_files()])
def test_prose_counts_only_what_an_output_counts(page):
    assert uncounted(read(ROOT / f"{page}.ipynb")) == set()


def test_a_count_from_nowhere_is_found():
    assert uncounted(fake("It wins on 2 of 19 sets, 3 of 38.", "", "2 of 19")) == {"3 of 38"}


def test_every_page_that_is_left_out_has_a_reason():
    assert all(len(reason.split()) >= 3 for reason in EXCEPT.values())
    assert len(CHAPTERS) >= 12
    assert {"book/running-benchmarks", "book/teaching"} <= set(PLAIN)
    assert all(page in toc_files() for page in EXCEPT)


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


def test_a_whole_number_from_nowhere_is_found():
    notebook = fake("It takes 61,712 positions, two of 14 sets, and 2 more.", "", "14 sets")
    assert set(unfounded(notebook)) == {"61712"}


@pytest.mark.parametrize(
    ("prose", "output"),
    [
        ("It takes 61,712 positions.", "61,712"),
        ("It takes 61712 positions.", "61_712"),
        ("**Time:** about 35 minutes.", ""),
        ("With $d = 512$ and `n = 200`, ALiBi-50 and x.", ""),
        ("A post of 2019, and the version of February 2025.", ""),
        ("SmoothSubspace has 150 series for training.", ""),
        ("### S14: the gain is 5 to 6 % above 100 steps", ""),
    ],
)
def test_what_is_shown_or_no_quotation_is_none(prose, output):
    assert unfounded(fake(prose, "", output)) == {}


def test_a_number_of_things_is_no_year():
    assert set(unfounded(fake("It works in 2048 positions, not in 2001 steps."))) == {
        "2048",
        "2001",
    }


def test_a_size_counts_for_the_data_set_that_is_named():
    assert set(unfounded(fake("PenDigits has 150 series."))) == {"150"}


def test_a_table_of_per_cent_needs_no_signs():
    assert unfounded(fake("It is 89.2 %.", "", "right, in per cent\n89.2")) == {}
    assert set(unfounded(fake("It is 89.2 %.", "", "right\n89.2"))) == {"89.2 %"}


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
