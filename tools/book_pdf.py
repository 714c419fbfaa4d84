"""Print the book as one PDF from the built site: _build/pdf/positional-encoding-book.pdf.

The pages of the site become one document in the order of _toc.yml, and a browser prints it twice:
the first print says on which page each chapter begins, the second has these numbers in its
contents. Solutions and answers move to the end. What only works on a screen stays on the site:
`LEFT_OUT` says what.

Why a browser and not a typesetter: boxes, tables, equations and figures have one form, which the
tests of the site see too, and no second translation of the notebooks has to be kept right.
"""

import copy
import io
import re
import sys
from collections.abc import Iterator
from html import escape, unescape
from pathlib import Path

import built_site
import citing
import repository
import vendored
from build_lock import alone
from chromium import FLAGS, chromium
from posenc_book._extras import wanted
from posenc_book.figures import emblem

try:
    import pikepdf
    from bs4 import BeautifulSoup, Tag
    from playwright.sync_api import Page, sync_playwright
    from pypdf import PdfReader
except ModuleNotFoundError as error:
    sys.exit(f"The PDF needs {error.name}: pip install {wanted(error.name)}")

FOLDER = built_site.ROOT / "_build" / "pdf"
TARGET = FOLDER / "positional-encoding-book.pdf"
LEFT_OUT = {
    "book/questions": "readers look one question up; its links are its use",
    "book/explorables": "the figures stand in their chapters, and answer on the site only",
    "book/living-model": "a figure that answers on the site only",
    "book/teaching": "for who teaches; its links are its use",
    "book/course": "downloads",
    "book/capstone": "projects with notebooks to download",
    "book/datasets": "a reference beside the package",
    "book/editions": "digests, and addresses that stay",
    "book/peers": "a reference beside the package",
    "book/taken": "links to files, this one among them",
    "book/which-library": "a reference beside the package",
    "book/bug-reports": "a reference beside the package",
    "book/speed": "a reference beside the package",
    "book/attention-check": "a reference beside the package",
    "book/asked-again": "results that chapters point to",
    "book/length-lab": "results that a chapter tells",
    "book/api": "a reference beside the package",
    "book/sentences": "a list in which to look a sentence up",
}
WIDTH = 628  # pixels of the text on A4: 166 mm
GONE = (
    "script, .headerlink, .posenc-card, .explorable-controls, form.posenc-filter, nav, "
    "button:not(.explorable-word), .visually-hidden, .sd-d-none, details.hide > summary, "
    ".posenc-quiz input, .tag_remove-pdf, .posenc-run, .posenc-cite, section:has(> .posenc-index)"
)
EVERYWHERE = {"exercises", "take-away", "check-yourself", "put-to-the-test"}  # of each chapter


def pages() -> list[tuple[str, list[str]]]:
    """Return the parts that are printed with their pages."""
    found = []
    for caption, names in built_site.parts():
        kept = [name for name in names if not any(name.startswith(out) for out in LEFT_OUT)]
        if kept:
            found.append((caption, kept))
    return found


def slug(page: str) -> str:
    """Return a page's name as part of an identifier."""
    return page.removeprefix("book/").replace("/", "-")


# --- a page of the site becomes a chapter


def chapter(page: str, printed: set[str]) -> tuple[Tag, list[Tag]]:
    """Return a page's article for print, and the solutions that stood in it."""
    found = copy.copy(built_site.article(page))
    for element in found.select(GONE):
        element.decompose()
    for mark in found.select(".posenc-mark > a"):
        del mark["aria-describedby"]  # its card is gone
    for folded in found.find_all("details"):
        folded["open"] = ""
        if "hide" in folded.get("class", []):
            folded.name = "div"
    for heading in found.find_all(re.compile("h[1-5]")):
        heading.name = f"h{int(heading.name[1]) + 1}"
    _rename(found, page)
    _relink(found, page, printed)
    for picture in found.find_all("img", src=True):
        picture["src"] = _from_folder(page, picture["src"])
    return found, _solutions(found) + _answers(found)


def _rename(found: Tag, page: str) -> None:
    """Give each identifier its page's name, since many pages share one document."""
    for element in found.find_all(id=True):
        if not element.find_parent("svg") and element.name != "svg":
            element["id"] = f"{slug(page)}--{element['id']}"
    found["id"] = f"{slug(page)}--"


def _relink(found: Tag, page: str, printed: set[str]) -> None:
    """Let links lead within the document or, where their page is not part of it, to the site."""
    site = repository.pages(repository.address())
    for link in found.find_all("a", href=True):
        address, _, anchor = link["href"].partition("#")
        path, asks, query = address.partition("?")
        if re.match(r"[a-z]+:", path):
            continue
        target = (Path("/") / page).parent / path if path else Path("/") / f"{page}.html"
        name = str(_normal(target)).removesuffix(".html").lstrip("/")
        if name in printed:
            known = anchor if anchor in built_site.identifiers(name) else ""
            link["href"] = f"#{slug(name)}--{known}"
        else:
            link["href"] = f"{site}{name}.html{asks}{query}{'#' if anchor else ''}{anchor}"


