"""Prose of the Book quotes no number that its part of the page does not show.

A decimal number, a percentage or a whole number of at least two digits in a Markdown cell must
stand in the outputs or the code of its own section, or in a section to which its sentence links;
whole numbers may also stand in code above it, as the sizes that a page works with do. Opening,
exercises and take-away may quote the whole page. Not quotations are, by rule: places in a source,
addresses, the stated time, years, recorded sizes of a data set that the same passage names, whole
numbers in formulas and in code, whole numbers that an exercise makes up, and headings of the
Audit, which state other people's claims.
"""

import re
from functools import cache

import nbformat
import pytest
from quoting import quoted, sections, sentences, uncounted, unfounded
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
# Pages whose sections all explain what the opening shows, each with its reason.
EXPLAINED = {"book/choosing": "its table is what all its sections give the reasons for"}
# Numbers that one page may use though the section does not show them: the heading under which the
# page does, or why no cell has to.
OPENING = ""
ELSEWHERE = {
    "book/intro": {"32": "What we found"},
    "book/faithfulness": {"54": "All grades side by side"},
    "book/relative-and-hybrid": {"0.7": "Put to the test"},
    "book/beyond-training-length": dict.fromkeys(
        ("50 %", "59 %", "60 %", "69 %", "100 %"), OPENING
    ),
    "book/fair-comparison": {
        "2.2": OPENING,
        "3.2": "One split, one seed",
        "5 %": "Chance among many",
    },
    "book/audit/published-code": dict.fromkeys(("19", "36", "37"), "The classes, asked themselves"),
}
GIVEN = {
    "book/order-blindness": {"24": "so many names the experiment chose"},
    "book/oscillations": dict.fromkeys(("113", "710"), "the sentence computes their quotient"),
    "book/fourier-view": {"128": "pairs in 256 dimensions"},
    "book/time-and-space": {"50": "an example of a rate"},
    "book/beyond-training-length": {
        "3.1": "a version of a model",
        "63": "all of 64 pairs but the one that the figure counts",
    },
    "book/fair-comparison": {"0.001": "a setting of the protocol"},
    "book/course": {"30": "seconds that the marker gives a function"},
    "book/benchmark": {
        "16": "the table above holds both terms of this difference",
    },
    "book/found-details": {"2000": "a setting of the protocol"},
    "book/running-benchmarks": {
        "3.11": "a version of Python",
    },
    "book/anomaly-windows": {"0.010": "the paper that is discussed prints it"},
    "book/audit/first-principles": {"0.5": "what guessing is worth with two classes"},
    "book/datasets": {"20": "a choice of the simulation"},
    "book/length-lab": {"512": "a choice of the authors who are named"},
}
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
    return nbformat.read(ROOT / f"{page}.ipynb", as_version=4)


@cache
def sections_of(page: str):
    """Return the sections of another page, none of one that is left out."""
    path = f"book/{page.removeprefix('../')}"
    return sections(read(path)) if path in CHAPTERS + PLAIN else []


def missing(page: str) -> dict[str, str]:
    """Return what the sections of a page quote and do not show, exceptions included."""
    opening = sections(read(page))[0].shown if page in EXPLAINED else set()
    return unfounded(read(page), ALLOWED.keys() | opening, sizes, sections_of)


def named(page: str) -> dict[str, str]:
    """Return the exceptions of a page: number -> where it is shown, or why it need not be."""
    return ELSEWHERE.get(page, {}) | GIVEN.get(page, {})


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


def from_nowhere(*texts) -> set[str]:
    """Return the numbers that a notebook of `fake` quotes and does not show."""
    return set(unfounded(fake(*texts), ALLOWED.keys(), sizes))


@pytest.mark.parametrize("page", CHAPTERS + PLAIN)
def test_prose_quotes_only_numbers_that_its_section_shows(page):
    found = missing(page)
    assert {number: found[number] for number in found.keys() - named(page).keys()} == {}


def test_a_number_from_nowhere_is_found_on_a_page_without_cells():
    page = (
        "It gains 4.2 points, or 7.\n\n```\n$ report: 4.2\n```\n\n| a | 5.1 |\n\nNot 5.1 but 6.6."
    )
    assert set(unfounded(as_notebook(page))) == {"6.6"}


@pytest.mark.parametrize("page", [page for page in COUNTED if page in toc_files()])
def test_prose_counts_only_what_an_output_counts(page):
    assert uncounted(read(page)) == set()


