"""The book as one PDF: outline, links, fonts and size. Runs where `make pdf` has made one."""

import os
import re

import pytest
from sitefiles import ROOT

import built_site

pypdf = pytest.importorskip("pypdf")
TARGET = ROOT / "_build" / "pdf" / "positional-encoding-book.pdf"
MOST_BYTES = 30_000_000


@pytest.fixture(scope="module")
def reader():
    if not TARGET.is_file():
        message = "no PDF: run `make pdf` first"
        if os.environ.get("POSENC_REQUIRE_SITE") == "1":
            pytest.fail(message)
        pytest.skip(message)
    return pypdf.PdfReader(TARGET)


@pytest.fixture(scope="module")
def printed():
    import book_pdf

    return [name for _, names in book_pdf.pages() for name in names]


def slug(page):
    return page.removeprefix("book/").replace("/", "-")


def flat(outline):
    for entry in outline:
        if isinstance(entry, list):
            yield from flat(entry)
        else:
            yield entry


def same(text):
    """Return text with single spaces, and with one apostrophe for those that fonts give back."""
    return re.sub(r"\s+", " ", text).replace("\N{MODIFIER LETTER APOSTROPHE}", "’").strip()


def test_outline_has_every_chapter_in_order(reader, printed):
    titles = [same(entry.title) for entry in flat(reader.outline)]
    wanted = [same(built_site.title(page)) for page in printed]
    places = [titles.index(title) for title in wanted]
    assert places == sorted(places)


def test_links_inside_resolve(reader):
    known, asked = set(reader.named_destinations), 0
    for page in reader.pages:
        for link in page.get("/Annots", []):
            entry = link.get_object()
            action = entry.get("/A", {})
            target = entry.get("/Dest", action.get("/D"))
            if target is not None and isinstance(target, str):
                asked += 1
                assert target in known or f"/{target.lstrip('/')}" in known, target
            elif "/URI" in action:
                assert not str(action["/URI"]).startswith("file:"), action["/URI"]
    assert asked > 500


def test_contents_say_the_page_on_which_a_chapter_begins(reader, printed):
    text = "\n".join(reader.pages[number].extract_text() for number in range(1, 12))
    for page in printed:
        destination = reader.named_destinations[f"/{slug(page)}--"]
        number = reader.get_destination_page_number(destination) + 1
        title = same(built_site.title(page))[:30]
        assert re.search(rf"{re.escape(title)}[\s\S]{{0,90}}?\b{number}\b", same(text)), page


def test_fonts_are_embedded(reader):
    fonts = {}
    for page in reader.pages:
        for name, font in page["/Resources"].get("/Font", {}).items():
            fonts[name, font.idnum if hasattr(font, "idnum") else name] = font.get_object()
    assert fonts
    for font in fonts.values():
        inner = font["/DescendantFonts"][0].get_object() if "/DescendantFonts" in font else font
        if inner["/Subtype"] == "/Type3":
            continue  # its glyphs are drawings inside the file
        descriptor = inner["/FontDescriptor"].get_object()
        assert {"/FontFile", "/FontFile2", "/FontFile3"} & set(descriptor), font.get("/BaseFont")


def test_it_is_not_too_heavy_and_says_what_it_is(reader):
    assert TARGET.stat().st_size < MOST_BYTES
    assert reader.metadata.title == "The Positional Encoding Book"


def test_nothing_is_left_that_only_a_screen_can_do(reader):
    text = "\n".join(page.extract_text() for page in reader.pages)
    for words in ("Copy as Python", "Show code cell", "Unfold", "Choose an answer"):
        assert words not in text


def test_marks_stand_in_their_sentences(reader):
    text = "\n".join(page.extract_text() for page in reader.pages)
    verdicts = re.findall(r"Verdicts:(\s*\S+\s+\S+)", text)
    assert len(verdicts) > 20
    assert [told for told in verdicts if not re.search(r"[A-Z]\d|no claim", told)] == []