def _normal(path: Path) -> Path:
    parts: list[str] = []
    for part in path.parts:
        if part == "..":
            parts.pop()
        else:
            parts.append(part)
    return Path(*parts)


def _from_folder(page: str, source: str) -> str:
    if source.startswith(("data:", "http")):
        return source
    return "../html" + str(_normal(Path("/") / Path(page).parent / source))


def _solutions(found: Tag) -> list[Tag]:
    """Take the solutions, and the cells in them, out of a chapter."""
    return [solution.extract() for solution in found.select(".solution.admonition")]


def _answers(found: Tag) -> list[Tag]:
    """Take the answers out of a chapter's quiz, letter by letter."""
    lines = []
    for number, question in enumerate(found.select(".posenc-quiz fieldset"), start=1):
        for letter, option in zip("abcd", question.find_all("label"), strict=False):
            option.insert(0, f"({letter}) ")
            why = option.find_next_sibling(class_="posenc-why")
            if "right" in why["class"]:
                lines.append(f"<p><strong>{number} {letter}.</strong> {why.find('span')}</p>")
            why.decompose()
    for words in found.find_all("p", string=re.compile("Choose an answer to read")):
        words.string = "Five questions on this chapter. The answers stand at the end of the book."
    if not lines:
        return []
    text = f"<div class='answers'><h4>Check yourself: answers</h4>{''.join(lines)}</div>"
    return [BeautifulSoup(text, "html.parser").div]


# --- the chapters become a document


def compose() -> str:
    """Return the whole document as HTML."""
    printed = {name for _, names in pages() for name in names}
    body, contents, solutions, heads = [], [], [], []
    for place, (caption, names) in enumerate(pages()):
        if caption:
            body.append(f'<section class="part" id="part-{place}"><h1>{caption}</h1></section>')
            contents.append(f'<li class="of-part">{_entry(f"part-{place}", caption)}</li>')
        for name in names:
            article, solved = chapter(name, printed)
            said = built_site.title(name)
            body.append(f'<div class="chapter page-{slug(name)}">{article}</div>')
            contents.append(f"<li>{_entry(f'{slug(name)}--', said)}{_below(article)}</li>")
            heads.append((f"page-{slug(name)}", said))
            if solved:
                solutions.append(f"<h2>{said}</h2>{''.join(map(str, solved))}")
    body.append(
        '<section class="part" id="solutions"><h1>Solutions and answers</h1></section>'
        f'<div class="chapter page-solutions">{"".join(solutions)}</div>'
    )
    contents.append(f'<li class="of-part">{_entry("solutions", "Solutions and answers")}</li>')
    heads.append(("page-solutions", "Solutions and answers"))
    text = (built_site.SHEETS / "print.html").read_text(encoding="utf-8")
    for key, value in {
        "{heads}": "\n".join(_head(*head) for head in heads),
        "{mathjax}": built_site.settings_of_mathjax("book/rotary"),
        "{front}": _front(),
        "{contents}": "\n".join(contents),
        "{body}": "\n".join(body),
    }.items():
        text = text.replace(key, value)
    return text


def _entry(target: str, title: str) -> str:
    return f'<a href="#{target}"><span>{escape(title)}</span><i data-of="{target}"></i></a>'


def _below(article: Tag) -> str:
    """Return the contents of a chapter: its sections, without those that every chapter has."""
    lines = [
        f"<li>{_entry(section['id'], section.find('h3').get_text())}</li>"
        for section in article.find_all("section", recursive=False)
        if section.find("h3", recursive=False)
        and section["id"].rpartition("--")[2] not in EVERYWHERE
    ]
    return f"<ol>{''.join(lines)}</ol>" if 0 < len(lines) <= 14 else ""


def _head(name: str, title: str) -> str:
    said = title.replace("\\", "").replace('"', "'")
    return (
        f".{name} {{ page: {name}; }}\n"
        f'@page {name} {{ @top-right {{ content: "{said}"; }} '
        '@top-left { content: "The Positional Encoding Book"; } '
        "@bottom-center { content: counter(page); } }"
    )