def test_a_count_from_nowhere_is_found():
    assert uncounted(fake("It wins on 2 of 19 sets, 3 of 38.", "", "2 of 19")) == {"3 of 38"}


def test_every_page_that_is_left_out_has_a_reason():
    reasons = (EXCEPT | EXPLAINED).values()
    assert all(len(reason.split()) >= 3 for reason in reasons)
    assert len(CHAPTERS) >= 12
    assert {"book/running-benchmarks", "book/teaching"} <= set(PLAIN)
    assert all(page in toc_files() for page in EXCEPT)


def test_every_allowed_number_has_a_reason_and_is_a_number():
    for number, reason in ALLOWED.items():
        assert quoted(f"It is {number}.") == {number}
        assert len(reason.split()) >= 3


def test_what_is_shown_elsewhere_on_a_page_is_shown_there():
    for page, places in ELSEWHERE.items():
        shown = {one.title: one.shown for one in sections(read(page))}
        assert {n: title for n, title in places.items() if n not in shown[title]} == {}, page


def test_every_exception_of_a_page_is_needed_and_has_a_reason():
    for page in ELSEWHERE.keys() | GIVEN.keys():
        assert named(page).keys() <= missing(page).keys(), f"take what is too much from {page}"
        assert all(len(why.split()) >= 3 for why in GIVEN.get(page, {}).values())


# --- what is found, and what is none


def test_a_number_from_nowhere_is_found():
    said = "The gain is 5.8 points, or 12 % of it."
    assert from_nowhere(said, "x = 1", "gain 5.80") == {"5.8", "12 %"}


@pytest.mark.parametrize(
    ("code", "output"), [("limit = 5.8", ""), ("", "gain 5.8 points"), ("", "gain 5.8% today")]
)
def test_a_number_that_a_cell_shows_is_none(code, output):
    assert from_nowhere("The gain is 5.8 points.", code, output) == set()


def test_a_whole_number_from_nowhere_is_found():
    said = "It takes 61,712 positions, two of 14 sets, and 2 more."
    assert from_nowhere(said, "", "14 sets") == {"61712"}


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
        ("Eq. 17 to 21, Eq. 36 and 37, Fig. 12 and Tables 11, 12 of the source.", ""),
    ],
)
def test_what_is_shown_or_no_quotation_is_none(prose, output):
    assert from_nowhere(prose, "", output) == set()


def test_a_number_of_things_is_no_year():
    said = "It works in 2048 positions, not in 2001 steps."
    assert from_nowhere(said, "", "") == {"2048", "2001"}


def test_a_size_counts_for_the_data_set_that_is_named():
    assert from_nowhere("PenDigits has 150 series.", "", "") == {"150"}


def test_a_table_of_per_cent_needs_no_signs():
    assert from_nowhere("It is 89.2 %.", "", "right, in per cent\n89.2") == set()
    assert from_nowhere("It is 89.2 %.", "", "right\n89.2") == {"89.2 %"}


def test_a_part_of_a_longer_number_does_not_count():
    assert from_nowhere("It is 0.5.", "", "0.53 10.5") == {"0.5"}


def test_a_percentage_needs_its_sign():
    assert from_nowhere("It is 20%.", "n = 20", "") == {"20 %"}
    assert from_nowhere("It is 20%.", "", "20 % of runs") == set()


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("text/markdown", "| a | 0.73 |"),
        ("text/html", "<td>0.73</td>"),
        ("text/html", '<figure class="explorable"><p class="explorable-summary">0.73</p></figure>'),
    ],
)
def test_an_output_that_is_rendered_counts(kind, text):
    notebook = fake("It is 0.73.", "", "")
    assert set(unfounded(notebook)) == {"0.73"}
    notebook.cells[1].outputs.append(nbformat.v4.new_output("display_data", {kind: text}))
    assert unfounded(notebook) == {}


@pytest.mark.parametrize(
    "text",
    [
        '<td style="width: 0.73em">1</td>',
        "<style>td { width: 0.73em }</style>",
        '<script type="application/json">[0.73]</script>',
        '<figure class="explorable"><svg><path d="M0.73 1"/></svg><output>0.73</output></figure>',
    ],
)
def test_what_no_reader_sees_does_not_count(text):
    notebook = fake("It is 0.73.", "", "")
    notebook.cells[1].outputs.append(nbformat.v4.new_output("display_data", {"text/html": text}))
    assert set(unfounded(notebook)) == {"0.73"}