def _front() -> str:
    known = citing.citation()
    site = repository.pages(repository.address())
    left = "teaching, data sets, comparisons with other people's code and the package's reference"
    return (
        f"<div class='emblem'>{emblem.svg()}</div><h1>{known['title']}</h1>"
        f"<p class='about'>{known['abstract']}</p>"
        f"<p class='by'>{', '.join(citing.names(known['authors']))}</p>"
        f"<p class='small'>Version {known['version']}. Every number in this book is computed by a "
        "cell that stands beside it, or in the notebook of the page. The same text with figures "
        f"that answer, the notebooks, and the pages on {left}: "
        f'<a href="{site}">{site}</a></p>'
        "<p class='small'>Text and figures: CC BY 4.0. Code: MIT.</p>"
    )


# --- the document becomes a PDF

READY = """async () => {
  await MathJax.startup.promise;
  await document.fonts.ready;
  for (const image of document.images) await image.decode().catch(() => {});
}"""
# What is wider than the text is set smaller.
NARROW = """(width) => {
  const wide = [];
  for (const one of document.querySelectorAll("mjx-container, table, svg, .cell_output > *")) {
    const box = one.closest("table, li, blockquote, .admonition, .posenc-claim");
    const limit = box && box !== one ? box.clientWidth : one.parentElement.clientWidth;
    const own = Math.max(one.scrollWidth, one.getBoundingClientRect().width);
    if (limit > 0 && own > limit + 1 && !one.closest("svg *, mjx-container *")) {
      one.style.zoom = Math.max(0.5, limit / own * 0.99);
    }
  }
  for (const one of document.querySelectorAll("body *")) {
    if (one.closest("svg, mjx-container, pre")) continue;
    const right = one.getBoundingClientRect().right;
    if (right > width + 1) wide.push(one.outerHTML.slice(0, 120));
  }
  return wide;
}"""
NUMBER = """(numbers) => {
  for (const one of document.querySelectorAll("[data-of]")) {
    one.textContent = numbers[one.dataset.of] ?? "";
  }
}"""
PRINT = {"prefer_css_page_size": True, "print_background": True, "outline": True, "tagged": True}


def numbers(pdf: bytes) -> dict[str, int]:
    """Return the page on which each place of the contents stands."""
    reader = PdfReader(io.BytesIO(pdf))
    return {
        name.lstrip("/"): reader.get_destination_page_number(place) + 1
        for name, place in reader.named_destinations.items()
    }


def printed(page: Page) -> bytes:
    """Return the PDF of a loaded document, with the numbers of pages in its contents."""
    page.emulate_media(media="print")
    page.evaluate(READY)
    if wide := page.evaluate(NARROW, WIDTH):
        print(f"{len(wide)} things are wider than the page, such as", *wide[:5], sep="\n  ")
    page.evaluate(NUMBER, numbers(page.pdf(**PRINT)))
    return page.pdf(**PRINT)


def finish(pdf: bytes, document: str) -> None:
    """Write the PDF, with an author and an outline in the words of the headings.

    Chromium says pieces of a heading twice in the outline where it was moved to another page.
    """
    known = citing.citation()
    with pikepdf.open(io.BytesIO(pdf)) as made:
        made.docinfo["/Author"] = ", ".join(citing.names(known["authors"]))
        entries = list(_entries(made.Root.Outlines))
        for entry, words in zip(entries, headings(document), strict=True):
            entry.Title = words
        # Tags for screen readers are half of the file unless they are compressed.
        made.save(TARGET, object_stream_mode=pikepdf.ObjectStreamMode.generate)


def headings(document: str) -> list[str]:
    """Return the words of all headings of a document in order."""
    found = re.findall(r"<h[1-6][^>]*>(.*?)</h[1-6]>", document, re.DOTALL)
    words = (unescape(re.sub(r"<[^>]+>", "", one)) for one in found)
    return [re.sub(r"\s+", " ", re.sub(r"\\[()]", "", one)).strip() for one in words]


def _entries(above: pikepdf.Dictionary) -> Iterator[pikepdf.Dictionary]:
    entry = above.get("/First")
    while entry is not None:
        yield entry
        yield from _entries(entry)
        entry = entry.get("/Next")


def main() -> None:
    """Write the document and print it."""
    browser_path = chromium()
    if browser_path is None:
        sys.exit("No browser: install Chromium or name one in the variable CHROMIUM")
    FOLDER.mkdir(parents=True, exist_ok=True)
    vendored.write_type(FOLDER / "type")
    document = FOLDER / "book.html"
    document.write_text(compose(), encoding="utf-8")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=browser_path, args=FLAGS)
        page = browser.new_page(viewport={"width": WIDTH, "height": 900})
        page.set_default_timeout(600_000)
        page.goto(document.as_uri(), timeout=600_000)
        pdf = printed(page)
        browser.close()
    finish(pdf, document.read_text(encoding="utf-8"))
    n_pages = len(PdfReader(TARGET).pages)
    print(f"{n_pages} pages, {TARGET.stat().st_size / 1e6:.1f} MB: {TARGET}")


if __name__ == "__main__":
    with alone():
        main()