def test_places_and_addresses_are_no_quotations():
    text = "Sections 5.1, 5.2 and 6.4, section 5.3.2, [v](https://a.org/1.5/x), alpha is 0.05"
    assert quoted(text) == {"0.05"}
    assert from_nowhere(text, "", "") == set()


# --- which part of a page has to show it


@pytest.mark.parametrize("heading", ["## B", "### B"])
def test_a_number_of_another_section_is_found(heading):
    page = ("# Title", "", "3.1", "## A\n\nIt is 3.1, 4.2 and 5.3.", "", "4.2")
    assert from_nowhere(*page, heading, "", "5.3") == {"3.1", "5.3"}


def test_the_sentence_is_named():
    notebook = fake("## A\n\nIt is 4.2. And it was 5.3, too. So it goes.", "", "4.2")
    assert unfounded(notebook) == {"5.3": "And it was 5.3, too."}


@pytest.mark.parametrize("title", ["# Title", "## Exercises", "## Take-away"])
def test_what_sums_up_may_quote_the_whole_page(title):
    assert from_nowhere(f"{title}\n\nIt is 5.3, 6.4.", "", "", "## B", "", "5.3") == {"6.4"}


def test_a_size_in_the_code_above_counts_and_one_below_does_not():
    page = ("## A", "d = 512; share = 0.7", "", "## B\n\nOf 512 and 256, 0.7.", "", "")
    assert from_nowhere(*page, "## C", "d = 256", "") == {"256", "0.7"}


def test_code_that_readers_do_not_see_counts_in_its_own_section_only():
    notebook = fake("## A\n\nOf 512.", "draw(512)", "", "## B\n\nOf 512.", "", "")
    assert unfounded(notebook) == {}
    notebook.cells[1].metadata["tags"] = ["remove-input"]
    assert unfounded(notebook) == {"512": "Of 512."}


def test_a_link_to_a_section_counts_for_its_own_sentence():
    page = ("## What it is\n\n", "", "5.3 6.4", "## B\n\nIt is 5.3 ({}). And 6.4.", "", "")
    for link, left in (("[above](#what-it-is)", {"6.4"}), ("[above](#other)", {"5.3", "6.4"})):
        assert from_nowhere(*(text.replace("{}", link) for text in page)) == left


def test_a_link_to_a_section_of_another_page_counts():
    there = sections(fake("## How far?", "", "5.3", "## B", "", "6.4"))
    notebook = fake("## A\n\nIt is 5.3, 6.4, see [x](audit/x.ipynb#how-far).", "", "")
    asked = []
    found = unfounded(notebook, other=lambda page: asked.append(page) or there)
    assert set(found) == {"6.4"}
    assert set(asked) == {"audit/x"}


def test_the_mark_of_a_claim_leads_to_its_section():
    there = sections(fake("### S19: in printed order", "", "5.3", "### S20: else", "", "6.4"))
    notebook = fake("## A\n\nIt is 5.3, 6.4<sup>[○ S19](audit/x.ipynb#claim-S19)</sup>.", "", "")
    assert set(unfounded(notebook, other=lambda page: there)) == {"6.4"}


def test_an_exercise_may_make_up_whole_numbers_and_no_others():
    task = ":::{exercise} A\n:label: ex-a\n\nOf 77 series 0.7 are right, 12 % of 88.\n:::"
    assert from_nowhere(f"## A\n\n{task}\n\nThere are 77.", "", "") == {"0.7", "12 %", "77"}


def test_a_directive_does_not_hide_what_follows_it():
    said = "## A\n\n:::{admonition} B\n:class: tip\n\nIt is 77.\n:::\n\nAnd 88."
    assert from_nowhere(said, "", "") == {"77", "88"}


def test_the_title_of_a_claim_is_no_quotation():
    title = r"confirmed: \"All\" 63,000 (x, 4) of 77. (A, 88)"
    mark = f'<sup>[✓ B7](audit/x.ipynb#claim-B7 "{title}")</sup>'
    assert from_nowhere(f"It is so.{mark} And so.", "", "") == set()


def test_sentences_items_and_rows_are_told_apart():
    text = "A (b. c). D “e.” F: 1.5 g.\n\n- h\n- i\n1. j\n| k | l |\n**M.** $n$ is. $o$ too."
    assert sentences(text) == [
        "A (b. c).", "D “e.”", "F: 1.5 g.", "- h", "- i", "1. j", "| k | l |", "**M.**",
        "$n$ is.", "$o$ too.",
    ]  # fmt: skip
